"""What the two drivers do and send for this many shards, with simulated clusters.

    python -m symbolon.ray.simulation [SHARDS …]

The drivers' own code runs: their messages, their checks, their decisions. Only clusters and the
clock are simulated: an actor starts in 2 s, a chunk takes 10 s at the median and up to some times
that, and each shard is lost once in ten minutes on average, far more often than a machine is.
"""

from __future__ import annotations

import heapq
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ._ledger import Action, Event, Ledger, pack, unpack
from ._work import PER_SHARD, TICK

CHUNKS_PER_SHARD = 20
START = 2.0
CHUNK = 10.0
LOST_EVERY = 600.0
KEYS = ("0" * 64, "1" * 64)


@dataclass
class Figures:
    """What a simulated run cost."""

    shards: int
    chunks: int
    seconds: float = 0.0
    """Of the simulated clock."""
    meeting: float = 0.0
    """Until all shards worked for the first time."""
    rounds: int = 0
    largest: int = 0
    """The largest message, in bytes."""
    sent: int = 0
    """Bytes of one driver."""
    processor: float = 0.0
    """Seconds of one driver's processor."""
    lost: int = 0
    again: int = 0
    busy: float = 0.0
    """The share of the time in which shards worked on chunks that counted."""


class _Side:
    """One party: its driver's events, and its cluster."""

    def __init__(self, party: int, shards: int, chunks: int, attempts: int) -> None:
        sizes = [1] * chunks
        self.party = party
        self.ledger = Ledger(sizes, shards, attempts=attempts, listener=0)
        self.events: list[Event] = [Event("told")]
        self.happens: list[tuple[float, int, Event]] = []
        self.processor = 0.0

    def later(self, when: float, event: Event) -> None:
        heapq.heappush(self.happens, (when, len(self.happens), event))

    def gather(self, now: float) -> None:
        while self.happens and self.happens[0][0] <= now:
            event = heapq.heappop(self.happens)[2]
            is_current = event.generation == self.ledger.shards[event.shard].generation
            if is_current or event.kind == "done":
                self.events.append(event)


class _Clusters:
    """Both clusters, as far as the drivers see them."""

    def __init__(self, figures: Figures, seed: int, losses: bool) -> None:
        self.figures, self.draw, self.losses = figures, random.Random(seed), losses
        shards, chunks = figures.shards, figures.chunks
        self.sides = [_Side(party, shards, chunks, attempts=20) for party in (0, 1)]
        self.free = [0.0] * shards
        self.linked: set[int] = set()
        self.worked = 0.0

    def act(self, now: float, actions: Sequence[Action]) -> None:
        """Lets happen in both clusters what the drivers have decided."""
        sides, figures, draw, shards = self.sides, self.figures, self.draw, self.figures.shards
        for action in actions:
            number, generation = action.shard, action.generation
            match action.kind:
                case "begin":
                    for side in sides:
                        wait = START * draw.uniform(0.8, 1.5)
                        key = KEYS[side.party]
                        side.later(now + wait, Event("ready", number, generation, text=key))
                case "listen":
                    event = Event("listens", number, generation, text="10.0.0.1:40000")
                    sides[0].later(now + 0.01, event)
                case "dial":
                    self.free[number] = now + 0.2
                    self.linked.add(number)
                    if len(self.linked) == shards and not figures.meeting:
                        figures.meeting = now
                    if self.losses:
                        when = now + draw.expovariate(1 / LOST_EVERY)
                        lost = Event("lost", number, generation, text="ActorDiedError")
                        sides[draw.randrange(2)].later(when, lost)
                case "work":
                    figures.again += int(action.attempt > 1)
                    takes = CHUNK * min(draw.lognormvariate(0, 0.2), 4)
                    self.free[number] = max(self.free[number], now) + takes
                    self.worked += takes if action.attempt == 1 else 0
                    for side in sides:
                        done = Event("done", number, generation, action.chunk)
                        side.later(self.free[number] + draw.uniform(0, 0.05), done)
                case "void":
                    figures.lost += 1
                    # Nothing that this generation would have done happens.
                    for side in sides:
                        side.happens = [
                            one
                            for one in side.happens
                            if (one[2].shard, one[2].generation) != (number, generation)
                            or one[0] <= now
                        ]
                        heapq.heapify(side.happens)


def simulate(shards: int, seed: int = 1, losses: bool = True) -> Figures:
    """Runs both drivers until all chunks are done."""
    figures = Figures(shards, CHUNKS_PER_SHARD * shards)
    clusters = _Clusters(figures, seed, losses)
    sides, now = clusters.sides, 0.0
    clusters.act(now, sides[0].ledger.begin())
    most = 4096 + PER_SHARD * shards
    while not sides[0].ledger.ended:
        now += TICK
        figures.rounds += 1
        messages = []
        for side in sides:
            side.gather(now)
            begun = time.thread_time()
            message, number = pack(side.events, most)
            side.processor += time.thread_time() - begun
            messages.append((message, side.events[:number]))
            side.events = side.events[number:]
        decided = []
        for side, (_, own), (theirs, _) in zip(sides, messages, messages[::-1], strict=True):
            begun = time.thread_time()
            told = unpack(theirs, side.ledger, 1 - side.party)
            both = (own, told) if side.party == 0 else (told, own)
            decided.append(side.ledger.apply(*both))
            side.processor += time.thread_time() - begun
        assert decided[0] == decided[1], "the drivers decided differently"
        figures.largest = max(figures.largest, *(len(message) for message, _ in messages))
        figures.sent += len(messages[0][0])
        clusters.act(now, decided[0])
    if sides[0].ledger.left:
        raise RuntimeError(f"the work was not finished: {sides[0].ledger.exhausted}")
    figures.seconds, figures.processor = now, sides[0].processor
    figures.busy = clusters.worked / (shards * (now - figures.meeting))
    return figures


def table(all_figures: Sequence[Figures]) -> str:
    """Returns the figures as a table in Markdown."""
    lines = [
        "| shards | chunks | lost | chunks again | all work after | largest message | sent | "
        "driver's processor | shards busy |",
        "| ---: " * 9 + "|",
    ]
    for one in all_figures:
        cells = [
            str(one.shards),
            str(one.chunks),
            str(one.lost),
            str(one.again),
            f"{one.meeting:.1f} s",
            f"{one.largest / 1000:.1f} kB",
            f"{one.sent / one.seconds / 1000:.1f} kB/s",
            f"{100 * one.processor / one.seconds:.1f} %",
            f"{100 * one.busy:.0f} %",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    shards = [int(text) for text in sys.argv[1:]] or [10, 100, 1000]
    print(table([simulate(number) for number in shards]))


if __name__ == "__main__":
    main()
