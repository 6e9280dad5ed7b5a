"""Double precision for a block of code, whatever JAX's own setting is, and the precision that inputs ask for."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from rankone._jax import enable_x64

__all__ = ["at_least_single", "double_precision", "precision_of", "smallest_pivot"]


def double_precision(enabled: bool = True) -> AbstractContextManager:
    """A block in which float64 arrays stay float64; works inside jit too, and on every jax from 0.7.2 on.

    Args:
        enabled: False for a block in which they become float32.
    """
    return enable_x64(enabled)


def precision_of(*trees: Any) -> AbstractContextManager:
    """Double precision if any leaf is float64 already, so that no result is silently cut to float32; else nothing."""
    wide = any(getattr(leaf, "dtype", None) == jnp.float64 for leaf in jax.tree.leaves(trees))
    return double_precision() if wide else nullcontext()


def at_least_single(value: Array) -> Array:
    """`value`, in float32 if it came in half precision, in which nothing can be factored."""
    return value.astype(jnp.float32) if jnp.finfo(value.dtype).bits < 32 else value


def smallest_pivot(n: int, dtype: Any) -> float:
    """Share of the largest pivot below which one of an n×n factor of unit diagonal is only rounding error."""
    return float(jnp.finfo(dtype).eps) * (8 + n**0.5)
