"""Meta-training against the universality theorems: one example, one gradient step of a
learned size, and three functions of (x, y, x*) [M-def, M-S9, M-S8].

x and x* are uniform on [0, 1] and y on [−1, 1]; the answer at x* is to be −y,
y cos 2π(x* − x) or y sin 2π(x* − x). Networks of one, two and three hidden layers
start from random weights. They have as many parameters as the two-layer construction,
which is judged beside them and not trained.
"""

import math
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from checkpoints import checkpoint
from record import Experiment, main

import rankone as ro
from rankone.maml import MLP, Task, draw_tasks, evaluate, meta_train, width_for
from rankone.maml import squared_error as loss
from rankone.nn import gradient_step

FUNCTIONS = {
    "minus": lambda x, y, x_star: -y + 0 * x_star,
    "cos": lambda x, y, x_star: y * jnp.cos(2 * jnp.pi * (x_star - x)),
    "sin": lambda x, y, x_star: y * jnp.sin(2 * jnp.pi * (x_star - x)),
}
DEPTHS = {"one": 1, "two": 2, "three": 3}
GRID = {"target": list(FUNCTIONS), "network": [*DEPTHS, "built"]}
OPTIONS = {
    "units": 512,  # units of the construction
    "iterations": 20_000,
    "meta_batch": 25,
    "queries": 16,
    "rate": 0.001,  # rate of Adam
    "tasks": 2000,
}
PLACES = np.linspace(0, 1, 33, dtype=np.float32)


class OneShotTasks(eqx.Module):
    """Tasks of one example (x, y), with the values of a function of (x, y, x*) as the
    queries' targets.

    Attributes:
        target: A name among `FUNCTIONS`.
        queries: Number of places x*.
    """

    target: str = eqx.field(static=True)
    queries: int = eqx.field(static=True)

    def __call__(self, key: jax.Array) -> Task:
        """One example at a random place, and queries at others."""
        k_x, k_y, k_query = jax.random.split(key, 3)
        x = jax.random.uniform(k_x, (1, 1))
        y = jax.random.uniform(k_y, (1, 1), minval=-1.0)
        x_query = jax.random.uniform(k_query, (self.queries, 1))
        return Task(x, y, x_query, FUNCTIONS[self.target](x, y, x_query), jnp.zeros(0))


class OneStep(eqx.Module):
    """Learner that takes one gradient step on half the squared error, of a size that is
    meta-trained with the weights.

    Attributes:
        model: The network.
        target: Target of the construction from which it starts; None for random weights.
        units: Units of that construction.
    """

    model: MLP
    target: str | None = eqx.field(static=True, default=None)
    units: int = eqx.field(static=True, default=0)

    def init(self, key: jax.Array) -> dict[str, Any]:
        """Weights, and the logarithm of the step size. This is the size of the
        construction, or the one with which the step removes the error at its example,
        on average over x.
        """
        if self.target is not None:
            built = construction(self.target, self.units)
            weights = {"layers": built.layers, "bias": jnp.zeros(0)}
            return {"weights": weights, "log_step": jnp.log(built.alpha)}
        weights = self.model.init(key)
        return {"weights": weights, "log_step": -jnp.log(self.mean_kernel(weights))}

    @partial(jax.jit, static_argnums=0)
    def mean_kernel(self, weights: Any) -> jax.Array:
        """Mean over x of the kernel at x* = x."""
        return jax.vmap(lambda x: self.kernel(weights, x, x))(PLACES).mean()

    def answer(self, weights: Any, x: jax.Array) -> jax.Array:
        """The network's output at one number x."""
        return self.model(weights, jnp.reshape(x, (1, 1)))[0, 0]

    def kernel(self, weights: Any, x: jax.Array, x_star: jax.Array) -> jax.Array:
        """Product of the gradients of the outputs at x and at x*."""
        slopes = [jax.grad(self.answer)(weights, at) for at in (x, x_star)]
        products = jax.tree.map(lambda a, b: (a * b).sum(), *slopes)
        return sum(jax.tree.leaves(products))

    @partial(jax.jit, static_argnums=0)
    def adapt(self, params: dict[str, Any], task: Task) -> Any:
        """The weights after the step."""

        def half(weights: Any) -> jax.Array:
            return loss(self.model(weights, task.x), task.y) / 2

        return gradient_step(half, params["weights"], jnp.exp(params["log_step"]))

    @partial(jax.jit, static_argnums=0)
    def predict(self, params: dict[str, Any], task: Task) -> jax.Array:
        """Answers at the queries after the step."""
        return self.model(self.adapt(params, task), task.x_query)


def construction(target: str, units: int) -> Any:
    """The universal learner of two hidden layers for one target."""
    return ro.universal_learner(
        FUNCTIONS[target], construction="two_layers", units=units
    )


def build(network: str, target: str, units: int) -> OneStep:
    """The learner of one row of the grid."""
    size = construction(target, units).size
    if network in DEPTHS:
        depth = DEPTHS[network]
        hidden = (width_for(size, depth, inputs=1),) * depth
        return OneStep(MLP(1, hidden))
    widths = tuple(len(layer.b) for layer in construction(target, units).layers[:-1])
    return OneStep(MLP(1, widths), target, units)


def hidden_activations(learner: OneStep, weights: Any, x: jax.Array) -> jax.Array:
    """Activations of all hidden units (n, units) at inputs (n, 1)."""
    rows = []
    for layer in weights["layers"][:-1]:
        x = jax.nn.relu(x @ layer.W.T + layer.b)
        rows.append(x)
    return jnp.concatenate(rows, axis=1)


@partial(jax.jit, static_argnums=0)
def usage(learner: OneStep, params: Any, tasks: Task) -> dict[str, jax.Array]:
    """Number of units that a step switches on, and the sign of the kernel.

    `switched_on` is the number of units that are inactive on all of [0, 1] before the
    step and active at some place after it, on average over tasks. `against` is the
    fraction of pairs (x, x*) at which a short step moves the answer against the error.
    """
    everywhere = jnp.array(PLACES)[:, None]
    before = hidden_activations(learner, params["weights"], everywhere) > 0

    def count(task: Task) -> jax.Array:
        after = hidden_activations(learner, learner.adapt(params, task), everywhere) > 0
        return (~before.any(0) & after.any(0)).sum()

    pairs = jax.vmap(
        jax.vmap(partial(learner.kernel, params["weights"]), (None, 0)), (0, None)
    )(PLACES, PLACES)
    return {
        "switched_on": jax.lax.map(count, tasks, batch_size=100).mean(),
        "against": (pairs < 0).mean(),
    }


@partial(jax.jit, static_argnums=0)
def largest_error(learner: OneStep, params: Any, tasks: Task) -> jax.Array:
    """Largest error at the queries of all tasks."""

    def worst(task: Task) -> jax.Array:
        return abs(learner.predict(params, task) - task.y_query).max()

    return jax.lax.map(worst, tasks, batch_size=100).max()


def report(learner: OneStep, params: Any, tasks: Task) -> dict[str, Any]:
    """Errors, the step size, and the results of `usage`."""
    mean_square = evaluate(learner, params, tasks, loss).mean
    return {
        "rms": math.sqrt(mean_square),
        "largest": largest_error(learner, params, tasks),
        "step_size": jnp.exp(params["log_step"]),
    } | usage(learner, params, tasks)


def measure(
    *,
    target: str,
    network: str,
    units: int,
    iterations: int,
    meta_batch: int,
    queries: int,
    rate: float,
    tasks: int,
    seed: int,
) -> dict:
    """Meta-train one network for one target, and judge it on fresh examples before and
    after; the construction is judged as it stands.
    """
    learner = build(network, target, units)
    family = OneShotTasks(target, queries)
    k_train, k_test = jax.random.split(jax.random.key(seed))
    fresh = draw_tasks(family, tasks, key=k_test)
    k_init, _ = jax.random.split(k_train)  # as `meta_train` splits it
    start = learner.init(k_init)
    end, losses = start, []
    if network != "built":
        names = {"target": target, "network": network, "seed": seed}
        with checkpoint("maml_one_shot", iterations=iterations, **names) as path:
            trained = meta_train(
                learner,
                family,
                loss,
                key=k_train,
                iterations=iterations,
                meta_batch=meta_batch,
                learning_rate=rate,
                checkpoint=path,
            )
        end, losses = trained.params, trained.losses
    places = jnp.array(PLACES)[:, None]
    example = Task(jnp.array([[0.25]]), jnp.ones((1, 1)), places, places, jnp.zeros(0))
    return {
        "hidden": list(learner.model.hidden),
        "parameters": learner.model.size,
        "zero": math.sqrt((fresh.y_query**2).mean()),
        "start": report(learner, start, fresh),
        "end": report(learner, end, fresh),
        "losses": losses[:: max(1, len(losses) // 20)],
        "answers": learner.predict(end, example)[:, 0],
    }


EXPERIMENT = Experiment(
    "maml_one_shot",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
    seeds=(0, 1, 2),
    value=3,
)

if __name__ == "__main__":
    main(EXPERIMENT)
