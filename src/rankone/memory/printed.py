"""The bounds as the paper prints them, as base-10 logarithms, to be compared with the corrected ones in `bounds`."""

from math import comb, exp, log, log1p

import numpy as np

__all__ = ["gronwall_coefficients", "log10_corollary", "log10_gronwall", "log10_lipschitz", "log10_theorem"]

_LOG10 = log(10)


def log10_lipschitz(*, beta: float, K: int) -> float:
    """log₁₀ of the printed Lipschitz constant B = 1 + 2Kβe^(β/2) [D-lem2]; the best one is `laws.lipschitz`."""
    return _log_B(beta, K) / _LOG10


def log10_theorem(*, beta: float, K: int, energy: float, eps0: float, step_size: float, steps: int) -> float:
    """log₁₀ of the right side of eq. 12 [D-thm2, D-eq12].

    Args:
        beta: Inverse temperature, 1/unit².
        K: Number of patterns.
        energy: E(x) of the start, unit².
        eps0: Kernel error, the paper's C₁√(D/Y).
        step_size: η.
        steps: L.
    """
    log_q = log(step_size * steps) + _log_B(beta, K)
    lead = log(2 * step_size * steps * K * eps0) + beta * energy
    return (lead + _log_geometric(log_q, steps)) / _LOG10


def log10_corollary(*, beta: float, energy: float, eps0: float, C2: float) -> float:
    """log₁₀ of the right side of eq. 13, for η = C₂/(LB); arguments as in `log10_theorem` [D-cor1, D-eq13]."""
    return (log(eps0 * C2 / (beta * (1 - C2))) + beta * (energy - 0.5)) / _LOG10


def log10_gronwall(u: float, steps: int) -> tuple[float, float]:
    """log₁₀ of Σ_j C(L, j+1)uʲ = ((1+u)ᴸ − 1)/u, which solves the recursion, and of the printed LΣ_j(Lu)ʲ [D-eq56-58].

    Args:
        u: ηB, the growth of a distance in one step.
        steps: L.
    """
    exponent = steps * log1p(u)
    exact = exponent + log1p(-exp(-exponent)) - log(u)
    return exact / _LOG10, (log(steps) + _log_geometric(log(steps * u), steps)) / _LOG10


def gronwall_coefficients(steps: int) -> dict[str, list[int]]:
    """Coefficients of ηA(ηB)ʲ after L steps: the recursion's own, those of eq. 56 and those of eq. 57 [D-eq56-58]."""
    nested = [comb(steps + j - 1, j) for j in range(steps)]  # the sums of eq. 56 inside its outermost one
    return {
        "exact": [comb(steps, j + 1) for j in range(steps)],
        "eq56": [steps, comb(steps + 1, 2), *(steps * n for n in nested[2:])][:steps],
        "eq57": [steps ** (j + 1) for j in range(steps)],
    }


def _log_B(beta: float, K: int) -> float:
    return float(np.logaddexp(0, log(2 * K * beta) + beta / 2))


def _log_geometric(log_q: float, steps: int) -> float:
    """Logarithm of Σ_{j<L} qʲ."""
    return float(np.logaddexp.reduce(log_q * np.arange(steps)))
