"""Two gradients as the paper prints them: the field that its proof treats as a
gradient, and the gradient of the logarithm that it clips.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float, Real

from rankone._annotated import checked
from rankone._checks import Numbers, instance, not_negative, states
from rankone.memory.distributed import DrDAM
from rankone.memory.protocol import EnergyMemory

__all__ = ["Barycentric", "Clipped", "barycentric_field"]


class Clipped(EnergyMemory):
    """Distributed memory with the published energy Ê(x) = −(1/β) log max(Ŝ(x), ε),
    whose gradient is zero wherever Ŝ ≤ ε [D-fn6].

    A query with Ŝ ≤ ε never moves, and a stopping rule by the change of energy reports
    it as retrieved. `DrDAM` continues the logarithm along its tangent instead.
    `retrieve` can use either memory.

    Attributes:
        memory: The distributed memory.
        clip: ε, 1e-5 in the published code.
    """

    memory: DrDAM
    clip: Real[ArrayLike, ""] = 1e-5

    def __post_init__(self) -> None:
        instance("memory", self.memory, DrDAM, "a DrDAM")
        not_negative("clip", self.clip)

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.memory.D

    def frozen(self, x: Numbers) -> Bool[Array, "..."]:
        """True where Ŝ ≤ ε."""
        return self.memory.partition(x) <= self.clip

    @checked
    @jax.jit
    def energy_and_gradient(
        self, x: Numbers
    ) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Clipped energy at states x (..., D), and its gradient by automatic
        differentiation, as published.
        """

        def energy(x: Array) -> Array:
            S = self.memory.partition(x)
            return -jnp.log(jnp.where(self.clip < S, S, self.clip)) / self.memory.beta

        value, pull = jax.vjp(energy, states("x", x, self.D))
        return value, pull(jnp.ones_like(value))[0]


@checked
@jax.jit
def barycentric_field(memory: DrDAM, Xi: Numbers, x: Numbers) -> Float[Array, "... D"]:
    """Field of eq. 29 as printed, x − Σ_μ k̂_μ ξ^μ/Σ_μ k̂_μ, computed from the patterns
    [D-eq29].

    Args:
        memory: The distributed memory whose features estimate the kernels; its T is not
            used.
        Xi: Patterns (K, D), in the unit of the states.
        x: States (..., D).

    Returns:
        The field at x (..., D), in the same unit. As in the paper, the function does
        not guard against a sum Σk̂ that is near zero or negative.
    """
    x = states("x", x, memory.D)
    Xi = states("Xi", Xi, memory.D)
    if Xi.ndim != 2:
        raise ValueError(
            f"Xi: got shape {Xi.shape}; it must be (K, D): one pattern per row."
        )
    scale = jnp.sqrt(memory.beta)
    k = memory.features.phi(scale * x) @ memory.features.phi(scale * Xi).T
    return x - (k @ Xi) / k.sum(-1, keepdims=True)


class Barycentric(EnergyMemory):
    """Field of eqs 30 to 32 with the missing "x −" restored: the field of
    `barycentric_field`, computed from T and R without the patterns [D-eq30-32].

    The field is ĝ_B(x) = x − φ(√β x)R/⟨φ(√β x), T⟩ with R = Σ_μ φ(√β ξ^μ)ξ^μᵀ. R has MD
    numbers, and the patterns themselves have KD, which is fewer where K < M. Make a
    field with `Barycentric.store`; `retrieve` can follow it.

    Attributes:
        memory: The distributed memory, which holds T (M,).
        R: Features times patterns (M, D).
    """

    memory: DrDAM
    R: Float[Array, "M D"]

    @classmethod
    @checked
    def store(cls, memory: DrDAM, Xi: Numbers) -> "Barycentric":
        """Field of the patterns Xi (K, D), which must be those that `memory` stores."""
        Xi = states("Xi", Xi, memory.D)
        if Xi.ndim != 2:
            raise ValueError(
                f"Xi: got shape {Xi.shape}; it must be (K, D): one pattern per row."
            )
        return cls(memory, _factor(memory, Xi))

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.memory.D

    @property
    def numbers(self) -> int:
        """Count of the numbers that are stored, in T and R."""
        return self.memory.T.size + self.R.size

    def field(self, x: Numbers) -> Float[Array, "... D"]:
        """Field ĝ_B at states x (..., D) -> (..., D), as in `energy_and_gradient`. It
        is not the gradient of any energy.
        """
        return self.gradient(x)

    def add(self, xi: Numbers) -> "Barycentric":
        """New field that also includes the pattern xi (D,), or patterns (n, D)."""
        xi = states("xi", xi, self.D).reshape(-1, self.D)
        addition = Barycentric.store(self.memory, xi)
        return replace(self, memory=self.memory.add(xi), R=self.R + addition.R)

    @checked
    @jax.jit
    def energy_and_gradient(
        self, x: Numbers
    ) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Energy Ê, and the field ĝ_B in place of its gradient, so that `retrieve` can
        follow the field. In both, the memory's floor replaces every Ŝ below it.
        """
        x = states("x", x, self.D)
        phi = self.memory.features.phi(jnp.sqrt(self.memory.beta) * x)
        S = jnp.maximum(phi @ self.memory.unpacked, self.memory.floor)
        return -jnp.log(S) / self.memory.beta, x - phi @ self.R / S[..., None]


@jax.jit
def _factor(memory: DrDAM, Xi: Array) -> Array:
    return memory.features.phi(jnp.sqrt(memory.beta) * Xi).T @ Xi
