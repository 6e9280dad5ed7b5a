"""Number of random patterns that a memory can store: the classical Hopfield network,
and the log-sum-exp energy of eq. 11.

Both are mean-field laws, exact as D → ∞ and measured against simulation in the tests;
neither is a theorem.
"""

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.special import erf

from rankone._annotated import checked
from rankone._checks import brief, integer, positive

__all__ = ["critical_beta", "critical_load", "storage_capacity"]

_GRID = 20_001  # steps of 5e-5: a maximum is flat, so its height is right to 1e-8


def critical_load() -> tuple[float, float]:
    """The load K/D at which the classical Hopfield network fails, and the overlap just
    before it does [D-eq1].

    α_c = max over y of ½((erf y)/y − (2/√π) e^(−y²))², attained where the
    overlap is erf y (Amit, Gutfreund and Sompolinsky 1985, at zero temperature).

    Returns:
        (α_c, overlap at α_c): about 0.138 and 0.967.
    """
    y = np.linspace(1, 2, _GRID)
    load = 0.5 * (erf(y) / y - 2 / np.sqrt(np.pi) * np.exp(-(y**2))) ** 2
    argmax = int(load.argmax())
    return float(load[argmax]), float(erf(y[argmax]))


@checked
def storage_capacity(beta: float, D: int) -> float:
    """Largest number of random patterns on {0, 1/√D}^D that MrDAM stores at inverse
    temperature β [D-sharp6].

    A stored pattern's fixed point is ξ̄ + s(ξ¹ − ξ̄) with K − 1 = (1 − s)/(s − τ) ·
    e^(βs/4) cosh(βs/4D)^(−D), τ = tanh(βs/4D). The right side has a local maximum near
    s = 1. With more patterns than this maximum there is no fixed point. For β/D → 0 it
    is q/(1 − q) · exp(β(1 − q)/4 − β²(1 − q)²/32D) with q = 1 − s.

    Args:
        beta: Inverse temperature of patterns scaled to entries 0 and 1/√D.
        D: Bits in a pattern.

    Returns:
        K_c, a real number; nan where there is no such maximum. Below β of about 16 the
        fixed point moves continuously to the centroid as K grows, so that memory fades
        and is not lost at a definite K. Far above β = 4D the law fails, because the
        average over the other patterns is then dominated by copies of ξ¹.

    Raises:
        ValueError: If beta is not positive, or D is not an integer of at least 1.
    """
    positive("beta", beta, "a positive finite inverse temperature")
    D = integer("D", D)
    height = _log_others(np.linspace(0, 1, _GRID)[1:-1], float(beta), D)
    rises = np.flatnonzero(np.diff(height) > 0)
    # From s = 1 leftwards the curve climbs to its local maximum; without one it never
    # climbs.
    return 1 + float(np.exp(height[rises[-1] + 1])) if len(rises) else float("nan")


@checked
def critical_beta(K: int, D: int) -> float:
    """The least β at which MrDAM stores K random patterns on {0, 1/√D}^D [D-sharp6].

    The β at which `storage_capacity` reaches K, to a relative accuracy of 1e-6.

    Args:
        K: Number of patterns, at least 10: the law replaces all other patterns by their
            average.
        D: Bits in a pattern.

    Raises:
        ValueError: If K is not an integer of at least 10, or more than D bits keep
            apart at any temperature.
    """
    K = integer(
        "K",
        K,
        "an integer of at least 10; two patterns at distance d separate exactly "
        "at β = 4/d²",
        least=10,
    )

    def holds(beta: float) -> bool:
        return bool(storage_capacity(beta, D) >= K)  # False for nan

    # at 16 fewer than 10 patterns stay, at 512 more than the largest integer K
    rungs = np.geomspace(16, 512, 41)
    first = next((i for i, beta in enumerate(rungs) if holds(float(beta))), 0)
    if not first > 0:
        raise ValueError(
            f"K: got {brief(K)}; it must be smaller: with {D} bits so many "
            "random patterns are not stored at any β."
        )
    low = float(rungs[first - 1])
    high = float(rungs[first])
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _log_others(s: Float[NDArray, " n"], beta: float, D: int) -> Float[NDArray, " m"]:
    """log(K − 1) for which ξ̄ + s(ξ¹ − ξ̄) is a fixed point, at those s that are one
    for some K.
    """
    pull = beta * s / (4 * D)
    domain = s > np.tanh(pull)
    s = s[domain]
    pull = pull[domain]
    log_cosh = np.logaddexp(pull, -pull) - np.log(2)
    return np.log((1 - s) / (s - np.tanh(pull))) + beta * s / 4 - D * log_cosh
