"""One party's driver in the tests of `symbolon.ray`: it runs all scenarios, and says what it saw.

    python ray_party.py PARTY CLUSTER PLACE FOLDER

Both parties run the same scenarios in the same order. What each saw is in FOLDER/PARTY.json.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import ray

import symbolon as sy
from symbolon.ray import _map, _work
from symbolon.ray._ledger import Event

ROWS, CHUNK, SHARDS = 600, 20, 2
ADDER = sy.builtin("add:16")
BIG = sy.source(
    "fn main(x: u16 from 0, y: u16 from 1) -> (sum: u16 to all, own: u16 to 0) { (x + y, x - y) }"
)

PARTY = int(sys.argv[1])
CLUSTER = sy.ray.Cluster(cpus=0.5, host="127.0.0.1")
SHARED: sy.ray.Shards
"""Actors that several scenarios use."""


def column(count=ROWS):
    """This party's rows, which the tests know."""
    return np.arange(count, dtype=np.uint16) * (3 if PARTY == 0 else 5)


def frame(count=ROWS):
    """Party 0 has a data frame, party 1 a table of Arrow."""
    if PARTY == 0:
        return pandas.DataFrame({"x": column(count)})
    return pyarrow.table({"y": column(count)})


def killing(progress, seed, times):
    """Kills this party's actors at random moments while work goes on; returns the thread."""
    draw = random.Random(seed)

    def kill():
        killed = 0
        while progress.ended is None and killed < times:
            time.sleep(draw.uniform(0.05, 0.4))
            pids = [shard.pid for shard in progress.shards if shard.state == "working"]
            if pids and progress.done:
                try:
                    os.kill(draw.choice(pids), signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def raised(call):
    """What an error of a scenario is, as both tests and JSON have it."""
    try:
        call()
    except Exception as error:
        seen = {"type": type(error).__name__, "text": str(error)}
        for name in ("code", "check", "party", "what", "ours", "theirs"):
            seen[name] = getattr(error, name, None)
        return seen
    return None


def plain(columns):
    return {name: values.tolist() for name, values in columns.items()}


def lost(progress):
    return sum(shard.generation for shard in progress.shards)


def on_tables(me):
    mapped = SHARED.map(BIG, frame(), chunk=CHUNK)
    starts = [part.start for part in mapped]
    return {
        "starts": starts,
        "columns": plain(mapped.columns()),
        "sent": mapped.bytes_sent,
        "html": mapped._repr_html_(),
        "text": str(mapped.progress),
        "frame": list(mapped.frame().columns),
        "arrow": mapped.arrow().num_rows,
    }


def with_kills(me):
    rows = frame()
    if PARTY:
        # Blocks that do not end where chunks do.
        cuts = range(0, ROWS, 90)
        rows = ray.data.from_arrow([rows.slice(start, 90) for start in cuts])
    mapped = SHARED.map(BIG, rows, chunk=CHUNK, ordered=False, attempts=20)
    killer = killing(mapped.progress, seed=PARTY, times=1)
    starts = sorted(part.start for part in mapped)
    killer.join()
    progress = mapped.progress
    return {
        "starts": starts,
        "columns": plain(mapped.columns()),
        "lost": lost(progress),
        "again": progress.again,
    }


def states(shards):
    return {
        str(number): {item.item: item.state for item in material}
        for number, material in shards.material().items()
    }


def with_stores(me):
    # Their processors are needed.
    SHARED.close()
    place = Path(sys.argv[4]) / f"stores-{PARTY}"
    with sy.ray.Preprocessing(me, shards=SHARDS, store=place, cluster=CLUSTER) as shards:
        watched = threading.Thread(target=lambda: kill_preparation(shards))
        watched.start()
        made = shards.prepare(ADDER, 4 * _map.check_count("n", SHARDS), batch=25)
        watched.join()
        before = states(shards)
        rows = {"xy"[PARTY]: column(200)}
        mapped = shards.map(ADDER, rows, chunk=25, attempts=20, fallback=True)
        killer = killing(mapped.progress, seed=10 + PARTY, times=1)
        columns = plain(mapped.columns())
        killer.join()
        after = states(shards)
        dry = raised(lambda: shards.map(ADDER, rows, chunk=40).wait())
    return {
        "made": {str(shard): stamps for shard, stamps in made.items.items()},
        "before": before,
        "after": after,
        "used": mapped.used,
        "columns": columns,
        "lost": lost(made.progress) + lost(mapped.progress),
        "dry": dry,
        "keys": sorted(path.name for path in (place / "shard-0").iterdir()),
    }


def kill_preparation(shards):
    """Kills an actor of party 0 while it prepares."""
    deadline = time.monotonic() + 60
    while PARTY == 0 and time.monotonic() < deadline:
        working = (
            [one.pid for one in shards.progress.shards if one.chunk is not None]
            if (shards.progress)
            else []
        )
        if working:
            os.kill(working[0], signal.SIGKILL)
            return
        time.sleep(0.005)


def on_a_lost_node(me):
    # A shard has a node of its own at party 0; when it is lost, there is no place for the shard.
    SHARED.close()
    cluster = sy.ray.Cluster(cpus=1, host="127.0.0.1")
    with sy.ray.Shards(me, shards=SHARDS, cluster=cluster) as shards:
        mapped = shards.map(BIG, frame(), chunk=5, attempts=20)
        progress = mapped.progress
        while progress.ended is None and not all(shard.chunks for shard in progress.shards):
            time.sleep(0.01)
        nodes = {shard.node for shard in progress.shards}
        if PARTY == 0:
            # The test kills the second node of this cluster.
            print("node", flush=True)
        return {
            "columns": plain(mapped.columns()),
            "lost": lost(progress),
            "nodes": len(nodes),
        }


def with_other_terms(me):
    chunk = CHUNK + PARTY
    return raised(lambda: SHARED.map(BIG, frame(), chunk=chunk).wait())


def from_other_networks(me):
    """Cheat: party 0 tells an address outside the networks in which its shards may be."""
    own = SHARED._cluster
    SHARED._cluster = sy.ray.Cluster(networks=["10.9.0.0/16"])
    try:
        return raised(lambda: SHARED.map(BIG, frame(), chunk=CHUNK).wait())
    finally:
        SHARED._cluster = own


class Changing(_map._Rows):
    """Rows that change when a chunk is evaluated for the second time."""

    begun = 0

    def _start(self, actor, chunk, generation):
        if chunk == 0:
            Changing.begun += 1
            if Changing.begun == 2:
                self.rows.pieces[0] = pyarrow.table({"y": column() + 1})
        return super()._start(actor, chunk, generation)

    def _take(self, chunk, answer):
        super()._take(chunk, answer)
        # It does not accuse itself.
        return None


class Losing(_work.Work):
    """A driver that has the first chunk's outputs, and says that its shard was lost."""

    has_lied = False

    def _tell(self, event):
        if event.kind == "done" and event.chunk == 0 and not Losing.has_lied:
            Losing.has_lied = True
            # The other party has finished it by then, too.
            time.sleep(0.5)
            event = Event("lost", event.shard, event.generation, text="ActorDiedError")
        super()._tell(event)


def with_changed_rows(me):
    """Cheat: party 1 loses a chunk after it saw the outputs, and changes its rows for the next."""
    honest = _map._Rows, _map.Work
    if PARTY == 1:
        _map._Rows, _map.Work = Changing, Losing
    try:
        return raised(lambda: SHARED.map(BIG, frame(), chunk=CHUNK).wait())
    finally:
        _map._Rows, _map.Work = honest


def with_wrong_rows(me):
    """One party's rows do not fit, which ends the work of both."""
    rows = frame()
    if PARTY == 1:
        rows = {"y": [70_000] * ROWS}
    return raised(lambda: SHARED.map(BIG, rows).wait())


def cancelled(me):
    mapped = SHARED.map(BIG, frame(), chunk=5)
    if PARTY == 1:
        next(iter(mapped))
        mapped.cancel()
    try:
        mapped.wait(30)
    except KeyboardInterrupt:
        return {"type": "KeyboardInterrupt"}
    except sy.PeerUnreachable as error:
        return {"type": "PeerUnreachable", "code": error.code}
    return None


def without_a_driver(me):
    """Party 1's driver is killed; the test starts another one, which runs this alone."""
    journal = Path(sys.argv[4]) / f"journal-{PARTY}"
    has_begun, errors = journal.exists(), []
    while True:
        mapped = SHARED.map(BIG, frame(), chunk=CHUNK, attempts=5, journal=journal)
        resumed = mapped.progress.done
        if PARTY == 1 and not has_begun:
            # Both have some chunks by then, and have written them down.
            while mapped._work.ledger.left > ROWS // CHUNK - 3:
                time.sleep(0.01)
            os._exit(9)
        found = raised(mapped.wait)
        if found is None:
            break
        errors.append(found)
        assert found["type"] == "PeerUnreachable" and len(errors) < 10, found
    other = raised(lambda: SHARED.map(BIG, frame(40), chunk=CHUNK, journal=journal))
    return {
        "columns": plain(mapped.columns()),
        "errors": errors,
        "resumed": resumed,
        "done": sum(shard.done for shard in mapped.progress.shards),
        "other": other,
        "mode": (journal / "part-0").stat().st_mode & 0o777,
    }


SCENARIOS = [
    on_tables,
    with_kills,
    with_other_terms,
    from_other_networks,
    with_changed_rows,
    with_wrong_rows,
    cancelled,
    on_a_lost_node,
    without_a_driver,
    with_stores,
]


def main():
    place, folder = sys.argv[3], Path(sys.argv[4])
    keys = [folder / f"{number}.key" for number in (0, 1)]
    ray.init(address=sys.argv[2], logging_level="error", log_to_driver=False)
    prints = [sy.fingerprint(key) for key in keys]
    me = sy.Party(
        PARTY,
        key=keys[PARTY],
        listen=place if PARTY == 0 else None,
        peers={1 - PARTY: sy.Peer(None if PARTY == 0 else place, prints[1 - PARTY])},
        protocol="tinytable",
        timeout=90,
    )
    global SHARED
    SHARED = sy.ray.Shards(me, shards=SHARDS, cluster=CLUSTER)
    file = folder / f"{PARTY}.json"
    seen = json.loads(file.read_text()) if file.exists() else {}
    only = sys.argv[5:]
    for scenario in [one for one in SCENARIOS if not only or one.__name__ in only]:
        begun = time.monotonic()
        try:
            seen[scenario.__name__] = scenario(me)
        except BaseException as error:
            seen[scenario.__name__] = {"broken": repr(error)}
        print(f"{scenario.__name__}: {time.monotonic() - begun:.1f} s", flush=True)
        file.write_text(json.dumps(seen))


if __name__ == "__main__":
    main()
