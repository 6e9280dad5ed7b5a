"""The memory representation of a dense associative memory: every pattern kept, read exactly (MrDAM)."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, positive, states
from rankone._pytree import pytree
from rankone.memory.nonlinear import ACTIVATIONS, OUTER, SEPARATIONS, SIMILARITIES, lookup

__all__ = ["MrDAM"]

_BLOCK_ENTRIES = 2**20  # 4 MB of float32 patterns: read once from memory, used twice from cache


@pytree(data=["Xi", "beta", "squares"], meta=["similarity", "separation", "Q", "g"])
@dataclass(frozen=True, init=False)
class MrDAM:
    r"""A dense associative memory in the general form of eq. 3 [D-eq3].

    $E(x)=-Q\big[\sum_\mu F(S[\xi^\mu,g(x)])\big]$. The defaults give the log-sum-exp energy of eq. 11,
    $E(x)=-\beta^{-1}\log\sum_\mu e^{-\frac\beta2\|x-\xi^\mu\|^2}$ [D-eq11]. With `similarity="dot"` they give the
    exponentiated dot product, $-\beta^{-1}\log\sum_\mu e^{\beta\langle\xi^\mu,x\rangle}+\frac12\|x\|^2$ [D-unn3];
    with `g="unit"` besides, eq. 7, which has no quadratic term [D-eq7].

    Args:
        Xi: Stored patterns (K, D), one a row.
        beta: Inverse temperature, 1/unit² for "l2"; positive. Larger is sharper; patterns scaled by s
            want β/s² [D-unn7]. Only the "exp" separation and the "log" Q use it.
        similarity: S: "l2", −‖ξ − z‖²/2; "dot", ⟨ξ, z⟩; or your own function (Xi, z (N, D)) -> (K, N).
        separation: F: "exp" (of βS), "square", "cubic", "quartic", "rectified cubic", or your own elementwise one.
        Q: "log" (divided by β), "identity", or your own increasing function.
        g: "identity", "unit" (x/‖x‖), "tanh", or your own function (N, D) -> (N, D).

    Attributes:
        squares: ‖ξ^μ‖² (K,) once `prepared`, else None.

    Raises:
        ValueError: If Xi is not a finite (K, D) array, beta is not positive, or a name is unknown.
    """

    Xi: Float[Array, "K D"]
    beta: Float[Array, ""]
    squares: Float[Array, " K"] | None
    similarity: str | Callable[..., Array]
    separation: str | Callable[..., Array]
    Q: str | Callable[..., Array]
    g: str | Callable[..., Array]

    def __init__(
        self,
        Xi: ArrayLike,
        beta: ArrayLike,
        similarity: Any = "l2",
        *,
        separation: Any = "exp",
        Q: Any = "log",
        g: Any = "identity",
    ):
        Xi = array("Xi", Xi, "(K, D): one stored pattern a row", 2)
        positive("beta", beta, "a positive finite inverse temperature, such as 60 for photographs scaled by 1/√D")
        lookup("similarity", similarity, SIMILARITIES), lookup("separation", separation, SEPARATIONS)
        lookup("Q", Q, OUTER), lookup("g", g, ACTIVATIONS)
        values = (Xi, jnp.asarray(beta, Xi.dtype), None, similarity, separation, Q, g)
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

    def prepared(self) -> "MrDAM":
        """The same memory for many reads: an "l2" one keeps ‖ξ^μ‖², and its distances are one product, not differences.

        `retrieve` does this by itself. Distances of large memories are then exact to a rounding of ‖ξ‖² and ‖x‖². The
        squares are derived from Xi: do not change the leaves of a prepared memory, nor differentiate by them.
        """
        if self.similarity != "l2":
            return self
        memory = copy(self)
        object.__setattr__(memory, "squares", (self.Xi * self.Xi).sum(-1))
        return memory

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.Xi.shape[1]

    def energy(self, x: ArrayLike) -> Float[Array, "..."]:
        """E at states x (..., D) -> (...) [D-eq3]."""
        return self.energy_and_gradient(x)[0]

    def gradient(self, x: ArrayLike) -> Float[Array, "... D"]:
        """∇E at states x (..., D) -> (..., D), by the formula of eq. 6, in O(KD) time [D-eq6, D-prop1]."""
        return self.energy_and_gradient(x)[1]

    def energy_and_gradient(self, x: ArrayLike) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Both at once, for the price of one."""
        x = states("x", x, self.D)
        return _read(self, x.astype(jnp.result_type(x, self.Xi)))

    @property
    def _log_domain(self) -> bool:
        return self.separation == "exp" and self.Q == "log"


@jax.jit
def _read(memory: MrDAM, x: Array) -> tuple[Array, Array]:
    flat = x.reshape(-1, memory.D)
    g = lookup("g", memory.g, ACTIVATIONS)
    z = g.value(flat)
    energy, slope = (_log_sum_exp if memory._log_domain else _general)(memory, z)
    gradient = g.derivative(slope, flat)
    if memory._log_domain and memory.similarity == "dot" and memory.g == "identity":
        energy, gradient = energy + 0.5 * (flat**2).sum(-1), gradient + flat
    return energy.reshape(x.shape[:-1]), gradient.reshape(x.shape)


def _general(memory: MrDAM, z: Array) -> tuple[Array, Array]:
    """−Q(ΣF(S)) and its derivative by z, eq. 6 as it stands."""
    similarity = lookup("similarity", memory.similarity, SIMILARITIES)
    F, Q = lookup("separation", memory.separation, SEPARATIONS), lookup("Q", memory.Q, OUTER)
    inner = memory.beta if memory.separation == "exp" else 1
    outer = 1 / memory.beta if memory.Q == "log" else 1
    S = inner * similarity.value(memory.Xi, z, memory.squares)
    total = F.value(S).sum(-1)
    weights = outer * Q.derivative(total)[:, None] * inner * F.derivative(S)
    return -outer * Q.value(total), -similarity.derivative(weights, memory.Xi, z)


def _log_sum_exp(memory: MrDAM, z: Array) -> tuple[Array, Array]:
    """−(1/β) log Σ exp(βS) and its derivative, streamed over blocks of patterns with a running maximum."""
    similarity = lookup("similarity", memory.similarity, SIMILARITIES)
    K, N = len(memory.Xi), len(z)

    def merge(state: tuple[Array, Array, Array], patterns: Any) -> tuple[tuple[Array, Array, Array], None]:
        top, total, slope = state
        Xi, squares = patterns
        # β comes after the difference: a fused β·S − max leaves the rounding of β·S, and the exp of that overflows.
        S = similarity.value(Xi, z, squares)
        higher = jnp.maximum(top, S.max(-1))
        weights, shrink = jnp.exp(memory.beta * (S - higher[:, None])), jnp.exp(memory.beta * (top - higher))
        slope = shrink[:, None] * slope + similarity.derivative(weights, Xi, z)
        return (higher, shrink * total + weights.sum(-1), slope), None

    rows = min(K, max(256, _BLOCK_ENTRIES // memory.D))
    state = (jnp.full(N, jnp.finfo(z.dtype).min / 2, z.dtype), jnp.zeros(N, z.dtype), jnp.zeros_like(z))
    # Slices of Xi, not a reshaped copy of it: the patterns may be most of the memory there is.
    patterns = (memory.Xi, memory.squares)
    block = lambda i: jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, i * rows, rows), patterns)  # noqa: E731
    state, _ = jax.lax.scan(lambda state, i: merge(state, block(i)), state, jnp.arange(K // rows))
    if K % rows:
        state, _ = merge(state, jax.tree.map(lambda a: a[-(K % rows) :], patterns))
    top, total, slope = state
    return -top - jnp.log(total) / memory.beta, -slope / total[:, None]
