"""Effect of rounding T to a few bits per entry on the values read from T [D-sharp12,
D-sharp16].

The memory reads T̂ = T + q in place of T, where q is the error of rounding. One theorem
holds for every q (`rounding_error`). The other results are an approximate law for the
levels to which `rankone.memory.packed.rounded` rounds: those of least mean squared
error for a normal variable (Lloyd and Max). Entries of T are sums of K cosines of
nearly independent phases, so that they are close to normal with the variance K/2Y.
Rounding a normal variable to its 2^b best levels multiplies its variance by 1 − d_b,
and thus the noise of Ŝ by √(1 − d_b). The part of T that comes from one pattern is
multiplied by 1 − d_b. The ratio of signal to noise is then that of (1 − d_b)Y features
without rounding, and every law of `thresholds` holds with this smaller number.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float
from scipy.special import ndtr

from rankone._annotated import checked
from rankone.memory.distributed import DrDAM
from rankone.memory.packed import check_bits, levels
from rankone.theory.thresholds import features_for_stability

__all__ = ["distortion", "effective_features", "rounding_error", "stored_bits"]


@checked
def distortion(bits: int) -> float:
    """Mean squared error d_b of a standard normal variable rounded to the 2^b levels
    for which this error is least (Lloyd and Max) [D-sharp16].

    The error is 1 − 2/π for one bit. It is 0 for 32 bits, which stand for no rounding.
    For many bits each further bit divides the error by about four.

    Args:
        bits: 32, 8, 4, 2 or 1.
    """
    if check_bits(bits) == 32:
        return 0.0
    c = levels(bits)
    edges = np.concatenate([[-np.inf], (c[1:] + c[:-1]) / 2, [np.inf]])
    first_moments = -np.diff(np.exp(-(edges**2) / 2)) / np.sqrt(2 * np.pi)
    return float(1 - 2 * c @ first_moments + c**2 @ np.diff(ndtr(edges)))


@checked
def effective_features(Y: ArrayLike, *, bits: int) -> Float[Array, "..."]:
    """Number (1 − d_b)Y of frequencies for which an unrounded T has the signal-to-noise
    ratio of a rounded T with Y frequencies [D-sharp16].

    Args:
        Y: Number of frequencies.
        bits: b, bits per entry of T: 32, 8, 4, 2 or 1. The error d_b is `distortion`.
    """
    return (1 - distortion(bits)) * jnp.asarray(Y)


@checked
def stored_bits(*, bits: int) -> float:
    """Bits of T per bit of the patterns, 4b/(1 − d_b), at the load where the
    energy ceases to be convex at a stored pattern [D-sharp16].

    At this load (1 − d_b)Y = 2DK, with d_b the `distortion`. T has 2Y entries of b
    bits, and the patterns have DK bits. The ratio is smallest for one bit per entry,
    although T then needs the most entries.

    Args:
        bits: b, bits per entry of T: 32, 8, 4, 2 or 1.
    """
    features = float(features_for_stability(D=1, K=1)) / (1 - distortion(bits))
    return 2 * features * bits


@checked
def rounding_error(
    memory: DrDAM, other: DrDAM
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Root mean square, over all of space, of the difference between two memories' Ŝ,
    and of that between their ∇Ŝ [D-sharp12].

    For sincos features with frequencies ω_α, let q be the difference of the two T. The
    two results are ‖q‖/√(2Y) and √(β/2Y · Σ_α ‖ω_α‖²(q_α² + q_{Y+α}²)). Both are exact
    if no frequency is zero and no two are equal or opposite, because the cosines are
    then orthogonal in the average over all of space.

    Args:
        memory: One memory, of sincos features.
        other: The other memory, with the same features and β; for example
            `replace(memory, bits=...)`.

    Returns:
        The root mean square of the difference of Ŝ, which has no unit, and of ∇Ŝ, in
        1/unit.
    """
    features = memory.features
    if features.basis != "sincos":
        raise ValueError(
            f"memory: got features of basis {features.basis!r}; it must be one with "
            "'sincos' features, for which the theorem is proved."
        )
    if other.T.shape != memory.T.shape:
        raise ValueError(
            f"other: got shape {other.T.shape}; "
            f"it must be of the same features, {memory.T.shape}."
        )
    return _rounding_error(
        other.unpacked - memory.unpacked, features.omega, memory.beta
    )


@jax.jit
def _rounding_error(q: Array, omega: Array, beta: Array) -> tuple[Array, Array]:
    power = (q.reshape(2, -1) ** 2).sum(0)
    value = power.sum()
    gradient = beta * (power @ (omega**2).sum(1))
    return jnp.sqrt(value / q.size), jnp.sqrt(gradient / q.size)
