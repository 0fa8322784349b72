"""Maliciously secure computation between parties who do not trust each other.

A circuit says what is computed; the parties learn its outputs and nothing else, even if all others
cheat:

>>> import symbolon as sy
>>> richer = sy.builtin("millionaires:32")
>>> sy.simulate(richer, x=5_000_000, y=4_999_999).value
1

``simulate`` runs all parties here. On a machine of its own, a party is a `Party`.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ._circuits import builtin, circuit, load, source
from ._clients import Submission, submit
from ._cost import Cost, ProtocolCost
from ._node import Node, NodeFunction
from ._party import Dealer, Party, Peer, simulate
from ._plan import Plan, Way, plan
from ._progress import bars
from ._result import Batch, Report, Result
from ._store import Item, Made, Material
from ._symbolon import (
    AssertFailed,
    CheatingDetected,
    Circuit,
    CompileError,
    InvalidInput,
    OutOfMaterial,
    OutOfResources,
    PeerMismatch,
    PeerUnreachable,
    Port,
    StoreError,
    SymbolonError,
    __version__,
    fingerprint,
    keygen,
    options,
)
from ._tables import Table
from ._trace import (
    Function,
    abs_diff,
    argmin,
    cost,
    div,
    function,
    maximum,
    minimum,
    rem,
    sort,
    where,
)
from ._trace import abs_ as abs
from ._trace import max_ as max
from ._trace import min_ as min
from ._trace import sum_ as sum
from ._types import (
    Array,
    Type,
    bool_,
    f32,
    f64,
    fixed,
    i8,
    i16,
    i32,
    i64,
    sint,
    u8,
    u16,
    u32,
    u64,
    uint,
)

if _TYPE_CHECKING:
    from . import ray as ray


def __getattr__(name: str) -> _Any:
    """Imports ``sy.ray`` when it is first used: it needs Ray, and takes a second."""
    if name == "ray":
        from importlib import import_module

        return import_module("symbolon.ray")
    raise AttributeError(f"module 'symbolon' has no attribute '{name}'")


__all__ = [
    "Array",
    "AssertFailed",
    "Batch",
    "CheatingDetected",
    "Circuit",
    "CompileError",
    "Cost",
    "Dealer",
    "Function",
    "InvalidInput",
    "Item",
    "Made",
    "Material",
    "Node",
    "NodeFunction",
    "OutOfMaterial",
    "OutOfResources",
    "Party",
    "Peer",
    "PeerMismatch",
    "PeerUnreachable",
    "Plan",
    "Port",
    "ProtocolCost",
    "Report",
    "Result",
    "StoreError",
    "Submission",
    "SymbolonError",
    "Table",
    "Type",
    "Way",
    "__version__",
    "abs",
    "abs_diff",
    "argmin",
    "bars",
    "bool_",
    "builtin",
    "circuit",
    "cost",
    "div",
    "f32",
    "f64",
    "fingerprint",
    "fixed",
    "function",
    "i16",
    "i32",
    "i64",
    "i8",
    "keygen",
    "load",
    "max",
    "maximum",
    "min",
    "minimum",
    "options",
    "plan",
    "rem",
    "simulate",
    "sint",
    "sort",
    "source",
    "submit",
    "sum",
    "u16",
    "u32",
    "u64",
    "u8",
    "uint",
    "where",
]
