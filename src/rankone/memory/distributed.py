"""The distributed representation: all patterns summed into one vector T of random features (DrDAM)."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone._checks import Numbers, array, check, choice, numbers, positive, states
from rankone._module import static
from rankone.memory.bases import BASES
from rankone.memory.features import RandomFeatures
from rankone.memory.nonlinear import lookup
from rankone.memory.packed import Packed, check_bits, rounded
from rankone.memory.protocol import EnergyMemory
from rankone.writes import Write

__all__ = ["DrDAM"]

# Below this share of the features' own noise, an estimate of the partition sum says nothing: see `floor`.
_FLOOR_OF_NOISE = 1 / 8
_SIMILARITIES = ("l2", "dot")
_BETA = "a positive finite inverse temperature"


class DrDAM(EnergyMemory):
    """A dense associative memory whose patterns are summed into one vector T [D-eq9].

    Ê(x) = −(1/β) log Ŝ(x) with Ŝ(x) = ⟨φ(√β x), T⟩ and T = Σ_μ φ(√β ξ^μ). Make one with `DrDAM.store`.

    Where the estimate Ŝ falls below `floor` the logarithm goes on as its tangent line, so that the gradient keeps
    the direction of ∇Ŝ and never dies; the published clip makes it exactly zero there [D-fn6].

    Attributes:
        T: All that is stored (M,); M = 2Y for sincos and expexp features, Y otherwise. With fewer than 32 bits it is
            a `Packed`, of the same shape and M·bits/8 bytes.
        beta: Inverse temperature.
        features: The random feature map; to read a memory it must be the one it was written with.
        count: Number of patterns stored.
        power: Σ_μ w_μ², the squared weights with which they were stored (1 each for "l2").
        similarity: "l2" or "dot".
        g: What is applied to a state before it is read.
        bits: Bits an entry of T: 32 (as it was computed), 8, 4, 2 or 1. Rounding acts like a loss of features, of which
            99 % are left at 4 bits and 64 % at one [D-sharp16]; a rounded memory is read, not written to.

    >>> import jax, numpy as np, rankone as ro
    >>> Xi = np.eye(4)
    >>> memory = ro.DrDAM.store(Xi, beta=8.0, features=ro.RandomFeatures(4, 20_000, key=jax.random.key(0)))
    >>> memory.T.shape, memory.count.item()
    ((40000,), 4.0)
    >>> round(memory.energy(Xi[0]).item(), 2), round(ro.MrDAM(Xi, beta=8.0).energy(Xi[0]).item(), 2)
    (-0.0, -0.0)
    >>> memory.remove(Xi[0]).count.item()
    3.0
    >>> from dataclasses import replace
    >>> small = replace(memory, bits=2)
    >>> memory.T.nbytes, small.T.nbytes, round(small.energy(Xi[0]).item(), 2)
    (160000, 10004, -0.0)
    """

    T: Float[Array, " M"] | Packed
    beta: Float[Array, ""]
    features: RandomFeatures
    count: Float[Array, ""]
    power: Float[Array, ""]
    similarity: str = static()
    g: str | Callable[..., Array] = static()
    bits: int = static()

    def __init__(
        self,
        T: Numbers | Packed,
        beta: ArrayLike,
        features: RandomFeatures,
        count: ArrayLike,
        power: ArrayLike,
        similarity: str = "l2",
        g: str | Callable[..., Array] = "identity",
        *,
        bits: int = 32,
    ) -> None:
        T, bits = T if isinstance(T, Packed) else numbers("T", T), check_bits(bits)
        _check_features(features)
        check(T.shape == (features.M,), "T", f"shape {T.shape}", f"({features.M},): one entry a feature")
        positive("beta", beta, _BETA, dtype=T.dtype)
        choice("similarity", similarity, _SIMILARITIES)
        lookup("g", g)
        beta, count, power = (jnp.asarray(scalar, T.dtype) for scalar in (beta, count, power))
        self._set(T=rounded(T, bits), beta=beta, features=features, count=count, power=power)
        self._set(similarity=similarity, g=g, bits=bits)

    @classmethod
    def store(
        cls,
        Xi: Numbers,
        beta: ArrayLike,
        features: RandomFeatures,
        *,
        similarity: str = "l2",
        g: str | Callable[..., Array] = "identity",
        bits: int = 32,
    ) -> "DrDAM":
        """The memory of the patterns Xi (K, D) in O(KDY) time and O(Y + D) memory beyond them [D-prop3].

        Args:
            Xi: Patterns (K, D), one a row.
            beta: Inverse temperature, positive.
            features: Made with D = Xi.shape[1].
            similarity: "l2", or "dot" for the exponentiated dot product: the same features with weights
                exp(β‖ξ‖²/2) [D-unn3].
            g: Function applied to a state before it is read, as in `MrDAM`.
            bits: Bits to which each entry of T is rounded once all patterns are in it: 32 (none), 8, 4, 2 or 1.

        Raises:
            ValueError: If Xi is not (K, features.D) and finite, beta is not positive, bits is another number, or a name
                is unknown.
        """
        _check_features(features)
        check_bits(bits)
        choice("similarity", similarity, _SIMILARITIES)
        Xi = array("Xi", Xi, "(K, D): one pattern a row, of the length the features were made for", 2, once=True)
        check(Xi.shape[1] == features.D, "Xi", f"shape {Xi.shape}", f"(K, {features.D}), to fit the features")
        positive("beta", beta, _BETA, dtype=Xi.dtype)
        beta = jnp.asarray(beta, Xi.dtype)
        stored = _stored(features, beta, Xi, similarity)
        return cls(beta=beta, features=features, similarity=similarity, g=g, bits=bits, **stored)

    def add(self, xi: Numbers) -> "DrDAM":
        """A new memory with the pattern xi (D,), or patterns (n, D), besides: O(DY) each, whatever K [D-prop5]."""
        return replace(self, **_written(self, self._patterns(xi), 1))

    def remove(self, xi: Numbers) -> "DrDAM":
        """A new memory without xi, exactly as if it had never been stored, up to rounding."""
        return replace(self, **_written(self, self._patterns(xi), -1))

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.features.D

    @property
    def empty(self) -> Bool[Array, ""]:
        """Whether every pattern was removed."""
        return self.count < 0.5

    @property
    def floor(self) -> Float[Array, ""]:
        """Where the logarithm becomes its tangent: an eighth of the features' noise √(K/2Y); 1e-30 for exp, expexp."""
        return _floor(self.power, BASES[self.features.basis].noise / self.features.Y)

    @property
    def write(self) -> Write:
        """T as a write of one row, to which every pattern answers 1: at φ(√β x) it adds the partition sum at x."""
        return Write(jnp.ones(1, self.T.dtype), self.unpacked)

    @property
    def unpacked(self) -> Float[Array, " M"]:
        """T as an array (M,), however it is stored."""
        return self.T.unpacked if isinstance(self.T, Packed) else self.T

    def energy_and_gradient(self, x: Numbers) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Ê [D-eq9] and ∇Ê, the ĝ_A of Algorithm 1, at states x (..., D), in O(DY) time [D-eq10, D-alg1, D-prop4]."""
        return self.read(x)[:2]

    def read(self, x: Numbers) -> tuple[Float[Array, "..."], Float[Array, "... D"], Bool[Array, "..."]]:
        """Energy, gradient, and whether the state is floored, in one pass over the features."""
        energy, gradient, _, floored = _read(self, states("x", x, self.D))
        return energy, gradient, floored

    def partition(self, x: Numbers) -> Float[Array, "..."]:
        """Ŝ(x) = ⟨φ(√β g(x)), T⟩, the estimate of Σ_μ exp(−β‖x − ξ^μ‖²/2); noise can make it negative."""
        return _read(self, states("x", x, self.D))[2]

    def floored(self, x: Numbers) -> Bool[Array, "..."]:
        """Where Ŝ is below the floor: the memory does not know these states."""
        return self.read(x)[2]

    def _patterns(self, xi: Numbers) -> Float[Array, "n D"]:
        wanted = "32 to be written to: keep the memory as it was, and round it anew with replace(memory, bits=...)"
        check(self.bits == 32, "bits", self.bits, wanted)
        return states("xi", xi, self.D).reshape(-1, self.D)


def _check_features(features: Any) -> None:
    wanted = "a RandomFeatures, such as RandomFeatures(D, 10_000, key=jax.random.key(0))"
    check(isinstance(features, RandomFeatures), "features", features, wanted)


@partial(jax.jit, static_argnames="similarity")
def _stored(features: RandomFeatures, beta: Array, Xi: Array, similarity: str) -> dict[str, Array]:
    return _written(DrDAM(jnp.zeros(features.M, Xi.dtype), beta, features, 0.0, 0.0, similarity), Xi, 1)


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
        "T": memory.unpacked + sign * memory.features.encode(jnp.sqrt(memory.beta) * Xi, weights),
        "count": memory.count + sign * len(Xi),
        "power": memory.power + sign * (weights**2).sum(),
    }


@jax.jit
def _read(memory: DrDAM, x: Array) -> tuple[Array, Array, Array, Array]:
    """Energy, gradient, Ŝ, and whether it is below the floor [D-eq9, D-eq10, with the √β that the paper omits]."""
    flat = x.reshape(-1, memory.D).astype(jnp.result_type(x, memory.T.dtype))
    g = lookup("g", memory.g)
    z = g.value(flat)
    S, slope = memory.features.read(jnp.sqrt(memory.beta) * z, memory.T)
    floor = memory.floor
    above = jnp.maximum(S, floor)
    log_S = jnp.where(floor < S, jnp.log(above), jnp.log(floor) + (S - floor) / floor)
    energy = -log_S / memory.beta
    gradient = -slope / (jnp.sqrt(memory.beta) * above[:, None])
    if memory.similarity == "dot" and memory.g != "identity":  # for the identity the two quadratics cancel
        energy, gradient = energy - 0.5 * (z**2).sum(-1), gradient - z
    gradient = g.derivative(gradient, flat)
    rows = x.shape[:-1]
    return energy.reshape(rows), gradient.reshape(x.shape), S.reshape(rows), (floor > S).reshape(rows)
