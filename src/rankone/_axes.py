"""Explicit axes of a mesh, turned into automatic ones.

For arrays over explicit axes, such as those of `jax.make_mesh`, JAX expects the program
to say where results are placed. The programs of this package leave that to the
compiler, which chooses the placement on automatic axes.
"""

from functools import lru_cache
from typing import Any

import jax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

__all__ = ["automatic_mesh", "is_explicit", "on_automatic"]


def automatic_mesh(mesh: Any) -> Any:
    """The same mesh, concrete or abstract, with automatic axes."""
    return mesh.update(axis_types=(AxisType.Auto,) * len(mesh.axis_names))


def is_explicit(leaf: Any) -> bool:
    """True for an array over a mesh with explicit axes."""
    if isinstance(leaf, jax.core.Tracer):
        return AxisType.Explicit in jax.typeof(leaf).sharding.mesh.axis_types
    sharding = getattr(leaf, "sharding", None)
    if not isinstance(sharding, NamedSharding):
        return False
    return AxisType.Explicit in sharding.mesh.axis_types


def on_automatic(leaf: Any) -> Any:
    """An array over explicit axes as one over automatic axes, split as before; inside
    jit the compiler may place it differently.
    """
    if not is_explicit(leaf):
        return leaf
    if isinstance(leaf, jax.core.Tracer):
        return jax.sharding.reshard(leaf, P())
    return jax.device_put(leaf, _on_automatic_axes(leaf.sharding))


# cached, because constructing a mesh takes long
@lru_cache(maxsize=1024)
def _on_automatic_axes(sharding: NamedSharding) -> NamedSharding:
    return NamedSharding(automatic_mesh(sharding.mesh), sharding.spec)
