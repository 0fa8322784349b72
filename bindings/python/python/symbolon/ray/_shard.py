"""A shard: an actor with a session of its own to its twin at the other party."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray

from .._party import Party, Peer, _batch, _encoded_rows
from .._result import Batch, Report, column
from .._symbolon import (
    Circuit,
    InvalidInput,
    OutOfMaterial,
    OutOfResources,
    PeerUnreachable,
    StoreError,
    SymbolonError,
    keygen,
)
from .._symbolon import fingerprint as fingerprint_of
from ._journal import digest_of
from ._rows import columns_of


@dataclass(frozen=True)
class Settings:
    """What all shards of a party have in common. Nothing here is secret."""

    party: int
    encrypts: bool
    listens: bool
    options: Mapping[str, Any]
    host: str | None
    ports: tuple[int, int] | None
    store: str | None
    store_key: str | None


@dataclass(frozen=True)
class Answer:
    """What a shard has done."""

    columns: dict[str, Any] = field(default_factory=dict)
    """The outputs of its rows, by name."""
    items: list[str] = field(default_factory=list)
    """The stamps of what it used, or made."""
    sent: int = 0
    seconds: float = 0.0
    digest: str = ""
    """Of the rows."""


@dataclass(frozen=True)
class Refusal:
    """Why it was not done.

    ``kind``: ``void`` if the generation was void before, ``lost`` if another one may succeed,
    ``dry`` if the stores have too little in common and nothing was used, otherwise ``failed``.
    """

    kind: str
    error: Exception


class Void(Exception):
    """The generation is void."""


_KINDS: tuple[tuple[str, tuple[type[Exception], ...]], ...] = (
    ("dry", (OutOfMaterial,)),
    ("lost", (PeerUnreachable, StoreError, OutOfResources)),
    ("failed", (SymbolonError, RuntimeError, TypeError, ValueError, OSError)),
)


def place_of(folder: str, number: int) -> Path:
    """The folder of a shard within the stores' folder at this node."""
    return Path(os.path.expanduser(os.path.expandvars(folder))) / f"shard-{number}"


class Shard:
    """One shard's work, in the process of its actor.

    Its key never leaves its node: only the fingerprint does. With a store, the key is beside it,
    because material is bound to the keys of both parties; otherwise each actor has a new one.
    """

    def __init__(self, number: int, settings: Settings) -> None:
        self._number, self._settings = number, settings
        self._lock = threading.Lock()
        self._party: Party | None = None
        self._generation, self._voided = -1, -1
        self._circuit: Circuit | None = None
        if settings.store is None:
            self._folder = Path(tempfile.mkdtemp(prefix="symbolon-shard-"))
        else:
            self._folder = place_of(settings.store, number)
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def ready(self, digest: str | None, file: bytes | None, generation: int) -> Any:
        """Begins a generation; returns the fingerprint of the key, the node and the process."""
        with self._lock:
            self._close()
            self._generation = generation
        return self._guarded(generation, lambda: self._ready(digest, file))

    def _ready(self, digest: str | None, file: bytes | None) -> tuple[str, str, int]:
        if file is not None and (self._circuit is None or self._circuit.digest != digest):
            self._circuit = Circuit.from_bytes(file)
        node = ray.get_runtime_context().get_node_id()
        if not self._settings.encrypts:
            return "", node, os.getpid()
        key = self._folder / "key"
        if not key.exists():
            keygen(key)
        return fingerprint_of(key), node, os.getpid()

    def listen(self, key: str, generation: int) -> Any:
        """Listens for the twin with this key; returns where."""
        return self._guarded(generation, lambda: self._listen(generation, key))

    def _listen(self, generation: int, key: str) -> str:
        host = self._settings.host or ray.util.get_node_ip_address()
        host = f"[{host}]" if ":" in host else host
        first, last = self._settings.ports or (0, 0)
        for port in range(first, last + 1):
            try:
                self._open(generation, key, listen=f"{host}:{port}")
                break
            except InvalidInput:
                # The port is taken.
                if port == last:
                    raise OutOfResources(
                        f"no port of {host} from {first} to {last} is free"
                    ) from None
        assert self._party is not None and self._party.address is not None
        return self._party.address

    def dial(self, key: str, address: str, generation: int) -> Any:
        """Will dial the twin with this key at this address."""
        return self._guarded(generation, lambda: self._open(generation, key, address=address))

    def _open(
        self, generation: int, key: str, *, listen: str | None = None, address: str | None = None
    ) -> None:
        settings, folder = self._settings, self._folder
        has_store = settings.store is not None
        party = Party(
            settings.party,
            peers={1 - settings.party: Peer(address, key if settings.encrypts else None)},
            key=folder / "key" if settings.encrypts else None,
            insecure=not settings.encrypts,
            listen=listen,
            store=folder / "store" if has_store else None,
            store_key=settings.store_key if has_store else None,
            **settings.options,
        )
        with self._lock:
            if generation != self._generation or generation <= self._voided:
                party.close()
                raise Void
            self._party = party

    def evaluate(
        self,
        generation: int,
        stored: str,
        count: int,
        spans: Sequence[tuple[int, int]],
        *tables: Any,
    ) -> Any:
        """Evaluates the circuit on rows: of each table those of its span, one after the other."""
        return self._guarded(
            generation, lambda: self._evaluate(generation, stored, count, spans, tables)
        )

    def _evaluate(
        self,
        generation: int,
        stored: str,
        count: int,
        spans: Sequence[tuple[int, int]],
        tables: Sequence[Any],
    ) -> Answer:
        party, circuit = self._at(generation), self._circuit
        assert circuit is not None
        begun = time.monotonic()
        rows = columns_of(spans, tables)
        # Without a store, all runs are fresh.
        options = {"fallback": stored == "fallback", "fresh": stored == "fresh"}
        if party._session.batches:
            batch = party.run_batch(circuit, rows, count=count, **options)
        elif party._stored(**options):
            batch = _one_by_one(party, circuit, rows, count, options)
        else:
            encoded = _encoded_rows(circuit, rows, count)
            batch = _batch(party._session.run_each(circuit, encoded))
        names = list(batch[0])
        columns = {name: column([result[name] for result in batch]) for name in names}
        sent, seconds = batch.report.bytes_sent, time.monotonic() - begun
        return Answer(columns, batch.used, sent, seconds, digest_of(rows))

    def prepare(self, count: int, batch: int, only_pools: bool, generation: int) -> Any:
        """Prepares the circuit for the store."""

        def work() -> Answer:
            party, circuit = self._at(generation), self._circuit
            assert circuit is not None
            begun = time.monotonic()
            made = party.prepare(circuit, count, batch=batch, only_pools=only_pools)
            seconds = time.monotonic() - begun
            return Answer({}, made.items, made.report.bytes_sent, seconds)

        return self._guarded(generation, work)

    def fill(self, and_gates: int, input_bits: int, generation: int) -> Any:
        """Fills pools of the store until they have this much."""

        def work() -> Answer:
            begun = time.monotonic()
            made = self._at(generation).fill(and_gates=and_gates, input_bits=input_bits)
            seconds = time.monotonic() - begun
            return Answer({}, made.items, made.report.bytes_sent, seconds)

        return self._guarded(generation, work)

    def material(self) -> Any:
        """What the store has, as `Party.material` lists it."""
        settings = self._settings

        def work() -> list[dict[str, Any]]:
            party = Party(
                settings.party,
                peers={1 - settings.party: Peer("127.0.0.1:1")},
                insecure=True,
                store=self._folder / "store",
                store_key=settings.store_key,
            )
            with party:
                return party._session.material()

        return self._guarded(None, work)

    def void(self, generation: int) -> None:
        """Ends a generation: what it does is cancelled, and its session closed."""
        with self._lock:
            self._voided = max(self._voided, generation)
            if self._generation <= self._voided:
                self._close()

    def end(self) -> None:
        """Closes the session, and removes the key of an actor without a store."""
        with self._lock:
            self._voided = 1 << 62
            self._close()
        if self._settings.store is None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _at(self, generation: int) -> Party:
        with self._lock:
            if self._party is None or generation != self._generation:
                raise Void
            return self._party

    def _guarded(self, generation: int | None, work: Callable[[], Any]) -> Any:
        """Does work; returns what it returns, or a `Refusal`."""
        try:
            return work()
        except (Exception, KeyboardInterrupt) as error:
            with self._lock:
                is_void = generation is not None and (
                    generation != self._generation or generation <= self._voided
                )
            if is_void or isinstance(error, (Void, KeyboardInterrupt)):
                # The cancelled call may have ended with any error.
                return Refusal("void", Void("the generation is void"))
            for kind, errors in _KINDS:
                if isinstance(error, errors):
                    return Refusal(kind, error)
            raise

    def _close(self) -> None:
        if self._party is not None:
            self._party.close()
            self._party = None


def _one_by_one(
    party: Party,
    circuit: Circuit,
    rows: Mapping[str, Any],
    count: int,
    options: Mapping[str, bool],
) -> Batch:
    """Runs a prepared circuit for each row, for protocols that have no batches."""
    results, phases, used = [], [], []
    for row in range(count):
        given = {name: values[row] for name, values in rows.items()}
        try:
            result = party.run(circuit, given, **options)
        except OutOfMaterial as error:
            if row == 0:
                raise
            # Rows of this chunk were evaluated: that counts as an attempt.
            raise PeerUnreachable(f"after {row} rows of the chunk: {error}") from None
        results.append(result)
        phases += result.report.phases
        used += result.used
    return Batch(results, Report(phases), used)
