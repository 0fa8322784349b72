"""Blocking calls for ``await``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(call: Callable[[], T], cancel: Callable[[], object]) -> T:
    """Makes a call in another thread. If its task is cancelled, ``cancel`` ends the call first."""

    def made() -> tuple[T] | None:
        try:
            return (call(),)
        except KeyboardInterrupt:
            # It was cancelled. An event loop that is handed this exception would end.
            return None

    future = asyncio.get_running_loop().run_in_executor(None, made)
    try:
        done = await asyncio.shield(future)
    except asyncio.CancelledError:
        # The thread may not have begun the call yet.
        while not future.done():
            cancel()
            await asyncio.wait([future], timeout=0.1)
        # What it raised is of no interest any more, and would be logged otherwise.
        future.exception()
        raise
    if done is None:
        raise asyncio.CancelledError("the party was closed")
    return done[0]
