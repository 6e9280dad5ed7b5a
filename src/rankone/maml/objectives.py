"""What a prediction is judged by: losses to descend, and the share of right answers."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = ["accuracy", "cross_entropy", "squared_error"]


def squared_error(prediction: Float[Array, "*n d"], target: Float[Array, "*n d"]) -> Float[Array, ""]:
    """Mean squared error over points and outputs, in the targets' unit squared."""
    return jnp.mean((prediction - target) ** 2)


def cross_entropy(logits: Float[Array, "*n classes"], one_hot: Float[Array, "*n classes"]) -> Float[Array, ""]:
    """Mean cross-entropy of a softmax, in nats; `one_hot` holds the labels as rows of the identity."""
    return -jnp.mean((one_hot * jax.nn.log_softmax(logits)).sum(-1))


def accuracy(logits: Float[Array, "*n classes"], one_hot: Float[Array, "*n classes"]) -> Float[Array, ""]:
    """Share of points whose largest logit is at the label."""
    return jnp.mean(logits.argmax(-1) == one_hot.argmax(-1))
