"""Risk of ResMem as a function of the roughness of the base model's residual, which is
its Dirichlet energy and not its mean square.

The residual g = f_* − f of a base model f may be any function. The memory adds the
residual at the nearest, x_(1), of n stored points, so that the risk is E(g(x) −
g(x_(1)))². For Lipschitz g and points of density p the risk tends to n^(−2/d) κ_d times
the Dirichlet energy ∫‖∇g‖² p^(1−2/d) [S-sharp2], which weights the squared gradient by
the density; κ_d is the constant of `neighbour_constant`. On the torus the same number
bounds the risk for every n [S-sharp1]. With the linear functions and the isotropic
points of `linear_resmem` the mean of ‖∇g‖² equals the mean square of g, and the risk is
a product of two risks. All functions compute in double precision with NumPy.
"""

from math import pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma, hyp0f1

from rankone._annotated import checked
from rankone._checks import Numbers, brief, integer
from rankone.theory.nearest_neighbour import Risk, boundary_constant, gamma_ratio

__all__ = ["energy_law", "mode_risk", "neighbour_constant", "wall_law"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
# The probability of a neighbour beyond the last panel is e⁻⁶⁰.
_PANELS = 64
_NEGLIGIBLE = 60.0


def unit_ball(d: int) -> float:
    """Volume V_d of the unit ball in d dimensions."""
    return pi ** (d / 2) / float(gamma(d / 2 + 1))


@checked
def neighbour_constant(d: int) -> float:
    """Constant κ_d = Γ(1 + 2/d) / (d V_d^(2/d)): the mean square of one coordinate of
    the displacement to the nearest of n points, for large n.

    The mean square is in units of n^(−2/d), for a density of 1 and far from any wall
    [S-sharp1, S-sharp2]. V_d is the volume of the unit ball.
    """
    d = integer("d", d, "a positive integer number of dimensions")
    return float(gamma(1 + 2 / d)) / (d * unit_ball(d) ** (2 / d))


@checked
def energy_law(n: Numbers, d: int, energy: Numbers) -> Risk:
    """Risk of ResMem as a function of the residual's Dirichlet energy:
    κ_d Γ(n + 1)/Γ(n + 1 + 2/d) ∫‖∇g‖² p^(1−2/d) [S-sharp1, S-sharp2].

    On the torus of side 1 this is E Z_n/d · ∫‖∇g‖², where Z_n is the squared distance
    to the nearest of n points. The formula ignores the case that no point lies within
    half a side, which has the probability (1 − V_d/2^d)ⁿ.

    Args:
        n: Number of stored examples.
        d: Dimension.
        energy: ∫‖∇g‖² p^(1−2/d) over the space, for the residual g and the density p of
            the points; in the unit of the risk.
    """
    return (
        neighbour_constant(d)
        * gamma_ratio(_sizes(n), 2 / d)
        * np.asarray(energy, float)
    )


@checked
def wall_law(n: Numbers, d: int, tangential: Numbers, normal: Numbers) -> Risk:
    """Contribution of a wall, a part of the domain's boundary, to the risk of
    `energy_law`: a term of order n^(−3/d) [S-sharp3].

    The term is Γ(1 + 3/d) b_d/(d V_d^(3/d)) ∫ p^(1−3/d) (‖∇_τ g‖² + (1 − d/3)(∂_ν g)²)
    over the wall, times Γ(n + 1)/Γ(n + 1 + 3/d), which is close to n^(−3/d). Here ∇_τ
    is the gradient along the wall, ∂_ν the derivative normal to it, V_d the volume of
    the unit ball, and b_d the `boundary_constant`. The normal part is negative for d >
    3.

    Args:
        n: Number of stored examples.
        d: Dimension.
        tangential: ∫ p^(1−3/d) ‖∇_τ g‖² over the wall; 0 for d = 1.
        normal: ∫ p^(1−3/d) (∂_ν g)² over the wall; for d = 1 the sum over both ends.
    """
    d = integer("d", d, "a positive integer number of dimensions")
    constant = (
        float(gamma(1 + 3 / d)) * boundary_constant(d) / (d * unit_ball(d) ** (3 / d))
    )
    energy = np.asarray(tangential, float) + (1 - d / 3) * np.asarray(normal, float)
    return constant * gamma_ratio(_sizes(n), 3 / d) * energy


def _sizes(n: Numbers) -> NDArray:
    N = np.asarray(n, float)
    if N.size == 0 or not (N >= 1).all():
        raise ValueError(f"n: got {brief(n)}; it must be 1 or more: numbers of points.")
    return N


@checked
def mode_risk(n: Numbers, d: int, frequency: Numbers) -> Risk:
    """Factor m_n(ν) = 2E(1 − cos 2πν·v) by which one remembered neighbour multiplies
    the risk of a wave on the torus [S-sharp1].

    A residual Σ c_ν e^(2πiν·x) has the risk Σ|c_ν|² m_n(ν) for every n. Here v is the
    displacement to the nearest of n points and Z_n = ‖v‖². The factor m_n never exceeds
    (2π‖ν‖)² E Z_n/d, approaches this value for long waves, and tends to 2 for short
    waves. The function takes v as isotropic, which is true except with a probability of
    (1 − V_d/2^d)ⁿ, with V_d the volume of the unit ball.

    Args:
        n: Number of stored points, an array (...) or a number.
        d: Dimension.
        frequency: ‖ν‖, in waves per side of the torus, positive; of a shape that
            broadcasts with that of n.
    """
    d = integer("d", d, "a positive integer number of dimensions")
    k = np.asarray(frequency, float)
    if k.size == 0 or not (k > 0).all():
        raise ValueError(
            f"frequency: got {brief(frequency)}; it must be positive: waves per side."
        )
    edges = np.linspace(0, _NEGLIGIBLE ** (1 / d), _PANELS + 1)
    half = (edges[1] - edges[0]) / 2
    # With r the distance to the neighbour, t^d = −n log(1 − V_d r^d) is exponentially
    # distributed.
    t = (edges[:-1, None] + half * (_NODES + 1)).ravel()
    weight = np.tile(half * _WEIGHTS, _PANELS) * d * t ** (d - 1) * np.exp(-(t**d))
    distance = (-np.expm1(-(t**d) / _sizes(n)[..., None]) / unit_ball(d)) ** (1 / d)
    return 2 * _one_less_cosine((pi * k[..., None] * distance) ** 2, d / 2) @ weight


def _one_less_cosine(y: NDArray, b: float) -> NDArray:
    """1 − E cos z·ω for ω uniform on the unit sphere in 2b dimensions, with y = ‖z‖²/4.
    The series is used where y is so small that the difference would lose digits.
    """
    series = y / b * (1 - y / (2 * (b + 1)) * (1 - y / (3 * (b + 2))))
    return np.where(y < 1e-3, series, 1 - hyp0f1(b, -y))
