"""How far work is: for notebooks, terminals and Ray's dashboard."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from ray.util.metrics import Counter, Gauge

from .._result import table, table_html

SLOW = 3.0
"""A shard is slow if its chunk takes longer than this many times the median of all."""


@dataclass
class ShardProgress:
    """What one shard does."""

    state: str = "placing"
    """``placing`` until its actor runs, ``meeting`` its twin, ``working``, ``idle`` or ``lost``."""
    generation: int = 0
    """How many times it was lost before."""
    node: str = ""
    pid: int = 0
    done: int = 0
    """Rows, or items."""
    chunk: int | None = None
    since: float = 0.0
    seconds: float = 0.0
    """How long its chunks took, all together."""
    chunks: int = 0


class _Metrics:
    """Gauges and counters, which Ray shows in its dashboard and gives to Prometheus."""

    def __init__(self) -> None:
        tags = ("party", "shard")
        self.done = Counter("symbolon_shard_done", "Rows or items that are done", tags)
        self.lost = Counter("symbolon_failed_sessions", "Sessions that failed", tags)
        self.seconds = Gauge("symbolon_shard_seconds", "Seconds of the last chunk", tags)
        self.slow = Gauge("symbolon_shard_slow", "1 while a shard is slow", tags)


class Progress:
    """How far all shards are. Shown as text, and as a table in a notebook."""

    _metrics: _Metrics | None = None

    def __init__(self, party: int, what: str, total: int, shards: int) -> None:
        self.what, self.total, self.done = what, total, 0
        """What is counted, how much of it there is, and how much is done."""
        self.again = 0
        """How many chunks were begun again after a loss."""
        self.shards = [ShardProgress() for _ in range(shards)]
        self.begun = time.monotonic()
        self.ended: float | None = None
        self._party, self._lock = party, threading.Lock()
        self._durations: list[float] = []
        self._told: set[int] = set()
        if Progress._metrics is None:
            Progress._metrics = _Metrics()
        self._counted = Progress._metrics

    @property
    def seconds(self) -> float:
        return (self.ended or time.monotonic()) - self.begun

    @property
    def slow(self) -> list[int]:
        """The shards that are slow at the moment."""
        with self._lock:
            usual = median(self._durations) if self._durations else None
        now = time.monotonic()
        if usual is None:
            return []
        return [
            number
            for number, shard in enumerate(self.shards)
            if shard.chunk is not None and now - shard.since > SLOW * max(usual, 0.05)
        ]

    def end(self) -> None:
        """Stops the clock."""
        self.ended = time.monotonic()
        for shard in self.shards:
            shard.chunk = None

    def _tags(self, number: int) -> dict[str, str]:
        return {"party": str(self._party), "shard": str(number)}

    def _placed(self, number: int, node: str, pid: int) -> None:
        shard = self.shards[number]
        shard.state, shard.node, shard.pid = "meeting", node, pid

    def _works(self, number: int, chunk: int) -> None:
        shard = self.shards[number]
        shard.state, shard.chunk, shard.since = "working", chunk, time.monotonic()

    def _has_done(self, number: int, amount: int, seconds: float, following: int | None) -> None:
        shard = self.shards[number]
        self.done += amount
        shard.done += amount
        shard.seconds += seconds
        shard.chunks += 1
        with self._lock:
            self._durations.append(seconds)
        self._counted.done.inc(max(amount, 1), tags=self._tags(number))
        self._counted.seconds.set(seconds, tags=self._tags(number))
        if following is None:
            shard.state, shard.chunk = "idle", None
        else:
            self._works(number, following)

    def _lost(self, number: int) -> None:
        shard = self.shards[number]
        shard.state, shard.chunk = "lost", None
        shard.generation += 1
        self._counted.lost.inc(1, tags=self._tags(number))

    def _look(self) -> None:
        slow = set(self.slow)
        for number in slow ^ self._told:
            self._counted.slow.set(float(number in slow), tags=self._tags(number))
        self._told = slow

    def _rows(self) -> list[tuple[str, ...]]:
        slow = set(self.slow)
        rows: list[tuple[str, ...]] = [
            ("shard", "state", self.what, "per second", "lost", "node"),
        ]
        for number, shard in enumerate(self.shards):
            rate = f"{shard.done / shard.seconds:.1f}" if shard.seconds else ""
            state = f"{shard.state}, slow" if number in slow else shard.state
            lost = str(shard.generation)
            rows.append((str(number), state, str(shard.done), rate, lost, shard.node[:8]))
        return rows

    def _head(self) -> str:
        share = 100 * self.done // max(self.total, 1)
        again = f", {self.again} chunks begun again" if self.again else ""
        return f"{self.done} of {self.total} {self.what} ({share} %) in {self.seconds:.1f} s{again}"

    def __str__(self) -> str:
        return f"{self._head()}\n{table(self._rows())}"

    def __repr__(self) -> str:
        return f"<Progress: {self._head()}>"

    def _repr_html_(self) -> str:
        bar = f"<progress max='{max(self.total, 1)}' value='{self.done}'></progress>"
        return f"<p>{bar} {self._head()}</p>{table_html(self._rows())}"


def reason_of(error: Any) -> str:
    """Returns why something failed, as the other party may hear it: a code, no text."""
    code = getattr(error, "code", None)
    text = code if isinstance(code, str) else type(error).__name__
    return "".join(letter for letter in text if letter.isprintable())[:100]
