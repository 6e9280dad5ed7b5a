"""The Gaussian kernel, and the error of its estimate by random features: at one point,
at the worst point of a search, and everywhere at once.

The kernel k and its estimate k̂ take scaled inputs: a memory of inverse temperature β
evaluates the kernel at √β x. The bounds that hold everywhere at once are proved, with
every constant, for sincos features with independent Gaussian frequencies [D-U0, D-U1,
D-US].
"""

from functools import partial
from math import inf, log, sqrt

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import (
    Numbers,
    as_array,
    brief,
    choice,
    integer,
    positive,
    random_key,
    real,
    states,
)
from rankone.memory.bases import BASES
from rankone.memory.features import RandomFeatures

__all__ = [
    "aggregated_error",
    "check_counts",
    "check_probability",
    "contraction_error",
    "kernel_variance",
    "largest_kernel_error",
    "net_error",
    "orthogonal_variance_ratio",
    "rbf_kernel",
    "uniform_derivative_error",
    "uniform_kernel_error",
]

_RADIUS = "a positive distance, or infinity"


@checked
def uniform_kernel_error(
    *, D: int, Y: int, radius: float, delta: float = 0.05
) -> float:
    """Bound ε₀ on the kernel error: |k̂(Δ) − k(Δ)| ≤ ε₀ for all ‖Δ‖ ≤ R at once, with
    probability ≥ 1 − δ [D-U0].

    Here k is the Gaussian kernel as a function of the difference Δ of two scaled
    inputs, and k̂ its estimate by Y features. The bound is the smaller of
    `contraction_error` and `net_error`. It is the corrected form of the paper's
    assumption (A2) [D-unn2]: patterns of diameter d at inverse temperature β have R =
    d√β, and the paper's constant omits this dependence.

    Args:
        D: Dimension.
        Y: Number of frequencies.
        radius: R, the largest ‖Δ‖; for a memory, √β times the largest distance from a
            state to a pattern.
        delta: Probability of failure.
    """
    return min(
        bound(D=D, Y=Y, radius=radius, delta=delta)
        for bound in (contraction_error, net_error)
    )


@checked
def contraction_error(*, D: int, Y: int, radius: float, delta: float = 0.05) -> float:
    """Bound 2R√(D/Y) + √(2 log(2/δ)/Y) on the kernel error, smaller than `net_error` on
    small balls. Arguments as for `uniform_kernel_error`.
    """
    _check_ball(D, Y, radius, delta)
    return 2 * radius * sqrt(D / Y) + sqrt(2 * log(2 / delta) / Y)


@checked
def net_error(*, D: int, Y: int, radius: float, delta: float = 0.05) -> float:
    """Bound √(ℓ/Y) + 2ℓ/3Y + (√D + 1 + √(2 log(2/δ)/Y))/4√Y on the kernel error, with ℓ
    = D log(1 + 8R√Y) + log(4/δ). It holds for every radius R, and for large R it is
    below the other bound of `uniform_kernel_error`.

    The bound comes from a net of points in the ball. Arguments as for
    `uniform_kernel_error`.
    """
    _check_ball(D, Y, radius, delta)
    points = D * log(1 + 8 * radius * sqrt(Y)) + log(4 / delta)
    slope = sqrt(D) + 1 + sqrt(2 * log(2 / delta) / Y)
    return sqrt(points / Y) + 2 * points / (3 * Y) + slope / (4 * sqrt(Y))


@checked
def uniform_derivative_error(
    *, D: int, Y: int, radius: float, delta: float = 0.05
) -> float:
    """Bound ε₁ on the error of the kernel's derivative: ‖∇(k̂ − k)(Δ)‖ ≤ ε₁ for all ‖Δ‖
    ≤ R at once, with probability ≥ 1 − δ [D-U1].

    The bound is infinite if Y is too small for the tail bound in its proof. Arguments
    as for `uniform_kernel_error`.
    """
    _check_ball(D, Y, radius, delta)
    t = sqrt(12 / Y * (D * log(5 * (1 + 2 * radius * sqrt(Y / D))) + log(4 / delta)))
    curvature = (1 + sqrt(D / Y) + sqrt(2 * log(2 / delta) / Y)) ** 2
    return 2 * t + (curvature + 1) * sqrt(D / Y) if t <= 3 else inf


@checked
def aggregated_error(Xi: Numbers, *, beta: float, Y: int, radius: float) -> float:
    """Bound on the mean of the largest Ŝ − S over ‖x − x₀‖ ≤ r. The bound holds for S −
    Ŝ too [D-US].

    The bound is 2r√(β/Y · Σ_μν (D − β‖ξ^μ − ξ^ν‖²) k_β(ξ^μ, ξ^ν)) with the kernel k_β
    at inverse temperature β, for any centre x₀. For separated patterns it is of order
    √K. Bounds for the K kernels individually would add up to the order K.

    Args:
        Xi: Patterns (K, D).
        beta: Inverse temperature, 1/unit².
        Y: Number of frequencies.
        radius: r, in the unit of the patterns.
    """
    check_counts(Y=Y)
    positive("beta", beta)
    squares = beta * _squared_distances(Xi)
    D = np.shape(Xi)[1]
    return (
        2
        * radius
        * sqrt(beta / Y * float(((D - squares) * np.exp(-squares / 2)).sum()))
    )


def _squared_distances(Xi: Numbers) -> np.ndarray:
    Xi = np.asarray(Xi, float)
    if Xi.ndim != 2:
        raise ValueError(
            f"Xi: got shape {Xi.shape}; it must be (K, D): one pattern per row."
        )
    norms = (Xi**2).sum(1)
    return np.maximum(norms[:, None] + norms - 2 * Xi @ Xi.T, 0)


def _check_ball(D: int, Y: int, radius: float, delta: float) -> None:
    check_counts(D=D, Y=Y)
    if not (real("radius", radius, _RADIUS) or 0) > 0:
        raise ValueError(f"radius: got {brief(radius)}; it must be {_RADIUS}.")
    check_probability(delta)


def check_counts(**values: int) -> None:
    """Check that all values are positive integers, of any size; otherwise ValueError."""
    for name, number in values.items():
        integer(name, number, most=10**300)


def check_probability(delta: float) -> None:
    """Check that 0 < delta < 1; otherwise ValueError."""
    requirement = "a probability of failure between 0 and 1, such as 0.05"
    if not 0 < (real("delta", delta, requirement) or 0) < 1:
        raise ValueError(f"delta: got {brief(delta)}; it must be {requirement}.")


@checked
@jax.jit
def rbf_kernel(
    x: Real[ArrayLike, "... D"], z: Real[ArrayLike, "... D"]
) -> Float[Array, "..."]:
    """Gaussian kernel k(x, z) = exp(−‖x − z‖²/2), where the norm is squared, for inputs
    (..., D) that broadcast [D-eq4, D-unn1].
    """
    x, z = jnp.broadcast_arrays(x, z)
    return jnp.exp(-0.5 * ((x - z) ** 2).sum(-1))


@checked
def kernel_variance(
    x: Numbers, z: Numbers, *, basis: str = "sincos"
) -> Float[Array, "..."]:
    """Variance of ⟨φ(x), φ(z)⟩ for one frequency, exactly [D-eq8, D-fn5].

    For Y independent frequencies divide the variance by Y. Let k be the kernel, c = ⟨x,
    z⟩ and n = ‖x‖² + ‖z‖². The variance is (1 − k²)²/2 for sincos, [1 + (1 − k²)²]/2
    for cos, e^(4c) − k² for exp, and (e^(4c) + e^(−2n))/2 − k² for expexp. The paper
    prints a random shift in the exponent of the exp map; the map has none [D-appC-Exp].

    The variance of expexp exceeds that of sincos by (e^(4c) − 1)(1 − e^(−2n))/2, which
    has the sign of c [D-sharp4]. So sincos has the smaller variance on data in a
    positive cube, and expexp where inner products are negative [D-appC-claims, D-fig6].

    Args:
        x: First inputs (..., D).
        z: Second inputs, of a shape that broadcasts with x.
        basis: "sincos", "cos", "exp" or "expexp".

    Raises:
        ValueError: If the shapes do not broadcast or the basis is unknown.
    """
    choice("basis", basis, BASES)
    inputs = as_array(z)
    if inputs.ndim < 1:
        raise ValueError(f"z: got shape {inputs.shape}; it must be of shape (..., D).")
    return _variance(states("x", x, inputs.shape[-1]), inputs, basis)


@partial(jax.jit, static_argnames="basis")
def _variance(x: Array, z: Array, basis: str) -> Array:
    x, z = jnp.broadcast_arrays(x, z)
    k2 = rbf_kernel(x, z) ** 2
    if not BASES[basis].positive:
        squared = (1 - k2) ** 2
        return 0.5 * (squared if basis == "sincos" else 1 + squared)
    product = jnp.exp(4 * (x * z).sum(-1))
    opposite = jnp.exp(-2 * ((x**2).sum(-1) + (z**2).sum(-1)))
    return (product if basis == "exp" else 0.5 * (product + opposite)) - k2


@checked
def orthogonal_variance_ratio(distance: ArrayLike) -> Float[Array, "..."]:
    """Ratio of the variance of the estimated kernel with frequencies that are
    orthogonal in blocks of D to the variance with independent frequencies, as D → ∞
    [D-sharp8].

    At the distance s of the scaled inputs, the ratio for sincos features is 1 −
    s⁴e^(−s²)/(1 − e^(−s²))². It is near 0 for close inputs and near 1 for distant ones.
    """
    return _orthogonal_ratio(distance)


@jax.jit
def _orthogonal_ratio(distance: ArrayLike) -> Array:
    s2 = jnp.asarray(distance, float) ** 2
    return 1 - s2**2 * jnp.exp(-s2) / jnp.expm1(-s2) ** 2


@checked
def largest_kernel_error(
    features: RandomFeatures,
    R: ArrayLike,
    *,
    key: Array,
    starts: int = 64,
    steps: int = 200,
) -> tuple[Float[Array, ""], Float[Array, " D"]]:
    """Largest kernel error |k̂(Δ) − k(Δ)| of sincos features in a search of the ball
    ‖Δ‖ ≤ R, and the Δ where it is reached [D-U0].

    The search is projected ascent from random starts. The step of each start grows when
    it succeeds and is halved when it fails. The result is a lower bound of the
    supremum.

    Args:
        features: Made with basis="sincos", whose kernel depends on the difference Δ
            alone.
        R: Radius of the ball.
        key: JAX random key of the starts.
        starts: Number of starting points.
        steps: Number of steps from each start.

    Returns:
        The largest error of the search, and the Δ (D,) at which it occurs.

    Raises:
        ValueError: If the features are not sincos or R is not positive.
    """
    if features.basis != "sincos":
        raise ValueError(
            f"features: got {brief(features.basis)}; it must be of basis 'sincos'."
        )
    positive("R", R)
    random_key("key", key)
    starts = integer("starts", starts)
    steps = integer("steps", steps)
    return _searched(features, R, key, starts, steps)


@partial(jax.jit, static_argnames=("starts", "steps"))
def _searched(
    features: RandomFeatures, R: ArrayLike, key: Array, starts: int, steps: int
) -> tuple[Array, Array]:
    k_direction, k_radius = jax.random.split(key)
    direction = jax.random.normal(k_direction, (starts, features.D))
    direction /= jnp.linalg.norm(direction, axis=1, keepdims=True)
    # Starts are uniform in radius. Starts uniform in volume would nearly all be close
    # to the sphere ‖Δ‖ = R, where the worst Δ need not lie.
    start = R * jax.random.uniform(k_radius, (starts, 1)) * direction
    errors, deltas = _ascend(features, start, jnp.asarray(R, start.dtype), steps)
    return errors.max(), deltas[errors.argmax()]


def _ascend(
    features: RandomFeatures, start: Array, R: Array, steps: int
) -> tuple[Array, Array]:
    T = features.phi(jnp.zeros((1, features.D), start.dtype))[0]

    def error(delta: Array) -> tuple[Array, Array]:
        estimate, slope = features.read(delta, T)
        k = jnp.exp(-0.5 * (delta**2).sum(-1))
        gap = estimate - k
        return jnp.abs(gap), jnp.sign(gap)[:, None] * (slope + delta * k[:, None])

    def step(_: ArrayLike, state: tuple[Array, ...]) -> tuple[Array, ...]:
        delta, maximum, slope, size = state
        trial = delta + size * slope / jnp.maximum(
            jnp.linalg.norm(slope, axis=1, keepdims=True), 1e-30
        )
        trial *= jnp.minimum(
            1, R / jnp.maximum(jnp.linalg.norm(trial, axis=1, keepdims=True), 1e-30)
        )
        value, gradient = error(trial)
        improvement = (value > maximum)[:, None]
        return (
            jnp.where(improvement, trial, delta),
            jnp.maximum(value, maximum),
            jnp.where(improvement, gradient, slope),
            jnp.where(improvement, 1.3 * size, 0.5 * size),
        )

    state = (start, *error(start), jnp.full((len(start), 1), 0.1, start.dtype) * R)
    delta, maximum, *_ = jax.lax.fori_loop(0, steps, step, state)
    return maximum, delta
