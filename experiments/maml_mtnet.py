"""Meta-learning on the sine waves through W = TUV, of which only U adapts: learned T
and V against given ones.

One inner step on U from ten examples, as in MT-net (which learns T alone, with V = I,
and a mask that is left out here). The given factors are identities, which is MAML, or
they whiten the moments of the initial network. All variants learn the start of U. Each
is measured at several inner rates, because insensitivity to the rate is one of the
reasons for MT-net.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from record import Experiment, main

from rankone.maml import SineTasks, draw_tasks, evaluate, meta_train
from rankone.maml import squared_error as loss
from rankone.nn import gradient_step, initial_layers
from rankone.preconditioning import (
    Factors,
    layer_moments,
    reparameterize,
    trainable,
    whitening_factors,
)

GRID = {
    "factors": ["identity", "whitened", "T", "both"],
    "rate": [0.001, 0.01, 0.1, 1.0],
}
OPTIONS = {
    "iterations": 3000,
    "meta_batch": 10,
    "width": 40,
    "shots": 10,
    "steps": 1,
    "tasks": 2000,
}
DAMPING = 1e-3


def outputs(layers: Any, x: Any) -> Any:
    """Outputs of layers of any kind, applied in turn with a ReLU between each two."""
    for i, layer in enumerate(layers):
        x = layer(jax.nn.relu(x) if i else x)
    return x


# frozen, because JAX compares the settings when it looks up a compiled program
@dataclass(frozen=True)
class Learner:
    """A network of layers TUV; its parameters are the layers, with the factors that it
    does not learn fixed.
    """

    factors: str
    rate: float
    steps: int
    width: int

    def init(self, key: Any) -> Any:
        """Dense layers of random weights, written as TUV."""
        k_layers, k_tasks = jax.random.split(key)
        layers = initial_layers(k_layers, (1, self.width, self.width, 1), jnp.float32)
        pairs = tuple(
            Factors(*(jnp.eye(size) for size in layer.augmented.shape))
            for layer in layers
        )
        if self.factors == "whitened":
            some = draw_tasks(SineTasks(), 100, key=k_tasks)
            x, y = (part.reshape(-1, 1) for part in (some.x_query, some.y_query))

            def squares(layers):
                return ((outputs(layers, x) - y) ** 2).sum(-1)

            pairs = tuple(
                whitening_factors(m, damping=DAMPING)
                for m in layer_moments(squares, layers)
            )
        return reparameterize(layers, pairs)

    def predict(self, params: Any, task: Any) -> Any:
        """Predictions at the queries after the inner steps on U."""
        free = trainable(params)
        learned = tuple(self._learned(marks) for marks in free)
        state = jax.tree.map(
            lambda p, on: p if on else jax.lax.stop_gradient(p), params, learned
        )

        def on_examples(layers):
            return loss(outputs(layers, task.x), task.y)

        def step(layers, _):
            return (
                gradient_step(on_examples, layers, self.rate, where=free),
                None,
            )

        return outputs(jax.lax.scan(step, state, length=self.steps)[0], task.x_query)

    def _learned(self, marks: Any) -> Any:
        """Marks of the factors of one layer that the outer loop trains: U, and T and V
        as far as they are learned.
        """
        leaves, structure = jax.tree.flatten(marks)  # T, U, V
        learns = {"T": (True, True, False), "both": (True, True, True)}.get(
            self.factors, tuple(leaves)
        )
        return jax.tree.unflatten(structure, learns)


def measure(
    *,
    factors: str,
    rate: float,
    iterations: int,
    meta_batch: int,
    width: int,
    shots: int,
    steps: int,
    tasks: int,
    seed: int,
) -> dict:
    """The loss on fresh waves after the inner steps, and the effective step size of
    each layer: η times the mean eigenvalue of P.
    """
    k_train, k_test = jax.random.split(jax.random.key(seed))
    learner = Learner(factors, rate, steps, width)
    family = SineTasks(shots=shots)
    trained = meta_train(
        learner, family, loss, key=k_train, iterations=iterations, meta_batch=meta_batch
    )
    score = evaluate(
        learner, trained.params, draw_tasks(family, tasks, key=k_test), loss
    )
    lengths = [
        rate * layer.preconditioner.eigenvalues().mean() for layer in trained.params
    ]
    return {"loss": score.mean, "error": score.error, "lengths": lengths}


EXPERIMENT = Experiment(
    "maml_mtnet",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
    seeds=(0, 1, 2),
)

if __name__ == "__main__":
    main(EXPERIMENT)
