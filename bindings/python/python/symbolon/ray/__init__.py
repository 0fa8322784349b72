"""Work of a party that has many machines: one cluster of Ray for each party.

Both parties run the same script, each in its own cluster, and the two drivers agree on who does
what. `map` evaluates a function on many rows, `Preprocessing` makes material ahead of time. An
actor, a *shard*, has a session of its own to its twin at the other party, with its own Δ, key and
store. A party's own rows and its outputs travel in its own cluster; keys, material and what the
other party sends do not.
"""

try:
    import ray as _ray
except ImportError as error:
    raise ImportError("`symbolon.ray` needs Ray: pip install 'symbolon[ray]'") from error

from ._crew import Cluster
from ._map import Mapped, Part, map
from ._preprocessing import Preprocessing, Shards, ShardsMade
from ._progress import Progress, ShardProgress

del _ray

__all__ = [
    "Cluster",
    "Mapped",
    "Part",
    "Preprocessing",
    "Progress",
    "ShardProgress",
    "Shards",
    "ShardsMade",
    "map",
]
