"""Number of frequencies that is sufficient for retrieval: a constant times D·K. It is
proved, and computed from the patterns alone, before any frequency is drawn
[D-sharp10].

Around a pattern ξ, in the coordinate u = √β(x − ξ), the partition sum S has a hill. S
is about 1 at the centre, and on the sphere ‖u‖ = R at most e^(−R²/2) plus the kernels
of the other patterns. Suppose that the errors Ŝ − S, over the whole ball at once,
reduce the difference of these values by less than the difference itself. Then Ŝ too is
lower on the sphere than at the start. A descent of the energy Ê only increases Ŝ, so it
stays inside the sphere.
"""

from math import exp, inf, log, sqrt

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import Numbers, array, brief, integer, positive, real
from rankone._module import Module
from rankone.theory.kernel_error import check_probability

__all__ = ["Barrier", "barrier", "sufficient_features"]

# E exp(|Z|γ²/8K) ≤ 1 + _MOMENT·√Q/K for a random |Z| ≤ K with E|Z|² = Q and an
# independent standard normal γ, by the Cauchy–Schwarz inequality.
_MOMENT = sqrt(2**0.5 - 2 / 0.75**0.5 + 1)
_RADII = np.linspace(0.1, 3, 59)
_MOST = 10**18


class Barrier(Module):
    """Terms of the inequality that keeps a descent of the distributed energy near every
    stored pattern; made by `barrier`.

    Attributes:
        Y: Number of frequencies.
        radius: r, in the unit of the patterns. If `holds` is true, no run leaves the
            ball of this radius about its pattern.
        leak: Upper bound on the sum of the other patterns' kernels anywhere in such a
            ball.
        gap: Lower bound on S at any start minus S anywhere on the sphere.
        error: Upper bound on the amount by which Ŝ − S can reduce this gap.
        level: Lower bound on Ŝ at any start.
        step_size: Algorithm 1 stays inside the ball for every smaller step size. A
            number in (0, 1], or 0 if the theorem does not apply.
        holds: True if the error is below the gap, and the level above √(K/2Y)/8, the
            floor below which `DrDAM` replaces the logarithm by its tangent.
    """

    Y: int
    radius: float
    leak: float
    gap: float
    error: float
    level: float
    step_size: float
    holds: bool


@checked
def barrier(
    Xi: Numbers,
    *,
    beta: float,
    Y: int,
    radius: float,
    start: float = 0.0,
    delta: float = 0.05,
) -> Barrier:
    """`Barrier` around every stored pattern, which the descent of the distributed
    memory (Algorithm 1) does not cross, with probability ≥ 1 − δ [D-sharp10].

    For every pattern, every start within `start` of it and every step size below
    `step_size`, Algorithm 1 never leaves the ball of `radius` about the pattern, Ŝ
    rises in each step, and the run comes to rest. The same holds for the exact memory,
    so the two runs are never more than 2·radius apart.

    Args:
        Xi: Patterns (K, D).
        beta: Inverse temperature, 1/unit².
        Y: Number of frequencies; the features are sincos, with independent Gaussian
            frequencies.
        radius: r, in the unit of the patterns.
        start: Distance of the starts from their pattern, less than `radius`, in the
            same unit.
        delta: Probability of failure, for all patterns together.

    Raises:
        ValueError: If a number is out of its range.
    """
    sums = _sums(Xi, beta, delta)
    Y = integer("Y", Y, most=_MOST)
    positive("radius", radius)
    _check_start(start, radius)
    return _ball(sums, float(radius), start).record(Y)


@checked
def sufficient_features(
    Xi: Numbers, *, beta: float, start: float = 0.0, delta: float = 0.05
) -> Barrier:
    """`Barrier` with the fewest frequencies Y at which it holds, for the best radius
    [D-sharp10].

    Y is C·D·K, where C depends only on how the patterns are separated, on √β·start and
    on log(K/δ)/D. If the patterns are well separated and the runs start at them, C
    tends to 19.6 as D grows.

    Args:
        Xi: Patterns (K, D).
        beta: Inverse temperature, 1/unit².
        start: Distance of the starts from their pattern, in the unit of the patterns.
        delta: Probability of failure.

    Raises:
        ValueError: If a number is out of its range; or no ball has a gap, because the
            patterns are too close at this β or `start` is too large for their
            distances; or 10¹⁸ frequencies do not suffice.
    """
    sums = _sums(Xi, beta, delta)
    _check_start(start, inf)
    balls = [_ball(sums, float(start + R / sqrt(beta)), start) for R in _RADII]
    with_gap = [ball for ball in balls if ball.gap > 0]
    if not with_gap:
        raise ValueError(
            f"beta: got {brief(beta)}; it must be one at which some ball around each "
            "pattern has a gap: raise beta, or lower start, which must be less than "
            "half the distance between any two patterns."
        )
    possible = [ball for ball in with_gap if ball.record(_MOST).holds]
    if not possible:
        raise ValueError(
            f"start: got {brief(start)}; it must be smaller: from this distance, "
            "more than 1e18 frequencies are needed at this beta."
        )
    return min((_fewest(ball) for ball in possible), key=lambda record: record.Y)


class _Sums(Module):
    """Numbers K of patterns and D of entries, t = log(3K/δ), the sums Q = Σk and
    N = Σ(1 − β‖ξ^μ − ξ^ν‖²/D)k over all pairs of patterns, μ = ν included, where k
    is exp(−β‖ξ^μ − ξ^ν‖²/2), and the distances of the patterns in 1/√β.
    """

    K: int
    D: int
    beta: float
    t: float
    Q: float
    N: float
    distances: Float[NDArray, "K K"]


def _sums(Xi: Numbers, beta: float, delta: float) -> _Sums:
    Xi = np.asarray(array("Xi", Xi, "(K, D): one pattern per row", 2), float)
    positive("beta", beta)
    check_probability(delta)
    norms = (Xi**2).sum(1)
    (K, D) = Xi.shape
    squares = float(beta) * np.maximum(norms[:, None] + norms - 2 * Xi @ Xi.T, 0)
    np.fill_diagonal(squares, 0)
    kernel = np.exp(-squares / 2)
    N = float(((1 - squares / D) * kernel).sum())
    return _Sums(
        K, D, float(beta), log(3 * K / delta), float(kernel.sum()), N, np.sqrt(squares)
    )


class _Ball(Module):
    """A radius about every pattern, and the hill that the partition sum has there."""

    sums: _Sums
    radius: float
    start: float
    leak: float
    gap: float

    def record(self, Y: int) -> Barrier:
        """The barrier with Y frequencies."""
        of = self.sums
        R = of.beta**0.5 * self.radius
        rho = of.beta**0.5 * self.start
        noise = 2 * sqrt(of.D * of.N / Y)
        error = _supremum(
            of.t, Y, (R + rho) * noise, of.Q * min(4, (R + rho) ** 2), 3 * of.K
        )
        level = exp(-(rho**2) / 2) - _supremum(of.t, Y, rho * noise, of.Q, 2 * of.K)
        holds = error < self.gap and level > sqrt(of.K / (2 * Y)) / 8
        step_size = min(1.0, 2 * level / _curvature(of, Y)) if holds else 0.0
        return Barrier(
            Y, self.radius, self.leak, self.gap, error, level, step_size, holds
        )


def _ball(sums: _Sums, radius: float, start: float) -> _Ball:
    R = sums.beta**0.5 * radius
    rho = sums.beta**0.5 * start
    kernels = np.exp(-(np.maximum(sums.distances - R, 0) ** 2) / 2)
    np.fill_diagonal(kernels, 0)
    leak = float(kernels.sum(1).max())
    return _Ball(
        sums, radius, float(start), leak, exp(-(rho**2) / 2) - exp(-(R**2) / 2) - leak
    )


def _supremum(t: float, Y: int, mean: float, variance: float, maximum: float) -> float:
    """Bousquet's inequality: a bound that the supremum of means of Y terms exceeds with
    a probability of at most e^−t.
    """
    return (
        mean + sqrt(2 * t * (variance + 2 * maximum * mean) / Y) + maximum * t / (3 * Y)
    )


def _curvature(of: _Sums, Y: int) -> float:
    """λ: no eigenvalue of −∇²Ŝ, in the coordinate u, is larger anywhere."""
    return 16 * (_MOMENT * sqrt(of.Q) + of.K * (of.D * log(9) + of.t) / Y)


def _fewest(ball: _Ball) -> Barrier:
    """The least Y for which the barrier holds."""
    # Bisection, because a barrier that holds with Y frequencies holds with more.
    low = 0
    high = 1
    while not ball.record(high).holds:
        low = high
        high = 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ball.record(middle).holds else (middle, high)
    return ball.record(high)


def _check_start(start: float, radius: float) -> None:
    requirement = "a distance of at least 0, less than the radius"
    number = real("start", start, requirement)
    if not (number is not None and 0 <= number < radius):
        raise ValueError(f"start: got {brief(start)}; it must be {requirement}.")
