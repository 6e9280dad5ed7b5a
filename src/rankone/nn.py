"""Dense layers and one gradient step: what the small networks of the book are made of. Optimisers are optax's.

One convention: a weight matrix W is (out, in) and acts on columns, as in every formula of the book; a batch x (..., in)
holds one input a row, so that a layer computes x Wᵀ + b.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._module import Module

__all__ = ["Dense", "gradient_step", "initial_layers", "relu_network"]


class Dense(Module):
    """One dense layer x ↦ x Wᵀ + b, or a stack of n of equal shape, to be scanned.

    Attributes:
        W: Weights (out, in); (n, out, in) for a stack.
        b: Biases (out,) or (n, out); None for a layer without.
    """

    W: Float[Array, "*n out in"]
    b: Float[Array, "*n out"] | None = None

    def __call__(self, x: Float[Array, "*rows in"]) -> Float[Array, "*rows out"]:
        """Outputs (..., out) of one layer at inputs (..., in)."""
        out = x @ self.W.T
        return out if self.b is None else out + self.b


def initial_layers(key: Array, sizes: Sequence[int], dtype: Any = float) -> tuple[Dense, ...]:
    """Layers between widths `sizes`: weights of variance 2 / fan-in, which keeps the scale through ReLUs; biases 0.

    Args:
        key: JAX random key.
        sizes: Widths from the input to the output, two at least.
        dtype: Of the parameters.
    """
    keys = jax.random.split(key, len(sizes) - 1)
    return tuple(  # drawn as (in, out), so that the recorded runs start from the same numbers as ever
        Dense(jax.random.normal(k, (n, m), dtype).T * (2 / n) ** 0.5, jnp.zeros(m, dtype))
        for k, (n, m) in zip(keys, pairwise(sizes), strict=True)
    )


def relu_network(layers: Sequence[Dense], x: Float[Array, "*rows in"]) -> Float[Array, "*rows out"]:
    """Output of the layers in turn, with a ReLU between each two."""
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
    """θ − η∇L(θ) on every parameter, or on those that `where` marks; each keeps its dtype.

    Args:
        loss: Of the parameters.
        params: Pytree θ.
        rate: Step size η.
        where: A pytree of booleans like `params`; None for all.
        first_order: Whether an outer derivative takes the gradient for a constant.
    """
    gradient = jax.grad(loss)(params)
    if first_order:
        gradient = jax.lax.stop_gradient(gradient)
    where = jax.tree.map(lambda _: True, params) if where is None else where
    return jax.tree.map(lambda p, g, free: p - (rate * g).astype(p.dtype) if free else p, params, gradient, where)
