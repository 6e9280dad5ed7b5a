"""Second moments of keys that pass by, a batch at a time."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone._checks import check, states
from rankone._pytree import pytree
from rankone.precision import double_precision, precision_of

__all__ = ["SecondMoments"]


@pytree(data=["total", "count"])
@dataclass(frozen=True)
class SecondMoments:
    """Σ kkᵀ over all keys seen, and their number. Batches in any order or grouping give the same, up to rounding.

    Attributes:
        total: (D, D).
        count: Number of keys.
    """

    total: Float[Array, "D D"]
    count: Float[Array, ""]

    @classmethod
    def empty(cls, D: int, *, dtype: Any = None) -> "SecondMoments":
        """Of no key yet. float64 keeps twice the digits, and so twice the condition number, whatever the keys are.

        Args:
            D: Length of a key.
            dtype: Of the sums; the default is JAX's.
        """
        check(D > 0, "D", D, "a positive length")
        with double_precision() if dtype is not None and jnp.dtype(dtype).itemsize == 8 else precision_of():
            return cls(jnp.zeros((D, D), dtype), jnp.zeros((), dtype))

    def update(
        self, keys: Float[ArrayLike, "... D"], *, where: Bool[ArrayLike, "..."] | None = None
    ) -> "SecondMoments":
        """With a batch of keys (..., D) more; `where` (...) says which of them count."""
        D = len(self.total)
        with precision_of(self, keys):
            keys = states("keys", keys, D)
            where = np.ones(keys.shape[:-1], bool) if where is None else jnp.asarray(where)
            check(where.shape == keys.shape[:-1], "where", f"shape {where.shape}", f"of shape {keys.shape[:-1]}")
            return _update(self, keys, where)

    @property
    def mean(self) -> Float[Array, "D D"]:
        """Σ kkᵀ / n: the C to add a ridge to, for its size does not grow with the corpus."""
        with precision_of(self):
            return self.total / self.count


@jax.jit
def _update(moments: SecondMoments, keys: Array, where: ArrayLike) -> SecondMoments:
    kept = jnp.where(jnp.expand_dims(where, -1), keys, 0).astype(moments.total.dtype).reshape(-1, len(moments.total))
    return SecondMoments(moments.total + kept.T @ kept, moments.count + jnp.sum(where))
