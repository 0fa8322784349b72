"""A node's door, for the applications of its party."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ._async import in_thread
from ._result import Report, Result
from ._symbolon import (
    AssertFailed,
    Circuit,
    Door,
    InvalidInput,
    PeerUnreachable,
    Port,
    SymbolonError,
    error_of,
    failure_output,
)
from ._trace import Function, circuit_of
from ._values import decode, encode

# One request waits no longer, so that a call that is cancelled ends soon.
_ONE_WAIT = 1.0


@dataclass(frozen=True)
class NodeFunction:
    """A function that a node knows. Types are those of its circuit, as texts."""

    name: str
    protocol: str
    inputs: list[Port]
    outputs: list[Port]


class Node:
    """The node of this party, ``symbolon serve``, reached by its door.

    ``place`` is the door's Unix socket, or with a token an address of loopback. ``token`` is the
    text, or a path to the file that has it.

    >>> node = sy.Node("/run/symbolon/door")                            # doctest: +SKIP
    >>> node.call("hmac", "request-17", key=key).value                  # doctest: +SKIP
    """

    def __init__(
        self, place: str | os.PathLike[str], *, token: str | os.PathLike[str] | None = None
    ) -> None:
        if token is not None and not isinstance(token, str):
            token = Path(token).read_text().strip()
        self._door = Door(os.fspath(place), token)
        self._known: dict[str, NodeFunction] = {}

    def functions(self) -> dict[str, NodeFunction]:
        """What the node can compute, by name."""
        for one in self._ask("/v1/functions"):
            inputs, outputs = _ports(one["inputs"]), _ports(one["outputs"])
            function = NodeFunction(one["name"], one["protocol"], inputs, outputs)
            self._known[function.name] = function
        return dict(self._known)

    def stock(self) -> dict[str, Any]:
        """What is prepared of each function, and which peers are there."""
        stock: dict[str, Any] = self._ask("/v1/stock")
        return stock

    def announced(self, function: str) -> list[str]:
        """The names of calls that wait for this party's inputs."""
        calls: list[str] = self._ask(f"/v1/functions/{quote(function)}/calls")["calls"]
        return calls

    def call(
        self,
        function: str,
        call: str,
        given: Mapping[str, Any] | None = None,
        /,
        *,
        circuit: Circuit | Function | None = None,
        timeout: float = 60,
        **inputs: Any,
    ) -> Result:
        """Gives this party's inputs for a call, and waits for what it learns.

        ``call`` is a name that the parties' applications agree on. The same call with the same
        inputs gives the same answer, so it may be made again after any error. ``circuit`` is what
        the function computes: only where it has structures or enumerations is it needed, because
        the door tells only their names. ``given`` is for inputs with the name of a keyword.

        Raises `PeerUnreachable` if there is no answer after ``timeout`` seconds: the call goes on.
        Otherwise as `Party.run`.
        """
        values = {**(given or {}), **inputs}
        return self._call(function, call, values, circuit, timeout, threading.Event())

    async def call_async(
        self,
        function: str,
        call: str,
        given: Mapping[str, Any] | None = None,
        /,
        *,
        circuit: Circuit | Function | None = None,
        timeout: float = 60,
        **inputs: Any,
    ) -> Result:
        """As `call`, for ``await``. Cancelled, it stops to wait, and the call goes on."""
        values, stop = {**(given or {}), **inputs}, threading.Event()
        return await in_thread(
            lambda: self._call(function, call, values, circuit, timeout, stop), stop.set
        )

    def open_clients(self, function: str, call: str, seconds: float | None = None) -> None:
        """Opens a call for submissions of clients, for as long as the settings say, or shorter."""
        body = {} if seconds is None else {"seconds": seconds}
        self._ask(f"/v1/functions/{quote(function)}/calls/{quote(call)}/clients", body)

    def clients(self, function: str, call: str) -> dict[str, Any]:
        """Who takes part in a call, and who is left out and why."""
        path = f"/v1/functions/{quote(function)}/calls/{quote(call)}/clients"
        clients: dict[str, Any] = self._ask(path)
        return clients

    def _call(
        self,
        function: str,
        call: str,
        values: Mapping[str, Any],
        circuit: Circuit | Function | None,
        timeout: float,
        stop: threading.Event,
    ) -> Result:
        inputs, outputs = self._ports_of(function, circuit)
        body: dict[str, Any] | None = _body(inputs, values)
        path = f"/v1/functions/{quote(function)}/calls/{quote(call)}"
        until = time.monotonic() + timeout
        while not stop.is_set():
            left = min(_ONE_WAIT, max(0.0, until - time.monotonic()))
            reply = self._ask(f"{path}?wait={left:.3f}", body, left)
            body = None
            if reply["state"] != "waiting":
                return _result(reply, outputs)
            if time.monotonic() >= until:
                break
        raised = PeerUnreachable("no answer yet: the call goes on")
        raised.code, raised.party = "no-answer", None
        raise raised

    def _ports_of(
        self, function: str, circuit: Circuit | Function | None
    ) -> tuple[dict[str, Port], dict[str, Port]]:
        if circuit is not None:
            known = circuit_of(circuit)
            inputs, outputs = known.inputs, known.outputs
        else:
            if function not in self._known:
                self.functions()
            if function not in self._known:
                raise InvalidInput(f"the node has no function `{function}`")
            inputs, outputs = self._known[function].inputs, self._known[function].outputs
        return {port.name: port for port in inputs}, {port.name: port for port in outputs}

    def _ask(self, path: str, body: dict[str, Any] | None = None, wait: float = 0) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        status, received = self._door.ask(path, sent, wait)
        try:
            reply = json.loads(received)
        except ValueError:
            reply = None
        if status in (200, 202) or (isinstance(reply, dict) and "state" in reply):
            return reply
        if isinstance(reply, dict) and "class" in reply:
            raise _error(reply)
        raise PeerUnreachable(f"the door replies with status {status}")


def _error(told: dict[str, Any]) -> SymbolonError:
    return error_of(
        told["class"],
        told["code"],
        told["message"],
        party=told.get("party"),
        check=told.get("check"),
    )


def _ports(described: list[dict[str, Any]]) -> list[Port]:
    return [
        Port.of_text(port["name"], port["type"], port["parties"])
        for port in described
        if port["name"] != failure_output
    ]


def _body(ports: Mapping[str, Port], values: Mapping[str, Any]) -> dict[str, Any]:
    body: dict[str, dict[str, Any]] = {"inputs": {}, "bits": {}}
    for name, value in values.items():
        if name not in ports:
            known = ", ".join(f"`{name}`" for name in ports)
            raise InvalidInput(f"the function has no input `{name}`; its inputs are {known}")
        given = encode(ports[name], value)
        digits = ports[name].digits(given)
        if digits is not None:
            body["bits"][name] = digits
        elif isinstance(given, str):
            body["inputs"][name] = given
        else:
            raise InvalidInput(f"input `{name}`: `circuit` is needed for its type")
    return body


def _result(reply: dict[str, Any], ports: Mapping[str, Port]) -> Result:
    if reply["error"] is not None:
        raise _error(reply["error"])
    if reply["failure"] is not None:
        failed = reply["failure"]
        raised = AssertFailed(f"{failed['text']} ({failed['file']}, line {failed['line']})")
        raised.code = "assert-failed"
        raise raised
    values = {}
    for output in reply["outputs"]:
        name, bits = output["name"], output["bits"]
        if bits is None or name == failure_output:
            continue
        value = ports[name].decode(bits) if name in ports else None
        values[name] = output["value"] if value is None else decode(value)
    return Result(values, Report([]), [])
