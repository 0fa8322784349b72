"""Python's values as inputs and outputs."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np

from ._symbolon import InvalidInput, Port
from ._tables import Table, is_table

Encoded = str | bytes | tuple[str, list[str], bool] | list[bytes]
"""Text in one of the command's forms, the bytes of all wires, a table as CSV, or its columns."""


def encode(port: Port, value: Any) -> Encoded:
    """Returns an input as the extension takes it."""
    if is_table(value):
        value = Table(value)
    if isinstance(value, Table):
        try:
            columns = _columns(port, value)
            return value.encoded() if columns is None else columns
        except (TypeError, ValueError) as error:
            raise _unfit(port, str(error)) from None
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    # A column of a table.
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if port.array is not None and not isinstance(value, str):
        return _packed(port, value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str):
        # `hex:…`, `[1, 2]`, and what a text holds, as the command takes them.
        return json.dumps(value) if port.type.startswith("text<") else value
    return _text(port, value)


def decode(value: Any) -> Any:
    """Returns an output: a numpy array, or the value as it is."""
    match value:
        case ((str() as element, list() as shape), bytes() as data):
            if element != "bool":
                return np.frombuffer(data, dtype=element).reshape(shape)
            bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")
            return bits[: math.prod(shape)].astype(bool).reshape(shape)
    return value


def _columns(port: Port, table: Table) -> list[bytes] | None:
    """Returns the columns of a table whose cells are all numbers or truth values of their fields.

    ``None`` leaves the table to CSV, which has more forms, and says what is wrong.
    """
    fields = port.columns
    if not fields:
        return None
    given = table.arrays(table.columns or [name for name, _ in fields])
    if given is None or len(given) != len(fields):
        return None
    columns = []
    for array, (_, (element, shape)) in zip(given, fields, strict=True):
        missing = shape[0] - len(array)
        if missing < 0 or (missing > 0 and not table.pad) or array.shape[1:] != tuple(shape[1:]):
            return None
        wanted = np.dtype(element)
        if not _holds(wanted, array):
            return None
        array = np.concatenate([array.astype(wanted), np.zeros((missing, *shape[1:]), wanted)])
        columns.append(_bytes_of(array))
    return columns


def _holds(wanted: np.dtype[Any], array: np.ndarray[Any, Any]) -> bool:
    """Whether all elements are values of this type as they are."""
    match wanted.kind, array.dtype.kind:
        case ("i" | "u"), ("i" | "u"):
            bounds = np.iinfo(wanted)
            least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
            return bounds.min <= least and most <= bounds.max
        case "f", "f":
            return wanted == array.dtype and not np.isnan(array).any()
    return bool(wanted.kind == array.dtype.kind == "b")


def _bytes_of(array: np.ndarray[Any, Any]) -> bytes:
    """Returns the wires of an array of the type that an input takes."""
    if array.dtype.kind == "b":
        return np.packbits(array.reshape(-1), bitorder="little").tobytes()
    return array.tobytes()


def _packed(port: Port, value: Any) -> bytes:
    assert port.array is not None
    element, shape = np.dtype(port.array[0]), tuple(port.array[1])
    array = np.asarray(value)
    if array.dtype.kind in "fO" and element.kind in "iu" and not isinstance(value, np.ndarray):
        # numpy makes floating-point numbers of integers that no type of its own has.
        array = np.array(value, dtype=object)
        if any(type(number) is not int for number in array.flat):
            raise _unfit(port, "it takes integers")
    if array.shape != shape:
        raise _unfit(port, f"an array of shape {shape} is needed, this one has {array.shape}")
    # Numbers without a type of their own, as in a list, are those of the input.
    if array.dtype != element and array.dtype.kind in "iufO" and element.kind in "iu":
        if array.dtype.kind == "f":
            raise _unfit(port, "it takes integers, these are floating-point numbers")
        bounds = np.iinfo(element)
        if array.size and (int(array.min()) < bounds.min or int(array.max()) > bounds.max):
            raise _unfit(port, "a number is out of range")
    elif array.dtype.kind == "b" and element.kind != "b":
        raise _unfit(port, "it takes numbers, these are truth values")
    elif array.dtype.kind != "b" and element.kind == "b":
        raise _unfit(port, "it takes truth values")
    elif array.dtype.kind not in "biuf":
        raise _unfit(port, f"an array of {array.dtype} has no such values")
    return _bytes_of(np.ascontiguousarray(array, dtype=element))


def _text(port: Port, value: Any) -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _text(port, fields)
    match value:
        case None:
            return "null"
        case bool() | np.bool_():
            return "true" if value else "false"
        case Enum():
            return json.dumps(value.name)
        case int() | np.integer():
            return str(int(value))
        case float() | np.floating():
            return repr(float(value)) if math.isfinite(value) else _special(float(value))
        case str():
            return json.dumps(value, ensure_ascii=False)
        case bytes() | bytearray():
            return str(list(value))
        case Mapping():
            parts = (f"{json.dumps(name)}: {_text(port, part)}" for name, part in value.items())
            return "{" + ", ".join(parts) + "}"
        case list() | tuple() | np.ndarray():
            return "[" + ", ".join(_text(port, part) for part in value) + "]"
    raise _unfit(port, f"a {type(value).__name__} has no form that an input can take")


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _unfit(port: Port, why: str) -> InvalidInput:
    raised = InvalidInput(f"input `{port.name}` ({port.type}): {why}")
    raised.code = "invalid-input"
    return raised
