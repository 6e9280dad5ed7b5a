"""Effect of one gradient step on a network of one hidden layer: all answers move in the
same direction [M-S9].

The network is f(x) = c + Σᵢ oᵢ(wᵢx + bᵢ)₊ with one input x ≥ 0, and the step trains all
of c, o, w and b. A step of size α on ½(f(x) − y)² has the strength d = α(y − f(x)).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._annotated import Broadcast, checked
from rankone._checks import array, numbers

__all__ = ["one_layer_kernel", "one_layer_move"]

Points = Float[Array, "..."]


@checked
def one_layer_kernel(
    w: Float[ArrayLike, " h"],
    b: Float[ArrayLike, " h"],
    o: Float[ArrayLike, " h"],
    x: Broadcast,
    x_star: Broadcast,
) -> Points:
    r"""Kernel K of a step to first order: the output at x* changes by d·K(x, x*) +
    O(d²) [M-S9].

    $K=1+\sum_ih_i(x)h_i(x^*)+(1+xx^*)\sum_io_i^2\,\mathbf 1_i(x)\mathbf 1_i(x^*)$ with
    the activation $h_i(x)=(w_ix+b_i)_+$ of unit i, and $\mathbf 1_i(x)=1$ where unit i
    is active. K is at least 1 for $x,x^*\ge0$. The strength d is α(y − f(x)).

    Args:
        w: Weights on x (h,).
        b: Biases (h,).
        o: Output weights (h,).
        x: Input of the example, broadcast against x_star.
        x_star: Where the output is read.
    """
    return _kernel(*_units(w, b, o), *_points(x, x_star))


@checked
def one_layer_move(
    w: Float[ArrayLike, " h"],
    b: Float[ArrayLike, " h"],
    o: Float[ArrayLike, " h"],
    x: Broadcast,
    x_star: Broadcast,
    d: Broadcast,
) -> Points:
    r"""Change of the output at x* by a step of strength d, to all orders [M-S9].

    $d+\sum_{i:p_i(x)>0}\big[(o_i+d\,p_i(x))\,(p_i(x^*)+d\,o_i(1+xx^*))_+-o_i\,p_i(x^*)_+\big]$
    with $p_i(x)=w_ix+b_i$. For $x,x^*\ge0$ the change has the sign of d, and its
    absolute value is at least $|d|$.

    Args:
        w: Weights on x (h,).
        b: Biases (h,).
        o: Output weights (h,).
        x: Input of the example, broadcast against x_star and d.
        x_star: Where the output is read.
        d: Strength of the step, α(y − f(x)).
    """
    return _move(*_units(w, b, o), *_points(x, x_star, d))


def _units(w: ArrayLike, b: ArrayLike, o: ArrayLike) -> tuple[Array, ...]:
    """The units' weights as arrays of one length."""
    units = tuple(
        array(name, value, "(h,): one per unit", 1)
        for name, value in (("w", w), ("b", b), ("o", o))
    )
    for name, value in zip("bo", units[1:], strict=True):
        if value.shape != units[0].shape:
            raise ValueError(
                f"{name}: got shape {value.shape}; "
                f"it must be of the shape of w, {units[0].shape}."
            )
    return units


def _points(x: ArrayLike, x_star: ArrayLike, *d: ArrayLike) -> list[Array]:
    return [
        numbers("x", x),
        numbers("x_star", x_star),
        *(numbers("d", value) for value in d),
    ]


def _before(w: Array, b: Array, t: Array) -> Array:
    """The units' pre-activations at t (..., h)."""
    output = jnp.multiply.outer(t, w)
    return output + jnp.broadcast_to(b, output.shape)


@jax.jit
def _kernel(w: Array, b: Array, o: Array, x: Array, x_star: Array) -> Array:
    x, x_star = jnp.broadcast_arrays(x, x_star)
    at_x, at_query = (_before(w, b, t) for t in (x, x_star))
    active = (at_x > 0) & (at_query > 0)
    o = jnp.broadcast_to(o, at_x.shape)
    return 1 + jnp.where(
        active, at_x * at_query + (1 + x * x_star)[..., None] * o**2, 0
    ).sum(-1)


@jax.jit
def _move(w: Array, b: Array, o: Array, x: Array, x_star: Array, d: Array) -> Array:
    x, x_star, d = jnp.broadcast_arrays(x, x_star, d)
    at_x, at_query = (_before(w, b, t) for t in (x, x_star))
    d_ = d[..., None]
    k = (1 + x * x_star)[..., None]
    o = jnp.broadcast_to(o, at_x.shape)
    output = (o + d_ * at_x) * jax.nn.relu(at_query + d_ * o * k)
    return d + jnp.where(at_x > 0, output - o * jax.nn.relu(at_query), 0).sum(-1)
