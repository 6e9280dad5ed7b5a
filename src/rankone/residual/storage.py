"""How residuals are kept: whole, or only the largest entries of each."""

from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from rankone._checks import check
from rankone._pytree import pytree

__all__ = ["Residuals", "dense", "largest"]


class Residuals(Protocol):
    """n stored vectors of length L."""

    @property
    def L(self) -> int:
        """Length of a vector."""

    def weighted(self, weights: Array, rows: Array) -> Array:
        """Σ weights[j] · residual[rows[j]] -> (L,)."""


@pytree(data=["values"])
@dataclass(frozen=True)
class _Dense:
    values: Float[Array, "n L"]

    @property
    def L(self) -> int:
        return self.values.shape[1]

    def weighted(self, weights: Array, rows: Array) -> Array:
        return weights @ self.values[rows]


@pytree(data=["values", "columns"], meta=["length"])
@dataclass(frozen=True)
class _Largest:
    values: Float[Array, "n m"]
    columns: Int[Array, "n m"]
    length: int

    @property
    def L(self) -> int:
        return self.length

    def weighted(self, weights: Array, rows: Array) -> Array:
        read = jnp.zeros(self.L, self.values.dtype)
        return read.at[self.columns[rows]].add(weights[:, None] * self.values[rows])


def dense(residuals: Float[Array, "n L"]) -> Residuals:
    """Every entry kept [S-res]."""
    return _Dense(residuals)


def largest(residuals: Float[Array, "n L"], m: int) -> Residuals:
    r"""The m entries of each residual that are largest in size, the others 0 [S-appC-top128].

    One neighbour still memorises: the entry of the label, $1-p_y=\sum_{c\ne y}p_c$, is never smaller than another.
    """
    check(m <= residuals.shape[1], "keep", m, f"at most {residuals.shape[1]}, the number of classes")
    columns = jax.lax.top_k(jnp.abs(residuals), m)[1]
    return _Largest(jnp.take_along_axis(residuals, columns, 1), columns, residuals.shape[1])
