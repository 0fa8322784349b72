"""Tables in, tables out."""

import hashlib

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
    assert list(columns["age"]) == [0, 70, 41, 0] and columns["age"].dtype.kind == "i"
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
