r"""How far random features can be from the kernel everywhere at once: proved, with every constant [D-U0, D-U1, D-US].

For sincos features with independent Gaussian frequencies; k(Δ) = exp(−‖Δ‖²/2) and k̂ its estimate.
"""

from math import inf, log, sqrt

import numpy as np
from jaxtyping import ArrayLike

from rankone._checks import check, scalar

__all__ = ["aggregated_error", "uniform_derivative_error", "uniform_kernel_error"]


def uniform_kernel_error(*, D: int, Y: int, radius: float, delta: float = 0.05) -> float:
    r"""ε₀ with $\sup_{\|\Delta\|\le R}|\hat k(\Delta)-k(\Delta)|\le\varepsilon_0$, probability ≥ 1 − δ [D-U0].

    $\varepsilon_0=2R\sqrt{D/Y}+\sqrt{2\log(2/\delta)/Y}$: the corrected form of the paper's assumption (A2) [D-unn2].
    Patterns of diameter d at inverse temperature β have $R=d\sqrt\beta$, the β that the paper's constant hides.

    Args:
        D: Dimension.
        Y: Number of frequencies.
        radius: R, the largest ‖Δ‖; for a memory, √β times the largest distance from a state to a pattern.
        delta: Probability of failure.
    """
    counts(D=D, Y=Y)
    check(radius > 0, "radius", radius, "a positive distance, or infinity")
    probability(delta)
    return 2 * radius * sqrt(D / Y) + sqrt(2 * log(2 / delta) / Y)


def uniform_derivative_error(*, D: int, Y: int, radius: float, delta: float = 0.05) -> float:
    r"""ε₁ with $\sup_{\|\Delta\|\le R}\|\nabla(\hat k-k)(\Delta)\|\le\varepsilon_1$, probability ≥ 1 − δ [D-U1].

    Infinite where Y is too small for the tail bound behind it. Arguments as for `uniform_kernel_error`.
    """
    counts(D=D, Y=Y)
    check(radius > 0, "radius", radius, "a positive distance, or infinity")
    probability(delta)
    t = sqrt(12 / Y * (D * log(5 * (1 + 2 * radius * sqrt(Y / D))) + log(4 / delta)))
    curvature = (1 + sqrt(D / Y) + sqrt(2 * log(2 / delta) / Y)) ** 2
    return 2 * t + (curvature + 1) * sqrt(D / Y) if t <= 3 else inf


def aggregated_error(Xi: ArrayLike, *, beta: float, Y: int, radius: float) -> float:
    r"""Bound on $\mathbb E\sup_{\|x-x_0\|\le r}(\hat S-S)$, the same for $S-\hat S$ [D-US].

    $2r\sqrt{\frac\beta Y\sum_{\mu\nu}(D-\beta\|\xi^\mu-\xi^\nu\|^2)\,k_\beta(\xi^\mu,\xi^\nu)}$: of order √K for
    separated patterns, where K separate kernels would give K.

    Args:
        Xi: Patterns (K, D).
        beta: Inverse temperature, 1/unit².
        Y: Number of frequencies.
        radius: r, in the unit of the patterns.
    """
    squares = beta * _squared_distances(Xi)
    D = np.shape(Xi)[1]
    return 2 * radius * sqrt(beta / Y * float(((D - squares) * np.exp(-squares / 2)).sum()))


def _squared_distances(Xi: ArrayLike) -> np.ndarray:
    Xi = np.asarray(Xi, float)
    norms = (Xi**2).sum(1)
    return np.maximum(norms[:, None] + norms - 2 * Xi @ Xi.T, 0)


def counts(**values: int) -> None:
    """Raise unless every value is a positive integer."""
    for name, number in values.items():
        size = scalar(name, number, "a positive integer") or 0.0
        check(size >= 1 and size.is_integer(), name, number, "a positive integer")


def probability(delta: float) -> None:
    """Raise unless 0 < delta < 1."""
    wanted = "a probability of failure between 0 and 1, such as 0.05"
    check(0 < (scalar("delta", delta, wanted) or 0) < 1, "delta", delta, wanted)
