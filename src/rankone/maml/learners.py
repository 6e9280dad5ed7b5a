"""Learners that take gradient steps (MAML), one that is told its task, and what predictions are judged by."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import integer, positive
from rankone._module import Module, static
from rankone.maml.perceptron import MLP
from rankone.maml.tasks import Task
from rankone.nn import gradient_step

__all__ = ["GradientLearner", "Loss", "OracleLearner", "accuracy", "cross_entropy", "squared_error"]

Loss = Callable[[Array, Array], Array]


def squared_error(prediction: Float[ArrayLike, "*n d"], target: Float[ArrayLike, "*n d"]) -> Float[Array, ""]:
    """Mean squared error over points and outputs, in the targets' unit squared."""
    return jnp.mean(jnp.subtract(prediction, target) ** 2)


def cross_entropy(logits: Float[ArrayLike, "*n classes"], one_hot: Float[ArrayLike, "*n classes"]) -> Float[Array, ""]:
    """Mean cross-entropy of a softmax, in nats; `one_hot` holds the labels as rows of the identity."""
    return -jnp.mean((one_hot * jax.nn.log_softmax(logits)).sum(-1))


def accuracy(logits: Float[ArrayLike, "*n classes"], one_hot: Float[ArrayLike, "*n classes"]) -> Float[Array, ""]:
    """Share of points whose largest logit is at the label."""
    return jnp.mean(jnp.argmax(logits, -1) == jnp.argmax(one_hot, -1))


class GradientLearner(Module):
    """Model-agnostic meta-learning: the parameters are an initialisation, and learning is gradient descent [M-def].

    Attributes:
        model: The network.
        loss: Of (predictions, targets), descended on the examples of a task.
        step_size: Of the inner gradient steps.
        steps: Number of inner steps in meta-training.
        first_order: Whether meta-training takes inner gradients for constants, which saves the second derivatives.

    >>> import jax
    >>> from rankone.maml import MLP, GradientLearner, SineTasks
    >>> learner, task = GradientLearner(MLP(1, (8,)), steps=5), SineTasks()(jax.random.key(0))
    >>> learner.predict(learner.init(jax.random.key(1)), task).shape
    (20, 1)
    """

    model: MLP
    loss: Loss = static(default=squared_error)
    step_size: float = 0.01
    steps: int = static(default=1)
    first_order: bool = static(default=False)

    def __post_init__(self) -> None:
        positive("step_size", self.step_size)
        self._set(steps=integer("steps", self.steps, "0 (no adaptation: joint training) or more", least=0))

    def init(self, key: Array) -> Any:
        """A random initialisation, not yet meta-learned."""
        return self.model.init(key)

    @jax.jit
    def step(self, params: Any, task: Task) -> Any:
        """The parameters after one gradient step on the examples of a task."""
        loss = lambda p: self.loss(self.model(p, task.x), task.y)  # noqa: E731
        return gradient_step(loss, params, self.step_size, first_order=self.first_order)

    @partial(jax.jit, static_argnames="steps")
    def adapt(self, params: Any, task: Task, steps: int | None = None) -> Any:
        """The parameters after `steps` steps (the learner's own number, unless given)."""
        n = self.steps if steps is None else steps
        return jax.lax.scan(lambda p, _: (self.step(p, task), None), params, length=n)[0]

    @jax.jit
    def predict(self, params: Any, task: Task) -> Float[Array, "queries outputs"]:
        """Predictions at the queries of a task after learning from its examples."""
        return self.model(self.adapt(params, task), task.x_query)


class OracleLearner(Module):
    """A network that is told which task it is: the description is joined to every input, the examples are ignored.

    Attributes:
        model: The network; its inputs are a point and the description.
    """

    model: MLP

    def init(self, key: Array) -> Any:
        """Random parameters."""
        return self.model.init(key)

    @jax.jit
    def predict(self, params: Any, task: Task) -> Float[Array, "queries outputs"]:
        """Predictions at the queries of a task."""
        told = jnp.broadcast_to(task.description, (len(task.x_query), len(task.description)))
        return self.model(params, jnp.concatenate([task.x_query, told], axis=1))
