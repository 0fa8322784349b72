"""One piece of work of all shards: the loop that a driver runs beside that of the other party."""

from __future__ import annotations

import ipaddress
import json
import queue
import socket
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayTaskError

from .._party import Party
from .._symbolon import (
    Circuit,
    InvalidInput,
    OutOfMaterial,
    PeerMismatch,
    PeerUnreachable,
)
from ._crew import Cluster, Crew
from ._ledger import Action, Event, Ledger, is_within, misbehaved, pack, unpack
from ._progress import Progress, reason_of
from ._shard import Answer, Refusal

TICK = 0.05
"""The drivers speak at least this often, in seconds."""

SETTLE = 2.0
"""How long a driver waits for outputs that it only compares, in seconds."""

PER_SHARD = 512


@dataclass
class Job:
    """What is to be done: chunks of some size, each by one call of an actor."""

    terms: dict[str, object]
    """What both parties must say alike."""
    sizes: Sequence[int]
    circuit: Circuit | None
    start: Callable[[Any, int, int], Any]
    """Starts a chunk: an actor, the chunk and the generation; returns a reference."""
    take: Callable[[int, Answer], str | None]
    """Takes what a chunk gave; returns what is wrong with it, if anything is."""
    attempts: int
    pinned: bool = False
    before: Sequence[Event] = ()
    """What this party has from before."""
    begins: Callable[[int], None] | None = None
    """Is told of each chunk before it begins."""


class Work:
    """Work that goes on. ``run`` is the loop; ``cancel`` ends it from another thread."""

    def __init__(
        self, me: Party, crew: Crew, cluster: Cluster, job: Job, progress: Progress
    ) -> None:
        check_party(me)
        self._me, self._crew, self._job, self.progress = me, crew, job, progress
        listener = me._party if me._listens else 1 - me._party
        self.ledger = Ledger(
            job.sizes,
            crew.shards,
            attempts=job.attempts,
            listener=listener,
            encrypts=me._encrypts,
            pinned=job.pinned,
        )
        self._networks = None if me._listens else networks_of(me, cluster)
        self._circuit: tuple[str, Any] | None = None
        self._happened: queue.Queue[Callable[[], None]] = queue.Queue()
        self._events: list[Event] = [*job.before, Event("told")]
        self._error: BaseException | None = None
        self._reason: BaseException | None = None
        self._cancelled = threading.Event()
        self._refs: set[Any] = set()
        self._working: set[Action] = set()

    def cancel(self) -> None:
        """Ends the work; the other party is told."""
        self._cancelled.set()
        self._happened.put(lambda: None)
        # It may still wait for the other party.
        self._me._session.cancel()

    def run(self) -> None:
        """Works until all is done. Raises what ended it otherwise."""
        self._crew.begin_work()
        exchange = None
        try:
            if self._job.circuit is not None:
                file = ray.put(self._job.circuit.to_bytes())
                self._circuit = (self._job.circuit.digest, file)
            exchange = self._meet()
            self._act(self.ledger.begin())
            while not self.ledger.ended:
                self._gather()
                self._round(exchange)
            self._settle()
            self._conclude()
        finally:
            if exchange is not None:
                exchange.close()
            for number, shard in enumerate(self.ledger.shards):
                self._crew.void(number, shard.generation)
            self._crew.end_work(shard.generation for shard in self.ledger.shards)
            self._refs.clear()

    def _meet(self) -> Any:
        about = json.dumps({"version": 1, "shards": self._crew.shards, **self._job.terms})
        try:
            return self._me._session.exchange(about)
        except PeerMismatch as error:
            raise _named(error) from None

    def _gather(self) -> None:
        """Waits for something to happen here, but not for long: the other party waits too."""
        try:
            self._happened.get(timeout=TICK)()
            while True:
                self._happened.get_nowait()()
        except queue.Empty:
            pass
        if self._cancelled.is_set() and self._error is None:
            self._fail(KeyboardInterrupt("the work was cancelled"))
        self.progress._look()

    def _round(self, exchange: Any) -> None:
        most = 4096 + PER_SHARD * self._crew.shards
        own, number = pack(self._events, most)
        told, self._events = self._events[:number], self._events[number:]
        theirs = unpack(exchange.swap(own, most), self.ledger, 1 - self._me._party)
        both = (told, theirs) if self._me._party == 0 else (theirs, told)
        self._act(self.ledger.apply(*both))

    def _settle(self) -> None:
        """Waits a moment for chunks that were finished here before, and are evaluated again: their
        outputs are compared."""
        deadline = time.monotonic() + SETTLE

        def goes_on() -> bool:
            shards = self.ledger.shards
            return any(shards[one.shard].generation == one.generation for one in self._working)

        while not self.ledger.left and self._error is None and goes_on():
            if time.monotonic() > deadline:
                break
            self._gather()

    def _conclude(self) -> None:
        """Raises why the work ended early, if it did."""
        if self._error is not None:
            raise self._error
        if self.ledger.failure is not None:
            party, reason = self.ledger.failure
            raised = PeerUnreachable(f"party {party} ended the work: {reason}")
            raised.code, raised.party = "ended-by-peer", party
            raise raised
        if self.ledger.left:
            if self.ledger.exhausted == "dry":
                raise OutOfMaterial("the stores of the shards have too little for this in common")
            lost = PeerUnreachable(str(self.ledger.exhausted))
            lost.code, lost.party = "shards-lost", None
            raise lost from self._reason

    def _act(self, actions: Sequence[Action]) -> None:
        for action in actions:
            number, generation = action.shard, action.generation
            match action.kind:
                case "begin":
                    self._begin(number, generation)
                case "listen" if self._me._listens:
                    key = action.keys[1 - self._me._party]
                    self._call("listen", action, self._crew.actor(number).listen, key)
                case "dial" if not self._me._listens:
                    self._dial(action)
                case "work":
                    self._work(action)
                case "void":
                    self.progress._lost(number)
                    self._crew.void(number, generation)

    def _begin(self, number: int, generation: int) -> None:
        self.progress.shards[number].state = "placing"
        actor = self._crew.actor(number)
        action = Action("begin", number, generation)
        circuit = self._circuit
        if circuit is None:
            self._call("ready", action, actor.ready, None, None)
        else:
            self._call("ready", action, actor.ready, *circuit)

    def _dial(self, action: Action) -> None:
        assert self._networks is not None
        if not is_within(action.address, self._networks):
            allowed = ", ".join(str(network) for network in self._networks)
            error = PeerMismatch(
                f"a shard of the other party is at {action.address}, which is not in the networks "
                f"that it may be in: {allowed} (`networks`)"
            )
            error.code, error.what = "networks", "the networks of shards"
            error.ours, error.theirs = allowed, action.address
            self._fail(error)
            return
        key = action.keys[1 - self._me._party]
        actor = self._crew.actor(action.shard)
        self._call("dial", action, actor.dial, key, action.address)

    def _work(self, action: Action) -> None:
        self.progress.again += int(action.attempt > 1)
        if self.progress.shards[action.shard].chunk is None:
            self.progress._works(action.shard, action.chunk)
        try:
            if self._job.begins is not None:
                self._job.begins(action.chunk)
        except OSError as error:
            self._fail(error)
            return
        actor = self._crew.actor(action.shard)
        start = self._job.start
        self._call("done", action, start, actor, action.chunk)

    def _call(self, kind: str, action: Action, call: Any, *arguments: Any) -> None:
        """Makes a call of an actor; what it returns is looked at by the loop."""
        reference = getattr(call, "remote", call)(*arguments, self._crew.first + action.generation)
        # A reference that nobody holds would be forgotten with its value.
        self._refs.add(reference)
        if kind == "done":
            self._working.add(action)

        def ended(future: Any) -> None:
            error = future.exception()
            value = None if error is not None else future.result()
            self._happened.put(lambda: self._take(kind, action, reference, value, error))

        reference.future().add_done_callback(ended)

    def _take(
        self, kind: str, action: Action, reference: Any, value: Any, error: BaseException | None
    ) -> None:
        self._refs.discard(reference)
        self._working.discard(action)
        number, generation = action.shard, action.generation
        is_current = generation == self.ledger.shards[number].generation
        if isinstance(error, RayTaskError):
            self._fail(error.cause or error)
        elif error is not None:
            # The actor, or its node, is lost.
            if is_current:
                self._crew.forget(number)
                self._is_lost(number, generation, error)
        elif isinstance(value, Refusal):
            self._refused(value, action, is_current)
        elif kind == "done":
            self._done(action, value)
        elif is_current and kind == "ready":
            key, node, pid = value
            self.progress._placed(number, node, pid)
            self._tell(Event("ready", number, generation, text=key))
        elif is_current and kind == "listen":
            self._tell(Event("listens", number, generation, text=value))

    def _refused(self, refusal: Refusal, action: Action, is_current: bool) -> None:
        number, generation, chunk = action.shard, action.generation, action.chunk
        if refusal.kind == "failed":
            self._fail(refusal.error)
        elif refusal.kind == "dry" and is_current:
            self._tell(Event("dry", number, generation, chunk))
        elif refusal.kind == "lost" and is_current:
            self._is_lost(number, generation, refusal.error)

    def _is_lost(self, number: int, generation: int, error: BaseException) -> None:
        self._reason = error
        self._tell(Event("lost", number, generation, text=reason_of(error)))

    def _done(self, action: Action, answer: Answer) -> None:
        try:
            wrong = self._job.take(action.chunk, answer)
        except OSError as error:
            self._fail(error)
            return
        if wrong is not None:
            self._fail(misbehaved(1 - self._me._party, "chunk evaluated again", wrong))
            return
        if not self.ledger.done[action.chunk][self._me._party]:
            amount = self._job.sizes[action.chunk]
            waiting = self.ledger.shards[action.shard].queue
            following = [chunk for chunk in waiting if chunk != action.chunk]
            next_one = following[0] if following else None
            self.progress._has_done(action.shard, amount, answer.seconds, next_one)
            self._call_back()
        self._tell(Event("done", action.shard, action.generation, action.chunk))

    def _call_back(self) -> None:
        """Tells the party's callback. What it raises is shown, and changes nothing."""
        if self._me._progress is not None:
            try:
                self._me._progress(self.progress.what, self.progress.done, self.progress.total)
            except Exception:
                traceback.print_exc()

    def _tell(self, event: Event) -> None:
        self._events.append(event)

    def _fail(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error
            self._events.insert(0, Event("failed", text=reason_of(error)))


def networks_of(me: Party, cluster: Cluster) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Where the other party's shards may be: what it tells would else lead us anywhere."""
    if cluster.networks is not None:
        try:
            return [ipaddress.ip_network(text) for text in cluster.networks]
        except ValueError as error:
            raise InvalidInput(f"`networks`: {error}") from None
    host = (me._peers[1 - me._party].address or "").rpartition(":")[0].strip("[]")
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError as error:
        raise PeerUnreachable(f"{host} has no address: {error}") from None
    return [ipaddress.ip_network(address) for address in sorted(map(str, found))]


def check_party(me: Party) -> None:
    """Raises `InvalidInput` for a party whose work cannot be spread."""
    if len(me._peers) != 1:
        raise InvalidInput("`me`: shards are for two parties")
    if me._dealer is not None:
        raise InvalidInput("`me`: a dealer knows parties by their keys, and shards have others")


def _named(error: PeerMismatch) -> Exception:
    """Returns the error that names the first term that differs."""
    try:
        ours, theirs = json.loads(error.ours), json.loads(error.theirs)
        differs = [name for name in ours if ours[name] != theirs.get(name)]
    except (ValueError, AttributeError, TypeError):
        return error
    if not differs:
        return error
    what, own, other = differs[0], str(ours[differs[0]]), str(theirs.get(differs[0]))
    named = PeerMismatch(f"the parties have different `{what}`: {own} here, {other} there")
    named.code, named.what, named.ours, named.theirs = "parties-differ", what, own, other
    return named
