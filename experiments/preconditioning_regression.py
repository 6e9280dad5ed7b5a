"""Linear regression with a curvature of condition 10⁶, by six methods: excess loss
against steps and against seconds.

The second moment of the inputs has condition 10⁴, and the covariance of the noise 10².
The loss weights errors by the inverse of this covariance, so that the Hessian is the
Kronecker product of the two. Batches have 250 of the 5,000 examples.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from preconditioning_methods import METHODS, Problem, train
from record import Experiment, main

from rankone.nn import Dense

# The rate of each method is its base times one of the grid.
BASE = {
    "gd": 0.01,
    "momentum": 1e-3,
    "adam": 0.01,
    "explicit": 0.03,
    "reparameterised": 0.03,
    "kfac-jax": 0.03,
}
GRID = {"method": list(METHODS), "rate": [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]}
OPTIONS = {
    "n": 60,
    "m": 20,
    "examples": 5000,
    "batch": 250,
    "steps": 1000,
    "every": 40,
    "damping": 1e-6,
}


def problem(
    *, n: int, m: int, examples: int, batch: int, damping: float, seed: int
) -> Problem:
    """Regression with Gaussian inputs and noise, which have geometric spectra in random
    bases.
    """
    x, y, metric, best = examples_of(jax.random.key(seed), n, m, examples)

    def draw(size: int) -> Any:
        return lambda key: (lambda i: (x[i], y[i]))(
            jax.random.randint(key, (size,), 0, examples)
        )

    excess = jax.jit(
        lambda net: 0.5 * ((x @ (net.W.T @ metric - best)) ** 2).sum(-1).mean()
    )

    def outputs(net, x):
        return net(x) @ metric

    return Problem(
        Dense(jnp.zeros((m, n))), outputs, draw(batch), draw(4 * batch), excess, damping
    )


@partial(jax.jit, static_argnames=("n", "m", "examples"))
def examples_of(key: Any, n: int, m: int, examples: int) -> tuple[Any, Any, Any, Any]:
    """Inputs, weighted outputs, the weights of the outputs, and the best map from the
    inputs to the weighted outputs.
    """
    keys = jax.random.split(key, 5)
    basis, rotation = (
        jnp.linalg.qr(jax.random.normal(k, (s, s)))[0]
        for k, s in zip(keys, (n, m), strict=False)
    )
    # condition of xxᵀ: 10⁴
    x = jax.random.normal(keys[2], (examples, n)) * jnp.logspace(0, -2, n) @ basis.T
    metric = rotation * jnp.logspace(0, 1, m)  # condition of metric metricᵀ: 10²
    W = jax.random.normal(keys[3], (m, n))
    # the noise of the weighted outputs is white
    y = x @ W.T @ metric + jax.random.normal(keys[4], (examples, m))
    return x, y, metric, jnp.linalg.lstsq(x, y)[0]


def measure(
    *, method: str, rate: float, steps: int, every: int, seed: int, **sizes: Any
) -> dict:
    """One curve of the excess over the least loss."""
    regression = problem(**sizes, seed=seed)
    return train(
        regression,
        method,
        BASE[method] * rate,
        steps=steps,
        every=every,
        key=jax.random.key(100 + seed),
    )


EXPERIMENT = Experiment(
    "preconditioning_regression", __doc__, GRID, measure, OPTIONS, of="the book"
)

if __name__ == "__main__":
    main(EXPERIMENT)
