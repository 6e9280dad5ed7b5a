"""PRONG against descent in the original coordinates, on the small network of the
chapter, each over the same grid of rates.

A network of 8 tanh units fits 400 examples of a linear map whose inputs have a
covariance of condition 250 and whose targets have correlated noise. Both methods take
full-batch steps of SGD from one start: `plain` on W, `prong` on U in W = TUV with V =
A^(-1/2), renewed every ten steps. The loss is half the squared error on the 400
examples, summed over the outputs.
"""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from preconditioning_methods import learning_curve
from record import Experiment, main

from rankone import nn
from rankone import preconditioning as pc

GRID = {"method": ["plain", "prong"], "rate": [0.01, 0.03, 0.1, 0.3, 1.0, 3.0]}
OPTIONS = {
    "examples": 400,
    "inputs": 6,
    "outputs": 4,
    "hidden": 8,
    "steps": 300,
    "every": 50,
    "renew": 10,
    "damping": 1e-2,
}


def problem(
    examples: int, inputs: int, outputs: int, hidden: int, seed: int
) -> tuple[dict, tuple]:
    """A network of two dense layers, and (x, y) of shapes (N, n) and (N, m)."""
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(examples, inputs)) * np.logspace(0, -1.2, inputs)
    noise = draws.normal(size=(examples, outputs)) @ draws.normal(
        size=(outputs, outputs)
    )
    y = x @ draws.normal(size=(inputs, outputs)) + 0.5 * noise
    first = draws.normal(size=(hidden, inputs + 1)) / 3
    last = draws.normal(size=(outputs, hidden)) / 3
    network = {
        "first": nn.Dense.from_augmented(jnp.asarray(first, jnp.float32)),
        "last": nn.Dense(jnp.asarray(last, jnp.float32)),
    }
    return network, (jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32))


def losses(network: dict, batch: tuple) -> jax.Array:
    """Loss of each example (N,)."""
    out = network["last"](jnp.tanh(network["first"](batch[0])))
    return 0.5 * jnp.sum((out - batch[1]) ** 2, -1)


def measure(
    *,
    method: str,
    rate: float,
    examples: int,
    inputs: int,
    outputs: int,
    hidden: int,
    steps: int,
    every: int,
    renew: int,
    damping: float,
    seed: int,
) -> dict:
    """The loss before the first step and after every `every`; a curve that diverges
    ends there.
    """
    network, batch = problem(examples, inputs, outputs, hidden, seed)

    def mean_loss(network: dict) -> jax.Array:
        return losses(network, batch).mean()

    if method == "prong":
        trainer = pc.prong(losses, learning_rate=rate, every=renew, damping=damping)
        state = trainer.init(network, batch)
    else:
        state = network
        descend = jax.jit(
            lambda network: jax.tree.map(
                lambda w, g: w - rate * g, network, jax.grad(mean_loss)(network)
            )
        )

    def chunk(state: Any, _: int) -> Any:
        for _ in range(every):
            state = (
                trainer.step(state, batch)[0] if method == "prong" else descend(state)
            )
        return state

    value = jax.jit(mean_loss)
    return learning_curve(
        chunk,
        state,
        range(steps // every),
        lambda state: value(state.network if method == "prong" else state),
        limit=2,
        clock=time.process_time,
    )


EXPERIMENT = Experiment(
    "preconditioning_prong", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
