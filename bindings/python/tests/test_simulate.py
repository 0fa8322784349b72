"""All parties in one process: values of every kind, in and out."""

import dataclasses
import enum
import io

import numpy as np
import pytest

import symbolon as sy

ECHO = """
enum Class {{ Free, Card(u8) }}
struct Bid {{ price: i16, at: (u8, bool) }}
fn main(x: {type} from 0, y: bool from 1) -> (same: {type} to all) {{ x }}
"""


def echo(type_: str, value: object) -> object:
    return sy.simulate(sy.source(ECHO.format(type=type_)), x=value, y=True).value


@dataclasses.dataclass
class Bid:
    price: int
    at: tuple[int, bool]


class Class(enum.Enum):
    Free = 1


def test_the_richer_of_two() -> None:
    richer = sy.builtin("millionaires:32")
    assert sy.simulate(richer, x=5_000_000, y=4_999_999).value == 1
    assert sy.simulate(richer, x=5, y=6)["richer"] == 0


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("u8", 200),
        ("i64", -(2**63)),
        ("u200", 2**199 + 7),
        ("bool", True),
        ("f64", 0.1),
        ("f32", -1.5),
        ("f64", float("-inf")),
        ("fixed<16, 16>", 2.25),
        ("text<8>", "Zoë"),
        ("text<8>", "[1, 2]"),
        ("(u8, bool)", (7, False)),
        ("Option<u8>", None),
        ("Option<u8>", 9),
        ("Option<Option<u8>>", {"Some": [None]}),
        ("Class", "Free"),
        ("Class", {"Card": [5]}),
        ("[(u8, bool); 2]", [(1, True), (2, False)]),
    ],
)
def test_values_come_back(type_: str, value: object) -> None:
    same = echo(type_, value)
    if isinstance(value, dict):
        same = {name: list(payload) for name, payload in same.items()}
    assert same == value and type(same) is type(value)


def test_records_and_variants_are_those_of_python() -> None:
    assert echo("Bid", Bid(price=-3, at=(1, True))) == {"price": -3, "at": (1, True)}
    assert echo("Class", Class.Free) == "Free"
    assert np.isnan(echo("f32", float("nan")))


@pytest.mark.parametrize(
    ("type_", "dtype"),
    [
        (f"{kind}{width}", f"{name}{width}")
        for width in (8, 16, 32, 64)
        for kind, name in (("u", "uint"), ("i", "int"))
    ]
    + [("f32", "float32"), ("f64", "float64")],
)
def test_arrays_of_numpy_come_back(type_: str, dtype: str) -> None:
    random = np.random.default_rng(7)
    array = random.integers(0, 256, (3, 5, np.dtype(dtype).itemsize), dtype=np.uint8)
    array = array.view(dtype).reshape(3, 5)
    if array.dtype.kind == "f":
        array = np.linspace(-1e3, 1e3, 15, dtype=dtype).reshape(3, 5)
    same = echo(f"[[{type_}; 5]; 3]", array)
    assert same.dtype == dtype
    np.testing.assert_array_equal(same, array)
    # What lies otherwise in memory, or is of another order of bytes, is the same array.
    np.testing.assert_array_equal(echo(f"[[{type_}; 3]; 5]", array.T), array.T)
    other = array.astype(array.dtype.newbyteorder(">"))
    np.testing.assert_array_equal(echo(f"[[{type_}; 5]; 3]", other), array)
    np.testing.assert_array_equal(echo(f"[[{type_}; 5]; 3]", array.tolist()), array)


def test_truth_values_are_packed() -> None:
    array = np.random.default_rng(1).random(13) < 0.5
    np.testing.assert_array_equal(echo("[bool; 13]", array), array)


def test_columns_of_tables() -> None:
    pandas = pytest.importorskip("pandas")
    arrow = pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"age": [31, 47, 20]})
    assert echo("[u8; 3]", table["age"]).tolist() == [31, 47, 20]
    assert echo("[u8; 3]", arrow.table(table)["age"]).tolist() == [31, 47, 20]


@pytest.mark.parametrize(
    ("type_", "value", "why"),
    [
        ("u8", 256, "does not fit|out of range"),
        ("u8", "x", "x|number|integer"),
        ("u8", object(), "a object has no form"),
        ("[u8; 2]", [1, 2, 3], r"shape \(2,\) is needed"),
        ("[u8; 2]", [1, 256], "out of range"),
        ("[u8; 2]", [-1, 2], "out of range"),
        ("[u8; 2]", [0.5, 1.0], "takes integers"),
        ("[u8; 2]", np.array([0.5, 1.0]), "floating-point"),
        ("[u8; 2]", [2**70, 1], "out of range"),
        ("[u8; 2]", [None, 1], "takes integers"),
        ("[u8; 2]", [True, False], "truth values"),
        ("[bool; 2]", [1, 0], "truth values"),
        ("[f32; 2]", np.array(["a", "b"]), "has no such values"),
        ("[u16; 2]", b"abc", "takes 4 bytes, 3 were given"),
    ],
)
def test_what_does_not_fit_is_refused(type_: str, value: object, why: str) -> None:
    with pytest.raises(sy.InvalidInput, match=why) as refused:
        echo(type_, value)
    assert refused.value.code == "invalid-input"
    assert "256" not in str(refused.value).replace("x256", ""), "no error shows a value"


def test_bytes_are_wires() -> None:
    assert echo("[u8; 4]", b"\x01\x02\xfe\xff").tolist() == [1, 2, 254, 255]
    assert echo("u16", b"\x01\x02") == 0x0201


def test_mistakes_have_names() -> None:
    richer = sy.builtin("millionaires:32")
    with pytest.raises(sy.InvalidInput, match="no input `z`; its inputs are `x`, `y`"):
        sy.simulate(richer, x=1, z=2)
    with pytest.raises(sy.InvalidInput, match="no value for party 1's input `y`"):
        sy.simulate(richer, x=1)
    with pytest.raises(sy.InvalidInput, match="no parameter `rhoo`"):
        sy.simulate(richer, x=1, y=2, options={"rhoo": 40})
    with pytest.raises(sy.InvalidInput, match="did you mean"):
        sy.builtin("aes12")
    with pytest.raises(sy.CompileError, match="line 1|main.sym:1"):
        sy.source("fn main(x: u8 from 0) -> (y: u8 to all) { z }")
    with pytest.raises(FileNotFoundError):
        sy.circuit("/nowhere/file.txt")
    with pytest.raises(sy.InvalidInput, match="cannot read"):
        sy.load("/nowhere/file.sym")


def test_every_protocol_and_its_options() -> None:
    adder = sy.builtin("add:16")
    for protocol in ("wrk", "ywz", "tinytable", "duplo", "dualex"):
        options = {"protocol": protocol, "rho": 40}
        assert sy.simulate(adder, x=40, y=2, options=options).value == 42
    names = {option["name"] for option in sy.options()}
    assert {"protocol", "rho", "form", "ot", "threads"} <= names


def test_more_parties_than_two() -> None:
    auction = sy.builtin("auction:3x16")
    bids = {port.name: bid for port, bid in zip(auction.inputs, (120, 130, 95), strict=True)}
    result = sy.simulate(auction, **bids)
    assert result["winner"] == 1
    assert result["price_1"] == 120
    with pytest.raises(ValueError, match="not one output"):
        print(result.value)


def test_a_failed_assert_is_an_exception() -> None:
    program = 'fn main(x: u8 from 0, y: u8 from 1) -> (z: u8 to all) { assert(x < y, "order"); x }'
    assert sy.simulate(sy.source(program), x=1, y=2).value == 1
    with pytest.raises(sy.AssertFailed, match="order"):
        sy.simulate(sy.source(program), x=2, y=1)


def test_programs_with_constants_and_modules(tmp_path) -> None:
    (tmp_path / "double.sym").write_text("pub fn twice(x: u32) -> u32 { 2 * x }\n")
    main = tmp_path / "main.sym"
    main.write_text(
        "use double::twice;\n"
        "pub const N: u32 = 3;\n"
        "fn main(x: [u32; N] from 0, y: u32 from 1) -> (z: u32 to all) "
        "{ twice(x.sum() as u32) + y }\n"
    )
    program = sy.load(main, constants={"N": 2})
    assert sy.simulate(program, x=[1, 2], y=5).value == 11
    assert [port.array for port in program.inputs] == [("<u4", [2]), None]
    assert program.stats()["and_gates"] > 0
    assert len(program.digest) == 64


def test_reports_and_progress() -> None:
    steps: list[tuple[str, int, int]] = []
    result = sy.simulate(
        sy.builtin("aes128"), key=1, message=2, progress=lambda *step: steps.append(step)
    )
    assert steps and all(done <= total for _, done, total in steps)
    report = result.report
    assert report.bytes_sent > 100_000 and report.seconds > 0
    assert "online" in str(report) and "<table>" in report._repr_html_()


def test_progress_as_bars() -> None:
    pytest.importorskip("tqdm")
    drawn = io.StringIO()
    sy.simulate(sy.builtin("aes128"), key=1, message=2, progress=sy.bars(file=drawn, mininterval=0))
    assert "100%" in drawn.getvalue()
    told = sy.bars(file=(other := io.StringIO()), mininterval=0)
    told("triples", 3, 10)
    told("gates", 5, 5)
    assert "triples" in other.getvalue() and "gates: 100%" in other.getvalue()


def test_a_callback_that_raises_harms_nothing(capsys) -> None:
    def broken(*_: object) -> None:
        raise ValueError("the callback's own")

    assert sy.simulate(sy.builtin("aes128"), key=1, message=2, progress=broken)
