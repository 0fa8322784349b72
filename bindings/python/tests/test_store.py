"""Work ahead of time: stores, pools, batches, a dealer."""

import numpy as np
import pytest

import symbolon as sy

ADDER = sy.builtin("add:16")


@pytest.fixture
def stores(tmp_path):
    return tmp_path / "alice.store", tmp_path / "bob.store"


def values(results):
    assert not any(isinstance(result, Exception) for result in results), results
    return [result.value for result in results]


def test_a_prepared_circuit_is_used_once(keys, pair, both, stores) -> None:
    zero, one = pair(keys, stores, timeout=20)
    with zero, one:
        assert len(zero.material()) == 0
        made = both(lambda: zero.prepare(ADDER, 2), lambda: one.prepare(ADDER, count=2))
        assert made[0].items == made[1].items and len(made[0].items) == 2
        assert made[0].from_pools == made[0].dealt == 0 and made[0].report.bytes_sent > 0
        assert zero.material().runs(ADDER) == one.material().runs(ADDER) == 2
        results = both(lambda: zero.run(ADDER, x=40), lambda: one.run(ADDER, y=2))
        assert values(results) == [42, 42]
        assert results[0].used == results[1].used and results[0].used[0] in made[0].items
        # Only what is online is left to do.
        assert [phase["phase"] for phase in results[0].report.phases] == ["setup", "online"]
        assert zero.material().runs(ADDER) == 1
        assert values(both(lambda: zero.run(ADDER, x=1), lambda: one.run(ADDER, y=2))) == [3, 3]
        for error in both(lambda: zero.run(ADDER, x=1), lambda: one.run(ADDER, y=2)):
            assert isinstance(error, sy.OutOfMaterial), error
            assert isinstance(error, sy.StoreError) and error.code == "out-of-material"
        material = zero.material()
        assert material.runs(ADDER) == 0 and [item.state for item in material] == ["used"] * 2
        assert material[0].circuit == ADDER.digest and material[0].kind == "prepared"
        assert "add" in str(material) and "<td>used</td>" in material._repr_html_()


def test_what_is_missing_is_made_if_that_is_wanted(keys, pair, both, stores) -> None:
    zero, one = pair(keys, stores, timeout=20)
    with zero, one:
        for x in (40, 41):
            results = both(
                lambda x=x: zero.run(ADDER, fallback=True, x=x),
                lambda: one.run(ADDER, fallback=True, y=2),
            )
            assert values(results) == [x + 2] * 2 and results[0].used == []
        both(lambda: zero.prepare(ADDER), lambda: one.prepare(ADDER))
        results = both(
            lambda: zero.run(ADDER, fresh=True, x=1), lambda: one.run(ADDER, {"y": 2}, fresh=True)
        )
        assert values(results) == [3, 3] and zero.material().runs(ADDER) == 1
        results = both(
            lambda: zero.run(ADDER, fallback=True, x=1), lambda: one.run(ADDER, fallback=True, y=2)
        )
        assert values(results) == [3, 3] and len(results[0].used) == 1
        with pytest.raises(sy.InvalidInput, match="exclude each other"):
            zero.run(ADDER, fallback=True, fresh=True, x=1)


def test_inputs_with_the_names_of_keywords(both, pair, keys) -> None:
    circuit = sy.source(
        "fn main(fresh: u8 from 0, count: u8 from 1) -> (sum: u8 to all) { fresh + count }"
    )
    zero, one = pair(keys, timeout=20)
    with zero, one:
        results = both(
            lambda: zero.run(circuit, {"fresh": 3}), lambda: one.run(circuit, {"count": 4})
        )
        assert values(results) == [7, 7]


def test_pools_are_for_any_circuit(keys, pair, both, stores) -> None:
    zero, one = pair(keys, stores, timeout=20)
    with zero, one:
        for error in both(
            lambda: zero.prepare(ADDER, only_pools=True),
            lambda: one.prepare(ADDER, only_pools=True),
        ):
            assert isinstance(error, sy.OutOfMaterial), error
        filled = both(
            lambda: zero.fill(and_gates=300, input_bits=64),
            lambda: one.fill(and_gates=300, input_bits=64),
        )
        assert filled[0].items == filled[1].items and len(filled[0].items) == 1
        assert zero.material().and_gates == 384
        made = both(
            lambda: zero.prepare(ADDER, only_pools=True),
            lambda: one.prepare(ADDER, only_pools=True),
        )
        assert made[0].from_pools == made[1].from_pools == 1
        assert zero.material().and_gates < 384
        assert values(both(lambda: zero.run(ADDER, x=1), lambda: one.run(ADDER, y=2))) == [3, 3]
        with pytest.raises(sy.InvalidInput, match="give `and_gates`"):
            zero.fill(ADDER, and_gates=3)


def test_pools_of_components(keys, pair, both, stores) -> None:
    zero, one = pair(keys, stores, protocol="duplo", timeout=60)
    with zero, one:
        filled = both(lambda: zero.fill(ADDER, runs=1), lambda: one.fill(ADDER, runs=1))
        assert filled[0].items == filled[1].items and filled[0].items, filled
        made = both(lambda: zero.prepare(ADDER), lambda: one.prepare(ADDER))
        assert made[0].from_pools == 1, made


@pytest.mark.parametrize("protocol", ["wrk", "tinytable"])
def test_a_batch_of_rows(keys, pair, both, protocol) -> None:
    zero, one = pair(keys, protocol=protocol, timeout=20)
    left, right = np.arange(5, dtype=np.uint16), [10, 20, 30, 40, 50]
    with zero, one:
        batches = both(lambda: zero.run_batch(ADDER, x=left), lambda: one.run_batch(ADDER, y=right))
        for batch in batches:
            assert len(batch) == 5 and list(batch.column()) == [10, 21, 32, 43, 54]
            assert batch[1].value == 21 and batch.report.bytes_sent > 0
        # And a single run over a connection of its own.
        assert values(both(lambda: zero.run(ADDER, x=1), lambda: one.run(ADDER, y=2))) == [3, 3]


def test_a_batch_of_arrays_of_one_party(keys, pair, both) -> None:
    circuit = sy.source("fn main(x: [u8; 3] from 0) -> (y: [u8; 3] to all) { [x[2], x[1], x[0]] }")
    rows = np.arange(12, dtype=np.uint8).reshape(4, 3)
    zero, one = pair(keys, timeout=20)
    with zero, one:
        batches = both(
            lambda: zero.run_batch(circuit, x=rows), lambda: one.run_batch(circuit, count=4)
        )
        assert (batches[1].column() == rows[:, ::-1]).all()
        with pytest.raises(sy.InvalidInput, match="`count` says"):
            one.run_batch(circuit)
        with pytest.raises(sy.InvalidInput, match="`x` has 4 values"):
            zero.run_batch(circuit, x=rows, count=3)


@pytest.mark.parametrize(
    ("options", "prepared", "used"),
    [
        ({"protocol": "tinytable"}, {"count": 1, "batch": 4}, 1),
        ({"protocol": "dualex", "in_flight": 2}, {"count": 4}, 4),
    ],
)
def test_a_batch_from_the_store(keys, pair, both, stores, options, prepared, used) -> None:
    zero, one = pair(keys, stores, timeout=20, **options)
    with zero, one:
        both(lambda: zero.prepare(ADDER, **prepared), lambda: one.prepare(ADDER, **prepared))
        batches = both(
            lambda: zero.run_batch(ADDER, x=range(4)), lambda: one.run_batch(ADDER, y=[5] * 4)
        )
        assert list(batches[0].column()) == [5, 6, 7, 8], batches
        assert len(batches[0].used) == used
        for error in both(
            lambda: zero.run_batch(ADDER, x=range(4)), lambda: one.run_batch(ADDER, y=[5] * 4)
        ):
            assert isinstance(error, sy.OutOfMaterial), error
        batches = both(
            lambda: zero.run_batch(ADDER, fallback=True, x=range(4)),
            lambda: one.run_batch(ADDER, fallback=True, y=[5] * 4),
        )
        assert list(batches[1].column()) == [5, 6, 7, 8], batches


def test_a_dealer(keys, pair, both, stores) -> None:
    path, fingerprint = keys[2]
    parties = [party for _, party in keys[:2]]
    with sy.Dealer(listen="127.0.0.1:0", key=path, parties=parties) as dealer:
        dealt = sy.Peer(dealer.address, fingerprint)
        zero, one = pair(keys, stores, dealer=dealt, timeout=20)
        with zero, one:
            made = both(lambda: zero.prepare(ADDER, 2), lambda: one.prepare(ADDER, 2))
            assert made[0].dealt == 2, made
            assert {item.dealer for item in zero.material()} == {fingerprint}
            assert values(both(lambda: zero.run(ADDER, x=1), lambda: one.run(ADDER, y=2))) == [3, 3]
            results = both(
                lambda: zero.run(ADDER, fresh=True, x=4), lambda: one.run(ADDER, fresh=True, y=2)
            )
            assert values(results) == [6, 6]
    # Who does not trust the dealer does not use what it dealt.
    zero, one = pair(keys, stores, timeout=20)
    with zero, one:
        errors = both(lambda: zero.run(ADDER, x=1), lambda: one.run(ADDER, y=2))
        assert all(isinstance(error, sy.OutOfMaterial) for error in errors), errors
        assert "dealer" in str(errors[0])


def test_an_encrypted_store(keys, tmp_path) -> None:
    key = tmp_path / "store.key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    place = {"insecure": True, "peers": {1: sy.Peer("127.0.0.1:1")}, "store": tmp_path / "store"}
    sy.Party(0, **place, store_key=key).close()
    with pytest.raises(sy.StoreError, match="key"):
        sy.Party(0, **place)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"store_key": "a.key"}, "give `store`"),
        ({"batch": 3}, "`prepare` takes it"),
        ({"dealer": sy.Peer()}, "the dealer has no address"),
    ],
)
def test_wrong_settings(arguments: dict, why: str) -> None:
    with pytest.raises(sy.InvalidInput, match=why):
        party = sy.Party(0, peers={1: sy.Peer("127.0.0.1:1")}, insecure=True, **arguments)
        party.run(ADDER, x=1)


def test_without_a_store() -> None:
    party = sy.Party(0, peers={1: sy.Peer("127.0.0.1:1")}, insecure=True)
    for call in (party.material, lambda: party.prepare(ADDER)):
        with pytest.raises(sy.InvalidInput, match="has no store"):
            call()
    assert "batch" not in [option["name"] for option in sy.options()]


def test_a_dealer_says_what_it_lacks(keys) -> None:
    for arguments in ({}, {"key": keys[0][0]}, {"insecure": True, "parties": [keys[0][1]]}):
        with pytest.raises(sy.InvalidInput):
            sy.Dealer(listen="127.0.0.1:0", **arguments)
