r"""T and V learned in an outer loop, so that a few steps of gradient descent on U
suffice: MT-net, meta-curvature [K-meta].

Each task starts from the same U, takes a few steps of gradient descent on U alone, and
is scored on other examples. The outer loop differentiates through the inner steps, with
respect to the start of U as well as to T and V.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import (
    boolean,
    brief,
    instance,
    integer,
    positive,
    random_key,
)
from rankone._module import Module
from rankone.nn import gradient_step
from rankone.preconditioning.layers import trainable

__all__ = ["MetaRun", "Task", "adapt_U", "meta_learn"]

Loss = Callable[[Any], Float[Array, ""]]
Task = Callable[[Any, Any], Float[Array, ""]]


class MetaRun(Module):
    """Result of `meta_learn`: the meta-learned network, and the loss at each outer
    step.

    Attributes:
        network: The learned start U, with its T and V.
        losses: Mean loss on the query examples after the inner steps, at each outer
            step.
    """

    network: Any
    losses: Float[Array, " outer"]


def adapt_U(
    network: Any, loss: Loss, *, learning_rate: ArrayLike, steps: int = 1
) -> Any:
    """Network after a few steps of gradient descent on the U of every layer. The result
    is differentiable with respect to all parameters.

    Compiled once for each `loss`, so pass the same function in repeated calls.

    Args:
        network: Pytree of layers; all parameters of a `Dense` layer are trained.
        loss: Function that takes a network and returns the loss.
        learning_rate: Step size of the inner steps.
        steps: Number of inner steps.

    >>> import numpy as np, rankone as ro
    >>> layer = ro.Reparameterized(T=np.eye(1), U=np.array([[3.0, -2.0]]), V=np.diag([0.1, 1.0]))
    >>> valley = lambda layer: 0.5 * (100 * layer.W[0, 0] ** 2 + layer.W[0, 1] ** 2)
    >>> print(np.abs(ro.preconditioning.adapt_U(layer, valley, learning_rate=1.0).W).round(6))
    [[0. 0.]]
    """
    positive("learning_rate", learning_rate)
    _check_functions(loss=loss)
    _check_differentiable(network)
    return _compiled(network, loss, learning_rate, integer("steps", steps))


def _check_functions(**functions: Any) -> None:
    for name, value in functions.items():
        if not callable(value) or not isinstance(value, Hashable):
            raise ValueError(
                f"{name}: got {brief(value)}; it must be a function that can be hashed."
            )


def _check_differentiable(network: Any) -> None:
    leaves = jax.tree.leaves(network)
    arrays = all(isinstance(leaf, jax.Array | np.ndarray) for leaf in leaves)
    are_floating = (
        len(leaves) > 0
        and arrays
        and all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves)
    )
    if not are_floating:
        raise ValueError(
            f"network: got {brief(network)}; it must be a pytree of floating arrays."
        )


def _adapted(network: Any, loss: Loss, learning_rate: ArrayLike, steps: int) -> Any:
    mask = trainable(network)

    def step(net: Any, _: None) -> tuple[Any, None]:
        return gradient_step(loss, net, learning_rate, where=mask), None

    return jax.lax.scan(step, network, length=steps)[0]


_compiled = jax.jit(_adapted, static_argnames=("loss", "steps"))


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
    """Initial U and factors T and V of a network, meta-learned from tasks drawn at
    random [K-meta].

    The result contains them as `network`, and as `losses` the mean of `query` after the
    inner steps, at each outer step. Compiled once for the same functions, optimiser and
    numbers of steps.

    Args:
        network: Pytree of reparameterised layers to start from.
        support: Function support(network, task), the loss that the inner steps
            minimise.
        query: Function query(network, task), the loss after the inner steps, which the
            outer loop minimises.
        sample: Function sample(key), which draws a random task of any type.
        key: JAX random key.
        inner_rate: Step size of the inner steps.
        inner_steps: Number of inner steps.
        outer_steps: Number of outer steps.
        outer: Optimiser of the outer loop; Adam at 1e-3 by default.
        tasks: Tasks per outer step.
        learn_factors: True to learn T and V as well as U; if False, this is MAML on U.

    Returns:
        The meta-learned `network`, and as `losses` the mean of `query` over the tasks
        at each outer step.

    Raises:
        ValueError: If an option is out of range, or an argument has the wrong type.
    """
    _check_functions(support=support, query=query, sample=sample)
    _check_differentiable(network)
    random_key("key", key)
    positive("inner_rate", inner_rate)
    inner_steps = integer("inner_steps", inner_steps)
    tasks = integer("tasks", tasks)
    keys = jax.random.split(key, integer("outer_steps", outer_steps))
    outer = _adam() if outer is None else outer
    instance(
        "outer",
        outer,
        optax.GradientTransformation,
        "an optimiser of optax, such as optax.adam(1e-3)",
    )
    learner = _Learner(support, query, sample, outer, inner_steps, tasks)
    return _meta_learned(
        network, keys, inner_rate, boolean("learn_factors", learn_factors), learner
    )


@cache
def _adam() -> optax.GradientTransformation:
    return optax.adam(1e-3)


# jit looks up the compiled program by comparing the fields
@dataclass(frozen=True)
class _Learner:
    support: Task
    query: Task
    sample: Callable[[Array], Any]
    outer: optax.GradientTransformation
    inner_steps: int
    tasks: int

    def judged(self, network: Any, task: Any, rate: ArrayLike) -> Array:
        """The loss on a task's other examples after the inner steps."""
        adapted = _adapted(
            network, lambda net: self.support(net, task), rate, self.inner_steps
        )
        return self.query(adapted, task)

    def mean(self, network: Any, key: Array, rate: ArrayLike) -> Array:
        """Mean of `judged` over tasks drawn with a key."""
        tasks = jax.vmap(self.sample)(jax.random.split(key, self.tasks))
        return jax.vmap(self.judged, (None, 0, None))(network, tasks, rate).mean()


@partial(jax.jit, static_argnames="learner")
def _meta_learned(
    network: Any, keys: Array, rate: ArrayLike, factors: Array, learner: _Learner
) -> MetaRun:
    mask = jax.tree.map(lambda is_U: is_U | factors, trainable(network))

    def step(carry: tuple[Any, Any], key: Array) -> tuple[tuple[Any, Any], Array]:
        net, state = carry
        value, gradient = jax.value_and_grad(learner.mean)(net, key, rate)
        gradient = jax.tree.map(lambda g, f: jnp.where(f, g, 0), gradient, mask)
        updates, state = learner.outer.update(gradient, state, net)
        return (optax.apply_updates(net, updates), state), value

    (network, _), losses = jax.lax.scan(
        step, (network, learner.outer.init(network)), keys
    )
    return MetaRun(network, losses)
