"""A party, and all parties at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._async import in_thread
from ._cost import least_parties
from ._result import Batch, Learnt, Report, Result
from ._store import Made, Material
from ._symbolon import Circuit, InvalidInput, OutOfMaterial, Outputs, Session
from ._symbolon import Dealer as _Dealer
from ._symbolon import simulate as _simulate
from ._trace import Function, circuit_of
from ._values import Encoded, encode

if TYPE_CHECKING:
    from ._symbolon import Ran

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
    link. ``progress`` is called with a step, how much is done, and of how much; `bars`
    makes one that draws.

    The first run connects; later ones use the same connections. All parties run the same circuits
    in the same order.

    ``store`` is a folder for what is made ahead of time, of this party alone; ``store_key`` is a
    file that ``symbolon store keygen`` made, if it is encrypted. With a store, runs use what
    `prepare` made. ``dealer`` is a process that makes material instead of the parties: all must
    name the same one, and with any of them it could learn all inputs.

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
        store: str | os.PathLike[str] | None = None,
        store_key: str | os.PathLike[str] | None = None,
        dealer: Peer | None = None,
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
        if store_key is not None and store is None:
            raise InvalidInput("`store_key` is the key of a store: give `store`")
        contacts = [peers.get(number, Peer(address=listen)) for number in numbers]
        self._party = party
        self._has_store = store is not None
        # What `symbolon.ray` needs of a party.
        self._listens = listen is not None
        self._encrypts = key is not None
        self._peers, self._dealer = dict(peers), dealer
        self._options, self._progress = dict(options), progress
        self._session = Session(
            {
                "party": party,
                "key": _path(key),
                "listen": listen,
                "peers": [(contact.address, contact.fingerprint) for contact in contacts],
                "dealer": None if dealer is None else (dealer.address, dealer.fingerprint),
                "store": _path(store),
                "store_key": _path(store_key),
            },
            _texts(options),
            progress,
        )

    @property
    def address(self) -> str | None:
        """Where this party listens, with the actual port."""
        return self._session.address

    def run(
        self,
        circuit: Circuit | Function,
        given: Mapping[str, Any] | None = None,
        /,
        *,
        fallback: bool = False,
        fresh: bool = False,
        **inputs: Any,
    ) -> Result:
        """Evaluates a circuit with this party's inputs, by name; returns what it learns.

        A party with a store runs what `prepare` made, which is used up. If nothing is left, that is
        `OutOfMaterial`; with ``fallback`` all phases are run then, and with ``fresh`` always: all
        parties must say the same. ``given`` is for inputs that have the name of a keyword.

        Raises `InvalidInput` before anything is sent, `CheatingDetected`, `PeerMismatch`,
        `PeerUnreachable`, or `AssertFailed`. Ctrl-C ends it within a second, and tells the peers.
        """
        circuit = circuit_of(circuit)
        encoded = _encoded(circuit, {**(given or {}), **inputs})
        if self._stored(fallback, fresh):
            try:
                return _result(self._session.run_stored(circuit, encoded))
            except OutOfMaterial:
                if not fallback:
                    raise
        return _result(self._session.run(circuit, encoded))

    def run_batch(
        self,
        circuit: Circuit | Function,
        given: Mapping[str, Any] | None = None,
        /,
        *,
        count: int | None = None,
        fallback: bool = False,
        fresh: bool = False,
        **rows: Any,
    ) -> Batch:
        """Evaluates a circuit many times: each of this party's inputs has a value for each time.

        ``count`` says how many times; a party with inputs may leave it out. `tinytable`, `dualex`
        and `duplo` run the evaluations together. A party with a store runs what `prepare` made with
        this ``batch``, or with ``in_flight`` a prepared circuit for each evaluation. Otherwise as
        `run`.
        """
        circuit = circuit_of(circuit)
        encoded = _encoded_rows(circuit, {**(given or {}), **rows}, count)
        if self._stored(fallback, fresh):
            try:
                return _batch(self._session.run_stored_batch(circuit, encoded))
            except OutOfMaterial:
                if not fallback:
                    raise
        return _batch(self._session.run_batch(circuit, encoded))

    def prepare(
        self,
        circuit: Circuit | Function,
        /,
        count: int = 1,
        *,
        batch: int = 1,
        only_pools: bool = False,
    ) -> Made:
        """Prepares a circuit for ``count`` runs, together with the others, in all stores.

        Takes from pools what all have, and makes the rest, or with ``only_pools`` raises
        `OutOfMaterial`. Each run is of ``batch`` evaluations, where the protocol has batches.
        """
        made = self._session.prepare(circuit_of(circuit), count, batch, only_pools)
        return Made(**{**made, "report": Report(made["report"])})

    def fill(
        self,
        circuit: Circuit | Function | None = None,
        /,
        *,
        and_gates: int | None = None,
        input_bits: int | None = None,
        runs: int | None = None,
    ) -> Made:
        """Fills the pools of all stores until they hold this much; no circuit need be known.

        ``input_bits`` are those of each party. Pools of a protocol with components, as `duplo`, are
        for a circuit and a number of ``runs`` instead.
        """
        if circuit is None and runs is None and and_gates is not None and input_bits is not None:
            made = self._session.fill(and_gates, input_bits)
        elif and_gates is None and input_bits is None and circuit is not None and runs is not None:
            made = self._session.fill_components(circuit_of(circuit), runs)
        else:
            raise InvalidInput("give `and_gates` and `input_bits`, or a circuit and `runs`")
        return Made(**{**made, "report": Report(made["report"])})

    def material(self) -> Material:
        """Lists what this party's store has: a look at the disk, nobody is asked."""
        return Material(self._session.material())

    async def run_async(
        self,
        circuit: Circuit | Function,
        given: Mapping[str, Any] | None = None,
        /,
        *,
        fallback: bool = False,
        fresh: bool = False,
        **inputs: Any,
    ) -> Result:
        """As `run`, for ``await``. Cancelled, it ends the connection; the next call makes one."""
        values = {**(given or {}), **inputs}
        call = partial(self.run, circuit, values, fallback=fallback, fresh=fresh)
        return await in_thread(call, self._session.cancel)

    async def run_batch_async(
        self,
        circuit: Circuit | Function,
        given: Mapping[str, Any] | None = None,
        /,
        *,
        count: int | None = None,
        fallback: bool = False,
        fresh: bool = False,
        **rows: Any,
    ) -> Batch:
        """As `run_batch`, for ``await``."""
        values = {**(given or {}), **rows}
        call = partial(self.run_batch, circuit, values, count=count, fallback=fallback, fresh=fresh)
        return await in_thread(call, self._session.cancel)

    async def prepare_async(
        self,
        circuit: Circuit | Function,
        /,
        count: int = 1,
        *,
        batch: int = 1,
        only_pools: bool = False,
    ) -> Made:
        """As `prepare`, for ``await``."""
        call = partial(self.prepare, circuit, count, batch=batch, only_pools=only_pools)
        return await in_thread(call, self._session.cancel)

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

    def _stored(self, fallback: bool, fresh: bool) -> bool:
        """Whether a run looks into the store first."""
        if fallback and fresh:
            raise InvalidInput("`fallback` and `fresh` exclude each other")
        return self._has_store and not fresh


class Dealer:
    """A process that makes material for parties that trust it, until it is closed.

    ``key`` is its key file, and ``parties`` are the fingerprints of those it deals to. **It knows
    all that it deals**: with any one party, or by reading what they send, it learns all inputs. So
    it runs where no party has a say. Without a key nothing is encrypted, and it deals to anybody.
    """

    def __init__(
        self,
        *,
        listen: str,
        key: str | os.PathLike[str] | None = None,
        parties: Sequence[str] = (),
        insecure: bool = False,
    ) -> None:
        if (key is None) != insecure:
            raise InvalidInput("a dealer has a `key`, or is `insecure=True`")
        if (key is None) != (not parties):
            raise InvalidInput("`parties` are the fingerprints that a dealer with a key deals to")
        self._dealer = _Dealer(listen, _path(key), list(parties))

    @property
    def address(self) -> str:
        """Where it listens, with the actual port."""
        return self._dealer.address

    def close(self) -> None:
        """Ends dealing, after the sessions that go on."""
        self._dealer.close()

    def __enter__(self) -> Dealer:
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
    circuit = circuit_of(circuit)
    if parties is None:
        parties = least_parties(circuit)
    texts = _texts(options or {})
    ran = _simulate(circuit, parties, _encoded(circuit, inputs), texts, progress)
    outputs: list[Outputs] = [one for each in ran for one in each["outputs"]]
    return Result(Learnt(outputs), Report(ran[0]["report"]), [])


def _result(ran: Ran) -> Result:
    return Result(Learnt(ran["outputs"]), Report(ran["report"]), ran["used"])


def _batch(ran: Ran) -> Batch:
    report = Report(ran["report"])
    results = [Result(Learnt([one]), report, ran["used"]) for one in ran["outputs"]]
    return Batch(results, report, ran["used"])


def _encoded_rows(
    circuit: Circuit, rows: Mapping[str, Any], count: int | None
) -> list[list[tuple[str, Encoded]]]:
    rows = {
        name: column.to_numpy() if hasattr(column, "to_numpy") else column
        for name, column in rows.items()
    }
    for name, column in rows.items():
        if count is None:
            count = len(column)
        if len(column) != count:
            raise InvalidInput(
                f"there are {count} evaluations, and `{name}` has {len(column)} values"
            )
    if count is None:
        raise InvalidInput("without inputs, `count` says how many evaluations there are")
    if count < 1:
        raise InvalidInput("a batch has one evaluation or more")
    return [
        _encoded(circuit, {name: column[row] for name, column in rows.items()})
        for row in range(count)
    ]


def _encoded(circuit: Circuit, inputs: Mapping[str, Any]) -> list[tuple[str, Encoded]]:
    ports = {port.name: port for port in circuit.inputs}
    for name in inputs:
        if name not in ports:
            known = ", ".join(f"`{name}`" for name in ports)
            raise InvalidInput(f"the circuit has no input `{name}`; its inputs are {known}")
    return [(name, encode(ports[name], value)) for name, value in inputs.items()]


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def _texts(options: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in options.items()]
