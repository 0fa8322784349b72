"""The rows of a party: data frames, tables of Arrow, datasets of Ray, dicts of columns, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._symbolon import Circuit, InvalidInput


@dataclass
class Rows:
    """Rows in pieces, in order. A piece is a table here, or a reference to one in the cluster."""

    count: int
    pieces: list[Any]
    starts: list[int]
    names: list[str]

    def part(self, start: int, end: int) -> tuple[list[tuple[int, int]], list[Any]]:
        """Returns the pieces that have these rows, and the span of each."""
        spans, tables = [], []
        ends = [*self.starts, self.count][1:]
        for piece, first, last in zip(self.pieces, self.starts, ends, strict=True):
            low, high = max(start, first), min(end, last)
            if low < high:
                if _is_reference(piece):
                    spans.append((low - first, high - first))
                    tables.append(piece)
                else:
                    # Only these rows travel.
                    spans.append((0, high - low))
                    tables.append(_cut(piece, low - first, high - first))
        return spans, tables


def rows_of(rows: Any, count: int | None, circuit: Circuit, party: int) -> Rows:
    """Reads the rows that a party gives.

    Raises `InvalidInput` if they are of no known type, or their columns are not its inputs.
    """
    found = Rows(0, [], [], []) if rows is None else _read(rows)
    own = [port.name for port in circuit.inputs if port.parties and party in port.parties]
    for name in found.names:
        if name not in own:
            known = ", ".join(f"`{name}`" for name in own) or "none"
            raise InvalidInput(f"`rows`: this party has no input `{name}`; its inputs are {known}")
    for name in own:
        if name not in found.names:
            raise InvalidInput(f"`rows`: there is no column `{name}`")
    if rows is None:
        if count is None:
            raise InvalidInput("`count`: without `rows`, it says how many rows there are")
        found.count = count
    elif count not in (None, found.count):
        raise InvalidInput(f"`count` is {count}, and `rows` has {found.count}")
    if found.count < 1:
        raise InvalidInput("`rows`: there is one row or more")
    return found


def _read(rows: Any) -> Rows:
    if hasattr(rows, "to_arrow_refs"):
        return _dataset(rows)
    if hasattr(rows, "column_names") and hasattr(rows, "num_rows"):
        return Rows(rows.num_rows, [rows], [0], list(rows.column_names))
    if hasattr(rows, "iloc") and hasattr(rows, "columns"):
        names = [str(name) for name in rows.columns]
        return Rows(len(rows), [rows], [0], names)
    if isinstance(rows, Mapping):
        lengths = {len(column) for column in rows.values()}
        if len(lengths) > 1:
            raise InvalidInput("`rows`: its columns have different lengths")
        return Rows(lengths.pop() if lengths else 0, [dict(rows)], [0], [str(n) for n in rows])
    raise InvalidInput(
        "`rows` is a data frame of pandas, a table of Arrow, a dataset of Ray, a dict of columns, "
        "or None"
    )


def _dataset(dataset: Any) -> Rows:
    """Its blocks stay where they are: actors fetch those that they need."""
    import ray

    references = dataset.to_arrow_refs()
    look = ray.remote(num_cpus=0)(_about)
    about = ray.get([look.remote(reference) for reference in references])
    pieces, starts, names, count = [], [], [], 0
    for reference, (rows, columns) in zip(references, about, strict=True):
        if rows:
            pieces.append(reference)
            starts.append(count)
            names, count = columns, count + rows
    return Rows(count, pieces, starts, names)


def _about(table: Any) -> tuple[int, list[str]]:
    return table.num_rows, list(table.column_names)


def _is_reference(piece: Any) -> bool:
    return type(piece).__name__ == "ObjectRef"


def _cut(table: Any, start: int, end: int) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[start:end]
    if hasattr(table, "column_names"):
        return table.slice(start, end - start)
    return {name: column[start:end] for name, column in table.items()}


def columns_of(spans: Sequence[tuple[int, int]], tables: Sequence[Any]) -> dict[str, list[Any]]:
    """Returns the columns of these rows as lists."""
    columns: dict[str, list[Any]] = {}
    for (start, end), table in zip(spans, tables, strict=True):
        cut = _cut(table, start, end)
        names = cut.column_names if hasattr(cut, "column_names") else list(cut)
        for name in names:
            columns.setdefault(str(name), []).extend(_values(cut[name]))
    return columns


def _values(column: Any) -> list[Any]:
    for convert in ("to_pylist", "tolist"):
        if hasattr(column, convert):
            return list(getattr(column, convert)())
    return list(column)
