"""Where circuits come from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ._symbolon import Circuit


def builtin(name: str) -> Circuit:
    """Builds a circuit that comes with the package, such as ``aes128`` or ``add:32``.

    ``symbolon circuit list`` shows all of them. Raises `InvalidInput` with names that are near if
    there is none.
    """
    return Circuit.builtin(name)


def circuit(file: str | os.PathLike[str] | bytes) -> Circuit:
    """Reads a circuit file, or its bytes: Bristol, BLIF, AIGER, ``.bench``, Yosys' JSON, ``.sbc``.

    Raises `InvalidInput` with the line if it cannot be read.
    """
    return Circuit.from_bytes(file if isinstance(file, bytes) else Path(file).read_bytes())


def load(
    path: str | os.PathLike[str],
    *,
    entry: str | None = None,
    parties: int | None = None,
    constants: Mapping[str, object] | None = None,
) -> Circuit:
    """Compiles the program in a ``.sym`` file, with the modules beside it.

    ``entry`` is the function to compile (``main``), ``parties`` how many there are (as many as the
    program names); ``constants`` has values for the ``pub const`` of the file. Raises
    `CompileError` with every error and its line.
    """
    return Circuit.compile(None, os.fspath(path), entry, parties, _texts(constants))


def source(
    text: str,
    *,
    entry: str | None = None,
    parties: int | None = None,
    constants: Mapping[str, object] | None = None,
) -> Circuit:
    """Compiles a program from its text; otherwise as `load`."""
    return Circuit.compile(text, None, entry, parties, _texts(constants))


def _texts(constants: Mapping[str, object] | None) -> list[tuple[str, str]]:
    def text(value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return [(name, text(value)) for name, value in (constants or {}).items()]
