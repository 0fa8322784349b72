"""The actors of a party's shards, and where Ray places them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .._party import Party
from .._symbolon import InvalidInput
from ._shard import Settings, Shard, place_of

_Actor = ray.remote(
    max_restarts=0, max_task_retries=0, concurrency_groups={"control": 1, "looks": 1}
)(Shard)


@dataclass(frozen=True)
class Cluster:
    """How shards are placed in this party's cluster; the other party's may differ.

    ``cpus`` are the processors of a shard. ``ports`` are the first and the last one at which shards
    listen, at the address ``host`` or that of their node. ``networks`` are those in which the other
    party's shards may be, such as ``10.1.0.0/16``; without it, only at the address of its driver.
    """

    cpus: float = 1.0
    ports: tuple[int, int] | None = None
    host: str | None = None
    networks: Sequence[str] | None = None

    def check(self) -> None:
        """Raises `InvalidInput` for a value that cannot be."""
        if not 0 < self.cpus <= 4096:
            raise InvalidInput("`cpus`: a shard has more than 0 processors")
        if self.ports is not None:
            first, last = self.ports
            if not 0 < first <= last < 65536:
                raise InvalidInput("`ports` are the first and the last port of shards")


class Crew:
    """The actors of all shards. One that is lost is made anew, at another node if need be."""

    def __init__(self, me: Party, shards: int, cluster: Cluster, store: tuple[str, str | None]):
        folder, store_key = store
        self.party, self.shards = me._party, shards
        self.first = 0
        """The number of the first generation of the work that goes on, as actors count."""
        self._cluster, self._free = cluster, threading.Lock()
        self._settings = Settings(
            party=me._party,
            encrypts=me._encrypts,
            listens=me._listens,
            options=me._options,
            host=cluster.host,
            ports=cluster.ports,
            store=folder or None,
            store_key=store_key,
        )
        self._actors: list[Any] = [None] * shards
        self._homes = _homes(folder, shards) if folder else {}

    def actor(self, number: int) -> Any:
        """The actor of a shard, which may still wait for a place."""
        if self._actors[number] is None:
            home = self._homes.get(number)
            # A store is at one node: without that node, the shard begins with an empty one.
            strategy = "SPREAD" if home is None else NodeAffinitySchedulingStrategy(home, soft=True)
            made = _Actor.options(
                num_cpus=self._cluster.cpus,
                scheduling_strategy=strategy,
                name=f"symbolon-{self.party}-{number}-{os.urandom(4).hex()}",
            )
            self._actors[number] = made.remote(number, self._settings)
        return self._actors[number]

    def void(self, number: int, generation: int) -> None:
        """Ends a generation of a shard, if its actor lives."""
        if self._actors[number] is not None:
            void = self._actors[number].void.options(concurrency_group="control")
            void.remote(self.first + generation)

    def begin_work(self) -> None:
        """Raises `RuntimeError` if other work goes on."""
        if not self._free.acquire(blocking=False):
            raise RuntimeError("the shards are in other work at the moment")

    def end_work(self, generations: Iterable[int]) -> None:
        """Actors stay for the next work, whose generations are others."""
        self.first += max(generations) + 1
        self._free.release()

    def forget(self, number: int) -> None:
        """Ends an actor; the next one begins anew."""
        actor, self._actors[number] = self._actors[number], None
        if actor is not None:
            ray.kill(actor)

    def close(self) -> None:
        """Ends all actors."""
        actors = [actor for actor in self._actors if actor is not None]
        ends = [actor.end.options(concurrency_group="control").remote() for actor in actors]
        if ends:
            # One that is not yet placed, or is lost, does not answer.
            ray.wait(ends, num_returns=len(ends), timeout=2)
        for number in range(self.shards):
            self.forget(number)


def _listing(folder: str, shards: int) -> list[int]:
    """Which of the shards have a store at this node."""
    found = [number for number in range(shards) if (place_of(folder, number) / "store").is_dir()]
    return found


def _homes(folder: str, shards: int) -> dict[int, str]:
    """Returns the node at which each shard has its store, for those that have one."""
    look = ray.remote(num_cpus=0)(_listing)
    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    asked = {
        node: look.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)
        ).remote(folder, shards)
        for node in nodes
    }
    found: dict[str, list[int]] = {}
    for node, reference in asked.items():
        try:
            found[node] = ray.get(reference)
        except RayError:
            # A node that is lost in this moment has nothing.
            found[node] = []
    homes: dict[int, str] = {}
    load = dict.fromkeys(nodes, 0)
    for number in range(shards):
        having = [node for node in nodes if number in found[node]]
        if having:
            # Where nodes share a disk, all have it.
            homes[number] = min(having, key=lambda node: load[node])
            load[homes[number]] += 1
    return homes


def check_folder(folder: str | os.PathLike[str]) -> str:
    """Returns the stores' folder as text: the same path at all nodes."""
    text = os.fspath(folder)
    if not text or not (Path(text).is_absolute() or text[0] in "$~"):
        raise InvalidInput("`store` is an absolute path, which nodes understand alike")
    return text
