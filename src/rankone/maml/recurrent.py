"""A recurrent learner: it reads the examples one by one and answers from its state."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone._checks import integer, random_key
from rankone._module import Module, static
from rankone.maml.perceptron import MLP
from rankone.maml.tasks import Task

__all__ = ["RecurrentLearner"]


class RecurrentLearner(Module):
    """A gated recurrent unit that reads (x, y) pairs in order; a network answers each query from the last state.

    What it has learned of a task is a state of `width` numbers, and how it learns is whatever meta-training made
    of its weights: nothing says that more examples, or the same ones again, must make it better.

    Attributes:
        inputs: Entries of x.
        outputs: Entries of y.
        width: Entries of the state.
        head: Width of the answering network's hidden layer.
    """

    inputs: int = static()
    outputs: int = static(default=1)
    width: int = static(default=64)
    head: int = static(default=64)

    def __post_init__(self) -> None:
        for name in ("inputs", "outputs", "width", "head"):
            self._set(**{name: integer(name, getattr(self, name))})

    @property
    def _answer(self) -> MLP:
        return MLP(self.inputs + self.width, (self.head,), self.outputs)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return 3 * self.width * (self.inputs + self.outputs + self.width + 1) + self._answer.size

    def init(self, key: Array) -> Any:
        """Random parameters: Glorot's variance for what is read, orthogonal matrices for the state."""
        random_key("key", key)
        k_read, k_state, k_answer = jax.random.split(key, 3)
        gates = _gates(k_read, k_state, self.inputs + self.outputs, self.width)
        return {**gates, "answer": self._answer.init(k_answer)}

    @jax.jit
    def read(self, params: Any, task: Task) -> Float[Array, " width"]:
        """The state after the examples of a task, in the order in which they are given."""

        def cell(h: Array, pair: Array) -> tuple[Array, None]:
            seen = jnp.split(pair @ params["read"] + params["b"], 3)
            kept = jnp.split(h @ params["state"], 3)
            reset, update = (jax.nn.sigmoid(seen[i] + kept[i]) for i in range(2))
            return update * h + (1 - update) * jnp.tanh(seen[2] + reset * kept[2]), None

        pairs = jnp.concatenate([task.x, task.y], axis=1)
        return jax.lax.scan(cell, jnp.zeros(self.width), pairs)[0]

    @jax.jit
    def predict(self, params: Any, task: Task) -> Float[Array, "queries outputs"]:
        """Predictions at the queries of a task after reading its examples."""
        state = jnp.broadcast_to(self.read(params, task), (len(task.x_query), self.width))
        return self._answer(params["answer"], jnp.concatenate([task.x_query, state], axis=1))


@partial(jax.jit, static_argnums=(2, 3))
def _gates(k_read: Array, k_state: Array, n: int, width: int) -> dict[str, Array]:
    orthogonal = jax.nn.initializers.orthogonal()
    state = jax.vmap(lambda k: orthogonal(k, (width, width)), out_axes=1)(jax.random.split(k_state, 3))
    return {
        "read": jax.random.normal(k_read, (n, 3 * width)) * (2 / (n + width)) ** 0.5,
        "state": state.reshape(width, 3 * width),
        "b": jnp.zeros(3 * width),
    }
