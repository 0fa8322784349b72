"""The ways of running a circuit, compared before anything is run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from ._cost import least_parties
from ._result import table, table_html
from ._symbolon import Circuit
from ._trace import Function, circuit_of


@dataclass(frozen=True)
class Way:
    """A way of running a circuit, for all evaluations together."""

    protocol: str
    form: str
    """How it garbles."""
    ot: str
    """The OT extension."""
    protocol_options: dict[str, str]
    """The options of the protocol that are not at their defaults."""
    setup_bytes: int
    """What all parties together send in the set-up, without the handshake."""
    bytes: int
    """What they send after it, on one thread."""
    within_percent: int
    """By how many percent ``bytes`` may differ from a run; zero if they are exact."""
    rounds: int
    setup_seconds: float
    seconds: float
    """Seconds after the set-up."""
    memory: int
    """About how many bytes the party that needs most holds."""

    @property
    def all_seconds(self) -> float:
        """The seconds of all phases."""
        return self.setup_seconds + self.seconds

    @property
    def options(self) -> dict[str, str]:
        """The options of `Party` and ``simulate`` for this way."""
        usual = {"protocol": self.protocol, "form": self.form, "ot": self.ot}
        return usual | self.protocol_options


class Plan:
    """All ways of running a circuit, the fastest first."""

    def __init__(self, ways: list[Way], parties: int, count: int, link: str) -> None:
        self.ways = ways
        self.parties = parties
        self.count = count
        self.link = link

    @property
    def best(self) -> Way:
        """The fastest way."""
        return self.ways[0]

    def __iter__(self) -> Iterator[Way]:
        return iter(self.ways)

    def __len__(self) -> int:
        return len(self.ways)

    def table(self) -> str:
        """All ways as text."""
        return table(self._rows())

    def __str__(self) -> str:
        return f"{self._summary()}\n{self.table()}"

    def __repr__(self) -> str:
        return f"<Plan: {self.best.protocol} takes {self.best.all_seconds:.3f} s over {self.link}>"

    def _repr_html_(self) -> str:
        return f"<p>{self._summary()}</p>{table_html(self._rows())}"

    def _summary(self) -> str:
        times = "1 evaluation" if self.count == 1 else f"{self.count} evaluations"
        return f"{times} among {self.parties} parties over {self.link}"

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [
            ("protocol", "form", "OT", "seconds", "of it set-up", "bytes", "rounds", "memory")
        ]
        for way in self.ways:
            chosen = [f"{name}={word}" for name, word in way.protocol_options.items()]
            rows.append(
                (
                    " ".join([way.protocol, *chosen]),
                    way.form,
                    way.ot,
                    f"{way.all_seconds:.3f}",
                    f"{way.setup_seconds:.3f}",
                    str(way.setup_bytes + way.bytes),
                    str(way.rounds),
                    str(way.memory),
                )
            )
        return rows


def plan(
    circuit: Circuit | Function,
    /,
    *,
    link: str = "lan",
    count: int = 1,
    parties: int | None = None,
    rho: int = 40,
) -> Plan:
    """Compares the ways of running ``count`` evaluations in one session.

    ``link`` is that between any two parties: ``lan``, ``lan1``, ``wan``, or round trip and
    bandwidth such as ``20ms,100mbit``. Without ``parties`` there are as many as the circuit names,
    and at least two. Times are those of this machine if ``symbolon calibrate`` measured it, and of
    a typical one otherwise.
    """
    circuit = circuit_of(circuit)
    among = least_parties(circuit) if parties is None else parties
    ways, unusable = circuit.ways(among, count, link, rho)
    if unusable is not None:
        warnings.warn(f"the calibration of this machine is not used: {unusable}", stacklevel=2)
    return Plan([Way(**way) for way in ways], among, count, link)
