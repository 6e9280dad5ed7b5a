"""The inner step size at each depth of `maml_depth`, over one grid, on tasks that
`maml_depth` does not use.

Tasks and weights are drawn with seed 3; `maml_depth` has the seeds 0 and 2.
Meta-training is shorter than there; --iterations 5000 compares the best two step sizes
of one layer again.
"""

from math import gcd

import jax
import numpy as np
from maml_depth import BIAS, GROUP, SIZE, build
from record import Experiment, main

from rankone.maml import PolynomialTasks, draw_tasks, evaluate, meta_train
from rankone.maml import squared_error as loss

GRID = {
    "depth": [1, 2, 3, 4, 5],
    "step_size": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3],
}
OPTIONS = {
    "size": SIZE,
    "bias": BIAS,
    "iterations": 1000,
    "meta_batch": 25,
    "tasks": 1000,
}


def measure(
    *,
    depth: int,
    step_size: float,
    size: int,
    bias: int,
    iterations: int,
    meta_batch: int,
    tasks: int,
    seed: int,
) -> dict:
    """Error of one step at the queries of tasks that meta-training has not drawn."""
    meta_learner = build("maml", depth, size, bias, step_size)
    k_train, k_test = jax.random.split(jax.random.key(seed))
    trained = meta_train(
        meta_learner,
        PolynomialTasks(),
        loss,
        key=k_train,
        iterations=iterations,
        meta_batch=meta_batch,
        group=gcd(meta_batch, GROUP),
    )
    fresh = draw_tasks(PolynomialTasks(), tasks, key=k_test)
    error = evaluate(meta_learner, trained.params, fresh, loss).mean
    return {"queries": error if np.isfinite(error) else None}


EXPERIMENT = Experiment(
    "maml_depth_rates", __doc__, GRID, measure, OPTIONS, of="the book", seeds=(3,)
)

if __name__ == "__main__":
    main(EXPERIMENT)
