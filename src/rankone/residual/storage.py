"""How residuals are kept: whole, or only the largest entries of each."""

from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int

from rankone._checks import array, as_array, check
from rankone._pytree import pytree

__all__ = ["Residuals", "bare_labels", "dense", "largest", "sparse"]


@runtime_checkable
class Residuals(Protocol):
    """n stored vectors of length L."""

    def __len__(self) -> int:
        """Their number n."""

    @property
    def L(self) -> int:
        """Length of a vector."""

    def weighted(self, weights: Array, rows: Array) -> Array:
        """Σ weights[j] · residual[rows[j]] -> (L,)."""


@pytree(data=["values"])
@dataclass(frozen=True)
class _Dense:
    values: Float[Array, "n L"]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def L(self) -> int:
        return self.values.shape[1]

    def weighted(self, weights: Array, rows: Array) -> Array:
        return weights @ self.values[rows]


@pytree(data=["values", "columns"], meta=["length"])
@dataclass(frozen=True)
class _Sparse:
    values: Float[Array, "n m"]
    columns: Int[Array, "n m"]
    length: int

    def __len__(self) -> int:
        return len(self.values)

    @property
    def L(self) -> int:
        return self.length

    def weighted(self, weights: Array, rows: Array) -> Array:
        read = jnp.zeros(self.L, jnp.result_type(weights, self.values))
        return read.at[self.columns[rows]].add(weights[:, None] * self.values[rows])


def dense(residuals: Float[Array, "n L"]) -> Residuals:
    """Every entry kept [S-res]."""
    return _Dense(residuals)


def largest(residuals: Float[Array, "n L"], m: int) -> Residuals:
    r"""The m entries of each residual that are largest in size, the others 0 [S-appC-top128].

    One neighbour still memorises: the entry of the label, $1-p_y=\sum_{c\ne y}p_c$, is never smaller than another.
    """
    check(m <= residuals.shape[1], "keep", m, f"at most {residuals.shape[1]}, the number of classes")
    values, columns = _largest(residuals, m)
    return _Sparse(values, columns, residuals.shape[1])


@partial(jax.jit, static_argnames="m")
def _largest(residuals: Array, m: int) -> tuple[Array, Array]:
    columns = jax.lax.top_k(jnp.abs(residuals), m)[1]
    return jnp.take_along_axis(residuals, columns, 1), columns


def sparse(values: ArrayLike, columns: ArrayLike, L: int) -> Residuals:
    """Vectors of length L from m entries of each: for a vocabulary, whose whole residuals would never fit.

    Args:
        values: (n, m), in half precision if you like.
        columns: Where they stand (n, m), whole numbers from 0 to L − 1, in as few bytes as you like.
        L: Length of a vector.

    Raises:
        ValueError: If shapes differ, a value is not finite, or a column is none of 0 … L − 1.
    """
    kept = array("values", values, "(n, m): some entries of each residual", 2)
    places = as_array(columns)
    check(places.shape == kept.shape, "columns", f"shape {places.shape}", f"{kept.shape}, as the values")
    check(bool(jnp.issubdtype(places.dtype, jnp.integer)), "columns", places.dtype, f"whole numbers from 0 to {L - 1}")
    least, most = int(np.asarray(places).min()), int(np.asarray(places).max())
    check(least >= 0 and most < L, "columns", f"{least} … {most}", f"from 0 to {L - 1}")
    return _Sparse(kept, jnp.asarray(places), L)


def bare_labels(labels: ArrayLike, L: int) -> Residuals:
    """What no model at all leaves of n labels (n,): one-hot vectors of length L, for plain nearest neighbours."""
    places = jnp.asarray(labels)
    return sparse(jnp.ones((*places.shape, 1)), places[..., None], L)
