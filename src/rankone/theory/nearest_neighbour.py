"""Squared distance to the nearest of n random points: its exact mean, two bounds on the
mean, and a law of two terms.

The points are uniform in the ball of radius √(d + 2) in d dimensions, where every
coordinate has variance 1 [S-A5.1]. Z_n is the squared distance of one more point to the
nearest of n [S-eq11]. Eqs S-eq13 to S-eq20 of the paper derive a looser bound. All
functions compute in double precision with NumPy.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.special import betainc, gamma, gammaln

from rankone._annotated import checked
from rankone._checks import Numbers, brief, host, integer
from rankone._module import Module

__all__ = [
    "NearestNeighbourRisk",
    "Risk",
    "boundary_constant",
    "nearest_neighbour_risk",
]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_DIMENSIONS = 1_000  # in more dimensions 2^d, a ratio of two volumes, overflows
_NEGLIGIBLE = 60.0  # (1 − F)ⁿ ≤ e⁻⁶⁰ where nF ≥ 60, for a fraction F of the points


Risk = float | Float[np.ndarray, "*n"]


class NearestNeighbourRisk(Module):
    """Mean squared distance E Z_n to the nearest of n points. Divided by d, it is the
    risk of one nearest neighbour for a linear function of norm 1 [S-eq40].

    Attributes:
        lower: Proved lower bound c_n = (d + 2) Γ(1 + 2/d) Γ(n + 1) / Γ(n + 1 + 2/d),
            which is also the law's first term [S-S1].
        upper: Proved upper bound 4 c_n [S-S1].
        law: Sum of two terms, one of the interior and one of the boundary of the ball;
            its error is of order n^(−4/d) [S-S7].
        exact: Value by quadrature, accurate to about seven digits.
    """

    lower: Risk
    upper: Risk
    law: Risk
    exact: Risk


@checked
def nearest_neighbour_risk(n: Numbers, d: int) -> NearestNeighbourRisk:
    """Expected squared distance of a random point to the nearest of n others, all
    uniform in the ball of radius √(d + 2) in d dimensions: exact value, two bounds and
    an asymptotic law [S-lemD.1, S-S1, S-S7].

    >>> import rankone as ro
    >>> risk = ro.nearest_neighbour_risk(100, d=2)
    >>> print(f"{risk.lower:.4f} <= {risk.exact:.4f} <= {risk.upper:.4f}")
    0.0396 <= 0.0436 <= 0.1584

    Args:
        n: Number of stored points, 1 or more; a number or an array. It cannot be
            traced by jit, vmap or grad, because the quadrature runs in double precision
            on the host.
        d: Dimension, from 1 to 1,000. In more dimensions a ratio of the volumes of two
            balls, up to 2^d, exceeds the range of double precision.

    Returns:
        `NearestNeighbourRisk`, with numbers, or with arrays of the shape of n.

    Raises:
        ValueError: If n or d is not a positive integer, d is above 1,000, or n is
            traced.
    """
    d = integer("d", d, "a positive integer number of dimensions", most=_DIMENSIONS)
    N = np.asarray(host("n", n))
    positive = (
        N.size > 0
        and N.dtype.kind in "iuf"
        and bool(np.all(N >= 1))
        and bool(np.all(np.floor(N) == N))
    )
    if not positive or not np.isfinite(N).all():
        raise ValueError(
            f"n: got {brief(n)}; it must be positive integers: numbers of points."
        )
    N = N.astype(float)
    interior = _term(N, d, 2)
    law = interior + 2 * d / 3 * boundary_constant(d) * _term(N, d, 3)
    exact = np.vectorize(lambda m: _quadrature(m, d))(N)
    return NearestNeighbourRisk(
        *(v if np.ndim(n) else float(v) for v in (interior, 4 * interior, law, exact))
    )


def _term(n: NDArray, d: int, p: int) -> Risk:
    """(d + 2) Γ(1 + p/d) Γ(n + 1) / Γ(n + 1 + p/d)."""
    return (d + 2) * gamma(1 + p / d) * gamma_ratio(n, p / d)


def gamma_ratio(n: NDArray, a: float) -> Risk:
    """Ratio Γ(n + 1)/Γ(n + 1 + a), which approaches n^(−a) for large n."""
    # Above 10⁷ the difference of the two gammaln loses more digits than the truncation
    # of the ratio's series costs.
    series = n**-a * (1 - a * (a + 1) / (2 * n))
    return np.where(n > 1e7, series, np.exp(gammaln(n + 1) - gammaln(n + 1 + a)))


@checked
def boundary_constant(d: int) -> float:
    """Constant b_d of the term that a wall, the boundary of the domain, adds to the
    mean: the integral over [0, 1] of q_d(t)^(−3/d) − 1, with
    q_d(t) = 1 − I_{1−t²}((d + 1)/2, 1/2) / 2 [S-S7].

    I is the regularised incomplete beta function. q_d(t) is the fraction of a small
    ball on the inner side of a flat wall, if the wall is t radii from the centre of the
    ball.
    """
    integer("d", d, "a positive integer number of dimensions", most=_DIMENSIONS)
    t = np.concatenate([(panel + (_NODES + 1) / 2) / 8 for panel in range(8)])
    cap_share = 1 - betainc((d + 1) / 2, 0.5, 1 - t**2) / 2
    return float(np.tile(_WEIGHTS / 16, 8) @ (cap_share ** (-3 / d) - 1))


def _quadrature(n: float, d: int) -> float:
    """E Z_n by Gauss–Legendre panels: in the distance from the wall, and in the
    distance between the points.
    """
    # A ball of radius t around a point contains at least the fraction (t/2)^d of the
    # unit ball.
    reach = min(2.0, 2 * (_NEGLIGIBLE / n) ** (1 / d))
    doublings = np.arange(-9, int(np.log2(1 / reach)) + 2)
    edges = np.unique(np.clip(np.append(0, reach * 2.0**doublings), 0, 1))
    depth, w_depth = _panels(edges[:-1], edges[1:])  # 1 − ‖x‖
    r = 1 - depth.ravel()
    clearance = np.minimum(1 - r, reach)  # radius up to which the ball of x lies inside
    inner = _distance_integral(np.zeros_like(r), clearance, n, lambda t: t**d)
    beyond = np.minimum(1 + r, reach)
    crosses = clearance < beyond  # a larger ball around x leaves the unit ball
    outer = np.zeros_like(r)
    outer[crosses] = _distance_integral(
        clearance[crosses],
        beyond[crosses],
        n,
        lambda t: _share(t, r[crosses, None], d),
    )
    return float((d + 2) * (w_depth.ravel() * d * r ** (d - 1)) @ (inner + outer))


def _panels(left: NDArray, right: NDArray) -> tuple[NDArray, NDArray]:
    """Nodes and weights of Gauss–Legendre between each pair of ends."""
    half_width = (right - left)[:, None] / 2
    return left[:, None] + half_width * (_NODES + 1), half_width * _WEIGHTS


def _distance_integral(
    low: NDArray, high: NDArray, n: float, fraction_of: Callable[[NDArray], NDArray]
) -> NDArray:
    """∫ 2t (1 − F(t))ⁿ dt between each low and high, over panels that double in
    length.
    """
    total = np.zeros_like(low)
    cuts = np.append(0, 2.0 ** np.arange(-8, 1))
    for a, b in pairwise(cuts):
        t, w = _panels(low + a * (high - low), low + b * (high - low))
        fraction = np.clip(fraction_of(t), 0, 1)
        with np.errstate(divide="ignore"):
            total += (w * 2 * t * np.exp(n * np.log1p(-fraction))).sum(1)
    return total


def _share(t: NDArray, r: NDArray, d: int) -> NDArray:
    """Fraction F_r(t) of the unit ball within t of a point at radius r, by two caps
    where the balls cross.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # Distance from the centre of the unit ball to the plane where the balls cross
        wall = (r**2 + 1 - t**2) / (2 * r)
        offset = (r**2 + t**2 - 1) / (2 * r * t)  # the same from the point, in radii t
        crossing = _cap(wall, d) + t**d * _cap(offset, d)
    return np.where(t <= 1 - r, t**d, np.where(t >= 1 + r, 1.0, crossing))


def _cap(height: NDArray, d: int) -> NDArray:
    """Fraction of a unit ball beyond a plane at this signed distance from its centre."""
    h = np.clip(height, -1, 1)
    half_cap = betainc((d + 1) / 2, 0.5, 1 - h**2) / 2
    return np.where(h >= 0, half_cap, 1 - half_cap)
