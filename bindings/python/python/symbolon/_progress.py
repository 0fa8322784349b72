"""Progress as bars."""

from __future__ import annotations

from typing import Any

from ._party import Progress


def bars(**options: Any) -> Progress:
    """A ``progress`` that draws a bar for each step, in a terminal or a notebook.

    ``options`` are those of tqdm, which must be installed.

    >>> sy.simulate(sy.builtin("aes128"), key=1, message=2, progress=sy.bars())
    """
    from tqdm.auto import tqdm

    current: tuple[str, Any] | None = None

    def told(step: str, done: int, total: int) -> None:
        nonlocal current
        if current is None or current[0] != step:
            if current is not None:
                current[1].close()
            current = (step, tqdm(desc=step, total=total, **options))
        bar = current[1]
        bar.total = total
        bar.update(done - bar.n)
        if done >= total:
            bar.close()
            current = None

    return told
