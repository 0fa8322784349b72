"""Functions traced from Python."""

import pickle

import numpy as np
import pytest

import symbolon as sy


@sy.function
def closest(a: sy.Array[sy.u32, 8], x: sy.u32) -> sy.u32:
    return a[sy.argmin(sy.abs_diff(a, x))]


def test_closest() -> None:
    prices = np.array([10, 25, 40, 70, 90, 5, 3, 200], dtype=np.uint32)
    assert sy.simulate(closest, a=prices, x=33).value == 40
    assert closest.circuit.inputs[0].parties == [0] and closest.circuit.inputs[1].parties == [1]
    assert closest.stats()["and_gates"] > 0
    assert "test_trace.py" in closest.source and "sy.argmin" in closest.source


FIXED = sy.fixed(16, 16)


@sy.function(
    owners={"bias": 0, "x": 1}, returns={"score": FIXED, "high": sy.bool_}, to={"score": 1}
)
def score(weights: sy.Array[FIXED, 3], bias: FIXED, x: sy.Array[FIXED, 3]):
    value = weights @ x + bias
    return {"score": value, "high": value > 1.5}


def test_named_outputs_go_where_they_should() -> None:
    result = sy.simulate(score, weights=[0.5, -1.0, 2.0], bias=0.25, x=[1.0, 2.0, 1.5])
    assert dict(result) == {"score": 1.75, "high": True}
    assert score.circuit.outputs[0].parties == [1] and score.circuit.outputs[1].parties is None


OPERATIONS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: 3 * a + b * 2 - 1,
    lambda a, b: a & b | 12 ^ a,
    lambda a, b: ~a,
    lambda a, b: a << 2,
    lambda a, b: a >> 3,
    lambda a, b: 7 - a,
]


@pytest.mark.parametrize("operation", range(len(OPERATIONS)))
@pytest.mark.parametrize("kind", ["u16", "i16"])
def test_operators_are_those_of_numpy(operation: int, kind: str) -> None:
    ty, dtype = getattr(sy, kind), {"u16": np.uint16, "i16": np.int16}[kind]
    do = OPERATIONS[operation]

    def traced(a: sy.Array[ty, 6], b: sy.Array[ty, 6]) -> sy.Array[ty, 6]:
        return do(a, b)

    random = np.random.default_rng(operation)
    low, high = (0, 2**16) if kind == "u16" else (-(2**15), 2**15)
    a, b = (random.integers(low, high, 6).astype(dtype) for _ in range(2))
    with np.errstate(over="ignore"):
        expected = do(a, b).astype(dtype)
    np.testing.assert_array_equal(sy.simulate(sy.function(traced), a=a, b=b).value, expected)


def test_comparisons_and_choices() -> None:
    @sy.function
    def clipped(a: sy.Array[sy.i32, 2, 3], b: sy.i32) -> sy.Array[sy.i32, 2, 3]:
        return sy.where((a > b) & (a != 100), b, sy.maximum(a, -5))

    a = np.array([[1, 50, 100], [-9, 7, 8]], dtype=np.int32)
    assert sy.simulate(clipped, a=a, b=7).value.tolist() == [[1, 7, 100], [-5, 7, 7]]


def test_reductions() -> None:
    @sy.function(
        returns={
            "sum": sy.uint(11),
            "signed": sy.i8,
            "least": sy.u8,
            "most": sy.u8,
            "sorted": sy.Array[sy.u8, 5],
            "large": sy.uint(3),
            "some": sy.bool_,
            "each": sy.bool_,
            "distance": sy.u8,
            "quotient": sy.i8,
            "rest": sy.i8,
            "tail": sy.Array[sy.u8, 2],
            "picked": sy.u8,
        }
    )
    def all_of_them(a: sy.Array[sy.u8, 5], b: sy.Array[sy.i8, 3]):
        return {
            "sum": a.sum(),
            "signed": b.sum(),
            "least": a.min(),
            "most": a.max(),
            "sorted": sy.sort(a),
            "large": sy.sum(a > 100),
            "some": (a > 250).any(),
            "each": (a > 1).all(),
            "distance": abs(b[0]),
            "quotient": sy.div(b[0], b[1]),
            "rest": sy.rem(b[0], b[1]),
            "tail": a[-2:],
            "picked": a[b[2].astype(sy.u8)],
        }

    result = sy.simulate(all_of_them, a=[200, 255, 3, 7, 90], b=[-7, 2, 1])
    assert {name: np.asarray(value).tolist() for name, value in result.items()} == {
        "sum": 555,
        "signed": -4,
        "least": 3,
        "most": 255,
        "sorted": [3, 7, 90, 200, 255],
        "large": 2,
        "some": True,
        "each": True,
        "distance": 7,
        "quotient": -3,
        "rest": -1,
        "tail": [7, 90],
        "picked": 255,
    }


def test_floating_point_and_conversions() -> None:
    @sy.function
    def mean(a: sy.Array[sy.u8, 4], scale: sy.f32) -> sy.f32:
        return a.astype(sy.f32).sum() / 4 * scale + 0.5

    assert sy.simulate(mean, a=[1, 2, 3, 4], scale=2.0).value == 5.5


def test_matrices() -> None:
    @sy.function
    def product(a: sy.Array[sy.u16, 2, 3], b: sy.Array[sy.u16, 3, 2]) -> sy.Array[sy.u16, 2, 2]:
        return a @ b

    a, b = np.arange(6, dtype=np.uint16).reshape(2, 3), np.arange(6, dtype=np.uint16).reshape(3, 2)
    np.testing.assert_array_equal(sy.simulate(product, a=a, b=b).value, a @ b)


def traced(body, kind=sy.u8, shape=(4,)):
    def call(a: sy.Array[kind, shape[0]], b: kind) -> kind:
        return body(a, b)

    return sy.function(call).source


@pytest.mark.parametrize(
    ("body", "error", "why"),
    [
        (lambda a, b: 1 if b > 3 else 2, TypeError, "cannot branch"),
        (lambda a, b: b and 1, TypeError, "cannot branch"),
        (lambda a, b: int(b), TypeError, "nobody knows"),
        (lambda a, b: [1, 2][b], TypeError, "nobody knows"),
        (lambda a, b: {b: 1}, TypeError, "unhashable"),
        (lambda a, b: range(b), TypeError, "nobody knows"),
        (lambda a, b: b / 2, TypeError, "sy.div"),
        (lambda a, b: b + 0.5, TypeError, "cannot meet a secret"),
        (lambda a, b: b + "x", TypeError, "a str cannot meet"),
        (lambda a, b: b + np.array([1, 2]), TypeError, "cannot meet"),
        (lambda a, b: a[4], IndexError, "no element 4 of 4"),
        (lambda a, b: a[::2], IndexError, "step is 1"),
        (lambda a, b: a + a[:2], ValueError, "do not meet"),
        (lambda a, b: len(b), TypeError, "no length"),
        (lambda a, b: sy.where(True, a, a), TypeError, "for one that Python knows"),
        (lambda a, b: {"x": b}, TypeError, "cannot meet"),
    ],
)
def test_what_is_no_circuit_is_refused(body, error, why: str) -> None:
    with pytest.raises(error, match=why) as refused:
        traced(body)
    # The line of the author is in the traceback.
    assert any(frame.path.name == "test_trace.py" for frame in refused.traceback[1:])


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: sy.function(lambda a: a).source, "`a` needs a type"),
        (lambda: sy.function(owners={"z": 1})(closest._call).source, "no parameter z"),
        (lambda: sy.function(returns={"a": sy.u8})(closest._call).source, "returns a dict of a"),
        (lambda: sy.function(returns={})(closest._call).source, "the result needs a type"),
        (lambda: sy.function(to={"z": 1})(closest._call).source, "no output z"),
        (lambda: sy.Array[sy.u8], "one length or more"),
        (lambda: sy.Array[sy.u8, 0], "one length or more"),
        (lambda: sy.Array[int, 3], "numbers or truth values"),
    ],
)
def test_mistakes_of_declarations(make, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        make()


def test_an_error_of_types_shows_the_author_s_line() -> None:
    def mixed(a: sy.u8, b: sy.u16) -> sy.u8:
        return a + b  # the author's line

    with pytest.raises(sy.CompileError, match="the author's line"):
        sy.function(mixed).stats()


def test_a_circuit_travels_as_its_file() -> None:
    circuit = sy.source("fn main(x: [u8; 3] from 0) -> (y: u8 to 1) { x[0] + x[2] }")
    for copy in (sy.circuit(circuit.to_bytes()), pickle.loads(pickle.dumps(circuit))):
        assert copy.digest == circuit.digest and copy.inputs[0].type == "[u8; 3]"
