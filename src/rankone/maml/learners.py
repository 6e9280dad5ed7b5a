"""Learners that take gradient steps (MAML), and one that is told its task."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone._checks import check, positive
from rankone.maml.objectives import squared_error
from rankone.maml.perceptron import MLP
from rankone.maml.tasks import Task

__all__ = ["GradientLearner", "OracleLearner"]

Loss = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class GradientLearner:
    """Model-agnostic meta-learning: the parameters are an initialisation, and learning is gradient descent [M-def].

    Attributes:
        model: The network.
        loss: Of (predictions, targets), descended on the examples of a task.
        step_size: Of the inner gradient steps.
        steps: Number of inner steps in meta-training.
        first_order: Whether meta-training takes inner gradients for constants, which saves the second derivatives.
    """

    model: MLP
    loss: Loss = squared_error
    step_size: float = 0.01
    steps: int = 1
    first_order: bool = False

    def __post_init__(self) -> None:
        positive("step_size", self.step_size)
        check(self.steps >= 0, "steps", self.steps, "0 (no adaptation: joint training) or more")

    def init(self, key: Array) -> Any:
        """A random initialisation, not yet meta-learned."""
        return self.model.init(key)

    def step(self, params: Any, task: Task) -> Any:
        """The parameters after one gradient step on the examples of a task."""
        gradient = jax.grad(lambda p: self.loss(self.model(p, task.x), task.y))(params)
        if self.first_order:
            gradient = jax.lax.stop_gradient(gradient)
        return jax.tree.map(lambda p, g: p - self.step_size * g, params, gradient)

    def adapt(self, params: Any, task: Task, steps: int | None = None) -> Any:
        """The parameters after `steps` steps (the learner's own number, unless given)."""
        n = self.steps if steps is None else steps
        return jax.lax.scan(lambda p, _: (self.step(p, task), None), params, length=n)[0]

    def predict(self, params: Any, task: Task) -> Float[Array, "queries outputs"]:
        """Predictions at the queries of a task after learning from its examples."""
        return self.model(self.adapt(params, task), task.x_query)


@dataclass(frozen=True)
class OracleLearner:
    """A network that is told which task it is: the description is joined to every input, the examples are ignored.

    Attributes:
        model: The network; its inputs are a point and the description.
    """

    model: MLP

    def init(self, key: Array) -> Any:
        """Random parameters."""
        return self.model.init(key)

    def predict(self, params: Any, task: Task) -> Float[Array, "queries outputs"]:
        """Predictions at the queries of a task."""
        told = jnp.broadcast_to(task.description, (len(task.x_query), len(task.description)))
        return self.model(params, jnp.concatenate([task.x_query, told], axis=1))
