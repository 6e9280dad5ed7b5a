"""A small network to learn what it can: dense layers with ReLU, trained by Adam. The base model of the experiments."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, as_array, check, random_key
from rankone._pytree import pytree

__all__ = ["Classifier", "train"]

_BATCH = 128
_DECAYS = 0.9, 0.999  # Adam's, as published
Layers = list[tuple[Array, Array]]


@pytree(data=["layers"])
@dataclass(frozen=True)
class Classifier:
    """A trained network [S-CE].

    Attributes:
        layers: Weights (in, out) and biases (out,) of each layer.
    """

    layers: Layers

    def embed(self, x: ArrayLike) -> Float[Array, "... H"]:
        """The last hidden layer at x (..., D): where ResMem looks for neighbours."""
        return _embed(self.layers, x)

    def logits(self, x: ArrayLike) -> Float[Array, "... L"]:
        """Scores of the classes at x (..., D), before the softmax."""
        return _logits(self.layers, x)


@jax.jit
def _embed(layers: Layers, x: ArrayLike) -> Array:
    for W, b in layers[:-1]:
        x = jax.nn.relu(x @ W + b)
    return jnp.asarray(x)


@jax.jit
def _logits(layers: Layers, x: ArrayLike) -> Array:
    W, b = layers[-1]
    return _embed(layers, x) @ W + b


def train(
    x: ArrayLike, labels: ArrayLike, widths: tuple[int, ...], *, key: Array, epochs: int = 10, step_size: float = 2e-3
) -> Classifier:
    """Fit a network with hidden layers of these widths by cross-entropy [S-CE]; batches of 128, cosine decay.

    Args:
        x: Inputs (n, D), scaled to about one.
        labels: Classes 0 … L − 1, (n,); L is the largest plus one.
        widths: Of the hidden layers, one at least.
        key: JAX random key.
        epochs: Passes over the data.
        step_size: Of Adam, at the start.
    """
    X, y = array("x", x, "(n, D): one input a row", 2), as_array(labels)
    random_key("key", key)
    check(len(widths) > 0 and min(widths) > 0, "widths", widths, "one positive width or more")
    check(y.shape == (len(X),), "labels", f"shape {y.shape}", f"shape ({len(X)},): a class for each row")
    k_start, k_order = jax.random.split(key)
    layers = _initial((X.shape[1], *widths, int(y.max()) + 1), k_start, X.dtype)
    return Classifier(_fit(layers, X, y, k_order, epochs, step_size))


@partial(jax.jit, static_argnames=("sizes", "dtype"))
def _initial(sizes: tuple[int, ...], key: Array, dtype: Any) -> Layers:
    keys = jax.random.split(key, len(sizes) - 1)
    shapes = zip(keys, sizes[:-1], sizes[1:], strict=True)
    return [(jax.random.normal(k, (m, n), dtype) * (2 / m) ** 0.5, jnp.zeros(n, dtype)) for k, m, n in shapes]


def _loss(layers: Layers, x: Array, y: Array) -> Array:
    logits = Classifier(layers).logits(x)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()


@partial(jax.jit, static_argnames="epochs")
def _fit(layers: Layers, X: Array, y: Array, key: Array, epochs: int, step_size: float) -> Layers:
    size = min(_BATCH, len(X))
    batches = len(X) // size
    total = epochs * batches

    def step(state: Any, at: tuple[Array, Array]) -> tuple[Any, None]:
        (layers, mean, square), (t, rows) = state, at
        slope = jax.grad(_loss)(layers, X[rows], y[rows])
        layers, mean, square = _adam(layers, mean, square, slope, t, step_size * (1 + jnp.cos(jnp.pi * t / total)) / 2)
        return (layers, mean, square), None

    orders = jax.vmap(lambda k: jax.random.permutation(k, len(X)))(jax.random.split(key, epochs))
    rows = orders[:, : batches * size].reshape(total, size)
    zeros = jax.tree.map(jnp.zeros_like, layers)
    (layers, _, _), _ = jax.lax.scan(step, (layers, zeros, zeros), (jnp.arange(total), rows))
    return layers


def _adam(layers: Layers, mean: Layers, square: Layers, slope: Layers, t: Array, rate: Array) -> tuple:
    """One step of Adam, number t from 0."""
    first, second = _DECAYS
    mean = jax.tree.map(lambda m, g: first * m + (1 - first) * g, mean, slope)
    square = jax.tree.map(lambda s, g: second * s + (1 - second) * g**2, square, slope)

    def move(w: Array, m: Array, s: Array) -> Array:
        return w - rate * (m / (1 - first ** (t + 1))) / (jnp.sqrt(s / (1 - second ** (t + 1))) + 1e-8)

    return jax.tree.map(move, layers, mean, square), mean, square
