"""Triangular solves by blocks: products that read the factor once, however few right-hand sides there are.

A library's own solve with one right-hand side runs column by column; with the diagonal blocks inverted beforehand the
same substitution is a short sequence of matrix-vector products.
"""

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

__all__ = ["backward", "diagonal_inverses", "forward"]

_BLOCK = 256


def diagonal_inverses(L: Float[Array, "D D"]) -> Float[Array, "n b b"]:
    """Inverses of the blocks on the diagonal of a lower triangular L; the last is completed by ones."""
    b = min(_BLOCK, len(L))
    starts = range(0, len(L), b)
    blocks = jnp.stack([_padded(L[i : i + b, i : i + b], b) for i in starts])
    return jax.vmap(lambda block: solve_triangular(block, jnp.eye(b, dtype=L.dtype), lower=True))(blocks)


def forward(L: Float[Array, "D D"], blocks: Float[Array, "n b b"], B: Float[Array, "D ..."]) -> Float[Array, "D ..."]:
    """L⁻¹B."""
    X, b = jnp.zeros_like(B, dtype=jnp.result_type(L, B)), blocks.shape[1]
    for j, i in enumerate(range(0, len(L), b)):
        rest = B[i : i + b] - L[i : i + b, :i] @ X[:i]
        X = X.at[i : i + b].set(blocks[j, : len(rest), : len(rest)] @ rest)
    return X


def backward(L: Float[Array, "D D"], blocks: Float[Array, "n b b"], B: Float[Array, "D ..."]) -> Float[Array, "D ..."]:
    """L⁻ᵀB."""
    X, b = jnp.zeros_like(B, dtype=jnp.result_type(L, B)), blocks.shape[1]
    for j, i in reversed(list(enumerate(range(0, len(L), b)))):
        rest = B[i : i + b] - L[i + b :, i : i + b].T @ X[i + b :]
        X = X.at[i : i + b].set(blocks[j, : len(rest), : len(rest)].T @ rest)
    return X


def _padded(block: Array, b: int) -> Array:
    missing = b - len(block)
    if not missing:
        return block
    return jnp.eye(b, dtype=block.dtype).at[: len(block), : len(block)].set(block)
