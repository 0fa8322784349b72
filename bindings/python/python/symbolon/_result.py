"""What a run returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
        rows = [_COLUMNS, *(_row(phase) for phase in self.phases)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        )

    def __repr__(self) -> str:
        return f"<Report: {self.bytes_sent} bytes sent, {self.seconds:.3f} s>"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{cell}</td>" for cell in _row(phase)) + "</tr>"
            for phase in self.phases
        )
        head = "".join(f"<th>{column.replace('_', ' ')}</th>" for column in _COLUMNS)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _row(phase: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{phase[column]:.3f}" if column == "seconds" else str(phase[column]) for column in _COLUMNS
    )


class Result(Mapping[str, Any]):
    """The outputs that this party learnt, by name, and what the run cost it.

    Arrays of numbers and truth values are numpy arrays, structures are dicts, variants are their
    names (with a payload, a dict of one), optional values ``None`` or the value.
    """

    def __init__(self, learnt: list[Outputs]) -> None:
        self._values = {
            name: decode(outputs.get(name)) for outputs in learnt for name in outputs.names()
        }
        self.report = Report(learnt[0].report())

    @property
    def value(self) -> Any:
        """The output, where this party learnt exactly one."""
        if len(self._values) != 1:
            names = ", ".join(self._values) or "none"
            raise ValueError(f"there is not one output but these: {names}")
        return next(iter(self._values.values()))

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Result({self._values!r})"
