"""Number of random patterns that a memory can store: the classical Hopfield network,
and the log-sum-exp energy of eq. 11.

Both numbers follow from mean-field laws for D → ∞. That of the classical network
assumes replica symmetry; without this assumption its load 0.1379 becomes about 0.1382.
The tests compare the laws with simulations; neither is a theorem.
"""

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.special import erf

from rankone._annotated import checked
from rankone._checks import brief, integer, positive

__all__ = ["critical_beta", "critical_load", "storage_capacity"]

# Steps of 5e-5. A maximum is flat, so the relative error of its height is below 1e-8
# for `critical_load` and for β up to 50. For larger β it grows, to 6e-7 at β = 400.
_GRID = 20_001


def critical_load() -> tuple[float, float]:
    """The load K/D at which the classical Hopfield network fails, and the overlap just
    before it does [D-eq1].

    α_c is the maximum over y of ½((erf y)/y − (2/√π) e^(−y²))². At the maximum, erf y
    is the overlap of the state with the stored pattern (Amit, Gutfreund and Sompolinsky
    1985, at zero temperature).

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

    The fixed point of a stored pattern ξ¹ lies between the centroid ξ̄ of all patterns
    and ξ¹, at ξ̄ + s(ξ¹ − ξ̄). Its s solves K − 1 = (1 − s)/(s − τ) · e^(βs/4)
    cosh(βs/4D)^(−D) with τ = tanh(βs/4D). The right side has a local maximum near s =
    1. If K − 1 exceeds this maximum, there is no fixed point near ξ¹. For β/D → 0 the
    right side is q/(1 − q) · exp(β(1 − q)/4 − β²(1 − q)²/32D) with q = 1 − s.

    Args:
        beta: Inverse temperature of patterns scaled to entries 0 and 1/√D.
        D: Bits in a pattern.

    Returns:
        K_c, a real number; nan where there is no such maximum. Below β of about 16 the
        fixed point moves continuously to the centroid as K grows: the memory fades, and
        there is no definite K at which it fails. Far above β = 4D the law is wrong,
        because copies of ξ¹ then dominate the average over the other patterns.

    Raises:
        ValueError: If beta is not positive, or D is not an integer of at least 1.
    """
    positive("beta", beta, "a positive finite inverse temperature")
    D = integer("D", D)
    height = _log_others(np.linspace(0, 1, _GRID)[1:-1], float(beta), D)
    rises = np.flatnonzero(np.diff(height) > 0)
    # The local maximum is the end of the last rising step. A curve without a local
    # maximum falls everywhere.
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
        ValueError: If K is not an integer of at least 10, or is larger than the number
            of patterns that D bits can store at any β.
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

    # At β = 16 the memory stores fewer than 10 patterns. At β = 512 it stores more than
    # the largest K that `integer` accepts, if D is large enough.
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
    """log(K − 1) for which ξ̄ + s(ξ¹ − ξ̄) is a fixed point; values of s without such a
    K are left out.
    """
    pull = beta * s / (4 * D)
    domain = s > np.tanh(pull)
    s = s[domain]
    pull = pull[domain]
    log_cosh = np.logaddexp(pull, -pull) - np.log(2)
    return np.log((1 - s) / (s - np.tanh(pull))) + beta * s / 4 - D * log_cosh
