"""The memory representation of a dense associative memory: every pattern kept, read exactly (MrDAM)."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone._checks import Numbers, array, positive, states
from rankone._module import static
from rankone.memory.nonlinear import lookup
from rankone.memory.protocol import EnergyMemory, Reader

__all__ = ["MrDAM"]

_Function = str | Callable[..., Array]
_BLOCK_ENTRIES = 2**20  # 4 MB of float32 patterns: read once from memory, used twice from cache


class MrDAM(EnergyMemory):
    """A dense associative memory in the general form of eq. 3: E(x) = −Q[Σ_μ F(S[ξ^μ, g(x)])] [D-eq3].

    The defaults give the log-sum-exp energy of eq. 11, E(x) = −(1/β) log Σ_μ exp(−β‖x − ξ^μ‖²/2) [D-eq11]. With
    `similarity="dot"` they give the exponentiated dot product, −(1/β) log Σ_μ exp(β⟨ξ^μ, x⟩) + ‖x‖²/2 [D-unn3]; with
    `g="unit"` besides, eq. 7, which has no quadratic term [D-eq7].

    Args:
        Xi: Stored patterns (K, D), one a row.
        beta: Inverse temperature, 1/unit² for "l2"; positive. Larger is sharper; patterns scaled by s
            want β/s² [D-unn7]. Only the "exp" separation and the "log" Q use it.
        similarity: S: "l2", −‖ξ − z‖²/2; "dot", ⟨ξ, z⟩; or your own function (Xi, z (N, D)) -> (K, N).
        separation: F: "exp" (of βS), "square", "cubic", "quartic", "rectified cubic", or your own elementwise one.
        Q: "log" (divided by β), "identity", or your own increasing function.
        g: "identity", "unit" (x/‖x‖), "tanh", or your own function (N, D) -> (N, D).

    Raises:
        ValueError: If Xi is not a finite (K, D) array, beta is not positive, or a name is unknown.

    >>> import rankone as ro
    >>> memory = ro.MrDAM([[0.0, 1.0], [1.0, 0.0]], beta=4.0)
    >>> memory
    MrDAM(Xi=f32[2,2], beta=4, similarity='l2', separation='exp', Q='log', g='identity')
    >>> [round(E, 3) for E in memory.energy([[0.0, 1.0], [0.5, 0.5]]).tolist()]  # at a pattern, and between the two
    [-0.005, 0.077]
    """

    Xi: Float[Array, "K D"]
    beta: Float[Array, ""]
    similarity: _Function = static()
    separation: _Function = static()
    Q: _Function = static()
    g: _Function = static()

    def __init__(
        self,
        Xi: Numbers,
        beta: ArrayLike,
        similarity: _Function = "l2",
        *,
        separation: _Function = "exp",
        Q: _Function = "log",
        g: _Function = "identity",
    ) -> None:
        Xi = array("Xi", Xi, "(K, D): one stored pattern a row", 2, once=True)
        hint = "a positive finite inverse temperature, such as 60 for photographs scaled by 1/√D"
        positive("beta", beta, hint, dtype=Xi.dtype)
        forms = {"similarity": similarity, "separation": separation, "Q": Q, "g": g}
        for role, given in forms.items():
            lookup(role, given)
        self._set(Xi=Xi, beta=jnp.asarray(beta, Xi.dtype), **forms)

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.Xi.shape[1]

    def energy_and_gradient(self, x: Numbers) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """E and ∇E at states x (..., D), by eq. 3 and the formula of eq. 6, in O(KD) time [D-eq3, D-eq6, D-prop1]."""
        return _read(self, None, states("x", x, self.D))[:2]

    def reader(self) -> Reader:
        """A function that reads states: for "l2" with ‖ξ^μ‖² computed once, so that distances are one product.

        `retrieve` uses it. Distances of large memories are then exact to a rounding of ‖ξ‖² and ‖x‖².
        """
        squares = (self.Xi * self.Xi).sum(-1) if self.similarity == "l2" else None
        return jax.tree_util.Partial(_read, self, squares)

    @property
    def _log_domain(self) -> bool:
        return self.separation == "exp" and self.Q == "log"


@jax.jit
def _read(memory: MrDAM, squares: Array | None, x: Array) -> tuple[Array, Array, Bool[Array, "..."]]:
    """Energy and gradient; and that no state is floored."""
    x = x.astype(jnp.result_type(x, memory.Xi))
    flat = x.reshape(-1, memory.D)
    g = lookup("g", memory.g)
    z = g.value(flat)
    energy, slope = (_log_sum_exp if memory._log_domain else _general)(memory, squares, z)
    gradient = g.derivative(slope, flat)
    if memory._log_domain and memory.similarity == "dot" and memory.g == "identity":
        energy, gradient = energy + 0.5 * (flat**2).sum(-1), gradient + flat
    rows = x.shape[:-1]
    return energy.reshape(rows), gradient.reshape(x.shape), jnp.zeros(rows, bool)


def _general(memory: MrDAM, squares: Array | None, z: Array) -> tuple[Array, Array]:
    """−Q(ΣF(S)) and its derivative by z, eq. 6 as it stands."""
    similarity = lookup("similarity", memory.similarity)
    F, Q = lookup("separation", memory.separation), lookup("Q", memory.Q)
    inner = memory.beta if memory.separation == "exp" else 1
    outer = 1 / memory.beta if memory.Q == "log" else 1
    S = inner * similarity.value(memory.Xi, z, squares)
    total = F.value(S).sum(-1)
    weights = outer * Q.derivative(total)[:, None] * inner * F.derivative(S)
    return -outer * Q.value(total), -similarity.derivative(weights, memory.Xi, z)


_Running = tuple[Array, Array, Array]  # largest similarity, Σ exp(β(S − largest)) and Σ of that times ∂S/∂z
_Patterns = tuple[Array, Array | None]  # a block of Xi and of its squares


def _log_sum_exp(memory: MrDAM, squares: Array | None, z: Array) -> tuple[Array, Array]:
    """−(1/β) log Σ exp(βS) and its derivative, streamed over blocks of patterns with a running maximum."""
    K, N = len(memory.Xi), len(z)
    rows = min(K, max(256, _BLOCK_ENTRIES // memory.D))
    add = partial(_add_block, memory, z)
    # Slices of Xi, not a reshaped copy of it: the patterns may be most of the memory there is.
    patterns = (memory.Xi, squares)

    def add_block(running: _Running, i: Array) -> tuple[_Running, None]:
        return add(running, jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, i * rows, rows), patterns)), None

    running = (jnp.full(N, jnp.finfo(z.dtype).min / 2, z.dtype), jnp.zeros(N, z.dtype), jnp.zeros_like(z))
    running, _ = jax.lax.scan(add_block, running, jnp.arange(K // rows))
    if K % rows:
        running = add(running, jax.tree.map(lambda a: a[-(K % rows) :], patterns))
    top, total, slope = running
    return -top - jnp.log(total) / memory.beta, -slope / total[:, None]


def _add_block(memory: MrDAM, z: Array, running: _Running, patterns: _Patterns) -> _Running:
    similarity = lookup("similarity", memory.similarity)
    top, total, slope = running
    Xi, squares = patterns
    # β comes after the difference: a fused β·S − max leaves the rounding of β·S, and the exp of that overflows.
    S = similarity.value(Xi, z, squares)
    higher = jnp.maximum(top, S.max(-1))
    weights, shrink = jnp.exp(memory.beta * (S - higher[:, None])), jnp.exp(memory.beta * (top - higher))
    slope = shrink[:, None] * slope + similarity.derivative(weights, Xi, z)
    return higher, shrink * total + weights.sum(-1), slope
