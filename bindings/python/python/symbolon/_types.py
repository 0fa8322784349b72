"""Types for the annotations of traced functions: ``sy.u32``, ``sy.Array[sy.f64, 10]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

__all__ = [
    "AnyType",
    "Array",
    "Type",
    "bool_",
    "f32",
    "f64",
    "fixed",
    "i8",
    "i16",
    "i32",
    "i64",
    "sint",
    "u8",
    "u16",
    "u32",
    "u64",
    "uint",
]


@dataclass(frozen=True)
class Type:
    """A type of the language."""

    name: str
    """As a program writes it."""
    kind: str
    """``u`` and ``i`` for integers, ``f`` for numbers with a point, ``b`` for truth values."""
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        text = self.name
        for length in reversed(self.shape):
            text = f"[{text}; {length}]"
        return text


class _Array:
    """``Array[sy.u32, 3, 5]``: three rows of five numbers each."""

    def __class_getitem__(cls, arguments: Any) -> Type:
        element, *lengths = arguments if isinstance(arguments, tuple) else (arguments,)
        if not isinstance(element, Type) or element.shape:
            raise TypeError("an array is of numbers or truth values: Array[sy.u32, 10]")
        if not lengths or not all(isinstance(n, int) and n > 0 for n in lengths):
            raise TypeError("an array has one length or more: Array[sy.u32, 10]")
        return Type(element.name, element.kind, tuple(lengths))


def uint(width: int) -> Type:
    """An unsigned integer of any width."""
    return Type(f"u{_width(width)}", "u")


def sint(width: int) -> Type:
    """A signed integer of any width."""
    return Type(f"i{_width(width)}", "i")


def fixed(integer: int, fraction: int) -> Type:
    """A fixed-point number with ``integer`` bits before and ``fraction`` bits after the point."""
    return Type(f"fixed<{_width(integer)}, {fraction}>", "f")


def _width(width: int) -> int:
    if not 0 < width <= 65536:
        raise ValueError("an integer has 1 to 65536 bits")
    return width


if TYPE_CHECKING:
    # A checker of types sees what a traced function gets: values that have no number yet.
    from typing import Annotated as Array

    from ._trace import Secret

    u8: TypeAlias = Secret
    u16: TypeAlias = Secret
    u32: TypeAlias = Secret
    u64: TypeAlias = Secret
    i8: TypeAlias = Secret
    i16: TypeAlias = Secret
    i32: TypeAlias = Secret
    i64: TypeAlias = Secret
    f32: TypeAlias = Secret
    f64: TypeAlias = Secret
    bool_: TypeAlias = Secret
    AnyType: TypeAlias = Type | type[Secret]
else:
    Array = _Array
    AnyType = Type
    u8, u16, u32, u64 = (uint(width) for width in (8, 16, 32, 64))
    i8, i16, i32, i64 = (sint(width) for width in (8, 16, 32, 64))
    f32, f64 = Type("f32", "f"), Type("f64", "f")
    bool_ = Type("bool", "b")
