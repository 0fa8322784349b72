"""Functions traced from Python into programs of the language.

A traced function runs once, on values that stand for secrets. What it does with them is written
down as a program, one line for each operation, with the line of its author behind it; the compiler
does all the rest.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, overload

from ._circuits import source
from ._cost import Cost, least_parties
from ._symbolon import Circuit
from ._types import AnyType, Type


class Function:
    """A function that parties compute, traced from Python. Made by `function`."""

    def __init__(
        self,
        call: Callable[..., Any],
        owners: Mapping[str, int],
        returns: Mapping[str, AnyType] | None,
        to: Mapping[str, Any],
    ) -> None:
        self._call, self._owners, self._returns, self._to = call, owners, returns, to
        self.__name__, self.__doc__ = getattr(call, "__name__", "?"), call.__doc__

    @functools.cached_property
    def source(self) -> str:
        """The program in Symbolon's language."""
        return _Trace().program(self._call, dict(self._owners), self._returns, dict(self._to))

    @functools.cached_property
    def circuit(self) -> Circuit:
        """The circuit."""
        return source(self.source)

    def stats(self) -> dict[str, int]:
        """The counts of the circuit: AND gates, depth, bits."""
        return self.circuit.stats()

    def cost(self, parties: int | None = None) -> Cost:
        """What one evaluation costs: gates, depth, and bytes by protocol."""
        return cost(self, parties=parties)

    def __repr__(self) -> str:
        return f"<function {self.__name__} between parties>"


def circuit_of(circuit: Circuit | Function) -> Circuit:
    """Returns the circuit of a function, or the circuit itself."""
    return circuit.circuit if isinstance(circuit, Function) else circuit


def cost(circuit: Circuit | Function, /, *, parties: int | None = None) -> Cost:
    """Returns what one evaluation costs among this many parties.

    ``parties`` is by default as many as the circuit names, and at least two.
    """
    circuit = circuit_of(circuit)
    return Cost(circuit, least_parties(circuit) if parties is None else parties)


@overload
def function(call: Callable[..., Any], /) -> Function: ...


@overload
def function(
    *,
    owners: Mapping[str, int] | None = None,
    returns: Mapping[str, AnyType] | None = None,
    to: Mapping[str, int | Sequence[int]] | None = None,
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    call: Callable[..., Any] | None = None,
    /,
    *,
    owners: Mapping[str, int] | None = None,
    returns: Mapping[str, AnyType] | None = None,
    to: Mapping[str, int | Sequence[int]] | None = None,
) -> Any:
    """Makes a function of Python one that parties compute.

    Parameters and the result are annotated with types: ``sy.u32``, ``sy.Array[sy.f64, 10]``. The
    first parameter is party 0's, the second party 1's, and so on, but for those that ``owners``
    names. ``returns`` has the names and types of several outputs, which the function returns as a
    dict. ``to`` says who learns an output, where that is not everybody.

    Values stand for secrets when it is traced, so it cannot branch on them: use `where`.

    >>> @sy.function
    ... def richer(x: sy.u32, y: sy.u32) -> sy.bool_:
    ...     return x > y
    >>> sy.simulate(richer, x=5, y=3).value
    True
    """
    made = functools.partial(Function, owners=owners or {}, returns=returns, to=to or {})
    return made if call is None else made(call)


class _Trace:
    """The lines of a program while it is written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.modules: set[str] = set()

    def new(self, expression: str, kind: str, shape: tuple[int, ...]) -> Secret:
        """Writes down an operation of the author."""
        name = f"_v{len(self.lines) + 1}"
        self.lines.append(f"    let {name} = {expression};{_author()}")
        return Secret(self, name, kind, shape)

    def program(
        self,
        call: Callable[..., Any],
        owners: dict[str, int],
        returns: Mapping[str, AnyType] | None,
        to: dict[str, Any],
    ) -> str:
        signature = inspect.signature(call, eval_str=True)
        given, ports, most = {}, [], 1
        for place, (name, parameter) in enumerate(signature.parameters.items()):
            ty = parameter.annotation
            if name.startswith("_"):
                raise TypeError(f"parameter `{name}` has a name that begins with `_`")
            if not isinstance(ty, Type):
                raise TypeError(f"parameter `{name}` needs a type, as in `{name}: sy.u32`")
            given[name] = Secret(self, name, ty.kind, ty.shape)
            owner = owners.pop(name, place)
            most = max(most, owner)
            ports.append(f"{name}: {ty} from {owner}")
        if owners:
            raise TypeError(f"there is no parameter {', '.join(owners)}")
        named = {"result": signature.return_annotation} if returns is None else returns
        types = {name: ty for name, ty in named.items() if isinstance(ty, Type)}
        if not types or len(types) < len(named):
            raise TypeError("the result needs a type, as in `-> sy.u32`, or types in `returns`")
        returned = call(**given)
        values = {"result": returned} if returns is None else returned
        if not isinstance(values, dict) or values.keys() != types.keys():
            raise TypeError(f"the function returns a dict of {', '.join(types)}")
        parts, outputs = [], []
        for name, ty in types.items():
            parts.append(_operand(values[name], ty.kind))
            receivers = to.pop(name, None)
            most = max(most, *_numbers(receivers))
            outputs.append(f"{name}: {ty} to {_receivers(receivers)}")
        if to:
            raise TypeError(f"there is no output {', '.join(to)}")
        body = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
        uses = "".join(f"use std::{module};\n" for module in sorted(self.modules))
        parties = f"parties {', '.join(f'p{party}' for party in range(most + 1))};\n"
        head = uses + (parties if most > 1 else "")
        head += f"fn main({', '.join(ports)}) -> ({', '.join(outputs)}) {{\n"
        return head + "\n".join([*self.lines, f"    {body}", "}", ""])


def _numbers(to: int | Sequence[int] | None) -> list[int]:
    return [0] if to is None else [to] if isinstance(to, int) else [0, *to]


def _receivers(to: int | Sequence[int] | None) -> str:
    if to is None:
        return "all"
    return str(to) if isinstance(to, int) else f"({', '.join(map(str, to))})"


def _author() -> str:
    """Returns a comment with the line of the author, if it is known."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    if frame is None:
        return ""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    name = frame.f_code.co_filename.rsplit("/", 1)[-1]
    shown = "".join(c if c.isprintable() else "?" for c in f"{name}:{frame.f_lineno}: {line}")
    return f" // {shown[:160]}"


class Secret:
    """A value that nobody knows while a function is traced."""

    __slots__ = ("_trace", "_name", "_kind", "shape")
    # numpy leaves operators with arrays to this class.
    __array_ufunc__ = None

    def __init__(self, trace: _Trace, name: str, kind: str, shape: tuple[int, ...]) -> None:
        self._trace, self._name, self._kind, self.shape = trace, name, kind, shape

    def __bool__(self) -> bool:
        raise TypeError(
            "nobody knows this value, so Python cannot branch on it: sy.where(c, a, b) takes one "
            "of two values, `&`, `|` and `~` stand for `and`, `or` and `not`"
        )

    def _unknown(self, *_: object) -> Any:
        raise TypeError("nobody knows this value: only what a function returns is opened")

    __int__ = __float__ = __index__ = _unknown
    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a number has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Secret]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int | slice | Secret) -> Secret:
        length, rest = len(self), self.shape[1:]
        if isinstance(place, Secret):
            return self._trace.new(f"{self._name}[{place._name}]", self._kind, rest)
        if isinstance(place, slice):
            start, stop, step = place.indices(length)
            if step != 1 or stop <= start:
                raise IndexError("a part of an array is not empty, and its step is 1")
            text = f"{self._name}[{start}..{stop}]"
            return self._trace.new(text, self._kind, (stop - start, *rest))
        if not -length <= place < length:
            raise IndexError(f"there is no element {place} of {length}")
        return self._trace.new(f"{self._name}[{place % length}]", self._kind, rest)

    def astype(self, ty: AnyType) -> Secret:
        """Converts every number, as ``as`` of the language does: integers are cut or extended."""
        if not isinstance(ty, Type) or ty.shape:
            raise TypeError("the type is that of the elements")
        return _each(lambda x: f"{x} as {ty}", ty.kind, self)

    def sum(self) -> Secret:
        return sum_(self)

    def min(self) -> Secret:
        return min_(self)

    def max(self) -> Secret:
        return max_(self)

    def any(self) -> Secret:
        return _reduced(self, "b", "{}.any()")

    def all(self) -> Secret:
        return _reduced(self, "b", "{}.all()")

    def __add__(self, other: Any) -> Secret:
        return _binary("+", self, other)

    def __radd__(self, other: Any) -> Secret:
        return _binary("+", other, self)

    def __sub__(self, other: Any) -> Secret:
        return _binary("-", self, other)

    def __rsub__(self, other: Any) -> Secret:
        return _binary("-", other, self)

    def __mul__(self, other: Any) -> Secret:
        return _binary("*", self, other)

    def __rmul__(self, other: Any) -> Secret:
        return _binary("*", other, self)

    def __truediv__(self, other: Any) -> Secret:
        return _quotient(self, other)

    def __rtruediv__(self, other: Any) -> Secret:
        return _quotient(other, self)

    def __and__(self, other: Any) -> Secret:
        return _binary("&", self, other)

    def __rand__(self, other: Any) -> Secret:
        return _binary("&", other, self)

    def __or__(self, other: Any) -> Secret:
        return _binary("|", self, other)

    def __ror__(self, other: Any) -> Secret:
        return _binary("|", other, self)

    def __xor__(self, other: Any) -> Secret:
        return _binary("^", self, other)

    def __rxor__(self, other: Any) -> Secret:
        return _binary("^", other, self)

    def __lshift__(self, other: Any) -> Secret:
        return _binary("<<", self, other)

    def __rshift__(self, other: Any) -> Secret:
        return _binary(">>", self, other)

    def __lt__(self, other: Any) -> Secret:
        return _binary("<", self, other, "b")

    def __le__(self, other: Any) -> Secret:
        return _binary("<=", self, other, "b")

    def __gt__(self, other: Any) -> Secret:
        return _binary(">", self, other, "b")

    def __ge__(self, other: Any) -> Secret:
        return _binary(">=", self, other, "b")

    def __eq__(self, other: Any) -> Secret:  # type: ignore[override]
        return _binary("==", self, other, "b")

    def __ne__(self, other: Any) -> Secret:  # type: ignore[override]
        return _binary("!=", self, other, "b")

    def __neg__(self) -> Secret:
        return _each(lambda x: f"-{x}", self._kind, self)

    def __invert__(self) -> Secret:
        return _each(lambda x: f"!{x}", self._kind, self)

    def __abs__(self) -> Secret:
        return abs_(self)

    def __matmul__(self, other: Any) -> Secret:
        if not isinstance(other, Secret) or (len(self.shape), len(other.shape)) not in (
            (1, 1),
            (2, 2),
        ):
            raise TypeError("`@` takes two lists of numbers, or two matrices")
        if self.shape[-1] != other.shape[0]:
            raise ValueError(f"`@` of shapes {self.shape} and {other.shape}")
        self._trace.modules.add("ml")
        name = "dot" if len(self.shape) == 1 else "matmul"
        shape = self.shape[:-1] + other.shape[1:]
        return self._trace.new(f"ml::{name}({self._name}, {other._name})", self._kind, shape)


def _operand(value: Any, kind: str) -> str:
    """Returns a value as the program writes it: a name, or a literal."""
    if isinstance(value, Secret):
        return value._name
    # What numpy has instead of Python's numbers.
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    match value:
        case bool():
            return "true" if value else "false"
        case int() if kind in "ui":
            return f"({value})" if value < 0 else str(value)
        case int() | float() if kind == "f" and math.isfinite(value):
            return f"({float(value)!r})" if value < 0 else repr(float(value))
    shown = type(value).__name__
    raise TypeError(f"a {shown} cannot meet a secret: convert it, or pass it as an input")


def _elements(operands: Sequence[tuple[str, tuple[int, ...]]], text: Callable[..., str]) -> str:
    """Returns an expression that does the same with every element of arrays of one shape; what has
    no shape is the same for all."""

    def at(depth: int, names: list[str]) -> str:
        arrays = [i for i, (_, shape) in enumerate(operands) if len(shape) > depth]
        if not arrays:
            return text(*names)
        inner = list(names)
        for i in arrays:
            inner[i] = f"_e{depth}_{i}"
        over, each = [names[i] for i in arrays], [inner[i] for i in arrays]
        pattern = each[0] if len(each) == 1 else f"({', '.join(each)})"
        source = over[0] if len(over) == 1 else f"zip({', '.join(over)})"
        return f"[{at(depth + 1, inner)} for {pattern} in {source}]"

    return at(0, [name for name, _ in operands])


def _each(text: Callable[..., str], kind: str, *values: Any) -> Secret:
    """Writes down the same operation for every element."""
    secrets = [value for value in values if isinstance(value, Secret)]
    shapes = {value.shape for value in secrets if value.shape}
    if len(shapes) > 1:
        raise ValueError(f"arrays of shapes {' and '.join(map(str, sorted(shapes)))} do not meet")
    numbers = next((value._kind for value in secrets if value._kind != "b"), "b")
    operands = [(_operand(value, numbers), getattr(value, "shape", ())) for value in values]
    shape = shapes.pop() if shapes else ()
    return secrets[0]._trace.new(_elements(operands, text), kind, shape)


def _binary(operator: str, a: Any, b: Any, kind: str | None = None) -> Secret:
    secret = a if isinstance(a, Secret) else b
    return _each(lambda x, y: f"{x} {operator} {y}", kind or secret._kind, a, b)


def _quotient(a: Any, b: Any) -> Secret:
    secret = a if isinstance(a, Secret) else b
    if secret._kind != "f":
        raise TypeError("`/` divides numbers with a point; sy.div divides integers, towards zero")
    return _binary("/", a, b)


def _reduced(values: Secret, kind: str, text: str) -> Secret:
    if len(values.shape) != 1:
        raise TypeError("this takes a list of numbers")
    return values._trace.new(text.format(values._name), kind, ())


def where(condition: Secret, a: Any, b: Any) -> Secret:
    """Takes `a` where the condition holds, else `b`; element by element, if it is an array."""
    kinds = [value._kind for value in (a, b) if isinstance(value, Secret)]
    if not isinstance(condition, Secret):
        raise TypeError("the condition is a secret; for one that Python knows there is `if`")
    if not kinds:
        raise TypeError("one of both values is a secret: sy.where(c, x, 0)")
    if condition.shape:
        kind = kinds[0]
        operands = [(_operand(v, kind), getattr(v, "shape", ())) for v in (condition, a, b)]
        shapes = {shape for _, shape in operands if shape}
        if len(shapes) > 1:
            raise ValueError("condition and values have different shapes")
        expression = _elements(operands, "if {} {{ {} }} else {{ {} }}".format)
        return condition._trace.new(expression, kind, condition.shape)
    shapes = {getattr(value, "shape", ()) for value in (a, b)}
    if len(shapes) > 1:
        raise ValueError("both values have the same shape")
    kind = kinds[0]
    expression = f"if {condition._name} {{ {_operand(a, kind)} }} else {{ {_operand(b, kind)} }}"
    return condition._trace.new(expression, kind, shapes.pop())


def minimum(a: Any, b: Any) -> Secret:
    """The smaller of both, element by element."""
    secret = a if isinstance(a, Secret) else b
    return _each("min({}, {})".format, secret._kind, a, b)


def maximum(a: Any, b: Any) -> Secret:
    """The larger of both, element by element."""
    secret = a if isinstance(a, Secret) else b
    return _each("max({}, {})".format, secret._kind, a, b)


def abs_(x: Secret) -> Secret:
    """The absolute value; of a signed integer, an unsigned one."""
    if x._kind == "u":
        return x
    if x._kind == "f":
        return _each(lambda x: f"if {x} < 0.0 {{ -{x} }} else {{ {x} }}", "f", x)
    return _each("abs({})".format, "u", x)


def abs_diff(a: Any, b: Any) -> Secret:
    """The distance between integers, unsigned."""
    return _each("abs_diff({}, {})".format, "u", a, b)


def div(a: Any, b: Any) -> Secret:
    """The quotient of integers, towards zero; by zero, all ones."""
    return _binary("/", a, b)


def rem(a: Any, b: Any) -> Secret:
    """The remainder of `div`, with the sign of `a`; by zero, `a`."""
    return _binary("%", a, b)


def sum_(values: Secret) -> Secret:
    """The sum: of unsigned integers, wide enough never to wrap; of truth values, how many hold."""
    text = {"u": "sum({})", "b": "count({})"}.get(values._kind)
    if text is not None:
        return _reduced(values, "u", text)
    total, *rest = values
    return functools.reduce(lambda a, b: a + b, rest, total)


def min_(values: Secret) -> Secret:
    """The smallest element."""
    return functools.reduce(minimum, values)


def max_(values: Secret) -> Secret:
    """The largest element."""
    return functools.reduce(maximum, values)


def argmin(values: Secret) -> Secret:
    """The index of the smallest element, the first one on ties."""
    values._trace.modules.add("ml")
    return _reduced(values, "u", "ml::argmin({})")


def sort(values: Secret) -> Secret:
    """The elements in ascending order."""
    values._trace.modules.add("sort")
    sorted_ = _reduced(values, values._kind, "sort::sort({})")
    sorted_.shape = values.shape
    return sorted_
