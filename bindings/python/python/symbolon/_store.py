"""What is made ahead of time, and what is left of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from ._result import Report, table, table_html
from ._symbolon import Circuit
from ._trace import Function, circuit_of


@dataclass(frozen=True)
class Made:
    """What `Party.prepare` and `Party.fill` have made, the same in the stores of all parties."""

    items: list[str]
    """The names of the new items; none if what was there sufficed."""
    report: Report
    from_pools: int = 0
    """How many circuits were prepared from pools."""
    dealt: int = 0
    """How many circuits depend on material of the dealer."""


@dataclass(frozen=True)
class Item:
    """A pool, or a prepared circuit."""

    item: str
    kind: str
    """``pool`` or ``prepared``."""
    protocol: str
    rho: int
    dealer: str | None
    """The dealer whose material it depends on."""
    circuit: str | None
    """The digest of the circuit that was prepared."""
    name: str | None
    """The name of that circuit."""
    state: str
    """``available``, ``used`` or ``void``."""
    reason: str | None
    """Why it is void."""
    runs: int
    """1 for a prepared circuit that can be run."""
    and_gates: int
    """What is left in a pool."""
    input_bits: int
    """What is left in a pool, for each party."""
    bytes: int
    created: int
    """In seconds since 1970."""


class Material(Sequence[Item]):
    """What a store has. The stores of other parties may have less."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._items = [Item(**entry) for entry in entries]

    def runs(self, circuit: Circuit | Function) -> int:
        """How many times this circuit is prepared and not used."""
        digest = circuit_of(circuit).digest
        return sum(item.runs for item in self if item.circuit == digest)

    @property
    def and_gates(self) -> int:
        """The AND gates left in pools."""
        return sum(item.and_gates for item in self)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        return self._items[place]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __repr__(self) -> str:
        left = sum(item.state == "available" for item in self)
        return f"<Material: {left} of {len(self)} items left>"

    def __str__(self) -> str:
        return table(self._rows())

    def _repr_html_(self) -> str:
        return table_html(self._rows())

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("item", "what", "protocol", "state", "left", "bytes")]
        for item in self:
            what = "pool" if item.kind == "pool" else item.name or "circuit"
            left = f"{item.runs} runs" if item.kind == "prepared" else f"{item.and_gates} gates"
            rows.append((item.item, what, item.protocol, item.state, left, str(item.bytes)))
        return rows
