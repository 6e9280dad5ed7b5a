"""Thresholds of retrieval: numbers of features, signal-to-noise ratio, and numbers of
bits.

Near a stored pattern ξ, the distributed memory estimates the partition sum by Ŝ =
exp(−‖u‖²/2) + σh(u) with u = √β(x − ξ) and σ = √(K/2Y), where h is close to a Gaussian
field of unit variance. In the coordinate u, slope and curvature of the energy near the
pattern then depend on D, K and Y only through c = σ√D = √(DK/2Y) [D-sharp5]. `basin`
computes the distance from which the pattern is retrieved. These are laws for random,
well separated patterns and sincos features, and the tests compare them with
simulations. The information bound is a theorem [D-sharp7].
"""

import jax
import jax.numpy as jnp
from jax.scipy.special import erfc, xlogy
from jaxtyping import Array, ArrayLike, Float

from rankone._annotated import Broadcast, checked

__all__ = [
    "bit_error",
    "break_even_features",
    "displacement",
    "features_for_stability",
    "hessian_edges",
    "information_bound",
    "noise",
    "roughness",
    "signal_to_noise",
]


@checked
def noise(*, K: Broadcast, Y: Broadcast) -> Float[Array, "..."]:
    """Standard deviation σ = √(K/2Y) of Ŝ far from all K patterns, for Y frequencies of
    sincos [D-sharp2].
    """
    return jnp.sqrt(jnp.asarray(K) / (2 * jnp.asarray(Y)))


@checked
@jax.jit
def signal_to_noise(
    x: Float[ArrayLike, "*#n D"],
    xi: Float[ArrayLike, "*#n D"],
    *,
    beta: Broadcast,
    K: Broadcast,
    Y: Broadcast,
) -> Float[Array, "..."]:
    """Signal-to-noise ratio of a query: the kernel between the query and its target
    pattern, divided by the noise of the features [D-sharp5].

    The ratio is exp(−β‖x − ξ‖²/2)/√(K/2Y). Below 1 noise dominates the first step. Even
    above 1 the step need not lead to ξ, because the noise moves a state along D
    directions at once. `basin.slope_ratio` decides whether it does. For √β‖x − ξ‖ ≥ 1
    the slope ratio is this ratio times √β‖x − ξ‖/√D.

    Args:
        x: Queries (..., D) before the first step, in the unit of the patterns.
        xi: The target pattern of each query (..., D).
        beta: Inverse temperature, 1/unit².
        K: Number of patterns stored.
        Y: Number of frequencies.
    """
    distance2 = ((jnp.asarray(x) - jnp.asarray(xi)) ** 2).sum(-1)
    return jnp.exp(-jnp.asarray(beta) / 2 * distance2) / noise(K=K, Y=Y)


@checked
def roughness(*, D: Broadcast, K: Broadcast, Y: Broadcast) -> Float[Array, "..."]:
    """Roughness c = √(DK/2Y) = σ√D: length of the gradient of the noise σh(u) at a
    pattern, in the scaled distance u = √β(x − ξ) [D-sharp5].

    The gradient of exp(−‖u‖²/2), the pattern's own contribution, has the length ‖u‖
    near the pattern.

    Args:
        D: Length of a pattern, or the number of free entries if some are clamped.
        K: Number of patterns.
        Y: Number of frequencies.
    """
    return jnp.sqrt(jnp.asarray(D)) * noise(K=K, Y=Y)


@checked
def features_for_stability(*, D: Broadcast, K: Broadcast) -> Float[Array, "..."]:
    """Number of frequencies Y = 2DK from which the energy is convex at a stored
    pattern: the lower edge 1 − 2c of its Hessian's spectrum is zero at this Y
    [D-sharp5, D-unn5].
    """
    return 2.0 * jnp.asarray(D) * jnp.asarray(K)


@checked
@jax.jit
def hessian_edges(
    *, D: Broadcast, K: Broadcast, Y: Broadcast
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Edges 1 ∓ 2c of the spectrum of the Hessian ∇²Ê at a stored pattern, by Wigner's
    semicircle law, with c the `roughness` [D-sharp5].
    """
    c = roughness(D=D, K=K, Y=Y)
    return 1 - 2 * c, 1 + 2 * c


@checked
@jax.jit
def displacement(
    *, D: Broadcast, K: Broadcast, Y: Broadcast, beta: Broadcast
) -> Float[Array, "..."]:
    """Distance c/√β of the distributed fixed point from the stored pattern, for small
    `roughness` c, in the unit of the patterns [D-sharp5].
    """
    return roughness(D=D, K=K, Y=Y) / jnp.sqrt(jnp.asarray(beta))


@checked
@jax.jit
def bit_error(
    *, D: Broadcast, K: Broadcast, Y: Broadcast, beta: Broadcast
) -> Float[Array, "..."]:
    """Fraction of wrong bits after rounding, Q(√β/2c), at a stored binary pattern with
    entries 0 and 1/√D [D-sharp5].

    Q is the upper tail of the standard normal distribution, and c the `roughness`. The
    displacement of the fixed point is like independent normal errors of the D entries,
    and flips those that move by more than 1/(2√D), past the midpoint. The formula is of
    first order in c: use it for c below about a half. The chapter on retrieval states
    it as the third law of the threshold, and only the tests evaluate it.
    """
    return erfc(jnp.sqrt(jnp.asarray(beta) / 8) / roughness(D=D, K=K, Y=Y)) / 2


@checked
def information_bound(
    *, D: Broadcast, K: Broadcast, flips: Broadcast, errors: Broadcast = 0.0
) -> Float[Array, "..."]:
    """Bits that any memory needs to repair K random D-bit patterns, KD(h₂(f) − h₂(ρ))
    with the binary entropy h₂ [D-sharp7].

    Args:
        D: Bits in a pattern.
        K: Number of patterns.
        flips: f, the fraction of flipped bits in a cue, at most one half.
        errors: ρ ≤ f, the fraction of wrong bits allowed after recall.
    """
    bits = _entropy(flips) - _entropy(errors)
    return jnp.asarray(K) * jnp.asarray(D) * jnp.maximum(bits, 0)


@checked
def break_even_features(*, D: Broadcast, K: Broadcast) -> Float[Array, "..."]:
    """Number of frequencies Y = DK/2 at which T with its 2Y entries has as many numbers
    as the K patterns with their D entries [D-fig2].
    """
    return jnp.asarray(D) * jnp.asarray(K) / 2.0


@jax.jit
def _entropy(p: ArrayLike) -> Float[Array, "..."]:
    """Binary entropy in bits; 0 at 0 and 1."""
    p = jnp.asarray(p, float)
    return -(xlogy(p, p) + xlogy(1 - p, 1 - p)) / jnp.log(2.0)
