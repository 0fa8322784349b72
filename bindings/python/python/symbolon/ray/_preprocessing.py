"""Material made ahead of time by many shards, each with a store at its node."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

import ray

from .._party import Party
from .._store import Material
from .._symbolon import Circuit, InvalidInput
from .._trace import Function, circuit_of
from ._crew import Cluster, Crew, check_folder
from ._map import Mapped, begin, check_count
from ._progress import Progress
from ._shard import Answer, Refusal
from ._work import Job, Work, check_party

_PIECE = 64
"""How many circuits one session prepares: what is lost with it."""

Some = TypeVar("Some", bound="Shards")


@dataclass(frozen=True)
class ShardsMade:
    """What shards have made: the same stamps in the stores of both parties."""

    items: Mapping[int, list[str]]
    """The stamps by shard; empty where what was there sufficed."""
    progress: Progress

    def __len__(self) -> int:
        return sum(len(stamps) for stamps in self.items.values())


class Shards:
    """Actors that stay for several calls of `map`, so that only the first waits for their start.

    Both parties make the same calls in the same order.

    >>> with sy.ray.Shards(me, shards=16) as shards:                    # doctest: +SKIP
    ...     for frame in frames:
    ...         outputs = shards.map(f, frame).frame()
    """

    def __init__(self, me: Party, *, shards: int, cluster: Cluster | None = None) -> None:
        self._open(me, shards, cluster, ("", None))

    def _open(
        self, me: Party, shards: int, cluster: Cluster | None, store: tuple[str, str | None]
    ) -> None:
        self._me, self._cluster = me, cluster or Cluster()
        self._cluster.check()
        check_party(me)
        self._crew = Crew(me, check_count("shards", shards, 100_000), self._cluster, store)
        self.progress: Progress | None = None
        """How far the work is that goes on, or was the last."""

    def map(
        self,
        f: Circuit | Function,
        rows: Any,
        *,
        count: int | None = None,
        chunk: int | None = None,
        ordered: bool = True,
        attempts: int = 3,
        journal: str | os.PathLike[str] | None = None,
    ) -> Mapped:
        """As `symbolon.ray.map`. One work goes on at a time: wait for its end."""
        return self._map(f, rows, count, chunk, ordered, attempts, journal, "never")

    def _map(
        self,
        f: Circuit | Function,
        rows: Any,
        count: int | None,
        chunk: int | None,
        ordered: bool,
        attempts: int,
        journal: str | os.PathLike[str] | None,
        stored: str,
    ) -> Mapped:
        check_count("attempts", attempts, 100)
        mapped = begin(
            f,
            rows,
            self._me,
            self._crew,
            self._cluster,
            count=count,
            chunk=chunk,
            ordered=ordered,
            attempts=attempts,
            stored=stored,
            journal=journal,
            owns=False,
        )
        self.progress = mapped.progress
        return mapped

    def close(self) -> None:
        """Ends all actors; stores stay."""
        self._crew.close()

    def __enter__(self: Some) -> Some:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Preprocessing(Shards):
    """Shards with stores, which prepare circuits and later run them.

    ``store`` is a folder at each node, where a shard keeps its material and its key;
    ``$VARIABLES`` in it are those of the node. ``store_key`` is the path of a file, at each node,
    that encrypts stores. A shard is placed at the node that has its store; if that node is gone, it
    begins with an empty one elsewhere, and what its twin still has is of no use.

    >>> with sy.Party(0, key="alice.key", listen="0.0.0.0:7000", peers=…) as me:  # doctest: +SKIP
    ...     with sy.ray.Preprocessing(me, shards=16, store="/var/symbolon") as shards:
    ...         shards.prepare(f, 10_000)
    ...         outputs = shards.map(f, frame).frame()
    """

    def __init__(
        self,
        me: Party,
        *,
        shards: int,
        store: str | os.PathLike[str],
        store_key: str | os.PathLike[str] | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        key = None if store_key is None else os.fspath(store_key)
        self._open(me, shards, cluster, (check_folder(store), key))

    def prepare(
        self,
        f: Circuit | Function,
        count: int,
        *,
        batch: int = 1,
        only_pools: bool = False,
        attempts: int = 10,
    ) -> ShardsMade:
        """Prepares a circuit ``count`` times, spread evenly over the stores of all shards.

        ``batch`` and ``only_pools`` are those of `Party.prepare`. To `map` with a protocol that has
        batches, ``batch`` is the ``chunk``.
        """
        check_count("count", count), check_count("batch", batch)
        circuit = circuit_of(f)
        sizes = _spread(count, self._crew.shards)
        terms = {"circuit": circuit.digest, "batch": batch, "only pools": only_pools}

        def start(actor: Any, chunk: int, generation: int) -> Any:
            return actor.prepare.remote(sizes[chunk], batch, only_pools, generation)

        return self._make("prepare", "items", sizes, circuit, terms, start, attempts)

    def fill(self, *, and_gates: int, input_bits: int, attempts: int = 10) -> ShardsMade:
        """Fills the pools of all shards until they hold this much together."""
        check_count("and_gates", and_gates), check_count("input_bits", input_bits)
        shards = self._crew.shards
        gates, bits = -(-and_gates // shards), -(-input_bits // shards)
        terms = {"and gates": and_gates, "input bits": input_bits}

        def start(actor: Any, chunk: int, generation: int) -> Any:
            return actor.fill.remote(gates, bits, generation)

        return self._make("fill", "shards", [1] * shards, None, terms, start, attempts)

    def map(
        self,
        f: Circuit | Function,
        rows: Any,
        *,
        count: int | None = None,
        chunk: int | None = None,
        ordered: bool = True,
        attempts: int = 3,
        journal: str | os.PathLike[str] | None = None,
        fallback: bool = False,
        fresh: bool = False,
    ) -> Mapped:
        """As `symbolon.ray.map`, on what was prepared.

        If no store has enough for a chunk, that is `OutOfMaterial`; with ``fallback`` all phases
        are run then, and with ``fresh`` always.
        """
        if fallback and fresh:
            raise InvalidInput("`fallback` and `fresh` exclude each other")
        stored = "fallback" if fallback else "fresh" if fresh else "only"
        return self._map(f, rows, count, chunk, ordered, attempts, journal, stored)

    def material(self) -> dict[int, Material]:
        """Lists what the stores of all shards have. Nobody else is asked."""
        asked = {
            number: self._crew.actor(number).material.options(concurrency_group="looks").remote()
            for number in range(self._crew.shards)
        }
        found = {number: ray.get(reference) for number, reference in asked.items()}
        for listed in found.values():
            if isinstance(listed, Refusal):
                raise listed.error
        return {number: Material(listed) for number, listed in found.items()}

    def _make(
        self,
        work: str,
        what: str,
        sizes: list[int],
        circuit: Circuit | None,
        terms: Mapping[str, object],
        start: Any,
        attempts: int,
    ) -> ShardsMade:
        check_count("attempts", attempts, 100)
        shards = self._crew.shards
        items: dict[int, list[str]] = {number: [] for number in range(shards)}

        def take(chunk: int, answer: Answer) -> None:
            items[chunk % shards] += answer.items

        amount = {"work": work, "amount": sum(sizes), "attempts": attempts}
        progress = Progress(self._me._party, what, sum(sizes), shards)
        self.progress = progress
        job = Job({**amount, **terms}, sizes, circuit, start, take, attempts, pinned=True)
        try:
            Work(self._me, self._crew, self._cluster, job, progress).run()
        finally:
            progress.end()
        return ShardsMade(items, progress)


def _spread(count: int, shards: int) -> list[int]:
    """Returns how many circuits each piece prepares: piece i is of shard i modulo ``shards``."""
    left = [count // shards + (number < count % shards) for number in range(shards)]
    sizes: list[int] = []
    while any(left):
        row = [min(amount, _PIECE) for amount in left]
        left = [amount - taken for amount, taken in zip(left, row, strict=True)]
        sizes += row
    while sizes[-1] == 0:
        sizes.pop()
    return sizes
