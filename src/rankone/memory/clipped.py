"""The distributed memory with the logarithm clipped as the paper clips it, to see what that does."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone._checks import states
from rankone.memory.distributed import DrDAM

__all__ = ["Clipped"]


@partial(jax.tree_util.register_dataclass, data_fields=["memory", "clip"], meta_fields=[])
@dataclass(frozen=True)
class Clipped:
    r"""$\hat E(x)=-\beta^{-1}\log\max(\hat S(x),\varepsilon)$: the gradient is zero wherever Ŝ ≤ ε [D-fn6].

    Such a query never moves, and a rule that watches the change of energy calls it retrieved. `DrDAM` itself goes on
    along a tangent instead. `retrieve` follows either.

    Attributes:
        memory: The distributed memory.
        clip: ε; the published code has 1e-5.
    """

    memory: DrDAM
    clip: float = 1e-5

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.memory.D

    def frozen(self, x: ArrayLike) -> Bool[Array, "..."]:
        """Where Ŝ ≤ ε."""
        return self.memory.partition(x) <= self.clip

    @jax.jit
    def energy_and_gradient(self, x: ArrayLike) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Clipped energy at states x (..., D), and its gradient by automatic differentiation, as published."""

        def energy(x: Array) -> Array:
            S = self.memory.partition(x)
            return -jnp.log(jnp.where(self.clip < S, S, self.clip)) / self.memory.beta

        value, pull = jax.vjp(energy, states("x", x, self.D))
        return value, pull(jnp.ones_like(value))[0]
