"""The base model of the experiments: a small network of dense layers with ReLU,
trained by Adam.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from rankone._checks import (
    Numbers,
    array,
    brief,
    host,
    inputs,
    integer,
    numbers,
    positive,
    random_key,
    real,
)
from rankone._module import Module
from rankone.nn import Dense, initial_layers, relu_network

__all__ = ["Classifier", "train"]

_BATCH = 128
# inputs, classes, nearest rows of each input, roughness
_Data = tuple[Array, Array, Array, Array]


class Classifier(Module):
    """Base model of the experiments: a trained network of dense layers with ReLU
    [S-CE].

    Attributes:
        layers: Dense layers, with a ReLU between each two.
    """

    layers: tuple[Dense, ...]

    def embed(self, x: Numbers) -> Float[Array, "*n H"]:
        """Activations of the last hidden layer at x (..., D): the embeddings in which
        ResMem looks for neighbours.
        """
        return _embed(self.layers[:-1], inputs(x, self.layers[0].W.shape[-1]))

    def logits(self, x: Numbers) -> Float[Array, "*n L"]:
        """Scores of the classes at x (..., D), before the softmax."""
        return _logits(self.layers, inputs(x, self.layers[0].W.shape[-1]))


@jax.jit
def _embed(hidden: tuple[Dense, ...], x: Numbers) -> Array:
    return jax.nn.relu(relu_network(hidden, jnp.asarray(x)))


@jax.jit
def _logits(layers: tuple[Dense, ...], x: Numbers) -> Array:
    return relu_network(layers, jnp.asarray(x))


def train(
    x: Numbers,
    labels: Numbers,
    widths: Sequence[int],
    *,
    key: Array,
    epochs: int = 10,
    step_size: float = 2e-3,
    nearest: Numbers | None = None,
    roughness: float = 1.0,
) -> Classifier:
    """A network with hidden layers of these widths, fitted by cross-entropy [S-CE] in
    batches of 128 with a cosine decay.

    A memory of the residuals r = onehot(y) − softmax works best if they are smooth.
    With `nearest`, the loss therefore contains in addition `roughness` times the mean
    of ‖r_i − r_j‖² over an example i and its neighbours j [S-sharp5]. With one
    neighbour, ‖r_i − r_j‖² is the squared error at x_i of the base model plus a memory
    that stores all examples except i.

    Args:
        x: Inputs (n, D), scaled to entries of about 1.
        labels: Classes 0 … L − 1, (n,); L is the largest plus one.
        widths: Widths of the hidden layers, one at least.
        key: JAX random key.
        epochs: Passes over the data.
        step_size: Initial step size of Adam.
        nearest: Row numbers of the k nearest other inputs of each input (n, k).
        roughness: Weight of the differences of residuals, 0 or more; without `nearest`
            it has no effect.
    """
    X = array("x", x, "(n, D): one input per row", 2)
    y = host("labels", labels)
    random_key("key", key)
    if not isinstance(widths, tuple | list) or len(widths) == 0:
        raise ValueError(
            f"widths: got {brief(widths)}; it must be one positive width or more."
        )
    hidden = [integer("widths", width, "positive integers") for width in widths]
    if y.shape != (len(X),):
        raise ValueError(
            f"labels: got shape {y.shape}; "
            f"it must be shape ({len(X)},): a class for each row."
        )
    if not jnp.issubdtype(y.dtype, jnp.integer) or int(y.min()) < 0:
        raise ValueError(
            f"labels: got {brief(labels)}; it must be whole numbers from 0."
        )
    positive("step_size", step_size)
    weight = real("roughness", roughness, "a weight: 0 or more")
    if not (weight is None or weight >= 0):
        raise ValueError(
            f"roughness: got {brief(roughness)}; it must be a weight: 0 or more."
        )
    neighbours = (
        jnp.zeros((len(X), 0), int) if nearest is None else numbers("nearest", nearest)
    )
    shape_fits = (
        neighbours.ndim == 2
        and len(neighbours) == len(X)
        and jnp.issubdtype(neighbours.dtype, jnp.integer)
    )
    if not shape_fits:
        raise ValueError(
            f"nearest: got {neighbours.dtype} of shape {neighbours.shape}; "
            f"it must be whole numbers ({len(X)}, k): rows near each."
        )
    k_start, k_order = jax.random.split(key)
    sizes = X.shape[1], *hidden, int(y.max()) + 1
    data = X, numbers("labels", y), neighbours, jnp.asarray(roughness, X.dtype)
    orders = _orders(k_order, len(X), integer("epochs", epochs))
    return Classifier(_fit(data, k_start, orders, step_size, sizes))


def _loss(layers: tuple[Dense, ...], x: Array, y: Array) -> Array:
    return optax.softmax_cross_entropy_with_integer_labels(
        relu_network(layers, x), y
    ).mean()


def _loss_with_memory(layers: tuple[Dense, ...], data: _Data, rows: Array) -> Array:
    X, y, nearest, roughness = data
    loss = _loss(layers, X[rows], y[rows])
    if nearest.shape[1] == 0:
        return loss

    def residual(index: Array) -> Array:
        logits = relu_network(layers, X[index])
        return jax.nn.one_hot(
            y[index], logits.shape[-1], dtype=logits.dtype
        ) - jax.nn.softmax(logits)

    step = residual(rows)[:, None] - residual(nearest[rows])
    return loss + roughness * (step**2).sum(-1).mean()


@partial(jax.jit, static_argnames=("n", "epochs"))
def _orders(key: Array, n: int, epochs: int) -> Int[Array, "epochs n"]:
    """An order of the n examples for each epoch. Networks of all widths share this
    program.
    """
    return jax.vmap(lambda k: jax.random.permutation(k, n))(
        jax.random.split(key, epochs)
    )


@partial(jax.jit, static_argnames="sizes")
def _fit(
    data: _Data,
    k_start: Array,
    orders: Int[Array, "epochs n"],
    step_size: Numbers,
    sizes: tuple[int, ...],
) -> tuple[Dense, ...]:
    X = data[0]
    epochs = len(orders)
    size = min(_BATCH, len(X))
    batches = len(X) // size
    adam = optax.adam(optax.cosine_decay_schedule(step_size, epochs * batches))

    def step(state: Any, rows: Array) -> tuple[Any, None]:
        layers, moments = state
        updates, moments = adam.update(
            jax.grad(_loss_with_memory)(layers, data, rows), moments
        )
        return (optax.apply_updates(layers, updates), moments), None

    rows = orders[:, : batches * size].reshape(epochs * batches, size)
    layers = initial_layers(k_start, sizes, X.dtype)
    (layers, _), _ = jax.lax.scan(step, (layers, adam.init(layers)), rows)
    return layers
