"""Tables in, tables out."""

import hashlib
import pickle

import numpy as np
import pytest

import symbolon as sy

VISITS = """
struct Visit { id: u128, age: u8, score: Option<u16> }
fn main(visits: [Visit; 4] from 0, least: u8 from 1)
    -> (kept: [Visit; 4] to all, ids: [u128; 4] to 0, ages: [u8; 4] to 0) {
    let mut kept = visits;
    let mut ids = [0; 4];
    let mut ages = [0; 4];
    for i in 0..4 {
        if visits[i].age < least { kept[i].age = 0; }
        ids[i] = visits[i].id;
        ages[i] = visits[i].age;
    }
    (kept, ids, ages)
}
"""


def digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


@pytest.fixture(scope="module")
def visits():
    return sy.source(VISITS)


def test_a_dict_of_columns(visits) -> None:
    data = {"age": np.array([20, 70, 41, 9]), "id": [1, 2, 3, 4], "score": [5, None, 7, 8]}
    result = sy.simulate(visits, visits=sy.Table(data), least=40)
    assert result["kept"][1] == {"id": 2, "age": 70, "score": None}
    columns = result.columns("kept")
    assert list(columns["age"]) == [0, 70, 41, 0] and columns["age"].dtype == np.uint8
    assert list(columns["score"]) == [5, None, 7, 8]


def test_padding_and_hashes(visits) -> None:
    data = {"name": ["Ann", 'Zoë, with a "quote"'], "years": [30, 50], "points": [1, 2]}
    table = sy.Table(data, columns=["name|sha256", "years", "points"], pad=True)
    result = sy.simulate(visits, visits=table, least=40)
    ids = list(result["ids"])
    assert ids[:2] == [digest(name) for name in data["name"]] and ids[2:] == [0, 0]
    with pytest.raises(sy.InvalidInput, match="visits"):
        sy.simulate(
            visits, visits=sy.Table(data, columns=["name|sha256", "years", "points"]), least=1
        )


def test_data_frames(visits) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2, 3, 4], "age": [50, 60, 7, 80]})
    frame["score"] = [1.0, float("nan"), 3.0, 4.0]
    result = sy.simulate(visits, visits=frame, least=40)
    back = result.frame("kept")
    assert list(back.columns) == ["id", "age", "score"] and list(back["age"]) == [50, 60, 0, 80]
    assert result["kept"][1]["score"] is None
    both = sy.simulate(
        sy.source(
            "fn main(x: u8 from 0) -> (a: [u8; 2] to all, b: [bool; 2] to all) {"
            " ([x, x + 1], [x == 1, x == 2]) }"
        ),
        x=1,
    ).frame()
    assert list(both["a"]) == [1, 2] and list(both["b"]) == [True, False]


def test_arrow_tables(visits) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"id": [1, 2, 3, 4], "age": [50, 60, 7, 80], "score": [1, None, 3, 4]})
    result = sy.simulate(visits, visits=table, least=40)
    back = result.arrow("kept")
    assert back.column_names == ["id", "age", "score"]
    assert back["score"].to_pylist() == [1, None, 3, 4]


def test_wrong_tables(visits) -> None:
    for table in (
        sy.Table({"id": [1], "age": [2, 3]}),
        sy.Table([1, 2]),
        sy.Table({"id": [1] * 4}),
    ):
        with pytest.raises(sy.InvalidInput, match="visits"):
            sy.simulate(visits, visits=table, least=40)


ROWS = """
struct Row { id: u64, share: f32, at: [i16; 2], open: bool, kind: u8 }
fn main(rows: [Row; 5] from 0, least: u8 from 1) -> (kept: [Row; 5] to all) {
    let mut kept = rows;
    for i in 0..5 { if rows[i].kind < least { kept[i].open = false; } }
    kept
}
"""


def test_columns_of_numbers_go_as_they_are() -> None:
    rows = sy.source(ROWS)
    data = {
        "id": np.array([2**64 - 1, 0, 7], dtype=np.uint64),
        "share": np.array([0.1, -0.0, np.inf], dtype=np.float32),
        "at": np.array([[1, -2], [3, -4], [-(2**15), 2**15 - 1]]),
        "open": np.array([True, True, False]),
        "kind": np.array([9, 1, 5], dtype=np.int8),
        "more": np.array(["not", "a", "field"]),
    }
    result = sy.simulate(rows, rows=sy.Table(data, pad=True), least=4)
    back = result.columns("kept")
    assert list(back) == ["id", "share", "at", "open", "kind"]
    padded = [np.concatenate([data[name], np.zeros((2, *data[name].shape[1:]))]) for name in back]
    padded[0] = np.concatenate([data["id"], np.zeros(2, dtype=np.uint64)])
    padded[3][1] = False
    for name, wanted in zip(back, padded, strict=True):
        assert np.array_equal(back[name], wanted), name
    assert [back[name].dtype for name in ("id", "at", "open")] == [np.uint64, np.int16, np.bool_]
    assert np.signbit(back["share"][1])
    again = pickle.loads(pickle.dumps(result))
    assert list(map(int, again.columns("kept")["id"])) == list(map(int, back["id"]))
    assert result["kept"][0] == {
        "id": 2**64 - 1,
        "share": pytest.approx(0.1),
        "at": [1, -2],
        "open": True,
        "kind": 9,
    }


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"kind": np.array([1, 2, 300])}, "kind"),
        ({"kind": np.array([1, 2, -1])}, "kind"),
        ({"share": np.array([1.0, np.nan, 2.0])}, "share"),
        ({"open": np.array([1, 2, 3])}, "open"),
        ({"id": np.array([1, 2])}, "one length"),
    ],
)
def test_columns_with_other_cells_are_refused(wrong, why) -> None:
    data = {
        "id": np.arange(3),
        "share": np.arange(3, dtype=np.float32),
        "open": np.array([True] * 3),
        "kind": np.arange(3),
    }
    text = ROWS.replace(" at: [i16; 2],", "")
    with pytest.raises(sy.InvalidInput, match=why):
        sy.simulate(sy.source(text), rows=sy.Table(data | wrong, pad=True), least=4)


def test_rows_beyond_the_input_are_refused() -> None:
    data = {"x": np.arange(6), "y": np.arange(6)}
    program = sy.source(
        "struct P { x: u8, y: u8 } fn main(p: [P; 5] from 0) -> (x: u8 to all) { p[0].x }"
    )
    with pytest.raises(sy.InvalidInput, match="`p`"):
        sy.simulate(program, p=sy.Table(data, pad=True))
    for data in ({"x": np.arange(4), "y": np.arange(4)}, 5):
        with pytest.raises(sy.InvalidInput, match="`p`"):
            sy.simulate(program, p=sy.Table(data))
