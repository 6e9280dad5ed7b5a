"""The memory representation of a dense associative memory (MrDAM), which stores every
pattern and computes the energy exactly.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, ArrayLike, Bool, Float

from rankone._checks import Numbers, array, positive, readable, scalar, states
from rankone._device import on_processor
from rankone._mesh import (
    Placement,
    automatic,
    check_placement,
    placement_of,
    placement_on,
    refuse_explicit,
)
from rankone._module import assembled, derive
from rankone.memory.nonlinear import lookup
from rankone.memory.protocol import EnergyMemory, Reader
from rankone.precision import at_least_single, wider

__all__ = ["MrDAM"]

_Function = str | Callable[..., Array]
_TOLERANCE = 1 / 8  # nats by which rounding may change the logarithm of a weight
_GAP = 8.0  # nats of the nearest pattern's lead over all other patterns together
# 4 MB of float32 patterns: read once from memory, used twice from cache
_BLOCK_ENTRIES = 2**20
_LARGE_BLOCK_ENTRIES = 2**28  # on a GPU, which copies a block to multiply many states


class MrDAM(EnergyMemory):
    """A dense associative memory that keeps every pattern, with the energy E(x) =
    −Q[Σ_μ F(S[ξ^μ, g(x)])] [D-eq3].

    The defaults give the log-sum-exp energy, E(x) = −(1/β) log Σ_μ exp(−β‖x − ξ^μ‖²/2)
    [D-eq11]. With `similarity="dot"` the energy is −(1/β) log Σ_μ exp(β⟨ξ^μ, x⟩) +
    ‖x‖²/2 [D-unn3]: here ‖x‖²/2 is added to the formula. It is not added with another
    separation, Q or g, as in the energy on the sphere with `g="unit"` [D-eq7].

    Patterns in half precision stay as they are; everything computed from them is in
    float32 at least. The patterns' mean is subtracted from patterns and states before
    distances are computed, so that data far from 0 lose no digits.

    Args:
        Xi: Stored patterns (K, D), one per row.
        beta: Inverse temperature, positive; for "l2" its unit is 1/(unit of the
            patterns)². A larger β makes the memory more selective; patterns scaled by s
            need β/s² [D-unn7]. Only the "exp" separation and the "log" Q use β.
        similarity: Similarity S of a pattern and a state: "l2", −‖ξ − z‖²/2; "dot",
            ⟨ξ, z⟩; or your own function (Xi (K, D), z (N, D)) -> (K, N).
        separation: Separation F, which enlarges differences of similarity: "exp" (of
            βS), "square", "cubic", "quartic", "rectified cubic", or your own
            elementwise function.
        Q: Outer function: "log" (divided by β), "identity", or your own increasing
            function.
        g: Function applied to a state x before the similarity, z = g(x): "identity",
            "unit" (x/‖x‖), "tanh", or your own function (N, D) -> (N, D).
        placement: How the patterns are split over devices, as set by `sharded`.
            Patterns whose rows are already split over a mesh stay where they are.

    Raises:
        ValueError: If Xi is not a finite (K, D) array, beta is not positive, or a name
            is unknown.

    >>> import rankone as ro
    >>> memory = ro.MrDAM([[0.0, 1.0], [1.0, 0.0]], beta=4.0)
    >>> memory
    MrDAM(Xi=f32[2,2], beta=4, similarity='l2', separation='exp', Q='log', g='identity')
    >>> states = [[0.0, 1.0], [0.5, 0.5]]  # at a pattern, and between the two
    >>> [round(E, 3) for E in memory.energy(states).tolist()]
    [-0.005, 0.077]
    """

    Xi: Float[Array, "K D"]
    beta: Float[Array, ""]
    similarity: _Function = eqx.field(static=True)
    separation: _Function = eqx.field(static=True)
    Q: _Function = eqx.field(static=True)
    g: _Function = eqx.field(static=True)
    placement: Placement | None = eqx.field(static=True, repr=False)
    centre: Float[Array, " D"] = eqx.field(init=False, repr=False, default=None)

    def __init__(
        self,
        Xi: Numbers,
        beta: ArrayLike,
        similarity: _Function = "l2",
        *,
        separation: _Function = "exp",
        Q: _Function = "log",
        g: _Function = "identity",
        placement: Placement | None = None,
    ) -> None:
        Xi = array("Xi", Xi, "(K, D): one stored pattern per row", 2, once=True)
        hint = (
            "a positive finite inverse temperature, such as 60 for photographs scaled "
            "by 1/√D"
        )
        dtype = wider(Xi.dtype, jnp.float32)
        positive("beta", beta, hint, dtype=dtype)
        lookup("similarity", similarity)
        lookup("separation", separation)
        lookup("Q", Q)
        lookup("g", g)
        self.Xi = Xi
        self.beta = scalar(beta, dtype)
        self.similarity = similarity
        self.separation = separation
        self.Q = Q
        self.g = g
        check_placement(placement)
        self.placement = (
            placement_of(Xi, is_store=True) if placement is None else placement
        )

    def __check_init__(self) -> None:
        derive(self, centre=_centre(self.Xi, self.similarity))

    def sharded(self, mesh: Mesh, axis: str | None = None) -> "MrDAM":
        """The same memory with its patterns split over the devices of a mesh, each of
        which stores an equal part of them.

        To read the memory, each device then sends D + 2 numbers per state: its largest
        similarity m, its sum of exp(β(S − m)), and the sum's gradient. To make a memory
        that is too large for one device, pass patterns that are already split:
        `MrDAM(jax.make_array_from_callback(...), beta)`.

        Args:
            mesh: Devices, such as `jax.make_mesh((8,), ("rows",))`.
            axis: Name of the axis of the mesh; by default its first.

        Raises:
            ValueError: If the number of devices does not divide K.

        >>> import jax, numpy as np, rankone as ro
        >>> memory = ro.MrDAM(np.eye(4), beta=8.0).sharded(jax.make_mesh((1,), ("rows",)))
        >>> round(memory.energy(np.eye(4)[0]).item(), 4)
        -0.0001
        """
        return self._placed(placement_on(mesh, axis))

    def _placed(self, placement: Placement) -> "MrDAM":
        """`sharded`, for a placement that was made before."""
        if len(self.Xi) % placement.parts:
            raise ValueError(
                f"mesh: got {placement.parts} devices for {len(self.Xi)} patterns; it "
                "must be a number of devices that divides the number of patterns."
            )
        fields = placement.placed(self, "Xi").__dict__
        return assembled(MrDAM, fields | {"placement": placement})

    @property
    def D(self) -> int:
        """Length of a pattern."""
        return self.Xi.shape[1]

    @property
    @automatic
    def origin(self) -> Float[Array, " D"]:
        """Point that is subtracted from a state before `reader` or `certified` takes
        it: the patterns' mean for similarity "l2" with the identity as g, and 0
        otherwise.
        """
        return (
            self.centre
            if self.similarity == "l2" and self.g == "identity"
            else self._zero
        )

    @automatic
    def energy_and_gradient(
        self, x: Numbers
    ) -> tuple[Float[Array, "..."], Float[Array, "... D"]]:
        """Energy E and its gradient ∇E at states x (..., D), by the chain rule, in
        O(KD) time [D-eq3, D-eq6, D-prop1].
        """
        return _read(self, None, None, states("x", x, self.D))[:2]

    def reader(self) -> Reader:
        """Function like `read` that takes the difference x − `origin` instead of x; for
        "l2" it computes ‖ξ^μ‖² only once.

        `retrieve` uses this function. In a large memory it computes all distances by
        one matrix product. Their error is a rounding error of the squared lengths of
        patterns and states, measured from the mean.
        """
        refuse_explicit(self.placement, "a reader, but not for energy_and_gradient,")
        squares = _squares(self) if self.similarity == "l2" else None
        return jax.tree_util.Partial(_read, self, squares, self.origin)

    @automatic
    def certified(self, x: Numbers) -> Bool[Array, "..."]:
        """True where rounding cannot noticeably change the softmax weights of the
        patterns in the gradient. It takes the difference x − `origin` (..., D).

        Either rounding changes no pattern's weight by more than a factor of e^¼, or the
        gap between the nearest pattern and the next exceeds the rounding of both by so
        much that the weights of the others are negligible. The bound on rounding holds
        for every order of the sums, so it may be pessimistic. Energies other than the
        log-sum-exp are not checked, and the result is True for them.
        """
        if not self._log_domain or self.similarity not in ("l2", "dot"):
            return super().certified(x)
        return _certify(self, states("x", x, self.D))

    @property
    def _log_domain(self) -> bool:
        return self.separation == "exp" and self.Q == "log"

    @property
    def _zero(self) -> Float[Array, " D"]:
        # `device_put` compiles nothing
        return jax.device_put(np.zeros(self.D, self.centre.dtype))


@jax.jit
def _mean(Xi: Array) -> Array:
    return at_least_single(Xi).mean(0)


def _centre(Xi: Array, similarity: _Function) -> Array:
    """The mean of the patterns in their precision, float32 at least; 0 for similarities
    that change under a shift.
    """
    dtype = wider(Xi.dtype, jnp.float32)
    if similarity != "l2":
        return jax.device_put(np.zeros(Xi.shape[1], dtype))
    if readable(Xi):  # on the host, where it compiles nothing
        return jax.device_put(np.asarray(Xi).mean(0, dtype=dtype))
    return jax.lax.stop_gradient(_mean(Xi))


@jax.jit
def _squares(memory: MrDAM) -> Array:
    return (_operands(memory, memory.Xi) ** 2).sum(-1)


def _operands(memory: MrDAM, Xi: Array) -> Array:
    """Patterns as the similarity takes them: in float32 at least, and for "l2" less the
    centre.
    """
    patterns = Xi.astype(memory.centre.dtype)
    return (
        patterns - jax.lax.stop_gradient(memory.centre)[None]
        if memory.similarity == "l2"
        else patterns
    )


def _states(memory: MrDAM, origin: Array | None, x: Array) -> tuple[Array, Array]:
    """States less the origin, by default 0, as rows (N, D) in the precision of the sums;
    and g of them, for "l2" less the centre.
    """
    flat = x.reshape(-1, memory.D).astype(wider(x.dtype, memory.centre.dtype))
    z = lookup("g", memory.g).value(flat)
    if memory.similarity != "l2":
        return flat, z
    shift = memory.centre if origin is None else memory.centre - origin
    return flat, z - jax.lax.stop_gradient(shift)[None]


@jax.jit
def _read(
    memory: MrDAM, squares: Array | None, origin: Array | None, x: Array
) -> tuple[Array, Array, Bool[Array, "..."]]:
    """Energy and gradient at states less the origin; and False, for no state is
    floored.
    """
    flat, z = _states(memory, origin, x)
    energy, slope = _sums(memory, squares, z)
    gradient = lookup("g", memory.g).derivative(slope, flat)
    if memory._log_domain and memory.similarity == "dot" and memory.g == "identity":
        energy = energy + 0.5 * (flat**2).sum(-1)
        gradient = gradient + flat
    rows = x.shape[:-1]
    return energy.reshape(rows), gradient.reshape(x.shape), jnp.zeros(rows, bool)


def _sums(memory: MrDAM, squares: Array | None, z: Array) -> tuple[Array, Array]:
    """Energy and its derivative by z, each device summing over its own patterns."""
    function = _log_sum_exp if memory._log_domain else _general_sums
    placement = memory.placement
    if placement is None:
        return function(memory, squares, z)
    return placement.run(
        partial(function, axis=placement.axis),
        (memory, squares, z),
        (placement.specs(memory, "Xi"), placement.spec(), P()),
        (P(), P()),
    )


def _device_sum(parts: Any, axis: Any) -> Any:
    """Sums over all devices of an axis; without an axis the parts themselves."""
    return parts if axis is None else jax.lax.psum(parts, axis)


def _general_sums(
    memory: MrDAM, squares: Array | None, z: Array, axis: Any = None
) -> tuple[Array, Array]:
    """−Q(ΣF(S)) and its derivative by z, eq. 6 as it stands."""
    similarity = lookup("similarity", memory.similarity)
    Xi = _operands(memory, memory.Xi)
    F = lookup("separation", memory.separation)
    Q = lookup("Q", memory.Q)
    inner = memory.beta if memory.separation == "exp" else 1
    outer = 1 / memory.beta if memory.Q == "log" else 1
    S = inner * similarity.value(Xi, z, squares)
    total = _device_sum(F.value(S).sum(-1), axis)
    weights = outer * Q.derivative(total)[:, None] * inner * F.derivative(S)
    slope = _device_sum(similarity.derivative(weights, Xi, z), axis)
    return -outer * Q.value(total), -slope


# the largest similarity m, Σ exp(β(S − m)), and Σ exp(β(S − m)) ∂S/∂z
_Sums = tuple[Array, Array, Array]
_Patterns = tuple[Array, Array | None]  # a block of Xi and of its squares


def _block_rows(memory: MrDAM, N: int) -> int:
    """Number of patterns that N states are compared with in one piece."""
    if on_processor():
        return max(256, _BLOCK_ENTRIES // memory.D)
    if N == 1:  # both sums read the patterns without a copy
        return _LARGE_BLOCK_ENTRIES
    return max(256, _LARGE_BLOCK_ENTRIES // max(N, memory.D))


def _stream(
    memory: MrDAM, patterns: Any, add: Callable[[Any, Any], Any], carry: Any, N: int
) -> Any:
    """`add` over slices of the patterns, not a reshaped copy: they may be most of the
    memory of the device.

    Args:
        memory: Memory of the patterns.
        patterns: Arrays with one row per pattern.
        add: (carry, slice) ↦ the next carry.
        carry: Carry before the first slice.
        N: Number of states.
    """
    K = len(memory.Xi)
    rows = min(K, _block_rows(memory, N))
    if rows == K:
        return add(carry, patterns)

    def add_block(carry: Any, i: Array) -> tuple[Any, None]:
        return add(
            carry,
            jax.tree.map(
                lambda a: jax.lax.dynamic_slice_in_dim(a, i * rows, rows), patterns
            ),
        ), None

    carry, _ = jax.lax.scan(add_block, carry, jnp.arange(K // rows))
    return (
        add(carry, jax.tree.map(lambda a: a[-(K % rows) :], patterns))
        if K % rows
        else carry
    )


def _log_sum_exp(
    memory: MrDAM, squares: Array | None, z: Array, axis: Any = None
) -> tuple[Array, Array]:
    """−(1/β) log Σ exp(βS) and its derivative, streamed over blocks of patterns with a
    running maximum. Devices exchange the maximum first, then the sums relative to it.
    """
    sums = (
        jnp.full(len(z), jnp.finfo(z.dtype).min / 2, z.dtype),
        jnp.zeros(len(z), z.dtype),
        jnp.zeros_like(z),
    )
    top, total, slope = _stream(
        memory, (memory.Xi, squares), partial(_add_block, memory, z), sums, len(z)
    )
    if axis is not None:
        # constant for the derivative, because the energy does not depend on the maximum
        maximum = jax.lax.pmax(jax.lax.stop_gradient(top), axis)
        shrink = jnp.exp(memory.beta * (top - maximum))
        total, slope = jax.lax.psum((shrink * total, shrink[:, None] * slope), axis)
        top = maximum
    return -top - jnp.log(total) / memory.beta, -slope / total[:, None]


def _add_block(memory: MrDAM, z: Array, sums: _Sums, patterns: _Patterns) -> _Sums:
    similarity = lookup("similarity", memory.similarity)
    top, total, slope = sums
    Xi = _operands(memory, patterns[0])
    squares = patterns[1]
    # β multiplies the difference, because a fused β·S − max would leave the rounding
    # error of β·S, whose exponential can overflow.
    S = similarity.value(Xi, z, squares)
    maximum = jnp.maximum(top, S.max(-1))
    weights = jnp.exp(memory.beta * (S - maximum[:, None]))
    shrink = jnp.exp(memory.beta * (top - maximum))
    slope = shrink[:, None] * slope + similarity.derivative(weights, Xi, z)
    return maximum, shrink * total + weights.sum(-1), slope


@jax.jit
def _certify(memory: MrDAM, x: Array) -> Array:
    """True where rounding of the similarities cannot change the weights."""
    # a boolean has no derivative, and JAX cannot differentiate a maximum over devices
    memory, x = jax.lax.stop_gradient((memory, x))
    _, z = _states(memory, memory.origin, x)
    placement = memory.placement
    if placement is None:
        top, max_square = _nearest_two(memory, z)
    else:
        top, max_square = placement.run(
            partial(_nearest_two, axis=placement.axis),
            (memory, z),
            (placement.specs(memory, "Xi"), P()),
            (P(), P()),
        )
    pattern_norm = jnp.sqrt(max_square)
    state_norm = jnp.linalg.norm(z, axis=-1)
    sizes = (
        (pattern_norm + state_norm) ** 2 / 2
        if memory.similarity == "l2"
        else pattern_norm * state_norm
    )
    # of an inner product of length D, for every order of its sum
    rounding = (memory.D + 5) * jnp.finfo(z.dtype).eps / 2 * sizes
    isolation = (
        top[:, 0] - top[:, 1]
        > 2 * rounding + (jnp.log(len(memory.Xi)) + _GAP) / memory.beta
    )
    return ((memory.beta * rounding <= _TOLERANCE) | isolation).reshape(x.shape[:-1])


def _nearest_two(memory: MrDAM, z: Array, axis: Any = None) -> tuple[Array, Array]:
    """The two largest similarities of each state (N, 2), and the largest squared length
    of a pattern.
    """
    value = lookup("similarity", memory.similarity).value

    def add(carry: tuple[Array, Array], Xi: Array) -> tuple[Array, Array]:
        Xi = _operands(memory, Xi)
        S = jnp.concatenate([carry[0], value(Xi, z, None)], 1)
        return jax.lax.top_k(S, 2)[0], jnp.maximum(carry[1], (Xi**2).sum(-1).max())

    start = (
        jnp.full((len(z), 2), jnp.finfo(z.dtype).min / 2, z.dtype),
        jnp.zeros((), z.dtype),
    )
    top, max_square = _stream(memory, memory.Xi, add, start, len(z))
    if axis is not None:
        candidates = jax.lax.all_gather(top, axis, axis=1, tiled=True)  # two per device
        top = jax.lax.top_k(candidates, 2)[0]
        max_square = jax.lax.pmax(max_square, axis)
    return top, max_square
