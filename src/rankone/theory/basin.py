"""Basin of a stored pattern: the distance from which the distributed memory still
retrieves it, and a gauge that predicts this without knowing the pattern.

Let u = √β(x − ξ) be the coordinate around a stored pattern ξ. The estimate Ŝ of the
partition sum is there the pattern's kernel plus noise, e^(−‖u‖²/2) + (c/√D)h(u), with
the roughness c = √(DK/2Y). In the energy the kernel is a well. For a Gaussian field h
the descent becomes deterministic as D grows. For a given step size, two numbers then
decide where it ends: c, and the distance ‖u‖ of the start [D-sharp11]. We assume that
the noise of the features acts like such a field, and test this against the memory
itself.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from scipy.special import lambertw, ndtr

from rankone._annotated import Broadcast, checked
from rankone._checks import Numbers, brief, integer, positive, renamed
from rankone._module import Module
from rankone.memory.distributed import DrDAM

__all__ = [
    "Descent",
    "Gauge",
    "critical_slope",
    "descent",
    "features_to_reach",
    "gauge",
    "resting_distance",
    "roughness_allowed",
    "slope_ratio",
    "wrong_bits",
]

_LOST = 10.0  # ‖u‖ at which the well is e^(−50), too little to attract a state
_STEEPEST = np.exp(-0.5)  # largest slope r·e^(−r²/2) of the well, at r = 1
_HALVINGS = 20


class Descent(Module):
    """Gradient descent near a stored pattern of a distributed memory as D → ∞, at steps
    0 … L; made by `descent` [D-sharp11].

    Attributes:
        radius: ‖u_t‖ = √β‖x_t − ξ‖ (..., L + 1).
        displacement: ρ_t, the fraction of the first displacement that is left
            (..., L + 1).
        partition: Ŝ_t (..., L + 1). Once Ŝ_t is not positive, or the radius exceeds 10,
            the state no longer changes.
    """

    radius: Float[NDArray, "*batch states"]
    displacement: Float[NDArray, "*batch states"]
    partition: Float[NDArray, "*batch states"]

    @property
    def lost(self) -> Bool[NDArray, "*batch"]:
        """True where Ŝ is not positive at the last step, or the radius exceeds 10."""
        return np.asarray(
            (self.partition[..., -1] <= 0) | (self.radius[..., -1] > _LOST)
        )

    @property
    def arrives(self) -> Bool[NDArray, "*batch"]:
        """True where less than half of the first displacement is left: a flipped bit is
        then corrected on average.
        """
        return np.asarray(~self.lost & (self.displacement[..., -1] < 0.5))


@checked
def descent(
    c: Broadcast, radius: Broadcast, *, step_size: float, steps: int
) -> Descent:
    """Path of gradient descent near a stored pattern of a distributed memory, with
    Gaussian noise, as D → ∞ [D-sharp11].

    The states u_t are combinations of u_0 and of noise vectors ζ_0, ζ_1, … with the
    inner products ⟨ζ_i, ζ_j⟩ = κ_ij = c² exp(−‖u_i − u_j‖²/2). A step is u_(t+1) = (1 −
    η)u_t + (η/Ŝ_t)(ζ_t + Σ_j m_tj u_j) with Ŝ_t = exp(−‖u_t‖²/2) + Σ_j m_tj. The sums
    run over j < t, and m_tj = κ_tj R_tj, where R_tj is the coordinate of ζ_j in u_t.
    Each earlier state u_j thus attracts the run as a pattern of weight m_tj would.

    Args:
        c: Roughness (...), as in `thresholds.roughness`; zero for the exact memory.
        radius: ‖u_0‖ = √β‖x_0 − ξ‖ (...). It is √(βf) for a fraction f of flipped bits.
        step_size: η, as in `retrieve`.
        steps: L; the computation time grows as L³.

    Raises:
        ValueError: If step_size is not positive, or steps is not a positive integer.
    """
    positive("step_size", step_size)
    steps = integer("steps", steps)
    c, radius = np.broadcast_arrays(np.asarray(c, float), np.asarray(radius, float))
    # u: coordinates of u_0 … u_L with respect to u_0, ζ_0, ζ_1, …; inner: the inner
    # products of these vectors.
    u, inner = np.zeros((2, *c.shape, steps + 1, steps + 1))
    u[..., 0, 0] = 1
    inner[..., 0, 0] = radius**2
    square, partition = np.zeros((2, *c.shape, steps + 1))
    for t in range(steps + 1):
        past_steps = slice(t + 1)
        overlaps = _applied(
            u[..., past_steps, past_steps],
            _applied(inner[..., past_steps, past_steps], u[..., t, past_steps]),
        )
        square[..., t] = overlaps[..., t]
        gaps = square[..., past_steps] + square[..., t, None] - 2 * overlaps
        kappa = c[..., None] ** 2 * np.exp(-np.maximum(gaps, 0) / 2)
        pulls = kappa[..., :t] * u[..., t, 1 : t + 1]
        partition[..., t] = np.exp(-square[..., t] / 2) + pulls.sum(-1)
        if t < steps:
            inner[..., t + 1, 1 : t + 2] = inner[..., 1 : t + 2, t + 1] = kappa
            u[..., t + 1, :] = _moved(
                u, pulls, square[..., t], partition[..., t], step_size
            )
    return Descent(np.sqrt(np.maximum(square, 0)), u[..., 0].copy(), partition)


def _applied(matrix: NDArray, vector: NDArray) -> NDArray:
    return (matrix @ vector[..., None])[..., 0]


def _moved(
    u: NDArray, pulls: NDArray, square: NDArray, partition: NDArray, step_size: float
) -> NDArray:
    """Coordinates of u_(t+1); those of u_t where the descent is lost."""
    t = pulls.shape[-1]
    divergence = ((partition <= 0) | (square > _LOST**2))[..., None]
    target = _applied(np.swapaxes(u[..., :t, :], -1, -2), pulls)
    target[..., t + 1] += 1
    scale = step_size / np.where(divergence, 1, partition[..., None])
    return np.where(
        divergence, u[..., t, :], (1 - step_size) * u[..., t, :] + scale * target
    )


@checked
def resting_distance(c: Broadcast) -> Float[NDArray, "*batch"]:
    """Distance ‖u‖ = √β‖x̂ − ξ‖ at which a run from a stored pattern comes to rest, for
    D → ∞ [D-sharp17].

    At rest, at the distance r, the slope r·exp(−r²/2) of the well equals the slope c of
    the noise, so that r² = −W₀(−c²) with Lambert's W₀. The steepest slope of the well
    is exp(−½). If c is larger, that is for Y < (e/2)DK, no fixed point is near the
    pattern: the run moves away slowly, and the result is NaN.

    Args:
        c: Roughness (...), as in `thresholds.roughness`.

    >>> from rankone.theory.basin import resting_distance
    >>> [round(float(r), 2) for r in resting_distance([0.1, 0.5, 0.7])]
    [0.1, 0.6, nan]
    """
    c = np.asarray(c, float)
    rests = c <= _STEEPEST
    # W₀ is defined from −1/e on. SciPy has no value at −1/e itself, and rounding may
    # put −c² below it.
    branch_point = -np.exp(-1) * (1 - 1e-13)
    squared = -lambertw(np.maximum(-(np.where(rests, c, 0) ** 2), branch_point)).real
    return np.where(rests, np.sqrt(np.maximum(squared, 0)), np.nan)


@checked
def wrong_bits(
    c: Broadcast, *, beta: Broadcast, flips: Broadcast, step_size: float, steps: int
) -> Float[NDArray, "*batch"]:
    """Fraction of wrong bits after descent from a cue with a fraction `flips` of its
    bits flipped [D-sharp11].

    Let ρ be the fraction of the displacement that is left after L steps, f the fraction
    `flips`, and τ² = ‖u_L‖² − ρ²βf. The result is f·Q((½ − ρ)√β/τ) + (1 − f)·Q(√β/2τ)
    with the upper tail Q of the standard normal distribution, because by symmetry the
    entries are Gaussian. The result is one half where the descent is `Descent.lost`.

    Args:
        c: Roughness (...).
        beta: Inverse temperature for patterns on {0, 1/√D}^D.
        flips: f (...).
        step_size: η.
        steps: Number of steps L.
    """
    beta = np.asarray(beta, float)
    flips = np.asarray(flips, float)
    end = descent(c, np.sqrt(beta * flips), step_size=step_size, steps=steps)
    overlap = end.displacement[..., -1]
    spread = np.sqrt(
        np.maximum(end.radius[..., -1] ** 2 - overlap**2 * beta * flips, 1e-12) / beta
    )
    error_rate = flips * ndtr((overlap - 0.5) / spread) + (1 - flips) * ndtr(
        -0.5 / spread
    )
    return np.where(end.lost, 0.5, error_rate)


@checked
def roughness_allowed(
    radius: Broadcast, *, step_size: float, steps: int
) -> Float[NDArray, "*batch"]:
    """Largest roughness c at which descent from ‖u_0‖ = radius (...) arrives, by
    bisection: this radius is then the edge of the basin [D-sharp11].

    Raises:
        ValueError: If step_size is not positive, or steps is not a positive integer.
    """
    radius = np.asarray(radius, float)
    low = np.zeros_like(radius)
    high = np.full_like(radius, 2.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        arrives = descent(middle, radius, step_size=step_size, steps=steps).arrives
        low = np.where(arrives, middle, low)
        high = np.where(arrives, high, middle)
    return low


@checked
def slope_ratio(kernel: Broadcast, c: Broadcast) -> Float[NDArray, "*batch"]:
    """Ratio of the slope of the well to that of the noise, r·e^(−r²/2)/c, at the
    distance r where the well has the height `kernel` = e^(−r²/2) [D-sharp11].

    For r < 1 the function uses the steepest slope, which is that at r = 1. Where the
    height is not positive it sets the slope to 0.
    """
    height = np.clip(np.asarray(kernel, float), np.finfo(float).tiny, _STEEPEST)
    slope = np.where(np.asarray(kernel) > 0, height * np.sqrt(-2 * np.log(height)), 0.0)
    return np.asarray(slope / np.asarray(c, float))


@checked
def critical_slope(step_size: float) -> float:
    """Critical value √(η/(2 − η)) of `slope_ratio`: below it the first step leads no
    nearer to the pattern, as D → ∞ [D-sharp11].

    Raises:
        ValueError: If step_size is not between 0 and 2.
    """
    positive("step_size", step_size)
    if not step_size < 2:
        raise ValueError(
            f"step_size: got {brief(step_size)}; it must be below 2: at 2 even a "
            "step of the exact memory overshoots by the whole distance."
        )
    return float(np.sqrt(step_size / (2 - step_size)))


@checked
def features_to_reach(
    *,
    D: Broadcast,
    K: Broadcast,
    beta: Broadcast,
    flips: Broadcast,
    step_size: float,
    steps: int,
) -> Float[NDArray, "*batch"]:
    """Number of frequencies Y with which descent retrieves a pattern from a query in
    which a fraction `flips` of its bits is flipped: DK/2c² with the largest c allowed
    [D-sharp13].

    For βf > 1 this is s²/2 · DK·e^(βf)/(βf), where s is the `slope_ratio` at the edge
    of the basin. The ratio s depends on the step size, on the number of steps and less
    on c: for a hundred steps of 0.2 it is between 0.28 and 0.42 for 0.1 < c < 1, and
    for fewer steps larger.

    Args:
        D: Bits in a pattern.
        K: Number of patterns.
        beta: Inverse temperature. To separate K patterns β must grow as 4 log K, and Y
            then grows roughly as K^(1 + 4f).
        flips: f > 0, the fraction of flipped bits.
        step_size: η.
        steps: Number of steps L.
    """
    radius = np.sqrt(np.asarray(beta, float) * np.asarray(flips, float))
    roughness = roughness_allowed(radius, step_size=step_size, steps=steps)
    return np.asarray(np.asarray(D, float) * np.asarray(K, float) / (2 * roughness**2))


class Gauge(Module):
    """Prediction of retrieval from T and a query, before the first step and without the
    target pattern: see `gauge` [D-sharp14].

    Attributes:
        partition: Ŝ(q) (...): the height of the well, if only one pattern is near.
        roughness: ĉ = √(D_free/M)·‖T‖, the noise of the gradient, for M features and
            D_free free entries.
        slope_ratio: `slope_ratio` of these two numbers (...).
    """

    partition: Float[NDArray, "*batch"]
    roughness: float
    slope_ratio: Float[NDArray, "*batch"]


@renamed(x="query")
@checked
def gauge(memory: DrDAM, query: Numbers, *, free: int | None = None) -> Gauge:
    """`Gauge` of a query: Ŝ at the query, and the noise, which follows from the length
    of T [D-sharp14].

    The gauge cannot know which pattern is near, whether this is the target pattern, or
    whether several patterns are near.

    Args:
        memory: Memory with sincos or cos features. For these ‖T‖/√M is the noise of Ŝ
            far from all patterns.
        query: Queries (..., D).
        free: Number of entries that the descent changes, if the others are clamped; by
            default all D.

    Raises:
        ValueError: If the features are exp or expexp, or free is not an integer from 1
            to D.
    """
    if memory.features.basis not in ("sincos", "cos"):
        raise ValueError(
            f"memory: got features of basis {memory.features.basis!r}; "
            "it must be one with sincos or cos features."
        )
    free = (
        memory.D
        if free is None
        else integer("free", free, "a number of entries", most=memory.D)
    )
    partition = np.asarray(memory.partition(query), float)
    c = float(np.linalg.norm(memory.unpacked)) * (free / memory.features.M) ** 0.5
    return Gauge(partition, c, slope_ratio(partition, c))
