"""Clusters of several nodes on this machine, for demonstrations and tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

_MEMORY = 100_000_000
"""Bytes of a node's object store: Ray's default would be a third of this machine's memory."""


def free_port() -> int:
    """A port of loopback that is free at the moment."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


class LocalCluster:
    """A cluster of Ray on loopback, with this many nodes of ``cpus`` processors each.

    Other clusters on this machine are left alone. ``environment`` is for the nodes' processes, of
    which each also has its number in ``SYMBOLON_NODE``.
    """

    def __init__(
        self, nodes: int, *, cpus: float = 1, environment: dict[str, str] | None = None
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        self._environment = environment or {}
        self._cpus = cpus
        self.address = ""
        self._nodes: list[subprocess.Popen[bytes]] = []
        try:
            self._start_head()
            for number in range(1, nodes):
                self._nodes.append(self._start([f"--address={self.address}"], number))
        except BaseException:
            self.stop()
            raise

    def add_node(self) -> None:
        """Adds a node, which takes some seconds to join."""
        self._nodes.append(self._start([f"--address={self.address}"], len(self._nodes)))

    def kill_node(self, number: int) -> None:
        """Kills all processes of a node, as when its machine is lost."""
        _kill(self._nodes[number])

    def stop(self) -> None:
        """Ends the cluster."""
        for node in reversed(self._nodes):
            _kill(node)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> LocalCluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self, arguments: list[str], number: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *arguments]
        command += ["--block", "--disable-usage-stats", "--node-ip-address=127.0.0.1"]
        command += [f"--num-cpus={self._cpus}", f"--object-store-memory={_MEMORY}"]
        # Without a range, nodes choose free ports; those of other clusters are in use.
        command += ["--min-worker-port=0", "--max-worker-port=0"]
        command += ["--dashboard-agent-listen-port=0", "--dashboard-agent-grpc-port=0"]
        environment = {
            **os.environ,
            **self._environment,
            "RAY_USAGE_STATS_ENABLED": "0",
            "SYMBOLON_NODE": str(number),
        }
        log = (self._folder / f"node-{number}.log").open("wb")
        with log:
            # Its own group, so that all its processes can be ended and no others.
            return subprocess.Popen(
                command,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _start_head(self) -> None:
        for _ in range(3):
            port = free_port()
            head = ["--head", f"--port={port}", "--include-dashboard=false"]
            head += [f"--temp-dir={self._folder}"]
            # Only with Ray's client installed does a head node listen for clients.
            if find_spec("grpc") is not None:
                head += [f"--ray-client-server-port={free_port()}"]
            node = self._start(head, 0)
            log = self._folder / "node-0.log"
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline and node.poll() is None:
                if "Ray runtime started" in log.read_text():
                    self._nodes, self.address = [node], f"127.0.0.1:{port}"
                    return
                time.sleep(0.1)
            # Another process may have taken a port in the meantime.
            _kill(node)
        raise RuntimeError(f"Ray did not start: {log.read_text()[-2000:]}")


def _descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    found = []
    for child in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(text) for text in child.read_text().split()]
        except OSError:
            continue
        for one in children:
            found += [one, *_descendants(one)]
    return found


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a node's processes, also those that outlived the one that started them."""
    if process.poll() is None:
        for pid in [process.pid, *_descendants(process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
