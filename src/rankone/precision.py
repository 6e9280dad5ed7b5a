"""Floating-point precision: it follows the inputs and the user's settings of JAX, and
float64 is used only where the user has enabled it.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import reduce
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from rankone._checks import boolean
from rankone._jax import enable_x64

__all__ = [
    "accurate_difference",
    "at_least_single",
    "canonical",
    "double_precision",
    "full_precision",
    "smallest_pivot",
    "wider",
]

T = TypeVar("T")


def double_precision(enabled: bool = True) -> AbstractContextManager:
    """Context manager in whose block float64 arrays stay float64. It works inside jit
    too, and with every JAX from 0.7.2 on.

    The package never enables it by itself: outside such a block, and without
    `jax_enable_x64`, float64 inputs become float32, as everywhere in JAX.

    Args:
        enabled: False for a block in which float64 arrays become float32.

    Raises:
        ValueError: If `enabled` is neither True nor False.
    """
    return enable_x64(boolean("enabled", enabled))


@contextmanager
def full_precision() -> Iterator[None]:
    """Context manager for matrix products in full precision, and a decorator of
    functions that jit traces. By default some GPUs round float32 factors to ten bits,
    which is precise enough to train a network, but not to edit one.
    """
    with jax.default_matmul_precision("highest"):
        yield


def canonical(tree: T) -> T:
    """`tree` with its float64 leaves in float32, unless double precision is enabled.

    JAX itself lets float64 arrays leave a block that enabled them, and then rounds them
    to float32 in each later operation.
    """
    doubles = any(map(_is_double, jax.tree.leaves(tree)))
    if not doubles or jnp.result_type(float) == jnp.float64:
        return tree
    return jax.tree.map(
        lambda leaf: leaf.astype(np.float32) if _is_double(leaf) else leaf, tree
    )


def wider(*values: Any) -> Any:
    """Common dtype of arrays, or of given dtypes, by JAX's standard promotion, whatever
    promotion the user has set.
    """
    first, *others = (getattr(value, "dtype", value) for value in values)
    if isinstance(first, np.dtype) and all(first == other for other in others):
        return first  # nearly every call ends here
    with jax.numpy_dtype_promotion("standard"):
        return reduce(jnp.promote_types, others, first)


def at_least_single(value: Array) -> Array:
    """`value` in float32 if it has half precision, because matrices in half precision
    cannot be factored. Integers get JAX's default floating type.
    """
    if not jnp.issubdtype(value.dtype, jnp.floating):
        return value.astype(jnp.result_type(float))
    return value.astype(jnp.float32) if jnp.finfo(value.dtype).bits < 32 else value


def smallest_pivot(n: int, dtype: Any) -> float:
    """Smallest pivot, as a fraction of the largest, that is more than rounding error in
    the Cholesky factor of an n×n matrix with unit diagonal.
    """
    return float(jnp.finfo(dtype).eps) * (8 + n**0.5)


def accurate_difference(
    B: Float[Array, "n *m"], A: Float[Array, "d n"], X: Float[Array, "d *m"]
) -> Float[Array, "n *m"]:
    """Residual B − Aᵀ X of A (d, n), X (d, ...) and B (n, ...), summed as if in twice
    the precision of B and rounded once at the end.

    Each factor is split into two numbers of half the digits, whose products have no
    rounding error; in float64 that of the two lower halves can be off in its last bit.
    The rounding error of each addition is computed by Knuth's TwoSum and summed
    separately. No wider type is used, so the function works under jit, scan and vmap,
    and on any device.
    """

    def add(
        state: tuple[Array, Array], term: tuple[Array, Array]
    ) -> tuple[tuple[Array, Array], None]:
        (total, remainder) = state
        (a, x) = term
        (a_high, a_low) = _halves(a.astype(B.dtype))
        (x_high, x_low) = _halves(-x.astype(B.dtype))
        for left, right in (
            (a_high, x_high),
            (a_high, x_low),
            (a_low, x_high),
            (a_low, x_low),
        ):
            product = jnp.multiply.outer(left, right)
            next_total = total + product
            increment = next_total - total
            remainder = remainder + (
                (total - (next_total - increment)) + (product - increment)
            )
            total = next_total
        return (total, remainder), None

    (total, remainder), _ = lax.scan(add, (B, jnp.zeros_like(B)), (A, X))
    return total + remainder


def _halves(x: Array) -> tuple[Array, Array]:
    """X as the sum of its leading half of digits and the rest, both exact."""
    word, bits = (jnp.uint64, 27) if x.dtype == jnp.float64 else (jnp.uint32, 12)
    mask = np.array(-1 << bits & (1 << jnp.iinfo(word).bits) - 1, word)
    high = lax.bitcast_convert_type(lax.bitcast_convert_type(x, word) & mask, x.dtype)
    return high, x - high


def _is_double(leaf: Any) -> bool:
    return getattr(leaf, "dtype", None) == jnp.float64
