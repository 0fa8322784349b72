"""What a circuit costs, before anything is run."""

from __future__ import annotations

from dataclasses import dataclass

from ._result import table, table_html
from ._symbolon import Circuit


@dataclass(frozen=True)
class ProtocolCost:
    """What all parties together send with one protocol, at ρ = 40, without the set-up."""

    protocol: str
    form: str | None
    """How it garbles, if there is a choice."""
    ot: str
    """The OT extension that the bytes are for: the one of fast links."""
    independent: int
    """Bytes of the function-independent phase: zero for protocols without triples."""
    rest: int
    """Bytes of the function-dependent and the online phase."""

    @property
    def bytes(self) -> int:
        """Both together."""
        return self.independent + self.rest


class Cost:
    """The gates of a circuit, and the bytes that protocols send for one evaluation.

    The bytes are those of a run on one thread, those of `duplo` to a twentieth.
    """

    def __init__(self, circuit: Circuit, parties: int) -> None:
        stats = circuit.stats()
        self.parties = parties
        self.and_gates = stats["and_gates"]
        self.depth = stats["and_depth"]
        self.input_bits = stats["input_bits"]
        self.output_bits = stats["output_bits"]
        self.protocols = [ProtocolCost(**cost) for cost in circuit.costs(parties)]

    def table(self) -> str:
        """The bytes by protocol as text."""
        return table(self._rows())

    def __str__(self) -> str:
        return f"{self._summary()}\n{self.table()}"

    def __repr__(self) -> str:
        return f"<Cost: {self.and_gates} AND gates, depth {self.depth}>"

    def _repr_html_(self) -> str:
        return f"<p>{self._summary()}</p>{table_html(self._rows())}"

    def _summary(self) -> str:
        return (
            f"{self.and_gates} AND gates, depth {self.depth}, {self.input_bits} input bits, "
            f"{self.output_bits} output bits, {self.parties} parties"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [
            ("protocol", "independent", "dependent and online", "bytes in all")
        ]
        for cost in self.protocols:
            name = cost.protocol if cost.form is None else f"{cost.protocol}, {cost.form}"
            rows.append((name, str(cost.independent), str(cost.rest), str(cost.bytes)))
        return rows


def least_parties(circuit: Circuit) -> int:
    """Returns how many parties a circuit names, and at least two."""
    ports = (*circuit.inputs, *circuit.outputs)
    return max([1, *(party for port in ports for party in port.parties or ())]) + 1
