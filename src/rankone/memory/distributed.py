"""The distributed representation: all patterns summed into one vector T of random features (DrDAM)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone._checks import array, check, choice, positive, states
from rankone.memory.bases import BASES
from rankone.memory.features import RandomFeatures
from rankone.memory.nonlinear import ACTIVATIONS, lookup

__all__ = ["DrDAM"]

# Below this share of the features' own noise, an estimate of the partition sum says nothing: see `floor`.
_FLOOR_OF_NOISE = 1 / 8


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["T", "beta", "features", "count", "power"],
    meta_fields=["similarity", "g"],
)
@dataclass(frozen=True)
class DrDAM:
    r"""A dense associative memory whose patterns are summed into one vector T [D-eq9].

    $\hat E(x)=-\beta^{-1}\log\hat S(x)$ with $\hat S(x)=\langle\varphi(\sqrt\beta x),T\rangle$ and
    $T=\sum_\mu\varphi(\sqrt\beta\xi^\mu)$. Make one with `DrDAM.store`.

    Where the estimate Ŝ falls below `floor` the logarithm goes on as its tangent line, so that the gradient keeps
    the direction of ∇Ŝ and never dies; the published clip makes it exactly zero there [D-fn6].

    Attributes:
        T: The whole memory (M,); M = 2Y for sincos and expexp features, Y otherwise.
        beta: Inverse temperature.
        features: The random feature map; to read a memory it must be the one it was written with.
        count: Number of patterns stored.
        power: Σ_μ w_μ², the squared weights with which they were stored (1 each for "l2").
    """

    T: Float[Array, " M"]
    beta: Float[Array, ""]
    features: RandomFeatures
    count: Float[Array, ""]
    power: Float[Array, ""]
    similarity: str = "l2"
    g: str | Callable[..., Array] = "identity"

    @classmethod
    def store(
        cls,
        Xi: ArrayLike,
        beta: ArrayLike,
        features: RandomFeatures,
        *,
        similarity: str = "l2",
        g: Any = "identity",
    ) -> "DrDAM":
        """The memory of the patterns Xi (K, D) in O(KDY) time and O(Y + D) memory beyond them [D-prop3].

        Args:
            Xi: Patterns (K, D), one a row.
            beta: Inverse temperature, positive.
            features: Made with D = Xi.shape[1].
            similarity: "l2", or "dot" for the exponentiated dot product: the same features with weights
                exp(β‖ξ‖²/2) [D-unn3].
            g: Function applied to a state before it is read, as in `MrDAM`.

        Raises:
            ValueError: If Xi is not (K, features.D) and finite, beta is not positive, or a name is unknown.
        """
        wanted = "a RandomFeatures, such as RandomFeatures(D, 10_000, key=jax.random.key(0))"
        check(isinstance(features, RandomFeatures), "features", features, wanted)
        Xi = array("Xi", Xi, f"(K, {features.D}): one pattern a row, of the length the features were made for", 2)
        check(Xi.shape[1] == features.D, "Xi", f"shape {Xi.shape}", f"(K, {features.D}), to fit the features")
        positive("beta", beta, "a positive finite inverse temperature")
        choice("similarity", similarity, ("l2", "dot"))
        lookup("g", g, ACTIVATIONS)
        beta = jnp.asarray(beta, Xi.dtype)
        written = _stored(features, beta, Xi, similarity)
        return cls(beta=beta, features=features, similarity=similarity, g=g, **written)

    def add(self, xi: ArrayLike) -> "DrDAM":
        """A new memory with the pattern xi (D,), or patterns (n, D), besides: O(DY) each, whatever K [D-prop5]."""
        return replace(self, **_written(self, self._patterns(xi), 1))

    def remove(self, xi: ArrayLike) -> "DrDAM":
        """A new memory without xi, exactly as if it had never been stored, up to rounding."""
        return replace(self, **_written(self, self._patterns(xi), -1))

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.features.D

    @property
    def floor(self) -> Float[Array, ""]:
        """Where the logarithm becomes its tangent: an eighth of the features' noise √(K/2Y); 1e-30 for exp, expexp."""
        return _floor(self.power, BASES[self.features.basis].noise / self.features.Y)

    def energy(self, x: ArrayLike) -> Float[Array, "..."]:
        """Ê at states x (..., D) -> (...) [D-eq9]."""
        return self.energy_and_gradient(x)[0]

    def gradient(self, x: ArrayLike) -> Float[Array, "... D"]:
        """∇Ê at states x (..., D) -> (..., D): ĝ_A of Algorithm 1, in O(DY) time [D-eq10, D-alg1, D-prop4]."""
        return self.energy_and_gradient(x)[1]

    def energy_and_gradient(self, x: ArrayLike) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Both at once, in one pass over the features."""
        return self.read(x)[:2]

    def read(self, x: ArrayLike) -> tuple[Float[Array, "..."], Float[Array, "... D"], Bool[Array, "..."]]:
        """Energy, gradient, and whether the state is floored, in one pass over the features."""
        energy, gradient, _, floored = _read(self, states("x", x, self.D))
        return energy, gradient, floored

    def partition(self, x: ArrayLike) -> Float[Array, "..."]:
        """Ŝ(x) = ⟨φ(√β g(x)), T⟩, the estimate of Σ_μ exp(−β‖x − ξ^μ‖²/2); noise can make it negative."""
        return _read(self, states("x", x, self.D))[2]

    def floored(self, x: ArrayLike) -> Bool[Array, "..."]:
        """Where Ŝ is below the floor: the memory does not know these states."""
        return self.read(x)[2]

    def _patterns(self, xi: ArrayLike) -> Float[Array, "n D"]:
        return states("xi", xi, self.D).reshape(-1, self.D)


@partial(jax.jit, static_argnames="similarity")
def _stored(features: RandomFeatures, beta: Array, Xi: Array, similarity: str) -> dict[str, Array]:
    zero = jnp.zeros((), Xi.dtype)
    return _written(DrDAM(jnp.zeros(features.M, Xi.dtype), beta, features, zero, zero, similarity), Xi, 1)


@jax.jit
def _floor(power: Array, noise: float) -> Array:
    return jnp.maximum(_FLOOR_OF_NOISE * jnp.sqrt(jnp.maximum(noise * power, 0)), 1e-30)


@partial(jax.jit, static_argnames="sign")
def _written(memory: DrDAM, Xi: Array, sign: int) -> dict[str, Array]:
    """The fields that change; the features stay outside, for a program would return a copy of them."""
    Xi = Xi.astype(memory.T.dtype)
    weights = jnp.ones(len(Xi), Xi.dtype)
    if memory.similarity == "dot":
        weights = jnp.exp(0.5 * memory.beta * (Xi**2).sum(-1))
    return {
        "T": memory.T + sign * memory.features.encode(jnp.sqrt(memory.beta) * Xi, weights),
        "count": memory.count + sign * len(Xi),
        "power": memory.power + sign * (weights**2).sum(),
    }


@jax.jit
def _read(memory: DrDAM, x: Array) -> tuple[Array, Array, Array, Array]:
    """Energy, gradient, Ŝ, and whether it is below the floor [D-eq9, D-eq10, with the √β that the paper omits]."""
    flat = x.reshape(-1, memory.D).astype(jnp.result_type(x, memory.T))
    g = lookup("g", memory.g, ACTIVATIONS)
    z = g.value(flat)
    S, slope = memory.features.read(jnp.sqrt(memory.beta) * z, memory.T)
    floor = memory.floor
    held = jnp.maximum(S, floor)
    log_S = jnp.where(floor < S, jnp.log(held), jnp.log(floor) + (S - floor) / floor)
    energy = -log_S / memory.beta
    gradient = -slope / (jnp.sqrt(memory.beta) * held[:, None])
    if memory.similarity == "dot" and memory.g != "identity":  # for the identity the two quadratics cancel
        energy, gradient = energy - 0.5 * (z**2).sum(-1), gradient - z
    gradient = g.derivative(gradient, flat)
    rows = x.shape[:-1]
    return energy.reshape(rows), gradient.reshape(x.shape), S.reshape(rows), (floor > S).reshape(rows)
