"""A party, and all parties at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ._result import Result
from ._symbolon import Circuit, InvalidInput, Session
from ._symbolon import simulate as _simulate
from ._trace import Function
from ._values import encode

Progress = Callable[[str, int, int], object]


@dataclass(frozen=True)
class Peer:
    """Another party: where it listens, and the fingerprint of its key.

    Of any two parties the one with the lower number listens; between two parties, whichever has
    ``listen``. A peer that only dials needs no address.
    """

    address: str | None = None
    fingerprint: str | None = None


class Party:
    """This party, and its connections with the others.

    ``key`` is a file that `keygen` made, ``listen`` an address ``HOST:PORT`` at which others may
    connect, ``peers`` are the other parties by number. All other keywords are the options of a
    session (`options` lists them), ``timeout`` in seconds, and ``link``, which simulates a slower
    link. ``progress`` is called with a step, how much is done, and of how much.

    The first run connects; later ones use the same connections. All parties run the same circuits
    in the same order.

    >>> with sy.Party(0, key="alice.key", listen="0.0.0.0:7000",
    ...               peers={1: sy.Peer(fingerprint="fd12…")}) as me:      # doctest: +SKIP
    ...     me.run(richer, x=5_000_000).value
    """

    def __init__(
        self,
        party: int,
        *,
        peers: Mapping[int, Peer],
        key: str | os.PathLike[str] | None = None,
        listen: str | None = None,
        insecure: bool = False,
        progress: Progress | None = None,
        **options: object,
    ) -> None:
        if key is None and not insecure:
            raise InvalidInput("without a key nothing is encrypted: give `key`, or `insecure=True`")
        if key is not None and insecure:
            raise InvalidInput("`key` and `insecure` exclude each other")
        numbers = range(len(peers) + 1)
        if sorted([party, *peers]) != list(numbers):
            raise InvalidInput(
                f"the parties are numbered 0 to {len(peers)}: `peers` has all of them but this one"
            )
        contacts = [peers.get(number, Peer(address=listen)) for number in numbers]
        self._party = party
        self._session = Session(
            party,
            None if key is None else os.fspath(key),
            listen,
            [(contact.address, contact.fingerprint) for contact in contacts],
            _texts(options),
            progress,
        )

    @property
    def address(self) -> str | None:
        """Where this party listens, with the actual port, until it is connected."""
        return self._session.address

    def run(self, circuit: Circuit | Function, /, **inputs: Any) -> Result:
        """Evaluates a circuit with this party's inputs, by name; returns what it learns.

        Raises `InvalidInput` before anything is sent, `CheatingDetected`, `PeerMismatch`,
        `PeerUnreachable`, or `AssertFailed`. Ctrl-C ends it within a second, and tells the peers.
        """
        circuit = _circuit(circuit)
        return Result([self._session.run(circuit, _encoded(circuit, inputs))])

    def close(self) -> None:
        """Ends the connections; a run in another thread is cancelled."""
        self._session.close()

    def __enter__(self) -> Party:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def simulate(
    circuit: Circuit | Function,
    /,
    *,
    parties: int | None = None,
    progress: Progress | None = None,
    options: Mapping[str, object] | None = None,
    **inputs: Any,
) -> Result:
    """Runs all parties in this process, by the real protocol, with everybody's inputs by name.

    Returns all that any party learns, and what it cost party 0. ``options`` are those that `Party`
    takes as keywords. ``parties`` is by default as many as the circuit names, and at least two.
    """
    circuit = _circuit(circuit)
    named = [party for port in (*circuit.inputs, *circuit.outputs) for party in port.parties or ()]
    if parties is None:
        parties = max([1, *named]) + 1
    texts = _texts(options or {})
    return Result(_simulate(circuit, parties, _encoded(circuit, inputs), texts, progress))


def _circuit(circuit: Circuit | Function) -> Circuit:
    return circuit.circuit if isinstance(circuit, Function) else circuit


def _encoded(circuit: Circuit, inputs: Mapping[str, Any]) -> list[tuple[str, str | bytes]]:
    ports = {port.name: port for port in circuit.inputs}
    for name in inputs:
        if name not in ports:
            known = ", ".join(f"`{name}`" for name in ports)
            raise InvalidInput(f"the circuit has no input `{name}`; its inputs are {known}")
    return [(name, encode(ports[name], value)) for name, value in inputs.items()]


def _texts(options: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in options.items()]
