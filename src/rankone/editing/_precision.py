"""The precision that inputs ask for, and what rounding leaves of a pivot."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from rankone.precision import double_precision

__all__ = ["at_least_single", "precision_of", "smallest_pivot"]


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
