"""A function on many rows, by many shards."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._party import Party
from .._result import column
from .._symbolon import Circuit, InvalidInput
from .._trace import Function, circuit_of
from ._crew import Cluster, Crew
from ._journal import Journal, digest_of
from ._ledger import Event
from ._progress import Progress
from ._rows import Rows, columns_of, rows_of
from ._shard import Answer
from ._work import Job, Work, check_party

_LARGEST = 1000
_STORED = ("never", "only", "fallback", "fresh")


@dataclass(frozen=True)
class Part:
    """The outputs of some rows that follow each other."""

    start: int
    """The number of the first row."""
    columns: dict[str, np.ndarray[Any, Any]]
    """Each output of these rows, by name."""

    def __len__(self) -> int:
        return max((len(values) for values in self.columns.values()), default=0)


class Mapped:
    """Work on rows, which goes on in the background, and its results.

    Iterating yields a `Part` for each chunk: in the order of the rows, or with ``ordered=False`` as
    they are ready. What ends the work is raised where the results are asked for.
    """

    def __init__(
        self, me: Party, crew: Crew, cluster: Cluster, job: _Rows, ordered: bool, owns: bool
    ) -> None:
        self.progress = Progress(me._party, "rows", sum(job.sizes), crew.shards)
        self.progress.done = sum(job.sizes[chunk] for chunk in job.parts)
        self._job, self._ordered, self._crew, self._owns = job, ordered, crew, owns
        self._work = Work(me, crew, cluster, job.job(), self.progress)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="symbolon-shards", daemon=True)
        self._thread.start()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.progress.total

    @property
    def bytes_sent(self) -> int:
        """What this party's shards have sent for the chunks that are done."""
        return self._job.sent

    @property
    def used(self) -> list[str]:
        """The stamps of the prepared material that was used up."""
        return list(self._job.used)

    def __iter__(self) -> Iterator[Part]:
        job, next_one = self._job, 0
        while next_one < len(job.sizes):
            with job.changed:
                while not self._has(next_one) and self._thread.is_alive():
                    job.changed.wait(0.2)
                if not self._has(next_one):
                    # The last chunk may have come while it ended.
                    break
                chunk = next_one if self._ordered else job.order[next_one]
                part = Part(job.start(chunk), job.parts[chunk])
            next_one += 1
            yield part
        self.wait()

    def _has(self, place: int) -> bool:
        job = self._job
        return place in job.parts if self._ordered else place < len(job.order)

    def wait(self, timeout: float | None = None) -> Mapped:
        """Waits for the end; raises what ended the work early, or `TimeoutError`."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError("the work goes on")
        if self._error is not None:
            raise self._error
        return self

    def cancel(self) -> None:
        """Ends the work; the other party is told."""
        self._work.cancel()
        self._thread.join()

    def columns(self) -> dict[str, np.ndarray[Any, Any]]:
        """Waits for all rows; returns each output as an array, in the order of the rows."""
        self.wait()
        parts = [self._job.parts[chunk] for chunk in range(len(self._job.sizes))]
        return {name: _joined([part[name] for part in parts]) for name in parts[0]}

    def frame(self) -> Any:
        """The same as a data frame of pandas."""
        import pandas

        return pandas.DataFrame({name: list(c) for name, c in self.columns().items()})

    def arrow(self) -> Any:
        """The same as a table of Arrow."""
        import pyarrow

        return pyarrow.table({name: c.tolist() for name, c in self.columns().items()})

    def dataset(self) -> Any:
        """The same as a dataset of Ray, in this party's cluster."""
        import ray.data

        return ray.data.from_arrow(self.arrow())

    def _run(self) -> None:
        try:
            self._work.run()
        except BaseException as error:
            self._error = error
        finally:
            self.progress.end()
            if self._job.journal is not None:
                self._job.journal.close()
            if self._owns:
                self._crew.close()
            with self._job.changed:
                self._job.changed.notify_all()

    def __repr__(self) -> str:
        return f"<Mapped: {self.progress.done} of {self.rows} rows>"

    def _repr_html_(self) -> str:
        return self.progress._repr_html_()


class _Rows:
    """Chunks of rows, and what came of them."""

    def __init__(self, circuit: Circuit, rows: Rows, chunk: int, stored: str, attempts: int):
        self.circuit, self.rows, self.chunk = circuit, rows, chunk
        self.stored, self.attempts = stored, attempts
        whole, rest = divmod(rows.count, chunk)
        self.sizes = [chunk] * whole + [rest] * (rest > 0)
        self.parts: dict[int, dict[str, np.ndarray[Any, Any]]] = {}
        self.order: list[int] = []
        self.sent = 0
        self.used: list[str] = []
        self.changed = threading.Condition()
        self.journal: Journal | None = None

    def start(self, chunk: int) -> int:
        return chunk * self.chunk

    @property
    def terms(self) -> dict[str, object]:
        return {
            "work": "map",
            "circuit": self.circuit.digest,
            "rows": self.rows.count,
            "chunk": self.chunk,
            "attempts": self.attempts,
            "stored": self.stored,
        }

    def resume(self, journal: Journal) -> None:
        """Goes on with what a former driver has left."""
        journal.check_rows(self._digest)
        self.journal = journal
        for chunk, (columns, _) in sorted(journal.parts.items()):
            self.parts[chunk] = columns
            self.order.append(chunk)

    def job(self) -> Job:
        tried = {} if self.journal is None else self.journal.tried
        before = [
            Event("tried", chunk=chunk, generation=min(times, self.attempts))
            for chunk, times in sorted(tried.items())
        ]
        before += [Event("has", chunk=chunk) for chunk in sorted(self.parts)]
        return Job(
            self.terms,
            self.sizes,
            self.circuit,
            self._start,
            self._take,
            self.attempts,
            before=before,
            begins=None if self.journal is None else self.journal.begins,
        )

    def _digest(self, chunk: int) -> str:
        import ray

        first = self.start(chunk)
        spans, tables = self.rows.part(first, first + self.sizes[chunk])
        look = ray.remote(num_cpus=0)(_digest)
        found: str = ray.get(look.remote(spans, *tables))
        return found

    def _start(self, actor: Any, chunk: int, generation: int) -> Any:
        first, count = self.start(chunk), self.sizes[chunk]
        spans, tables = self.rows.part(first, first + count)
        return actor.evaluate.remote(generation, self.stored, count, spans, *tables)

    def _take(self, chunk: int, answer: Answer) -> str | None:
        """Keeps the outputs of a chunk.

        Check: shards | a chunk that is evaluated again gives the outputs it gave before | a peer
        that changes its rows between attempts
        """
        self.sent += answer.sent
        self.used += answer.items
        with self.changed:
            known = self.parts.get(chunk)
            if known is None:
                if self.journal is not None:
                    self.journal.keep(chunk, answer.columns, answer.digest)
                self.parts[chunk] = answer.columns
                self.order.append(chunk)
                self.changed.notify_all()
            elif not _same(known, answer.columns):
                return "rows that were evaluated again gave other outputs than before"
        return None


def _digest(spans: Any, *tables: Any) -> str:
    return digest_of(columns_of(spans, tables))


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    def equal(a: Any, b: Any) -> bool:
        if a.dtype == object or b.dtype == object:
            # Values without a type of numpy may hold arrays.
            return repr(a.tolist()) == repr(b.tolist())
        return bool(a.dtype == b.dtype and a.tobytes() == b.tobytes())

    return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)


def _joined(parts: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    if any(part.dtype == object for part in parts):
        return column([value for part in parts for value in part])
    return np.concatenate(parts)


def check_count(name: str, value: int, most: int = 1 << 40) -> int:
    """Returns a positive number; raises `InvalidInput` with the argument's name."""
    if type(value) is not int or not 1 <= value <= most:
        raise InvalidInput(f"`{name}` is a number from 1 to {most}")
    return value


def begin(
    f: Circuit | Function,
    rows: Any,
    me: Party,
    crew: Crew,
    cluster: Cluster,
    *,
    count: int | None,
    chunk: int | None,
    ordered: bool,
    attempts: int,
    stored: str,
    journal: str | os.PathLike[str] | None,
    owns: bool,
) -> Mapped:
    """Begins to map."""
    assert stored in _STORED
    circuit = circuit_of(f)
    found = rows_of(rows, count, circuit, me._party)
    if chunk is None:
        chunk = min(_LARGEST, -(-found.count // (8 * crew.shards)))
    job = _Rows(circuit, found, check_count("chunk", chunk), stored, attempts)
    if journal is not None:
        job.resume(Journal(journal, job.terms))
    return Mapped(me, crew, cluster, job, ordered, owns)


def map(
    f: Circuit | Function,
    rows: Any,
    me: Party,
    *,
    shards: int,
    count: int | None = None,
    chunk: int | None = None,
    ordered: bool = True,
    attempts: int = 3,
    journal: str | os.PathLike[str] | None = None,
    cluster: Cluster | None = None,
) -> Mapped:
    """Evaluates a circuit once for each row, by ``shards`` actors of this party's Ray cluster.

    ``rows`` is a data frame of pandas, a table of Arrow, a dataset of Ray or a dict of columns,
    whose columns are this party's inputs; or None, with ``count``. The other party calls `map`
    with its own rows, in its own cluster, and the same ``shards``, ``chunk`` and ``attempts``.

    Each shard works on ``chunk`` rows at a time, in a session of its own. If an actor, a node or
    the twin at the other party is lost, its chunk is evaluated again by another session, at most
    ``attempts`` times in all: **each attempt allows a cheating peer to use other rows of its own**,
    which the outputs of this party reveal, if it got any.

    ``journal`` is a folder for what is finished. If a driver is lost, both parties call `map` again
    with their journals, and what both have finished is not evaluated again.

    Returns at once: see `Mapped`. Raises `InvalidInput` with the name of the argument.
    """
    cluster = cluster or Cluster()
    cluster.check()
    check_party(me)
    check_count("attempts", attempts, 100)
    crew = Crew(me, check_count("shards", shards, 100_000), cluster, ("", None))
    return begin(
        f,
        rows,
        me,
        crew,
        cluster,
        count=count,
        chunk=chunk,
        ordered=ordered,
        attempts=attempts,
        stored="never",
        journal=journal,
        owns=True,
    )
