"""Two parties, each with a cluster of its own, on this machine: a map with a kill in the middle.

    python -m symbolon.ray.demo [--rows 10000] [--shards 2] [--protocol tinytable] [--no-kill]

The clusters, the keys and the drivers' processes are those that two companies would have; only the
addresses are on loopback. `party` is the whole script of a party.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import symbolon as sy

from ._local import LocalCluster, free_port

# Whether a buyer and a seller come together, and at which price.
DEAL = """
fn main(bid: u32 from 0, ask: u32 from 1) -> (matches: bool to all, price: u32 to all) {
    let matches = bid >= ask;
    (matches, if matches { ask + (bid - ask) / 2 } else { 0 })
}
"""


def rows_of(party: int, count: int) -> Any:
    """The rows of a party: a table of Arrow."""
    import pyarrow

    draw = np.random.default_rng(party)
    values = draw.integers(0, 1 << 20, count, dtype=np.uint32)
    return pyarrow.table({("bid", "ask")[party]: values})


def party(me: sy.Party, number: int, arguments: argparse.Namespace) -> Any:
    """What each party runs: the same script, with its own rows and its own cluster."""
    import ray

    ray.init(address=arguments.cluster, logging_level="error", log_to_driver=False)
    cluster = sy.ray.Cluster(cpus=1, host="127.0.0.1")
    rows = rows_of(number, arguments.rows)
    mapped = sy.ray.map(sy.source(DEAL), rows, me, shards=arguments.shards, cluster=cluster)
    told: dict[int, int] = {}
    for part in mapped:
        for shard, one in enumerate(mapped.progress.shards):
            if one.pid and told.get(shard) != one.pid:
                told[shard] = one.pid
                print(f"shard {shard} is process {one.pid}", flush=True)
        print(f"done {part.start + len(part)} rows", flush=True)
    print(mapped.progress, flush=True)
    return mapped.arrow()


def _one(arguments: argparse.Namespace) -> None:
    """The process of one party."""
    import pyarrow.parquet

    number, folder = arguments.party, Path(arguments.folder)
    keys = [folder / f"{other}.key" for other in (0, 1)]
    prints = [sy.fingerprint(key) for key in keys]
    place = f"127.0.0.1:{arguments.port}"
    me = sy.Party(
        number,
        key=keys[number],
        listen=place if number == 0 else None,
        peers={1 - number: sy.Peer(None if number == 0 else place, prints[1 - number])},
        protocol=arguments.protocol,
    )
    with me:
        outputs = party(me, number, arguments)
    pyarrow.parquet.write_table(outputs, folder / f"outputs-{number}.parquet")


def _follow(process: subprocess.Popen[str], number: int, arguments: argparse.Namespace) -> None:
    """Shows what a party says, and kills one of its shards when half is done."""
    shards: dict[str, int] = {}
    has_killed = not arguments.kill or number != 0
    assert process.stdout is not None
    for line in process.stdout:
        words = line.split()
        if line.startswith("shard ") and "process" in words:
            shards[words[1]] = int(words[-1])
        if line.startswith("done "):
            if not has_killed and int(words[1]) >= arguments.rows // 2 and shards:
                has_killed = True
                shard, pid = min(shards.items())
                print(f"[party {number}] half is done: kill -9 {pid}, which is shard {shard}")
                os.kill(pid, signal.SIGKILL)
            continue
        print(f"[party {number}] {line}", end="", flush=True)


def _both(arguments: argparse.Namespace) -> bool:
    """Starts both clusters and both parties; returns whether all outputs are right."""
    import pyarrow.parquet

    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(1, cpus=arguments.shards) as zero,
        LocalCluster(1, cpus=arguments.shards) as one,
    ):
        for number in (0, 1):
            sy.keygen(Path(folder) / f"{number}.key")
        print(f"two clusters after {time.monotonic() - begun:.0f} s", flush=True)
        port = free_port()
        command = [sys.executable, "-m", "symbolon.ray.demo", f"--folder={folder}"]
        command += [f"--port={port}", f"--rows={arguments.rows}", f"--shards={arguments.shards}"]
        command += [f"--protocol={arguments.protocol}"]
        processes = [
            subprocess.Popen(
                [*command, f"--party={number}", f"--cluster={cluster.address}"],
                stdout=subprocess.PIPE,
                text=True,
            )
            for number, cluster in enumerate((zero, one))
        ]
        threads = [
            threading.Thread(target=_follow, args=(process, number, arguments))
            for number, process in enumerate(processes)
        ]
        for thread in threads:
            thread.start()
        for process, thread in zip(processes, threads, strict=True):
            process.wait()
            thread.join()
        if any(process.returncode for process in processes):
            return False
        bids, asks = (
            rows_of(number, arguments.rows).column(0).to_numpy().astype(np.int64)
            for number in (0, 1)
        )
        right = np.where(bids >= asks, asks + (bids - asks) // 2, 0)
        outputs = [
            pyarrow.parquet.read_table(Path(folder) / f"outputs-{number}.parquet")
            for number in (0, 1)
        ]
        is_right = all((output["price"].to_numpy() == right).all() for output in outputs)
        print(f"{arguments.rows} rows, all outputs {'right' if is_right else 'WRONG'} at both")
        return is_right


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--protocol", default="tinytable")
    parser.add_argument("--no-kill", dest="kill", action="store_false")
    # For the parties' own processes.
    parser.add_argument("--party", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--cluster", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.party is not None:
        _one(arguments)
    elif not _both(arguments):
        sys.exit(1)


if __name__ == "__main__":
    main()
