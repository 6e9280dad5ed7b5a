"""Derivative of a fixed point with respect to the memory, by the implicit function
theorem, in both modes of differentiation.

At a fixed point x the free entries f of the gradient are zero, ∇E(x; θ)_f = 0, where θ
are the arrays of the memory. The derivative of this equation, with the Hessian H and
the clamped entries c, gives
dx_f = −H_ff⁻¹ ((∂_θ∇E dθ)_f + H_fc dx_c) [D-implicit].
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from rankone.memory.protocol import Memory
from rankone.precision import wider

__all__ = ["at_rest"]

_KRYLOV = 30  # directions stored between two restarts of GMRES
_RESTARTS = 10
_RESIDUAL = 1e-2  # relative residual above which a solution is rejected


@jax.jit
def at_rest(
    memory: Memory,
    x0: Float[Array, "N D"],
    x: Float[Array, "N D"],
    free: Bool[Array, "N D"],
) -> Float[Array, "N D"]:
    """The states x, with the derivative of a fixed point with respect to the memory and
    to the clamped entries [D-implicit].

    Args:
        memory: Memory, of any class that `retrieve` takes.
        x0: The queries. The derivative with respect to their free entries is zero.
        x: Fixed points that the queries reached.
        free: True where an entry is not clamped.
    """
    return _at_rest(memory, x0, x, free)


@jax.custom_jvp
def _at_rest(memory: Memory, x0: Array, x: Array, free: Array) -> Array:
    return x


@_at_rest.defjvp
def _at_rest_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    memory, x0, x, free = primals
    # through `_at_rest`, so that the derivative can be differentiated itself
    x = _at_rest(memory, x0, x, free)
    dtype = wider(x.dtype, jnp.float32)  # no linear system is solved in half precision
    clamp_tangent = jnp.where(free, 0, tangents[1]).astype(dtype)

    def gradient(memory: Memory, x: Array) -> Array:
        return memory.energy_and_gradient(x)[1].astype(dtype)

    point = (memory, x.astype(dtype))
    _, force = jax.jvp(gradient, point, (tangents[0], clamp_tangent))
    solution = jax.vmap(lambda *row: _solve(memory, *row))(
        x.astype(dtype), free, jnp.where(free, -force, 0)
    )
    return x, jnp.where(free, solution, clamp_tangent).astype(x.dtype)


def _solve(
    memory: Memory,
    x: Float[Array, " D"],
    free: Bool[Array, " D"],
    b: Float[Array, " D"],
) -> Float[Array, " D"]:
    """H_ff⁻¹b on the free entries of one query; the field need not be a gradient, nor H
    symmetric.
    """

    def gradient(x: Array) -> Array:
        return memory.energy_and_gradient(x[None])[1][0].astype(x.dtype)

    def operator(v: Array) -> Array:
        return jnp.where(free, hessian(jnp.where(free, v, 0)), v)

    _, hessian = jax.linearize(gradient, x)
    return jax.lax.custom_linear_solve(operator, b, _gmres, _gmres)


def _gmres(H: Callable[[Array], Array], b: Array) -> Array:
    """Solution with a relative residual of ε^⅔; NaN if the restarts leave a hundredth,
    as with a singular H.
    """
    # In float32, ε^¾ would take twice the time, because it is close to rounding.
    tol = float(jnp.finfo(b.dtype).eps) ** (2 / 3)
    options = {
        "tol": tol,
        "restart": min(_KRYLOV, len(b)),
        "maxiter": _RESTARTS,
        "solve_method": "incremental",
    }
    # jax's GMRES answers 0 if ‖b‖ is below ε, which a deep fixed point's b can be.
    largest = jnp.abs(b).max()
    scale = jnp.where(largest > 0, largest, 1)
    b = b / scale
    w, _ = jax.scipy.sparse.linalg.gmres(H, b, **options)
    residual = jnp.linalg.norm(H(w) - b)
    return jnp.where(residual <= _RESIDUAL * jnp.linalg.norm(b), w * scale, jnp.nan)
