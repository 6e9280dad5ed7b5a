"""cos and sin together, from one range reduction and two short polynomials.

On a CPU the compiler's own float32 cosine is the bottleneck of every random feature (an order of magnitude slower
than the products around it); this form is fused into them. The error is below 1e-6 for |angle| ≤ 1e4.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = ["cos_sin"]

# π/2 in three parts (Cody and Waite): the first two have few enough bits that quadrant·part is exact in float32.
_HALF_PI = (1.5703125, 4.837512969970703e-4, 7.549790126404332e-8)
# Minimax coefficients on [−π/4, π/4], as in Cephes sinf and cosf.
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


@jax.custom_jvp
def cos_sin(angle: Float[Array, "..."]) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """(cos angle, sin angle): polynomials in float32, the library's functions in float64."""
    if angle.dtype != jnp.float32:
        return jnp.cos(angle), jnp.sin(angle)
    quadrant = jnp.round(angle * (2 / jnp.pi))
    r = ((angle - quadrant * _HALF_PI[0]) - quadrant * _HALF_PI[1]) - quadrant * _HALF_PI[2]
    r2 = r * r
    sin = r + r * r2 * ((_SIN[0] * r2 + _SIN[1]) * r2 + _SIN[2])
    cos = 1 - 0.5 * r2 + r2 * r2 * ((_COS[0] * r2 + _COS[1]) * r2 + _COS[2])
    q = quadrant.astype(jnp.int32)
    swap, odd = (q & 1) == 1, (q & 2) == 2
    c, s = jnp.where(swap, sin, cos), jnp.where(swap, cos, sin)
    return jnp.where(odd != swap, -c, c), jnp.where(odd, -s, s)


@cos_sin.defjvp
def _cos_sin_jvp(primals, tangents):  # type: ignore[no-untyped-def]
    c, s = cos_sin(*primals)
    (t,) = tangents
    return (c, s), (-s * t, c * t)
