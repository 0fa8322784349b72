"""Rows per second of shards, beside as many threads in one process for each party.

    python -m symbolon.ray.measure [--rows 10000] [--shards 2] [--protocol tinytable] [--repeat 5]

Both parties are on this machine, each with a cluster of its own. The two ways take turns, because
other work changes the machine's speed; actors run before the first measurement.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import symbolon as sy

from .._party import _encoded_rows
from ._local import LocalCluster, free_port
from .demo import DEAL, rows_of


def _in_threads(
    number: int, circuit: sy.Circuit, arguments: argparse.Namespace, options: dict[str, Any]
) -> float:
    """Evaluates all rows in threads of this process, each with a session of its own."""
    name = ("bid", "ask")[number]
    values = rows_of(number, arguments.rows).column(0).to_numpy()
    keys = [Path(arguments.folder) / f"{other}.key" for other in (0, 1)]
    prints = [sy.fingerprint(key) for key in keys]
    chunks = range(0, arguments.rows, arguments.chunk)

    def thread(place: int) -> None:
        address = f"127.0.0.1:{arguments.port + 1 + place}"
        peer = sy.Peer(None if number == 0 else address, prints[1 - number])
        listen = address if number == 0 else None
        with sy.Party(
            number, key=keys[number], listen=listen, peers={1 - number: peer}, **options
        ) as me:
            for start in chunks[place :: arguments.shards]:
                part = values[start : start + arguments.chunk]
                if me._session.batches:
                    me.run_batch(circuit, {name: part})
                else:
                    me._session.run_each(circuit, _encoded_rows(circuit, {name: part}, None))

    threads = [threading.Thread(target=thread, args=(place,)) for place in range(arguments.shards)]
    begun = time.monotonic()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return time.monotonic() - begun


def _one(arguments: argparse.Namespace) -> None:
    """The process of one party."""
    import ray

    ray.init(address=arguments.cluster, logging_level="error", log_to_driver=False)
    number, folder = arguments.party, Path(arguments.folder)
    keys = [folder / f"{other}.key" for other in (0, 1)]
    prints = [sy.fingerprint(key) for key in keys]
    place = f"127.0.0.1:{arguments.port}"
    options: dict[str, Any] = {"protocol": arguments.protocol, "timeout": 120}
    me = sy.Party(
        number,
        key=keys[number],
        listen=place if number == 0 else None,
        peers={1 - number: sy.Peer(None if number == 0 else place, prints[1 - number])},
        **options,
    )
    circuit = sy.source(DEAL)
    cluster = sy.ray.Cluster(cpus=1, host="127.0.0.1")
    rows = rows_of(number, arguments.rows)
    times: dict[str, list[float]] = {"threads": [], "shards": []}
    with me, sy.ray.Shards(me, shards=arguments.shards, cluster=cluster) as shards:
        shards.map(circuit, rows.slice(0, 4 * arguments.shards), chunk=1).wait()
        for _ in range(arguments.repeat):
            times["threads"].append(_in_threads(number, circuit, arguments, options))
            begun = time.monotonic()
            shards.map(circuit, rows, chunk=arguments.chunk).wait()
            times["shards"].append(time.monotonic() - begun)
    if number == 0:
        rates = {way: arguments.rows / median(seconds) for way, seconds in times.items()}
        ratios = [a / b for a, b in zip(times["threads"], times["shards"], strict=True)]
        print(
            f"{arguments.protocol}, {arguments.shards} workers a party, chunks of "
            f"{arguments.chunk}: {rates['threads']:.0f} rows/s in threads, "
            f"{rates['shards']:.0f} rows/s in shards; ratio {median(ratios):.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f})",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=500)
    parser.add_argument("--protocol", default="tinytable")
    parser.add_argument("--repeat", type=int, default=5)
    # For the parties' own processes.
    parser.add_argument("--party", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--cluster", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.party is not None:
        _one(arguments)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(1, cpus=arguments.shards) as zero,
        LocalCluster(1, cpus=arguments.shards) as one,
    ):
        for number in (0, 1):
            sy.keygen(Path(folder) / f"{number}.key")
        command = [sys.executable, "-m", "symbolon.ray.measure", *sys.argv[1:]]
        command += [f"--folder={folder}", f"--port={free_port()}"]
        processes = [
            subprocess.Popen([*command, f"--party={number}", f"--cluster={cluster.address}"])
            for number, cluster in enumerate((zero, one))
        ]
        if any([process.wait() for process in processes]):
            sys.exit(1)


if __name__ == "__main__":
    main()
