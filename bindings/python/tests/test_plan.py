"""Plans: the ways of running a circuit, compared."""

import warnings

import pytest

import symbolon as sy


@sy.function
def total(x: sy.u32, y: sy.u32) -> sy.u32:
    return x + y


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_ways_are_ordered_by_time() -> None:
    plan = sy.plan(total, link="wan")
    assert {way.protocol for way in plan} == {"wrk", "ywz", "tinytable", "duplo", "dualex"}
    times = [way.all_seconds for way in plan]
    assert times == sorted(times) and plan.best is plan.ways[0]
    assert plan.best.setup_seconds > 0.15, "two round trips at least"
    assert len(plan) == len(plan.table().splitlines()) - 1
    assert "1 evaluation among 2 parties over wan" in str(plan)
    assert "<table>" in plan._repr_html_() and plan.best.protocol in repr(plan)
    assert sy.plan(total, count=8).best.bytes > sy.plan(total).best.bytes


def test_bytes_are_those_of_a_run() -> None:
    exact = [way for way in sy.plan(total) if way.within_percent == 0]
    code = next(way for way in exact if way.protocol_options == {"mac": "code"})
    for way in (exact[0], code):
        assert_bytes_are_those_of_a_run(way)


def assert_bytes_are_those_of_a_run(way: sy.Way) -> None:
    report = sy.simulate(total, x=3, y=5, options=way.options).report
    sent = sum(
        phase["bytes_sent"] + phase["bytes_received"]
        for phase in report.phases
        if phase["phase"] != "setup"
    )
    assert sent == way.bytes


def test_parties_and_what_is_refused() -> None:
    assert all(way.protocol == "ywz" for way in sy.plan(sy.builtin("auction:3x8")))
    assert sy.plan(total, parties=3, rho=64).parties == 3
    for wrong in ({"link": "moon"}, {"rho": 41}, {"parties": 300}):
        with pytest.raises(sy.InvalidInput):
            sy.plan(total, **wrong)


def test_a_calibration_of_no_use_is_told(cache) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        usual = sy.plan(total)
    (cache / "symbolon").mkdir(mode=0o700)
    (cache / "symbolon" / "rates.toml").write_text("nonsense")
    with pytest.warns(UserWarning, match="damaged"):
        assert sy.plan(total).table() == usual.table()
