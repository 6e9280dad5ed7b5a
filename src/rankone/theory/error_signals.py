"""Information about y in the error signal, the derivative of the loss with respect to
the prediction [M-lin-e, M-appB-loss].
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import array, choice, integer

__all__ = [
    "LOSSES",
    "class_switch_signals",
    "cross_entropy_signal",
    "kink_signals",
    "signal",
]

LOSSES: dict[str, Callable[[Array], Array]] = {  # of the difference ŷ − y
    "squared": lambda d: 0.5 * d**2,
    "absolute": jnp.abs,
    "Huber": lambda d: jnp.where(jnp.abs(d) < 1, 0.5 * d**2, jnp.abs(d) - 0.5),
}


@checked
def signal(
    loss: str, y: Real[ArrayLike, " n"], prediction: float = 0.0
) -> Float[Array, " n"]:
    """Derivative of the loss with respect to the prediction, for each y (n,): affine in
    y for "squared", a sign for "absolute". For "Huber" it is affine if |prediction −
    y| < 1, and otherwise a sign.
    """
    choice("loss", loss, LOSSES)
    return _signal(loss, jnp.asarray(y, float), prediction)


@partial(jax.jit, static_argnames="loss")
def _signal(loss: str, y: Array, prediction: Array | float) -> Array:
    return jax.vmap(jax.grad(LOSSES[loss]))(prediction - y)


@checked
def cross_entropy_signal(
    logits: Real[ArrayLike, " Y"], weights: Real[ArrayLike, " Y"]
) -> tuple[Float[Array, " Y"], Float[Array, " Y"]]:
    """Error signal at the switch under softmax cross-entropy, e(y) = wᵀ(p − e_y)
    [M-appB-CE].

    The switch is a channel that feeds the logits with the weights w; e_y is the one-hot
    vector of y. Since Σ_y p_y (p − e_y) = 0, the average of the signal over y ∼ p is 0,
    so the signal to a single switch cannot have one sign for all y. With one switch per
    class, the label's own switch always moves up: `class_switch_signals`.

    Args:
        logits: Before the step (Y,).
        weights: w, from the switch's channel to the logits (Y,).

    Returns:
        The signal for each y (Y,), and the probabilities p (Y,).
    """
    return _cross_entropy_signal(
        jnp.asarray(logits, float), jnp.asarray(weights, float)
    )


@jax.jit
def _cross_entropy_signal(logits: Array, w: Array) -> tuple[Array, Array]:
    def loss(z: Array, y: Array) -> Array:
        return -jax.nn.log_softmax(logits + w * z)[y]

    return jax.vmap(jax.grad(loss), (None, 0))(
        0.0, jnp.arange(len(logits))
    ), jax.nn.softmax(logits)


@checked
def class_switch_signals(logits: Real[ArrayLike, " Y"]) -> Float[Array, "Y Y"]:
    """Error signals at one switch per class, each feeding its own logit with weight 1,
    under cross-entropy [M-appB-CE].

    Row y is p − e_y, with the probabilities p and the one-hot vector e_y. A step of
    descent moves the label's own switch up, in proportion to 1 − p_y, and all others
    down.

    Args:
        logits: Before the step (Y,).

    Returns:
        The signals for each label (rows) at each switch (columns).
    """
    return _class_switch_signals(array("logits", logits, "(Y,): one per class", 1))


@jax.jit
def _class_switch_signals(logits: Array) -> Array:
    def loss(switches: Array, y: Array) -> Array:
        return -jax.nn.log_softmax(logits + switches)[y]

    return jax.vmap(jax.grad(loss), (None, 0))(
        jnp.zeros_like(logits), jnp.arange(len(logits))
    )


@checked
def kink_signals(
    relu: Callable[[Array], Array], N: int, rest: float = 0.0
) -> Float[Array, " {N}"]:
    """Derivative of the output of a chain of N units of weight 1 with respect to each
    pre-activation, where the input of the chain is `rest` [M-(1)].

    Entry i − 1 is the derivative with respect to the pre-activation of layer i, with
    layers counted from the output. In a deep linear network it is 1. At rest = 0, the
    kink of the ReLU, it depends on how JAX differentiates `relu` there: it is 0 for
    `jax.nn.relu`, 2⁻ⁱ for `jnp.maximum(z, 0)`, and 1 for `jnp.where(z >= 0, z, 0)`.
    """
    return _kink_signals(relu, integer("N", N), rest)


@partial(jax.jit, static_argnames=("relu", "N"))
def _kink_signals(
    relu: Callable[[Array], Array], N: int, base_point: Array | float
) -> Array:
    def output(nudges: Array) -> Array:
        z = jnp.asarray(base_point)
        for nudge in reversed(nudges):
            z = relu(z + nudge)
        return z

    return jax.grad(output)(jnp.zeros(N))
