"""Learners: MAML, which takes gradient steps; an oracle, which gets the task's
description; and a recurrent network, which reads the examples. Also the metrics that
score them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._annotated import checked
from rankone._checks import (
    boolean,
    brief,
    instance,
    integer,
    positive,
    random_key,
)
from rankone._module import Module
from rankone.maml.perceptron import MLP
from rankone.maml.tasks import Task
from rankone.nn import gradient_step

__all__ = [
    "GradientLearner",
    "Loss",
    "OracleLearner",
    "RecurrentLearner",
    "accuracy",
    "cross_entropy",
    "squared_error",
]

Loss = Callable[[Array, Array], Array]


@checked
def squared_error(
    prediction: Float[ArrayLike, "*n d"], target: Float[ArrayLike, "*n d"]
) -> Float[Array, ""]:
    """Mean squared error over points and outputs, in the targets' unit squared."""
    _check_same("target", target, prediction)
    return jnp.mean(jnp.subtract(prediction, target) ** 2)


@checked
def cross_entropy(
    logits: Float[ArrayLike, "*n classes"], one_hot: Float[ArrayLike, "*n classes"]
) -> Float[Array, ""]:
    """Mean cross-entropy of a softmax, in nats; `one_hot` holds the labels as rows of
    the identity.
    """
    _check_same("one_hot", one_hot, logits)
    return -jnp.mean((one_hot * jax.nn.log_softmax(logits)).sum(-1))


def _check_same(name: str, value: ArrayLike, like: ArrayLike) -> None:
    shape = jnp.shape(like)
    if jnp.shape(value) != shape:
        raise ValueError(
            f"{name}: got shape {jnp.shape(value)}; "
            f"it must be of shape {shape}, as the predictions are."
        )


@checked
def accuracy(
    logits: Float[ArrayLike, "*n classes"], one_hot: Float[ArrayLike, "*n classes"]
) -> Float[Array, ""]:
    """Fraction of points whose largest logit is at the label; a point with a NaN among
    its logits counts as wrong.
    """
    _check_same("one_hot", one_hot, logits)
    logits = jnp.asarray(logits)
    right = jnp.argmax(logits, -1) == jnp.argmax(jnp.asarray(one_hot), -1)
    return jnp.mean(right & ~jnp.isnan(logits).any(-1))


class GradientLearner(Module):
    """Model-agnostic meta-learning: the parameters are an initialisation, and learning
    is gradient descent [M-def].

    Attributes:
        model: The network.
        loss: Function of (predictions, targets) that the steps minimise on the examples
            of a task.
        step_size: Step size of the inner gradient steps.
        steps: Number of inner steps in meta-training.
        first_order: True if meta-training treats inner gradients as constants, so that
            no second derivatives are computed.

    >>> import jax
    >>> from rankone.maml import MLP, GradientLearner, SineTasks
    >>> learner, task = GradientLearner(MLP(1, (8,)), steps=5), SineTasks()(jax.random.key(0))
    >>> learner.predict(learner.init(jax.random.key(1)), task).shape
    (20, 1)
    """

    model: MLP
    loss: Loss = eqx.field(static=True, default=squared_error)
    step_size: float = 0.01
    steps: int = eqx.field(static=True, default=1)
    first_order: bool = eqx.field(static=True, default=False)

    def __post_init__(self) -> None:
        positive("step_size", self.step_size)
        instance("model", self.model, MLP, "an MLP, such as MLP(1, (40, 40))")
        if not callable(self.loss):
            raise ValueError(
                f"loss: got {brief(self.loss)}; "
                "it must be a function of predictions and targets."
            )
        self.first_order = boolean("first_order", self.first_order)
        self.steps = integer(
            "steps",
            self.steps,
            "0 (no adaptation: joint training) or more",
            least=0,
        )

    def init(self, key: Array) -> Any:
        """A random initialisation, not yet meta-learned."""
        return self.model.init(key)

    @checked
    @jax.jit
    def step(self, params: Any, task: Task) -> Any:
        """The parameters after one gradient step on the examples of a task."""

        def loss(p: Any) -> Array:
            return self.loss(self.model(p, task.x), task.y)

        return gradient_step(loss, params, self.step_size, first_order=self.first_order)

    @checked
    @partial(jax.jit, static_argnames="steps")
    def adapt(self, params: Any, task: Task, steps: int | None = None) -> Any:
        """The parameters after `steps` gradient steps on the examples of a task; by
        default the learner's own number of steps.
        """
        n = self.steps if steps is None else steps
        return jax.lax.scan(lambda p, _: (self.step(p, task), None), params, length=n)[
            0
        ]

    @checked
    @jax.jit
    def predict(self, params: Any, task: Task) -> Float[Array, "queries outputs"]:
        """Predictions at the queries of a task after learning from its examples."""
        return self.model(self.adapt(params, task), task.x_query)


class OracleLearner(Module):
    """A network that gets the description of the task as an additional input, and
    ignores the examples.

    Attributes:
        model: The network; its inputs are a point and the description.
    """

    model: MLP

    def init(self, key: Array) -> Any:
        """Random parameters."""
        return self.model.init(key)

    @checked
    @jax.jit
    def predict(self, params: Any, task: Task) -> Float[Array, "queries outputs"]:
        """Predictions at the queries of a task."""
        description = jnp.broadcast_to(
            task.description, (len(task.x_query), len(task.description))
        )
        return self.model(params, jnp.concatenate([task.x_query, description], axis=1))


class RecurrentLearner(Module):
    """A gated recurrent unit that reads (x, y) pairs in order; a network answers each
    query from the last state.

    Its knowledge of a task is a state of `width` numbers, and meta-training decides how
    the weights update this state. Nothing guarantees that more examples, or the same
    examples again, improve the predictions.

    Attributes:
        inputs: Number of entries of x.
        outputs: Number of entries of y.
        width: Number of entries of the state.
        head: Width of the hidden layer of the network that answers.
    """

    inputs: int = eqx.field(static=True)
    outputs: int = eqx.field(static=True, default=1)
    width: int = eqx.field(static=True, default=64)
    head: int = eqx.field(static=True, default=64)

    def __post_init__(self) -> None:
        for name in ("inputs", "outputs", "width", "head"):
            setattr(self, name, integer(name, getattr(self, name)))

    @property
    def _answer(self) -> MLP:
        return MLP(self.inputs + self.width, (self.head,), self.outputs)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return (
            3 * self.width * (self.inputs + self.outputs + self.width + 1)
            + self._answer.size
        )

    def init(self, key: Array) -> Any:
        """Random parameters: input weights of Glorot's variance, orthogonal recurrent
        weights, and those of the answering network.
        """
        random_key("key", key)
        k_read, k_state, k_answer = jax.random.split(key, 3)
        gates = _gates(k_read, k_state, self.inputs + self.outputs, self.width)
        return {**gates, "answer": self._answer.init(k_answer)}

    @checked
    @jax.jit
    def read(self, params: Any, task: Task) -> Float[Array, " width"]:
        """The state after the examples of a task, in the order in which they are
        given.
        """

        def cell(h: Array, pair: Array) -> tuple[Array, None]:
            from_pair = jnp.split(pair @ params["read"] + params["b"], 3)
            from_state = jnp.split(h @ params["state"], 3)
            reset, update = (
                jax.nn.sigmoid(from_pair[i] + from_state[i]) for i in range(2)
            )
            return update * h + (1 - update) * jnp.tanh(
                from_pair[2] + reset * from_state[2]
            ), None

        pairs = jnp.concatenate([task.x, task.y], axis=1)
        return jax.lax.scan(cell, jnp.zeros(self.width), pairs)[0]

    @checked
    @jax.jit
    def predict(self, params: Any, task: Task) -> Float[Array, "queries outputs"]:
        """Predictions at the queries of a task after reading its examples."""
        state = jnp.broadcast_to(
            self.read(params, task), (len(task.x_query), self.width)
        )
        return self._answer(
            params["answer"], jnp.concatenate([task.x_query, state], axis=1)
        )


@partial(jax.jit, static_argnums=(2, 3))
def _gates(k_read: Array, k_state: Array, n: int, width: int) -> dict[str, Array]:
    orthogonal = jax.nn.initializers.orthogonal()
    state = jax.vmap(lambda k: orthogonal(k, (width, width)), out_axes=1)(
        jax.random.split(k_state, 3)
    )
    return {
        "read": jax.random.normal(k_read, (n, 3 * width)) * (2 / (n + width)) ** 0.5,
        "state": state.reshape(width, 3 * width),
        "b": jnp.zeros(3 * width),
    }
