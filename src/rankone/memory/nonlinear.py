"""The functions Q, F, S and g of the general dense memory, each with its derivative
[D-eq3].

Each has a few named forms written out by hand; a callable of your own is differentiated
by JAX.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from rankone._checks import brief
from rankone._device import on_processor

__all__ = [
    "ACTIVATIONS",
    "FORMS",
    "OUTER",
    "SEPARATIONS",
    "SIMILARITIES",
    "Function",
    "lookup",
]


@dataclass(frozen=True)
class Function:
    """A function together with its derivative or its vector–Jacobian product, for the
    chain rule.
    """

    value: Callable[..., Array]
    derivative: Callable[..., Array]


# g: x (N, D) -> (N, D), with derivative (v, x) ↦ J_g(x)ᵀ v [D-eq6, D-fn3].
def _unit(x: Array) -> Array:
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True)


def _unit_vjp(v: Array, x: Array) -> Array:
    """Jᵀv with J = (I − x xᵀ/‖x‖²)/‖x‖; the footnote prints ‖x‖^(3/2) inside
    [D-fn3].
    """
    n = _unit(x)
    return (v - n * (n * v).sum(-1, keepdims=True)) / jnp.linalg.norm(
        x, axis=-1, keepdims=True
    )


ACTIVATIONS = {
    "identity": Function(lambda x: x, lambda v, x: v),
    "unit": Function(_unit, _unit_vjp),
    "tanh": Function(jnp.tanh, lambda v, x: v * (1 - jnp.tanh(x) ** 2)),
}


# S: (Xi (K, D), z (N, D), ‖ξ‖² (K,) or None) -> (N, K), with derivative (weights (N,
# K), Xi, z) ↦ Σ_μ w_μ ∂S(ξ^μ, z)/∂z (N, D). Queries come first: the long axis K is then
# contiguous in both products, which is a third faster on a CPU than (K, N).
def _dot(Xi: Array, z: Array, squares: Array | None = None) -> Array:
    if len(z) == 1 and not on_processor():
        # fused with the operations that produce Xi, so that Xi is read once
        return (Xi * z).sum(-1)[None]
    # a matrix times a vector: this orientation reads Xi up to ten times faster
    if len(z) == 1:
        return jnp.matmul(Xi, z[0], precision="highest")[None]
    return jnp.matmul(z, Xi.T, precision="highest")


def _mean(w: Array, Xi: Array, z: Array) -> Array:
    if len(w) == 1 and not on_processor():
        return (w[0][:, None] * Xi).sum(0)[None]
    return jnp.matmul(w, Xi, precision="highest")


def _l2(Xi: Array, z: Array, squares: Array | None) -> Array:
    if len(z) * Xi.size <= 2**18 or (len(z) == 1 and squares is None):
        # differences lose no digits near a stored pattern
        return -0.5 * ((z[:, None] - Xi[None]) ** 2).sum(-1)
    squares = (Xi * Xi).sum(-1) if squares is None else squares
    return jnp.minimum(
        _dot(Xi, z) - 0.5 * (squares[None] + (z * z).sum(-1)[:, None]), 0
    )


SIMILARITIES = {
    "l2": Function(_l2, lambda w, Xi, z: _mean(w, Xi, z) - w.sum(-1)[:, None] * z),
    "dot": Function(_dot, _mean),
}

# F: scalar, with derivative F'. MrDAM applies "exp" to βS, and in the log domain if Q
# is "log".
SEPARATIONS = {
    "exp": Function(jnp.exp, jnp.exp),
    "square": Function(jnp.square, lambda s: 2 * s),
    "cubic": Function(lambda s: s**3, lambda s: 3 * s**2),
    "quartic": Function(lambda s: s**4, lambda s: 4 * s**3),
    "rectified cubic": Function(
        lambda s: jax.nn.relu(s) ** 3, lambda s: 3 * jax.nn.relu(s) ** 2
    ),
}

# Q: scalar and increasing. MrDAM divides "log" by β.
OUTER = {
    "log": Function(jnp.log, lambda u: 1 / u),
    "identity": Function(lambda u: u, jnp.ones_like),
}

FORMS = {
    "similarity": SIMILARITIES,
    "separation": SEPARATIONS,
    "Q": OUTER,
    "g": ACTIVATIONS,
}


def lookup(role: str, form: Any) -> Function:
    """`Function` with the given name, or one made from the caller's own function, with
    its derivative by automatic differentiation.

    Args:
        role: One of the four: "similarity", "separation", "Q" or "g".
        form: A name, or a function.
    """
    if callable(form):
        return _WRAPPERS.get(role, _elementwise)(form)
    is_name = isinstance(form, Hashable) and form in FORMS[role]
    if not is_name:
        raise ValueError(
            f"{role}: got {brief(form)}; it must be "
            f"{'a function, or one of ' + ', '.join(map(repr, FORMS[role]))}."
        )
    return FORMS[role][form]


def _elementwise(f: Callable[[Array], Array]) -> Function:
    return Function(f, lambda s: jax.vjp(f, s)[1](jnp.ones_like(f(s)))[0])


def _activation(f: Callable[[Array], Array]) -> Function:
    return Function(f, lambda v, x: jax.vjp(f, x)[1](v)[0])


def _similarity(f: Callable[[Array, Array], Array]) -> Function:
    def derivative(w: Array, Xi: Array, z: Array) -> Array:
        return jax.vjp(lambda z: f(Xi, z), z)[1](w.T)[0]

    return Function(lambda Xi, z, squares: f(Xi, z).T, derivative)


_WRAPPERS: dict[str, Callable[[Callable[..., Array]], Function]] = {
    "g": _activation,
    "similarity": _similarity,
}
