r"""T and V learned in an outer loop, so that a few plain steps on U go far: MT-net, meta-curvature [K-meta].

Each task starts from the same U, takes a few steps of gradient descent on U alone, and is judged on other examples.
The outer loop differentiates through the inner steps, by U's start as well as by T and V.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import check, positive, random_key
from rankone.preconditioning.layers import trainable

__all__ = ["MetaRun", "Task", "adapt_U", "meta_learn"]

Loss = Callable[[Any], Float[Array, ""]]
Task = Callable[[Any, Any], Float[Array, ""]]


class MetaRun(NamedTuple):
    """What `meta_learn` made.

    Attributes:
        network: The learned start U, with its T and V.
        losses: Mean loss on the query examples after the inner steps, at each outer step.
    """

    network: Any
    losses: Float[Array, " outer"]


def adapt_U(network: Any, loss: Loss, *, learning_rate: ArrayLike, steps: int = 1) -> Any:
    """The network after a few steps of gradient descent on the U of every layer; differentiable in all of it.

    Args:
        network: Pytree of layers; a dense one trains its W.
        loss: Of the network.
        learning_rate: Inner step size.
        steps: Inner steps.
    """
    free = trainable(network)

    def step(net: Any, _: None) -> tuple[Any, None]:
        gradient = jax.grad(loss)(net)
        return jax.tree.map(lambda p, g, f: p - learning_rate * g if f else p, net, gradient, free), None

    return jax.lax.scan(step, network, length=steps)[0]


def meta_learn(
    network: Any,
    support: Task,
    query: Task,
    sample: Callable[[Array], Any],
    *,
    key: Array,
    inner_rate: float,
    inner_steps: int = 1,
    outer_steps: int = 1000,
    outer: optax.GradientTransformation | None = None,
    tasks: int = 16,
    learn_factors: bool = True,
) -> MetaRun:
    """Learn the start U and the factors T, V, from tasks drawn at random [K-meta].

    Args:
        network: Pytree of reparameterised layers to start from.
        support: support(network, task): the loss that the inner steps descend.
        query: query(network, task): the loss that they are judged by.
        sample: Draws a task from a key.
        key: JAX random key.
        inner_rate: Step size of the inner steps.
        inner_steps: Their number.
        outer_steps: Number of outer steps.
        outer: Optimiser of the outer loop; Adam at 1e-3 by default.
        tasks: Tasks an outer step.
        learn_factors: Whether T and V are learned; if not, this is MAML on U.

    Raises:
        ValueError: If an option is out of range.
    """
    random_key("key", key)
    positive("inner_rate", inner_rate)
    check(min(inner_steps, outer_steps, tasks) >= 1, "steps", (inner_steps, outer_steps, tasks), "positive integers")
    outer = optax.adam(1e-3) if outer is None else outer
    free = jax.tree.map(lambda is_U: learn_factors or is_U, trainable(network))

    def judged(net: Any, task: Any) -> Array:
        adapted = adapt_U(net, lambda n: support(n, task), learning_rate=inner_rate, steps=inner_steps)
        return query(adapted, task)

    def step(carry: tuple[Any, Any], step_key: Array) -> tuple[tuple[Any, Any], Array]:
        net, state = carry
        drawn = jax.vmap(sample)(jax.random.split(step_key, tasks))
        mean = lambda n: jax.vmap(judged, (None, 0))(n, drawn).mean()  # noqa: E731
        value, gradient = jax.value_and_grad(mean)(net)
        gradient = jax.tree.map(lambda g, f: g if f else jnp.zeros_like(g), gradient, free)
        updates, state = outer.update(gradient, state, net)
        return (optax.apply_updates(net, updates), state), value

    run = jax.jit(lambda net, keys: jax.lax.scan(step, (net, outer.init(net)), keys))
    (network, _), losses = run(network, jax.random.split(key, outer_steps))
    return MetaRun(network, losses)
