"""A small network to learn what it can: dense layers with ReLU, trained by Adam. The base model of the experiments."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from rankone._checks import Numbers, array, as_array, check, integer, numbers, positive, random_key
from rankone._module import Module
from rankone.nn import Dense, initial_layers, relu_network

__all__ = ["Classifier", "train"]

_BATCH = 128


class Classifier(Module):
    """A trained network [S-CE].

    Attributes:
        layers: Dense layers, with a ReLU between each two.
    """

    layers: tuple[Dense, ...]

    def embed(self, x: Numbers) -> Float[Array, "*n H"]:
        """The last hidden layer at x (..., D): where ResMem looks for neighbours."""
        return _embed(self.layers[:-1], x)

    def logits(self, x: Numbers) -> Float[Array, "*n L"]:
        """Scores of the classes at x (..., D), before the softmax."""
        return _logits(self.layers, x)


@jax.jit
def _embed(hidden: tuple[Dense, ...], x: Numbers) -> Array:
    return jax.nn.relu(relu_network(hidden, jnp.asarray(x)))


@jax.jit
def _logits(layers: tuple[Dense, ...], x: Numbers) -> Array:
    return relu_network(layers, jnp.asarray(x))


def train(
    x: Numbers, labels: Numbers, widths: Sequence[int], *, key: Array, epochs: int = 10, step_size: float = 2e-3
) -> Classifier:
    """Fit a network with hidden layers of these widths by cross-entropy [S-CE]; batches of 128, cosine decay.

    Args:
        x: Inputs (n, D), scaled to about one.
        labels: Classes 0 … L − 1, (n,); L is the largest plus one.
        widths: Widths of the hidden layers, one at least.
        key: JAX random key.
        epochs: Passes over the data.
        step_size: Adam's, at the start.
    """
    X, y = array("x", x, "(n, D): one input a row", 2), as_array(labels)
    random_key("key", key)
    check(len(widths) > 0, "widths", widths, "one positive width or more")
    hidden = [integer("widths", width, "positive integers") for width in widths]
    check(y.shape == (len(X),), "labels", f"shape {y.shape}", f"shape ({len(X)},): a class for each row")
    positive("step_size", step_size)
    k_start, k_order = jax.random.split(key)
    sizes = X.shape[1], *hidden, int(y.max()) + 1
    return Classifier(_fit(X, numbers("labels", y), k_start, k_order, step_size, sizes, integer("epochs", epochs)))


def _loss(layers: tuple[Dense, ...], x: Array, y: Array) -> Array:
    return optax.softmax_cross_entropy_with_integer_labels(relu_network(layers, x), y).mean()


@partial(jax.jit, static_argnames=("sizes", "epochs"))
def _fit(
    X: Array, y: Array, k_start: Array, k_order: Array, step_size: Numbers, sizes: tuple[int, ...], epochs: int
) -> tuple[Dense, ...]:
    size = min(_BATCH, len(X))
    batches = len(X) // size
    adam = optax.adam(optax.cosine_decay_schedule(step_size, epochs * batches))

    def step(state: Any, rows: Array) -> tuple[Any, None]:
        layers, moments = state
        updates, moments = adam.update(jax.grad(_loss)(layers, X[rows], y[rows]), moments)
        return (optax.apply_updates(layers, updates), moments), None

    orders = jax.vmap(lambda k: jax.random.permutation(k, len(X)))(jax.random.split(k_order, epochs))
    rows = orders[:, : batches * size].reshape(epochs * batches, size)
    layers = initial_layers(k_start, sizes, X.dtype)
    (layers, _), _ = jax.lax.scan(step, (layers, adam.init(layers)), rows)
    return layers
