"""Tables as inputs: columns of pandas, of Arrow, or of a dict."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """A table for an input that is an array of structures, or of numbers.

    ``data`` is a data frame of pandas, a table of Arrow, or a dict of columns. Its columns are
    taken by the names of the structure's fields; ``columns`` names them where they are called
    otherwise, in the order of the fields. ``NAME|sha256`` makes an integer of a text by a hash,
    here and not between the parties, and ``NAME|hex`` reads one in hexadecimal: the command does
    the same for CSV. With ``pad``, missing rows are filled up with zeros: the length of the input
    is public, that of the table is not.
    """

    data: Any = field(repr=False)
    columns: Sequence[str] = ()
    pad: bool = False

    def encoded(self) -> tuple[str, list[str], bool]:
        """Returns the table as CSV, and what to take from it."""
        columns = _columns(self.data)
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError("the columns of a table have one length")
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        cells = (map(_cell, column) for column in columns.values())
        writer.writerows(zip(*cells, strict=True))
        return text.getvalue(), list(self.columns), self.pad


    def arrays(self, names: Sequence[str]) -> list[np.ndarray[Any, Any]] | None:
        """Returns columns as arrays of numbers or truth values, without an object for each cell.

        ``None`` if a column is missing, has other cells or none in some, or another length.
        """
        found = [_array(self.data, name) for name in names]
        arrays = [array for array in found if array is not None]
        lengths = {len(array) for array in arrays}
        return arrays if len(arrays) == len(found) and len(lengths) == 1 else None


def _array(data: Any, name: str) -> np.ndarray[Any, Any] | None:
    if not hasattr(data, "__getitem__"):
        return None
    known = data.column_names if hasattr(data, "column_names") else list(data)
    if known.count(name) != 1:
        return None
    column = data[name]
    if getattr(column, "null_count", 0):
        return None
    if hasattr(column, "to_numpy"):
        column = column.to_numpy()
    is_plain = isinstance(column, np.ndarray) and column.ndim > 0 and column.dtype.kind in "biuf"
    return column if is_plain else None


def is_table(value: Any) -> bool:
    """Whether it is a data frame or a table of Arrow."""
    return hasattr(value, "column_names") or (hasattr(value, "columns") and hasattr(value, "iloc"))


def _columns(data: Any) -> dict[str, Sequence[Any]]:
    if hasattr(data, "column_names"):
        return {name: data[name].to_pylist() for name in data.column_names}
    if hasattr(data, "iloc"):
        return {str(name): data[name].tolist() for name in data.columns}
    if isinstance(data, Mapping):
        return {
            str(name): column if isinstance(column, list) else list(_plain(column))
            for name, column in data.items()
        }
    raise TypeError("a table is a data frame, a table of Arrow, or a dict of columns")


def _plain(column: Iterable[Any]) -> Iterable[Any]:
    for convert in ("tolist", "to_pylist"):
        if hasattr(column, convert):
            plain: Iterable[Any] = getattr(column, convert)()
            return plain
    return column


def _cell(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float() if math.isnan(value):
            return ""
        case float() if value.is_integer() and abs(value) < 2**53:
            # Integers with gaps are floating-point numbers in pandas.
            return str(int(value))
        case float():
            return repr(value)
        case None:
            return ""
    return "" if type(value).__name__ in ("NAType", "NaTType") else str(value)
