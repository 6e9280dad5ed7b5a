"""How a point of rest moves with the memory: the implicit function theorem, in both
modes of differentiation.

At rest the free entries f of the gradient are zero, ∇E(x; θ)_f = 0. Differentiate that,
with the clamped entries c: dx_f = −H_ff⁻¹ (∂_θ∇E dθ + H_fc dx_c) [D-implicit].
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from rankone.memory.protocol import Memory
from rankone.precision import wider

__all__ = ["at_rest"]

_KRYLOV = 30  # directions kept between two restarts of GMRES
_RESTARTS = 10
_UNSOLVED = 1e-2  # relative residual beyond which a solution is none


@jax.jit
def at_rest(
    memory: Memory,
    x0: Float[Array, "N D"],
    x: Float[Array, "N D"],
    free: Bool[Array, "N D"],
) -> Float[Array, "N D"]:
    """Give x back, with the derivative of a point of rest by the memory and by the
    clamped entries [D-implicit].

    Args:
        memory: Whatever `retrieve` takes.
        x0: The queries; their free entries do not matter, and have the derivative zero.
        x: Where they came to rest.
        free: Which entries could move.
    """
    return _at_rest(memory, x0, x, free)


@jax.custom_jvp
def _at_rest(memory: Memory, x0: Array, x: Array, free: Array) -> Array:
    return x


@_at_rest.defjvp
def _moved(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    memory, x0, x, free = primals
    # again, so that the derivative has one of its own
    x = _at_rest(memory, x0, x, free)
    wide = wider(x.dtype, jnp.float32)  # no linear system is solved in half precision
    known = jnp.where(free, 0, tangents[1]).astype(wide)

    def gradient(memory: Memory, x: Array) -> Array:
        return memory.energy_and_gradient(x)[1].astype(wide)

    force = jax.jvp(gradient, (memory, x.astype(wide)), (tangents[0], known))[1]
    solved = jax.vmap(lambda *row: _solved(memory, *row))(
        x.astype(wide), free, jnp.where(free, -force, 0)
    )
    return x, jnp.where(free, solved, known).astype(x.dtype)


def _solved(
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

    def masked(v: Array) -> Array:
        return jnp.where(free, hessian(jnp.where(free, v, 0)), v)

    _, hessian = jax.linearize(gradient, x)
    return jax.lax.custom_linear_solve(masked, b, _gmres, _gmres)


def _gmres(H: Callable[[Array], Array], b: Array) -> Array:
    """Solution with a relative residual of ε^⅔; NaN if the restarts leave a hundredth,
    as with a singular H.
    """
    # ε^¾ would take float32 twice the time, in chase of its rounding
    tol = float(jnp.finfo(b.dtype).eps) ** (2 / 3)
    options = {
        "tol": tol,
        "restart": min(_KRYLOV, len(b)),
        "maxiter": _RESTARTS,
        "solve_method": "incremental",
    }
    w, _ = jax.scipy.sparse.linalg.gmres(H, b, **options)
    left = jnp.linalg.norm(H(w) - b)
    return jnp.where(left <= _UNSOLVED * jnp.linalg.norm(b), w, jnp.nan)
