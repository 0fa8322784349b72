"""What a run returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, overload

import numpy as np

from ._symbolon import Outputs
from ._values import decode

_COLUMNS = ("phase", "bytes_sent", "bytes_received", "rounds", "seconds")


class Report:
    """What each phase of a run cost this party."""

    def __init__(self, phases: list[dict[str, Any]]) -> None:
        self.phases = phases

    @property
    def bytes_sent(self) -> int:
        return sum(phase["bytes_sent"] for phase in self.phases)

    @property
    def bytes_received(self) -> int:
        return sum(phase["bytes_received"] for phase in self.phases)

    @property
    def seconds(self) -> float:
        return float(sum(phase["seconds"] for phase in self.phases))

    def __str__(self) -> str:
        return table(self._rows())

    def __repr__(self) -> str:
        return f"<Report: {self.bytes_sent} bytes sent, {self.seconds:.3f} s>"

    def _repr_html_(self) -> str:
        return table_html(self._rows())

    def _rows(self) -> list[tuple[str, ...]]:
        return [_COLUMNS, *(_row(phase) for phase in self.phases)]


def _row(phase: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{phase[column]:.3f}" if column == "seconds" else str(phase[column]) for column in _COLUMNS
    )


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Returns rows, of which the first has the names of the columns, as text."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def table_html(rows: Sequence[tuple[str, ...]]) -> str:
    """Returns the same rows for a notebook."""

    def line(kind: str, row: tuple[str, ...]) -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in row) + "</tr>"

    head = tuple(column.replace("_", " ") for column in rows[0])
    body = "".join(line("td", row) for row in rows[1:])
    return f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"


class Learnt(Mapping[str, Any]):
    """Outputs by name. Their bits become Python's values when they are read."""

    def __init__(self, outputs: Sequence[Outputs]) -> None:
        self._outputs = {name: one for one in outputs for name in one.names()}
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = decode(self._outputs[name].get(name))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        # Bits of outputs cannot be pickled, values can.
        return dict, (dict(self),)

    def columns(self, name: str) -> dict[str, np.ndarray[Any, Any]] | None:
        """The columns of an array of structures, without a structure for each row."""
        columns = self._outputs[name].columns(name)
        return None if columns is None else {field: column(decode(one)) for field, one in columns}


def column(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Returns values of one type as an array; those that no type of numpy has become objects."""
    if isinstance(values, np.ndarray):
        return values
    if all(isinstance(value, (bool, int, float, np.ndarray)) for value in values):
        try:
            array = np.array(values)
        except OverflowError:
            pass
        else:
            # numpy makes floating-point numbers of integers below and above 2^63 together.
            whole = len(values) > 0 and all(isinstance(value, int) for value in values)
            if not whole or array.dtype.kind != "f":
                return array
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


class Result(Mapping[str, Any]):
    """The outputs that this party learnt, by name, and what the run cost it.

    Arrays of numbers and truth values are numpy arrays, structures are dicts, variants are their
    names (with a payload, a dict of one), optional values ``None`` or the value.
    """

    def __init__(self, values: Mapping[str, Any], report: Report, used: list[str]) -> None:
        self._values = values
        self.report = report
        self.used = used
        """The prepared circuit that was used up, if it ran on one."""

    @property
    def value(self) -> Any:
        """The output, where this party learnt exactly one."""
        return self._values[self._only()]

    def _only(self) -> str:
        if len(self._values) != 1:
            names = ", ".join(self._values) or "none"
            raise ValueError(f"there is not one output but these: {names}")
        return next(iter(self._values))

    def columns(self, output: str | None = None) -> dict[str, Any]:
        """An output that is an array of structures as columns: a numpy array for each field.

        Without ``output``, it is the one output; or all outputs are arrays, and each is a column.
        """
        if output is None and len(self) > 1:
            return {name: column(value) for name, value in self.items()}
        name = self._only() if output is None else output
        if isinstance(self._values, Learnt) and (columns := self._values.columns(name)) is not None:
            return columns
        rows = self[name]
        if all(isinstance(row, dict) for row in rows) and len(rows) > 0:
            return {field: column([row[field] for row in rows]) for field in rows[0]}
        return {name: column(rows)}

    def frame(self, output: str | None = None) -> Any:
        """The same columns as a data frame of pandas."""
        import pandas

        columns = self.columns(output)
        flat = {name: list(c) if c.ndim > 1 else c for name, c in columns.items()}
        return pandas.DataFrame(flat)

    def arrow(self, output: str | None = None) -> Any:
        """The same columns as a table of Arrow."""
        import pyarrow

        columns = self.columns(output).items()
        has_type = {name: c.ndim == 1 and c.dtype.kind in "biuf" for name, c in columns}
        return pyarrow.table({name: c if has_type[name] else c.tolist() for name, c in columns})

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Result({dict(self._values)!r})"


class Batch(Sequence[Result]):
    """The results of many evaluations, in order, and what they cost together."""

    def __init__(self, results: list[Result], report: Report, used: list[str]) -> None:
        self._results = results
        self.report = report
        self.used = used
        """The prepared circuits that were used up."""

    def column(self, output: str | None = None) -> np.ndarray[Any, Any]:
        """One output of all evaluations as an array, whose first axis is the evaluation.

        ``output`` may be left out where there is only one. Values that no type of numpy has, such
        as texts, structures and large integers, become objects.
        """
        return column([r.value if output is None else r[output] for r in self._results])

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> list[Result]: ...
    def __getitem__(self, place: int | slice) -> Result | list[Result]:
        return self._results[place]

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"<Batch: {len(self)} evaluations>"
