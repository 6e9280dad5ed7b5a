"""Natural neural networks: coordinates of W that are changed during training, so that
plain gradient descent acts as whitened descent [K-prong].

At every change the network is multiplied out and factorised as TUV again, with T and V
from recent data. SGD then trains U. Between two changes this is exactly descent
preconditioned with VᵀV ⊗ TTᵀ.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from rankone._checks import brief, choice, integer, positive
from rankone._module import Module
from rankone.preconditioning.curvature import layer_moments
from rankone.preconditioning.kronecker import Factors
from rankone.preconditioning.layers import (
    Layer,
    beside,
    is_layer,
    merge,
    reparameterize,
)
from rankone.preconditioning.transforms import only_U
from rankone.preconditioning.whitening import (
    Moments,
    MovingMoments,
    check_decay,
    whitening_factors,
)

__all__ = ["Prong", "ProngState", "prong", "whiten"]

Losses = Callable[[Any, Any], Float[Array, " N"]]


def whiten(
    network: Any, moments: Any, *, damping: float = 0.0, sides: str = "input"
) -> Any:
    """Network that computes the same function, with each layer written in coordinates
    in which the second moments of its inputs, its output gradients or both are the
    identity [K-prong].

    Args:
        network: Pytree of layers, dense or reparameterised.
        moments: From `layer_moments`, or the `value` of `MovingMoments`, for each
            layer.
        damping: As in `whitening_factors`.
        sides: "input" is PRONG; "both" whitens the gradients at the outputs too, which
            is K-FAC.

    Raises:
        ValueError: If an argument has the wrong type, or moments are singular and there
            is no damping.
    """
    dense = merge(network)
    beside("moments", moments, dense, Moments)

    def factors(moment: Moments) -> Factors:
        return whitening_factors(moment, damping=damping, sides=sides)

    pairs = jax.tree.map(
        factors, moments, is_leaf=lambda node: isinstance(node, Moments)
    )
    return reparameterize(dense, pairs, invertible=True)


class ProngState(Module):
    """State of a training run of `prong`: the network, the moving averages of its
    moments, and the number of steps.

    Attributes:
        network: Network of reparameterised layers.
        moments: Moving averages, one in the place of each layer.
        steps: Number of steps so far.
    """

    network: Any
    moments: Any
    steps: Int[Array, ""]


class Prong(NamedTuple):  # a tuple, as the transformations of optax are
    """A pair of functions, as in optax: `init(network, batch)` and
    `step(state, batch) -> (state, loss)`.
    """

    init: Callable[[Any, Any], ProngState]
    step: Callable[[ProngState, Any], tuple[ProngState, Array]]


def prong(
    losses: Losses,
    *,
    learning_rate: float,
    every: int = 100,
    damping: float = 1e-2,
    decay: float = 0.9,
    sides: str = "input",
) -> Prong:
    """Functions `init` and `step` of training by plain SGD on the U of W = TUV, with
    whitening T and V that are recomputed every `every` steps [K-prong, K-unn-stats].

    `init(network, batch)` returns the first state, and `step(state, batch)` the next
    state and the mean loss on the batch before the step. The trained network is
    `state.network`.

    Args:
        losses: losses(network, batch): the loss of each example (N,); it calls every
            layer once.
        learning_rate: Step size of SGD on U.
        every: Number of steps between two changes of coordinates.
        damping: As in `whitening_factors`.
        decay: Decay of the moving averages of the moments, which include one batch at
            every change.
        sides: "input", "both" or "output", as in `whitening_factors`.

    Returns:
        Two functions. `init(network, batch)` returns a state, whose `network` is the
        network so far; `step(state, batch)` returns the next state and the loss.

    Raises:
        ValueError: If an option is out of range.
    """
    if not callable(losses):
        raise ValueError(
            f"losses: got {brief(losses)}; "
            "it must be a function of a network and a batch."
        )
    positive("learning_rate", learning_rate)
    positive("damping", damping)
    check_decay(decay)
    choice("sides", sides, ("input", "both", "output"))
    every = integer("every", every)
    optimizer = only_U(optax.sgd(learning_rate))

    def renew(network: Any, moments: Any, batch: Any) -> tuple[Any, Any]:
        batch_moments = layer_moments(lambda net: losses(net, batch), network)
        averages = jax.tree.map(
            MovingMoments.update, moments, batch_moments, is_leaf=_is_moving
        )
        values = jax.tree.map(lambda m: m.value, averages, is_leaf=_is_moving)
        return whiten(network, values, damping=damping, sides=sides), averages

    def init(network: Any, batch: Any) -> ProngState:
        moments = jax.tree.map(
            lambda layer: _start(layer, decay), network, is_leaf=is_layer
        )
        network, moments = renew(network, moments, batch)
        return ProngState(network, moments, jnp.zeros((), jnp.int32))

    def step(state: ProngState, batch: Any) -> tuple[ProngState, Array]:
        value, gradients = jax.value_and_grad(lambda net: losses(net, batch).mean())(
            state.network
        )
        updates, _ = optimizer.update(
            gradients, optimizer.init(state.network), state.network
        )
        network = optax.apply_updates(state.network, updates)
        count = state.steps + 1
        network, moments = jax.lax.cond(
            count % every == 0,
            lambda: renew(network, state.moments, batch),
            lambda: (network, state.moments),
        )
        return ProngState(network, moments, count), value

    return Prong(jax.jit(init), jax.jit(step))


def _start(layer: Layer, decay: float) -> MovingMoments:
    matrix = layer.augmented
    return MovingMoments.start(matrix.shape, matrix.dtype, decay=decay)


def _is_moving(node: Any) -> bool:
    return isinstance(node, MovingMoments)
