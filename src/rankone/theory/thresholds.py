"""Thresholds of retrieval: numbers of features, signal-to-noise ratio, and numbers of
bits.

Near a stored pattern the estimate is Ŝ = exp(−‖u‖²/2) + σh(u), u = √β(x − ξ), with σ =
√(K/2Y) and h close to a Gaussian field of unit variance. The energy near the pattern
then depends only on c = σ√D = √(DK/2Y) [D-sharp5]. `basin` computes from which distance
the pattern is retrieved. These are laws for random, well separated patterns and sincos
features, verified against simulation in the tests; the information bound is a theorem
[D-sharp7].
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

    exp(−β‖x − ξ‖²/2)/√(K/2Y). Below 1 noise dominates the first step. Above 1 the step
    need not lead to ξ, because the noise moves a state along D directions at once.
    `basin.slope_ratio` decides, which is this number times √β‖x − ξ‖/√D.

    Args:
        x: Queries (..., D), in the unit of the patterns, as they are before the first
            step.
        xi: The target pattern of each query (..., D).
        beta: Inverse temperature, 1/unit².
        K: Number of patterns stored.
        Y: Number of frequencies.
    """
    distance2 = ((jnp.asarray(x) - jnp.asarray(xi)) ** 2).sum(-1)
    return jnp.exp(-jnp.asarray(beta) / 2 * distance2) / noise(K=K, Y=Y)


@checked
def roughness(*, D: Broadcast, K: Broadcast, Y: Broadcast) -> Float[Array, "..."]:
    """Roughness c = √(DK/2Y): the noise of the gradient in units of the gradient of the
    well [D-sharp5].

    Args:
        D: Length of a pattern; its free entries, if some are clamped.
        K: Number of patterns.
        Y: Number of frequencies.
    """
    return jnp.sqrt(jnp.asarray(D)) * noise(K=K, Y=Y)


@checked
def features_for_stability(*, D: Broadcast, K: Broadcast) -> Float[Array, "..."]:
    """Number of frequencies Y = 2DK from which the energy is convex at a stored
    pattern: the lower edge 1 − 2c of its Hessian is zero there [D-sharp5, D-unn5].
    """
    return 2.0 * jnp.asarray(D) * jnp.asarray(K)


@checked
@jax.jit
def hessian_edges(
    *, D: Broadcast, K: Broadcast, Y: Broadcast
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Edges 1 ∓ 2c of the spectrum of the Hessian ∇²Ê at a stored pattern, by Wigner's
    semicircle [D-sharp5].
    """
    c = roughness(D=D, K=K, Y=Y)
    return 1 - 2 * c, 1 + 2 * c


@checked
@jax.jit
def displacement(
    *, D: Broadcast, K: Broadcast, Y: Broadcast, beta: Broadcast
) -> Float[Array, "..."]:
    """Distance c/√β of the distributed fixed point from the stored pattern, for small
    c, in the unit of the patterns [D-sharp5].
    """
    return roughness(D=D, K=K, Y=Y) / jnp.sqrt(jnp.asarray(beta))


@checked
@jax.jit
def bit_error(
    *, D: Broadcast, K: Broadcast, Y: Broadcast, beta: Broadcast
) -> Float[Array, "..."]:
    """Fraction of wrong bits after rounding, Q(√β/2c), at a stored binary pattern
    [D-sharp5].

    A displacement spread evenly over D entries of {0, 1/√D} flips the entries that move
    by more than 1/(2√D). The formula is of first order in c: use it for c below about a
    half. The chapter on retrieval states it as the third law of the threshold; only its
    tests evaluate it.
    """
    return erfc(jnp.sqrt(jnp.asarray(beta) / 8) / roughness(D=D, K=K, Y=Y)) / 2


@checked
def information_bound(
    *, D: Broadcast, K: Broadcast, flips: Broadcast, errors: Broadcast = 0.0
) -> Float[Array, "..."]:
    """Bits that any memory needs to repair K random D-bit patterns, KD(h₂(f) − h₂(ρ))
    [D-sharp7].

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
    as the patterns [D-fig2].
    """
    return jnp.asarray(D) * jnp.asarray(K) / 2.0


@jax.jit
def _entropy(p: ArrayLike) -> Float[Array, "..."]:
    """Binary entropy in bits; 0 at 0 and 1."""
    p = jnp.asarray(p, float)
    return -(xlogy(p, p) + xlogy(1 - p, 1 - p)) / jnp.log(2.0)
