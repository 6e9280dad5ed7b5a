"""Rates of ResMem in the linear model, in plain double precision, and the width σ of
the weights exp(−distance/σ) below which ResMem gives every training example its own
label.

In this model the truth is ⟨θ_*, x⟩ with ‖θ_*‖ = 1, and the points x are uniform in the
ball of radius √(d + 2). The base model θ_n is the least-squares solution with ‖θ‖ ≤ L <
1 from n points, and tends to θ_∞ = Lθ_*. Z_n is the squared distance of a further point
to the nearest of n points.

Further claims belong here: S-2stage and S-purekNN on Theorem 5.3 of the paper, and
S-eq33 and S-eq34 on `shrinkage_error`. The bounds of `base_bound` and
`covariance_tail` replace the constants of S-eq35, S-eq36 and S-eq37. The term T₁ of
S-eq39 is twice `base_law`.
"""

from math import ceil, exp, inf, log

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray
from scipy.optimize import brentq

from rankone._annotated import checked
from rankone._checks import Numbers, array, integer, positive
from rankone._module import Module
from rankone.residual.search import ExactSearch
from rankone.theory.nearest_neighbour import Risk, nearest_neighbour_risk

__all__ = [
    "Moments",
    "base_bound",
    "base_law",
    "covariance_tail",
    "helpful_noise",
    "memorising_width",
    "moments",
    "noisy_risk",
    "resmem_law",
    "shrinkage_error",
    "useful_from",
    "worst_margin",
]


@checked
def worst_margin(off_mass: Numbers) -> Float[Array, "..."]:
    """Smallest margin of the right label at a training example whose neighbours have
    the weight β: 1 − 4β, which is attained [S-S6].

    The margin is the score of the right label y minus the largest other score. At a
    training example the scores are (1 − β) onehot(y) + β(p + r), where p are the base
    model's probabilities and r is the mean residual of the neighbours. So the score of
    y exceeds that of another class c by at least (1 − β) + β(−1 − 2). The bound is
    attained if the neighbours have the class c, and the base model is certain of y at
    the neighbours and of c at the example.

    Args:
        off_mass: β = 1 − the example's own weight.
    """
    return 1 - 4 * jnp.asarray(off_mass)


@checked
def memorising_width(embeddings: Numbers, k: int) -> float:
    """Width σ = d_min / log(3(k − 1)) of the weights exp(−distance/σ) below which every
    training example gets its own label [S-rem3.2].

    Here k is the number of neighbours, and d_min the least distance between two
    embeddings. The width is 0 if two embeddings coincide, because then no σ gives a
    guarantee. Otherwise it is infinite for k = 1, which recalls every example at any σ.
    """
    z = array("embeddings", embeddings, "(n, D): one embedding per row", 2)
    integer(
        "k", k, "a number of neighbours from 1 to that of the embeddings", most=len(z)
    )
    if len(z) == 1:
        return inf
    nearest = float(ExactSearch(z).search(z, 2).distances[:, 1].min())
    if nearest == 0:
        return 0.0
    return inf if k == 1 else nearest / log(3 * (k - 1))


class Moments(Module):
    """Moments of a point uniform in the ball of radius √(d + 2) [S-A5.1].

    The point is x, of d coordinates.

    Attributes:
        square: E‖x‖².
        fourth: E‖x‖⁴.
        mixed: E x₁²x₂², for d ≥ 2.
    """

    square: float
    fourth: float
    mixed: float


@checked
def moments(d: int) -> Moments:
    """`Moments` E‖x‖² = d, E‖x‖⁴ = d(d+2)²/(d+4) and E x₁²x₂² = (d+2)/(d+4) (for d ≥ 2)
    [S-A5.1].
    """
    return Moments(float(d), d * (d + 2) ** 2 / (d + 4), (d + 2) / (d + 4))


@checked
def resmem_law(n: Numbers, d: int, L: float) -> Risk:
    """Risk of ResMem, (1 − L)² E Z_n/d: the limit (1 − L)² of the base model's risk,
    times the risk E Z_n/d of one nearest neighbour [S-thm5.3, S-S2, S-eq40].

    The base model is linear with norm at most L, and the truth has norm 1. Z_n is the
    squared distance to the nearest of n points in d dimensions.
    """
    return (1 - L) ** 2 * np.asarray(nearest_neighbour_risk(n, d).exact) / d


@checked
def base_law(n: Numbers, d: int, L: float) -> Risk:
    """Mean squared error E‖θ_n − θ_∞‖² of the base model for large n: L²(1 − L)² (d −
    1)(d + 2) / ((d + 4) n) [S-eq38].

    θ_n are the weights from n points, of norm at most L, and θ_∞ is their limit.
    """
    return L**2 * (1 - L) ** 2 * (d - 1) * (d + 2) / ((d + 4) * np.asarray(n, float))


@checked
def base_bound(n: Numbers, d: int, L: float) -> Risk:
    """A proved bound on E‖θ_n − θ_∞‖² for every n: 2L²d/n + 8dL² exp(−n / (4(d + 2)))
    [S-S3]. Symbols as in `base_law`.
    """
    n = np.asarray(n, float)
    return 2 * L**2 * d / n + 8 * d * L**2 * np.exp(-n / (4 * (d + 2)))


@checked
def covariance_tail(n: float, d: int, epsilon: float) -> float:
    """Bound on P(‖Σ_n − I‖ > ε): 2d exp(−nε² / (2(d + 2)(1 + ε))) [S-propD.2].

    Σ_n are the second moments of n points uniform in the ball of radius √(d + 2).
    """
    positive("epsilon", epsilon)
    return 2 * d * exp(-n * epsilon**2 / (2 * (d + 2) * (1 + epsilon)))


@checked
def shrinkage_error(Sigma: Float[NDArray, "d d"], multiplier: float) -> NDArray:
    """Matrix D of the error of a ridge solution, θ_n = (I + D) θ_*/(1 + λ): D = −λ ((1
    + λ)I − Δ)⁻¹ Δ with Δ = I − Σ [S-eq30,31].

    This closed form replaces two series of the paper. It gives ‖D‖ ≤ λε/(1 + λ − ε) < ε
    for ‖Δ‖ = ε < 1 [S-eq32].

    Args:
        Sigma: Second moments Σ of the inputs (d, d).
        multiplier: λ, 0 or more.
    """
    identity = np.eye(len(Sigma))
    Delta = identity - Sigma
    return -multiplier * np.linalg.solve((1 + multiplier) * identity - Delta, Delta)


@checked
def noisy_risk(n: Numbers, d: int, L: float, noise: float) -> Risk:
    """Risk of ResMem against the truth when the labels have noise of variance σ²: σ² +
    (1 − L)² E Z_n/d [S-S4]. Symbols as in `resmem_law`; σ² is the argument `noise`.
    """
    return noise + resmem_law(n, d, L)


@checked
def helpful_noise(n: Numbers, d: int, L: float) -> Risk:
    """Noise variance σ² above which remembering one neighbour increases the risk: (1 −
    L)²(1 − E Z_n/d), and (1 − L)² for n → ∞ [S-S4]. Symbols as in `resmem_law`.
    """
    return (1 - L) ** 2 - resmem_law(n, d, L)


@checked
def useful_from(d: int) -> float:
    """Smallest n such that the bound of Lemma D.1, as printed and with constant 1, is
    below the trivial bound 2d for this and every larger n [S-lemD.1]; ∞ if that n is
    above 10³⁰⁰.
    """
    d = integer("d", d, "a positive integer number of dimensions")
    level = (2 / d) ** d * d  # d²[log n/(dn)]^{1/d} < 2d  ⟺  log n/n < level
    if level > 1 / np.e:
        return 1.0  # log n/n is at most 1/e, so below the level for every n
    if log(1e300) / 1e300 > level:
        return inf
    root = brentq(lambda u: log(u) - u - log(level), 1.0, log(1e300))  # in u = log n
    return float(ceil(exp(root))) if root < 30 else exp(root)
