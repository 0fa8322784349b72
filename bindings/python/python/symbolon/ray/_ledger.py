"""What the drivers of both parties know together: shards, chunks, and who does what.

In each round the drivers swap what happened in their clusters, and then both do the same with the
same events in the same order. So both reach the same decisions, and nobody leads. Nothing here
looks at a clock, at this party's number, or at anything else that the other party does not know.
"""

from __future__ import annotations

import heapq
import ipaddress
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._symbolon import CheatingDetected, error_of

DEPTH = 2
"""How many chunks a shard has at a time: one that it works on, and the next one."""

GIVEN_UP = 8
"""After this many generations without a finished chunk, a shard gets no work any more."""

_TEXT = 200


@dataclass(frozen=True)
class Event:
    """What happened at one party.

    ``has``: the driver has the outputs of the chunk from a former work. ``tried``: the chunk was
    begun ``generation`` times before. ``told``: that is all, and the work may begin.

    ``ready``: the shard's actor waits, and has the key ``text``. ``listens``: it listens at
    ``text``. ``done``: it has finished the chunk, and the driver has the result. ``lost``: the
    generation is void, for the reason ``text``. ``dry``: the stores have nothing for the chunk.
    ``failed``: all work ends, for the reason ``text``.
    """

    kind: str
    shard: int = 0
    generation: int = 0
    chunk: int = 0
    text: str = ""

    def packed(self) -> list[Any]:
        return [self.kind, self.shard, self.generation, self.chunk, self.text]


_BEFORE = ("tried", "has", "told")
_KINDS = (*_BEFORE, "ready", "listens", "done", "lost", "dry", "failed")


@dataclass(frozen=True)
class Action:
    """What both drivers do next, each with its own actor.

    ``begin``: have an actor ready for this generation. ``listen`` and ``dial``: open the session,
    with the other's key and address. ``work``: start a chunk. ``void``: forget the generation.
    """

    kind: str
    shard: int
    generation: int
    chunk: int = 0
    attempt: int = 0
    keys: tuple[str, str] = ("", "")
    address: str = ""


@dataclass
class _Shard:
    generation: int = 0
    keys: list[str | None] = field(default_factory=lambda: [None, None])
    address: str | None = None
    queue: list[int] = field(default_factory=list)
    losses: int = 0
    given_up: bool = False
    dry: set[int] = field(default_factory=set)
    said_dry: dict[int, int] = field(default_factory=dict)


def misbehaved(party: int, check: str, text: str) -> CheatingDetected:
    """The exception for a peer's driver that breaks the rules of the exchange."""
    text = f"party {party}: {text} (check: {check})"
    raised = error_of("misbehaved", "shards-exchange", text, party=party, check=check)
    assert isinstance(raised, CheatingDetected)
    return raised


def pack(events: Sequence[Event], most: int) -> tuple[bytes, int]:
    """Returns the message with as many of the first events as have room, and their number."""
    parts: list[str] = []
    size = 2
    for event in events:
        text = json.dumps(event.packed(), separators=(",", ":"))
        if size + len(text) + 1 > most:
            break
        size += len(text) + 1
        parts.append(text)
    return ("[" + ",".join(parts) + "]").encode(), len(parts)


def unpack(message: bytes, ledger: Ledger, party: int) -> list[Event]:
    """Reads the other party's events, which may be anything.

    Raises `CheatingDetected` for a message that no honest driver sends.
    """
    try:
        rows = json.loads(message)
        events = [Event(*row) for row in rows] if isinstance(rows, list) else None
    except (ValueError, TypeError, RecursionError):
        events = None
    if events is None:
        raise misbehaved(party, "messages of drivers", "its message cannot be read")
    for event in events:
        why = _wrong(event, ledger, party)
        if why:
            raise misbehaved(party, "messages of drivers", why)
    return events


def _wrong(event: Event, ledger: Ledger, party: int) -> str | None:
    numbers = (event.shard, event.generation, event.chunk)
    if any(type(number) is not int for number in numbers) or type(event.text) is not str:
        return "a field has another type"
    if event.kind not in _KINDS:
        return "an event of no known kind"
    if len(event.text) > _TEXT or not event.text.isprintable():
        return "a text that is too long or not printable"
    if not 0 <= event.shard < len(ledger.shards) or not 0 <= event.chunk < len(ledger.sizes):
        return "a shard or chunk that there is not"
    if event.kind in _BEFORE:
        if ledger.told[party]:
            return "what was before the work, after it began"
        fits = 0 <= event.generation <= ledger.attempts
        return None if fits else "more attempts than are allowed"
    if not 0 <= event.generation <= ledger.shards[event.shard].generation:
        return "a generation that has not begun"
    if event.kind == "listens" and party != ledger.listener:
        return "an address of the party that dials"
    if event.kind == "ready" and ledger.encrypts and not _is_fingerprint(event.text):
        return "a key that is no fingerprint"
    if event.kind in ("done", "dry") and not ledger.was_given(event.chunk, event.shard):
        return "the end of work that its shard never had"
    return None


def _is_fingerprint(text: str) -> bool:
    return len(text) == 64 and all(digit in "0123456789abcdef" for digit in text)


def is_within(
    address: str, networks: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]
) -> bool:
    """Whether ``IP:PORT`` is in one of the networks."""
    host, _, port = address.rpartition(":")
    try:
        ip = ipaddress.ip_address(host.strip("[]"))
        return 0 < int(port) < 65536 and any(ip in network for network in networks)
    except ValueError:
        return False


class Ledger:
    """The state that both drivers have, and its transitions.

    ``sizes`` are the rows of each chunk. A chunk belongs to shard ``chunk % shards`` where
    ``pinned``, or to any. Each is started at most ``attempts`` times. Party ``listener``'s actors
    listen.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        shards: int,
        *,
        attempts: int,
        listener: int,
        encrypts: bool = True,
        pinned: bool = False,
    ) -> None:
        self.sizes = list(sizes)
        self.shards = [_Shard() for _ in range(shards)]
        self.attempts, self.listener = attempts, listener
        self.encrypts, self.pinned = encrypts, pinned
        self.started = [0] * len(self.sizes)
        """How many times each chunk was started."""
        self.done = [[False, False] for _ in self.sizes]
        self.left = len(self.sizes)
        self.told = [False, False]
        """Whether each party has said what it has from before."""
        self.failure: tuple[int, str] | None = None
        """Who ended all work, and why."""
        self.exhausted: str | None = None
        """Why the work cannot be finished, if it cannot."""
        self._given: list[set[int]] = [set() for _ in self.sizes]
        self._pending: list[list[int]] = [[] for _ in range(shards if pinned else 1)]
        for chunk in range(len(self.sizes)):
            heapq.heappush(self._pending[self._place(chunk)], chunk)
        self._reason = "no shard was ever ready"

    def was_given(self, chunk: int, shard: int) -> bool:
        """Whether the shard was ever to work on the chunk."""
        return shard in self._given[chunk]

    def begin(self) -> list[Action]:
        """Returns what to do first."""
        return [Action("begin", shard, 0) for shard in range(len(self.shards))]

    @property
    def ended(self) -> bool:
        """Whether nothing is left to do, or nothing can be done."""
        return self.left == 0 or self.failure is not None or self.exhausted is not None

    def apply(self, zero: Sequence[Event], one: Sequence[Event]) -> list[Action]:
        """Takes what happened at party 0 and at party 1; returns what to do next."""
        both = [(0, event) for event in zero] + [(1, event) for event in one]
        actions: list[Action] = []
        if not both:
            return actions
        for kind in ("failed", *_BEFORE, "done", "lost", "dry", "ready", "listens"):
            for party, event in both:
                if event.kind == kind:
                    self._apply(party, event, actions)
        if not self.ended and all(self.told):
            self._assign(actions)
        return actions

    def _apply(self, party: int, event: Event, actions: list[Action]) -> None:
        shard = self.shards[event.shard]
        is_current = event.generation == shard.generation
        match event.kind:
            case "failed":
                self.failure = self.failure or (party, event.text)
            case "tried":
                # The bound holds over all works; who says more than is true ends the work earlier.
                self.started[event.chunk] = max(self.started[event.chunk], event.generation)
            case "told":
                self.told[party] = True
            case "done" | "has":
                self._finish(party, event)
            case "lost" if is_current:
                self._void(event.shard, event.text, actions)
            case "dry" if is_current:
                self._dry(party, event)
            case "ready" if is_current and not shard.given_up:
                self._meet(party, event, actions)
            case "listens" if is_current and shard.address is None and None not in shard.keys:
                shard.address = event.text
                actions.append(self._open("dial", event.shard))

    def _finish(self, party: int, event: Event) -> None:
        done = self.done[event.chunk]
        if done[party]:
            return
        done[party] = True
        if all(done):
            self.left -= 1
            for number in self._given[event.chunk]:
                shard = self.shards[number]
                if event.chunk in shard.queue:
                    shard.queue.remove(event.chunk)
                    shard.losses = 0

    def _dry(self, party: int, event: Event) -> None:
        shard = self.shards[event.shard]
        shard.dry.add(self.sizes[event.chunk])
        if event.chunk in shard.queue:
            shard.queue.remove(event.chunk)
            shard.said_dry[event.chunk] = party
            self._put_back(event.chunk)
        elif shard.said_dry.get(event.chunk) == 1 - party:
            # Both say so: nothing was used and no input was sent. What one party says alone does
            # not count, because it could have seen the outputs.
            del shard.said_dry[event.chunk]
            self.started[event.chunk] -= 1

    def _meet(self, party: int, event: Event, actions: list[Action]) -> None:
        shard = self.shards[event.shard]
        if shard.keys[party] is None:
            shard.keys[party] = event.text
            if None not in shard.keys:
                actions.append(self._open("listen", event.shard))

    def _open(self, kind: str, number: int) -> Action:
        shard = self.shards[number]
        keys = (shard.keys[0] or "", shard.keys[1] or "")
        return Action(kind, number, shard.generation, keys=keys, address=shard.address or "")

    def _void(self, number: int, reason: str, actions: list[Action]) -> None:
        shard = self.shards[number]
        actions.append(Action("void", number, shard.generation))
        for chunk in shard.queue:
            self._put_back(chunk)
        shard.queue, shard.keys, shard.address, shard.said_dry = [], [None, None], None, {}
        shard.generation += 1
        shard.losses += 1
        self._reason = reason
        if shard.losses < GIVEN_UP:
            actions.append(Action("begin", number, shard.generation))
        else:
            shard.given_up = True

    def _put_back(self, chunk: int) -> None:
        if not all(self.done[chunk]):
            heapq.heappush(self._pending[self._place(chunk)], chunk)

    def _place(self, chunk: int) -> int:
        return chunk % len(self._pending)

    def _assign(self, actions: list[Action]) -> None:
        """Gives work to shards that have room, first to those that have none."""
        for depth in range(DEPTH):
            for number, shard in enumerate(self.shards):
                if shard.address is not None and len(shard.queue) == depth:
                    chunk = self._next(number)
                    if chunk is None:
                        continue
                    if self.started[chunk] == self.attempts:
                        times = f"{self.attempts} attempts"
                        self.exhausted = f"chunk {chunk} failed after {times}: {self._reason}"
                        return
                    self.started[chunk] += 1
                    self._given[chunk].add(number)
                    shard.queue.append(chunk)
                    actions.append(
                        Action("work", number, shard.generation, chunk, self.started[chunk])
                    )
        if all(shard.given_up for shard in self.shards):
            self.exhausted = f"no shard works: {self._reason}"
        elif self.pinned and any(
            shard.given_up and self._pending[number] for number, shard in enumerate(self.shards)
        ):
            self.exhausted = f"a shard does not work: {self._reason}"
        elif self._is_dry():
            self.exhausted = "dry"

    def _next(self, number: int) -> int | None:
        """Takes the first chunk that this shard may do."""
        pending = self._pending[number if self.pinned else 0]
        dry = self.shards[number].dry
        passed = []
        found = None
        while pending:
            chunk = heapq.heappop(pending)
            if all(self.done[chunk]):
                continue
            if self.sizes[chunk] not in dry:
                found = chunk
                break
            passed.append(chunk)
        for chunk in passed:
            heapq.heappush(pending, chunk)
        return found

    def _is_dry(self) -> bool:
        """Whether the stores of all shards have nothing for a chunk that waits."""
        live = [shard for shard in self.shards if not shard.given_up]
        if not any(shard.dry for shard in live):
            return False
        dry = set.intersection(*(shard.dry for shard in live))
        waiting = (chunk for pending in self._pending for chunk in pending)
        return any(self.sizes[chunk] in dry and not all(self.done[chunk]) for chunk in waiting)
