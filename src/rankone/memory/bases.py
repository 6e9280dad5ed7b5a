"""The four random-feature bases for the Gaussian kernel k(z, z') = exp(−‖z − z'‖²/2)
[D-eq8].

A basis defines the contribution of one block of projections h = Ωz to φ(z), to
S = ⟨φ(z), T⟩, and to the derivative of S. `tables` is the part of T that belongs to the
block: one row for cos and exp, two for sincos (cos, then sin) and for expexp (+h, then
−h).
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = ["BASES", "FARTHEST", "Basis", "cos_sin", "value"]

Features = Callable[[Array, Array, Array], tuple[Array, ...]]
Slopes = Callable[[tuple[Array, ...], tuple[Array, ...]], Array]


@dataclass(frozen=True)
class Basis:
    """One random-feature basis: the formulas of its features and of their derivatives.

    Attributes:
        tables: Features per frequency: 2 for sincos and expexp, 1 otherwise.
        features: (h, ‖z‖², phase) ↦ the unscaled features, a tuple of `tables` arrays
            like h; "cos" adds the sines, which `slopes` needs.
        slopes: (features, rows of T) ↦ ∂S/∂h, unscaled.
        scale: φ carries the factor sqrt(scale / Y).
        positive: True if the features are exponentials, with the prefactor exp(−‖z‖²).
        noise: Y times the variance of the estimated kernel of a distant pattern, which
            determines the floor of the logarithm.
    """

    tables: int
    features: Features
    slopes: Slopes
    scale: float
    positive: bool
    noise: float


def _sincos(h: Array, z2: Array, phase: Array) -> tuple[Array, ...]:
    return cos_sin(h)


def _cos(h: Array, z2: Array, phase: Array) -> tuple[Array, ...]:
    return cos_sin(h + phase)


def _exp(h: Array, z2: Array, phase: Array) -> tuple[Array, ...]:
    return (jnp.exp(h - z2),)


def _expexp(h: Array, z2: Array, phase: Array) -> tuple[Array, ...]:
    return jnp.exp(h - z2), jnp.exp(-h - z2)


BASES = {
    "sincos": Basis(
        2, _sincos, lambda f, T: f[0] * T[1] - f[1] * T[0], 1.0, False, 0.5
    ),
    "cos": Basis(1, _cos, lambda f, T: -f[1] * T[0], 2.0, False, 1.0),
    # The map printed in the paper shifts the exponent at random, which multiplies the
    # kernel by 22,819. This map has no shift [D-appC-Exp].
    "exp": Basis(1, _exp, lambda f, T: f[0] * T[0], 1.0, True, 0.0),
    "expexp": Basis(2, _expexp, lambda f, T: f[0] * T[0] - f[1] * T[1], 0.5, True, 0.0),
}


def value(
    basis: Basis, features: tuple[Array, ...], tables: tuple[Array, ...]
) -> Float[Array, " N"]:
    """Contribution of one block of frequencies to S = ⟨φ(z), T⟩, not yet scaled: the
    sum Σ features·T over the block. Queries are on the second to last axis.
    """
    head, *tail = (f * t for f, t in zip(features, tables, strict=False))
    total = sum(tail, head)
    return total.sum((*range(total.ndim - 2), -1))


# On a CPU the compiler's own float32 cosine is the bottleneck of every random feature:
# it is an order of magnitude slower than the products around it. The range reduction
# and the two short polynomials below are fused into the operations around them.

# π/2 in three parts (Cody and Waite): the first two have few enough bits that
# quadrant·part is exact in float32 up to an angle of 10⁵, where the angle itself is
# rounded to 4e-3. An angle ⟨ω, z⟩ exceeds 5‖z‖ so rarely that the angles of inputs up
# to the length `FARTHEST` stay below 10⁵.
_HALF_PI = (1.5703125, 4.837512969970703e-4, 7.549790126404332e-8)
_LARGEST_ANGLE = 1e5
FARTHEST = _LARGEST_ANGLE / 5
# Minimax coefficients on [−π/4, π/4], as in Cephes sinf and cosf.
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


@jax.custom_jvp
def cos_sin(
    angle: Float[Array, "..."],
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Cosine and sine of angles: by polynomials in float32, NaN beyond 10⁵; by
    `jax.numpy` in float64.
    """
    if angle.dtype != jnp.float32:
        return jnp.cos(angle), jnp.sin(angle)
    quadrant = jnp.round(angle * (2 / jnp.pi))
    quadrant = jnp.where(jnp.abs(angle) <= _LARGEST_ANGLE, quadrant, jnp.nan)
    r = (
        (angle - quadrant * _HALF_PI[0]) - quadrant * _HALF_PI[1]
    ) - quadrant * _HALF_PI[2]
    r2 = r * r
    sin = r + r * r2 * ((_SIN[0] * r2 + _SIN[1]) * r2 + _SIN[2])
    cos = 1 - 0.5 * r2 + r2 * r2 * ((_COS[0] * r2 + _COS[1]) * r2 + _COS[2])
    q = quadrant.astype(jnp.int32)  # any integer for NaN: cos and sin are NaN as well
    quarter_turn = (q & 1) == 1
    half_turn = (q & 2) == 2
    c = jnp.where(quarter_turn, sin, cos)
    s = jnp.where(quarter_turn, cos, sin)
    return jnp.where(half_turn != quarter_turn, -c, c), jnp.where(half_turn, -s, s)


@cos_sin.defjvp
def _cos_sin_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    c, s = cos_sin(*primals)
    (t,) = tangents
    return (c, s), (-s * t, c * t)
