"""What a driver keeps of a map on disk, so that its successor goes on."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .._symbolon import InvalidInput, StoreError


def digest_of(columns: Mapping[str, list[Any]]) -> str:
    """Returns what tells rows from others."""

    def plain(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else repr(value)

    return hashlib.sha256(json.dumps(columns, default=plain).encode()).hexdigest()


class Journal:
    """A folder with the outputs of finished chunks, and how often each chunk was begun.

    An attempt is written down before it begins: so attempts are bounded over all drivers. The files
    are pickled: who can write to them can run code as this party.
    """

    def __init__(self, folder: str | os.PathLike[str], terms: Mapping[str, object]) -> None:
        self._folder = Path(folder)
        self.parts: dict[int, tuple[dict[str, Any], str]] = {}
        """The outputs of finished chunks, and the digest of their rows."""
        self.tried: dict[int, int] = {}
        """How many times chunks were begun."""
        try:
            self._open(json.dumps(terms, sort_keys=True))
        except InvalidInput:
            raise
        except Exception as error:
            # Damaged pickles raise nearly anything.
            raised = StoreError(f"`journal`: {self._folder} cannot be used: {error}")
            raised.code = "journal"
            raise raised from None

    def _open(self, terms: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = self._folder / "terms.json"
        if about.exists() and about.read_text() != terms:
            raise InvalidInput(f"`journal`: {self._folder} is of other work")
        self._replace(about, terms.encode())
        for path in self._folder.glob("part-*"):
            self.parts[int(path.name.removeprefix("part-"))] = pickle.loads(path.read_bytes())
        attempts = self._folder / "attempts"
        if attempts.exists():
            # The last line may be cut: that attempt had not begun.
            for line in attempts.read_text().split("\n")[:-1]:
                chunk = int(line)
                self.tried[chunk] = self.tried.get(chunk, 0) + 1
        self._attempts = os.open(attempts, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def check_rows(self, digest: Callable[[int], str]) -> None:
        """Raises `InvalidInput` if the rows are not those of the finished chunks."""
        for chunk, (_, known) in self.parts.items():
            if digest(chunk) != known:
                raise InvalidInput(f"`journal`: {self._folder} is of other rows (chunk {chunk})")

    def begins(self, chunk: int) -> None:
        """Writes down an attempt."""
        os.write(self._attempts, f"{chunk}\n".encode())
        os.fsync(self._attempts)

    def keep(self, chunk: int, columns: dict[str, Any], digest: str) -> None:
        """Writes down the outputs of a chunk."""
        self._replace(self._folder / f"part-{chunk}", pickle.dumps((columns, digest)))

    def close(self) -> None:
        os.close(self._attempts)

    def _replace(self, path: Path, content: bytes) -> None:
        new = path.with_name(f"new-{path.name}")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
