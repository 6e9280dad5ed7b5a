"""Dense layers and one gradient step, the parts of the small networks in the book.
Optimisers come from optax.

A weight matrix W has shape (out, in) and acts on column vectors, as in every formula of
the book. A batch x (..., in) has one input per row, so a layer computes x Wᵀ + b.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import (
    array,
    boolean,
    brief,
    floating,
    host,
    inputs,
    numbers,
    real,
    renamed,
)
from rankone._module import Module
from rankone.precision import wider

__all__ = ["Dense", "append_one", "gradient_step", "initial_layers", "relu_network"]


class Dense(Module):
    """One dense layer x ↦ x Wᵀ + b, or a stack of n layers of equal shape, to be
    scanned [K-eq0].

    Attributes:
        W: Weights (out, in); (n, out, in) for a stack of n layers.
        b: Biases (out,) or (n, out); None for a layer without biases.

    Raises:
        ValueError: If the shapes do not fit, or an entry is not finite.

    >>> import numpy as np, rankone as ro
    >>> layer = ro.nn.Dense(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([10.0, 20.0]))
    >>> print(layer(np.ones(2)))
    [13. 21.]
    """

    W: Float[Array, "*n out in"]
    b: Float[Array, "*n out"] | None = None

    def __init__(self, W: ArrayLike, b: ArrayLike | None = None) -> None:
        weights = host("W", W)
        W = array("W", weights, "(out, in)", max(2, weights.ndim), once=True)
        if b is not None:
            b = array("b", b, f"{W.shape[:-1]}", W.ndim - 1, once=True)
            if b.shape != W.shape[:-1]:
                raise ValueError(
                    f"b: got shape {b.shape}; it must be of shape {W.shape[:-1]}, one "
                    "per row of W."
                )
        self.W = W
        self.b = b

    def __call__(self, x: Real[ArrayLike, "*rows in"]) -> Float[Array, "*rows out"]:
        """Outputs (..., out) of one layer at inputs (..., in)."""
        return _affine(self, inputs(x, self.W.shape[-1]))

    @property
    def augmented(self) -> Float[Array, "*n out columns"]:
        """Matrix [W b], which acts on `features(x)`; W itself for a layer without a
        bias.
        """
        return (
            self.W
            if self.b is None
            else jnp.concatenate([self.W, self.b[..., None]], -1)
        )

    def features(self, x: Real[ArrayLike, "*rows in"]) -> Real[Array, "*rows columns"]:
        """Inputs (..., in + 1) with a 1 appended for the bias; the inputs themselves
        for a layer without a bias.
        """
        return numbers("x", x) if self.b is None else append_one(x)

    @classmethod
    def from_augmented(cls, matrix: ArrayLike, *, bias: bool = True) -> "Dense":
        """The layer whose `augmented` matrix is given. With `bias`, its last column is
        b.

        Args:
            matrix: [W b] (out, in + 1), or W (out, in).
            bias: True if the last column is the bias.
        """
        entries = host("matrix", matrix)
        if entries.ndim < 2:
            raise ValueError(
                f"matrix: got shape {entries.shape}; "
                "it must be (out, in + 1), or (out, in) without a bias."
            )
        with renamed(W="matrix", b="matrix"):
            return (
                cls(entries[..., :-1], entries[..., -1])
                if boolean("bias", bias)
                else cls(entries)
            )


@jax.jit
def _affine(layer: Dense, x: Array) -> Array:
    out = x @ layer.W.T
    return out if layer.b is None else out + jnp.broadcast_to(layer.b, out.shape)


def append_one(x: Real[ArrayLike, "*rows n"]) -> Real[Array, "*rows n+1"]:
    """Inputs (..., n) with a 1 appended, which turns a bias into one more column of the
    weights.
    """
    x = numbers("x", x)
    if x.ndim < 1:
        raise ValueError(
            f"x: got shape {x.shape}; it must be of shape (..., n): one input per row."
        )
    return jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1), x.dtype)], -1)


@checked
def initial_layers(
    key: Array, sizes: Sequence[int], dtype: Any = float
) -> tuple[Dense, ...]:
    """Dense layers of widths `sizes` by He initialisation: weights of variance 2 /
    fan-in, which preserves the scale of activations through ReLUs, and biases 0.

    Args:
        key: JAX random key.
        sizes: Widths from the input to the output, at least two.
        dtype: Dtype of the parameters.
    """
    if not (len(sizes) > 1 and min(sizes) > 0):
        raise ValueError(
            f"sizes: got {brief(sizes)}; it must be two or more positive widths."
        )
    dtype = floating("dtype", dtype)
    shapes = list(pairwise(sizes))
    keys = jax.random.split(key, len(shapes))
    # One draw for all layers, because each separate draw takes a tenth of a second to
    # compile. The first numbers of a longer draw are those of a shorter one.
    most = max(n * m for n, m in shapes)
    draws = jax.vmap(lambda k: jax.random.normal(k, (most,), dtype))(keys)
    # drawn as (in, out), so that recorded runs can be repeated from the same weights
    return tuple(
        Dense(draw[: n * m].reshape(n, m).T * (2 / n) ** 0.5, jnp.zeros(m, dtype))
        for draw, (n, m) in zip(draws, shapes, strict=True)
    )


@checked
def relu_network(
    layers: Sequence[Dense], x: Float[Array, "*rows in"]
) -> Float[Array, "*rows out"]:
    """Output of a network of dense layers with a ReLU between successive layers.

    >>> import jax.numpy as jnp, rankone as ro
    >>> first, last = ro.nn.Dense(jnp.eye(2)), ro.nn.Dense(jnp.ones((1, 2)))
    >>> print(ro.nn.relu_network([first, last], jnp.array([3.0, -2.0])))
    [3.]
    """
    *hidden, last = layers
    for layer in hidden:
        x = jax.nn.relu(layer(x))
    return last(x)


def gradient_step(
    loss: Callable[[Any], Float[Array, ""]],
    params: Any,
    rate: ArrayLike,
    *,
    where: Any = None,
    first_order: bool = False,
) -> Any:
    """Parameters after one gradient step θ − η∇L(θ) of all parameters, or of those
    that `where` marks. Each parameter keeps its dtype.

    Args:
        loss: Function of the parameters.
        params: Pytree θ.
        rate: Step size η.
        where: Pytree of booleans with the structure of `params`, True for parameters
            that change; None for all.
        first_order: True to make the gradient a constant for outer derivatives, as in
            first-order MAML.
    """
    if not callable(loss):
        raise ValueError(
            f"loss: got {brief(loss)}; it must be a function of the parameters."
        )
    real("rate", rate, "one number, the step size")
    gradient = jax.grad(loss)(params)
    if boolean("first_order", first_order):
        gradient = jax.lax.stop_gradient(gradient)
    where = jax.tree.map(lambda _: True, params) if where is None else where
    shapes: list[Any] = [jax.tree.structure(tree) for tree in (where, params)]
    fits = shapes[0] == shapes[1] and all(map(_is_mark, jax.tree.leaves(where)))
    if not fits:
        raise ValueError(
            f"where: got {brief(where)}; "
            "it must be a pytree of True and False like params."
        )
    return jax.tree.map(
        lambda p, g, free: p - _times(rate, g).astype(p.dtype) if free else p,
        params,
        gradient,
        where,
    )


def _times(rate: ArrayLike, g: Array) -> Array:
    wide = wider(jnp.asarray(rate), g)
    return jnp.asarray(rate, wide) * g.astype(wide)


def _is_mark(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)
