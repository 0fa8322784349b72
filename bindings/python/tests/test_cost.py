"""Costs before a run, and tables of them."""

import pytest

import symbolon as sy


@sy.function
def product(x: sy.u32, y: sy.u32) -> sy.u32:
    return x * y


def test_the_cost_of_a_function() -> None:
    cost = product.cost()
    assert cost.and_gates == product.stats()["and_gates"] and cost.depth > 0
    assert (cost.input_bits, cost.output_bits, cost.parties) == (64, 32, 2)
    by_name = {(one.protocol, one.form): one for one in cost.protocols}
    assert len(by_name) == len(cost.protocols) >= 3
    for one in cost.protocols:
        assert one.bytes == one.independent + one.rest and one.rest > cost.and_gates
    first = cost.protocols[0]
    assert str(first.bytes) in cost.table() and first.protocol in cost.table()
    assert f"{cost.and_gates} AND gates" in str(cost) and "<table>" in cost._repr_html_()


def test_costs_are_what_a_run_sends() -> None:
    circuit = sy.builtin("mul:64")
    for cost in sy.cost(circuit).protocols:
        if cost.protocol == "duplo":
            continue
        options = {"protocol": cost.protocol, "ot": cost.ot}
        if cost.form is not None:
            options["form"] = cost.form
        report = sy.simulate(circuit, x=3, y=5, options=options).report
        phases = [phase for phase in report.phases if phase["phase"] != "setup"]
        assert sum(one["bytes_sent"] + one["bytes_received"] for one in phases) == cost.bytes


def test_more_parties_send_more() -> None:
    three = sy.cost(product, parties=3)
    assert three.parties == 3 and all(one.protocol == "ywz" for one in three.protocols)
    two = [one for one in product.cost(parties=2).protocols if one.protocol == "ywz"]
    assert three.protocols[0].bytes > two[0].bytes
    # A circuit that names three parties is for three.
    assert sy.cost(sy.builtin("auction:3x8")).parties == 3
    with pytest.raises(TypeError):
        product.cost("two")  # type: ignore[arg-type]
