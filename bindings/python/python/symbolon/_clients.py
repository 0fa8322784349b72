"""Clients who are no party: they give values to the nodes of all parties."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._async import in_thread
from ._symbolon import InvalidInput, Nodes, PeerUnreachable
from ._symbolon import Submission as _Submission
from ._values import decode, encode

_ONE_WAIT = 1.0


class Submission:
    """Values that a client gave. Only this object can read the answer for them."""

    def __init__(self, submission: _Submission) -> None:
        self._submission = submission

    def answer(self, timeout: float = 60) -> dict[str, Any]:
        """Waits until the call has run; returns what this client learns, by name.

        Raises `PeerUnreachable` if there is no answer in time, or its values did not count.
        """
        return self._answer(timeout, threading.Event())

    async def answer_async(self, timeout: float = 60) -> dict[str, Any]:
        """As `answer`, for ``await``."""
        stop = threading.Event()
        return await in_thread(lambda: self._answer(timeout, stop), stop.set)

    def _answer(self, timeout: float, stop: threading.Event) -> dict[str, Any]:
        until = time.monotonic() + timeout
        while True:
            left = min(_ONE_WAIT, max(0.0, until - time.monotonic()))
            try:
                answers = self._submission.answer(left)
            except PeerUnreachable as error:
                if error.code != "no-answer" or time.monotonic() >= until or stop.is_set():
                    raise
            else:
                return {name: decode(value) for name, value in answers}


def submit(
    nodes: Sequence[str],
    function: str,
    call: str,
    client: str,
    given: Mapping[str, Any] | None = None,
    /,
    *,
    token: str | os.PathLike[str] | None = None,
    authorities: str | os.PathLike[str] | None = None,
    **values: Any,
) -> Submission:
    """Gives a client's values for a call to the nodes of all parties, as shares.

    ``nodes`` are the addresses of their doors for clients, party 0's first; ``client`` is the name
    of this client, which all parties see. A party learns nothing from its share. ``token``, the
    text or a path, belongs to the name where nodes want one; ``authorities`` is a file with the
    certificates to trust instead of the system's.

    Raises `InvalidInput` before anything is sent, or `PeerUnreachable` with what a node refuses.
    """
    if token is not None and not isinstance(token, str):
        token = Path(token).read_text().strip()
    doors = Nodes(list(nodes), None if authorities is None else os.fspath(authorities))
    ports = {port.name: port for port in doors.values(function)}
    encoded = []
    for name, value in {**(given or {}), **values}.items():
        if name not in ports:
            known = ", ".join(f"`{name}`" for name in ports)
            raise InvalidInput(f"clients give no value `{name}`, but {known}")
        encoded.append((name, encode(ports[name], value)))
    return Submission(doors.submit((function, call, client), token, encoded))
