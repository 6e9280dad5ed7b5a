"""The slides' Fig. 5: depth at an equal number of parameters, for one inner gradient
step and for an oracle.

Cubic polynomials with coefficients uniform in [−1, 1] on [−3, 3], 40 examples, one
inner step, ReLU, a bias transformation of 10, about 40,000 parameters in 1 to 5 hidden
layers of equal width. The oracle is given the four coefficients. The slides do not give
the inner step or the iterations; each depth has the inner step that was best in
`maml_depth_rates`.
"""

from math import gcd

import jax
from checkpoints import checkpoint
from record import Experiment, main

from rankone.maml import (
    MLP,
    GradientLearner,
    OracleLearner,
    PolynomialTasks,
    draw_tasks,
    evaluate,
    meta_train,
    width_for,
)
from rankone.maml import squared_error as loss
from rankone_book.maml_runs import best_inner_step
from rankone_book.records import load_record

SIZE = 40_000  # parameters
BIAS = 10  # entries of the bias transformation
GRID = {"learner": ["maml", "oracle"], "depth": [1, 2, 3, 4, 5]}
OPTIONS = {
    "size": SIZE,
    "bias": BIAS,
    "iterations": 20_000,
    "meta_batch": 25,
    "tasks": 2000,
}
GROUP = 5  # tasks differentiated at a time, few enough for the cache


def build(learner: str, depth: int, size: int, bias: int, step_size: float):
    inputs, bias = (1, bias) if learner == "maml" else (5, 0)
    width = width_for(size, depth, inputs=inputs, bias_transform=bias)
    model = MLP(inputs, (width,) * depth, 1, bias)
    return (
        GradientLearner(model, loss, step_size)
        if learner == "maml"
        else OracleLearner(model)
    )


def measure(
    *,
    learner: str,
    depth: int,
    size: int,
    bias: int,
    iterations: int,
    meta_batch: int,
    tasks: int,
    seed: int,
) -> dict:
    """Meta-train one learner at one depth, and judge it on fresh polynomials."""
    step_size = best_inner_step(load_record("maml_depth_rates"), depth)
    meta_learner = build(learner, depth, size, bias, step_size)
    (k_train, k_test) = jax.random.split(jax.random.key(seed))
    names = {
        "learner": learner,
        "depth": depth,
        "step_size": step_size,
        "iterations": iterations,
        "seed": seed,
    }
    training = {
        "iterations": iterations,
        "meta_batch": meta_batch,
        "group": gcd(meta_batch, GROUP),
    }
    with checkpoint("maml_depth", **names) as path:
        trained = meta_train(
            meta_learner,
            PolynomialTasks(),
            loss,
            key=k_train,
            checkpoint=path,
            **training,
        )
    queries = evaluate(
        meta_learner,
        trained.params,
        draw_tasks(PolynomialTasks(), tasks, key=k_test),
        loss,
    )
    network = {
        "width": meta_learner.model.hidden[0],
        "parameters": meta_learner.model.size,
    }
    if learner == "maml":
        network["step_size"] = step_size
    return network | {
        "losses": trained.losses,
        "queries": queries.mean,
        "queries_error": queries.error,
    }


EXPERIMENT = Experiment(
    "maml_depth",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
    # The measured seeds. No other was tried, because a cell takes up to 20 minutes.
    seeds=(0, 2),
    value=2,
)

if __name__ == "__main__":
    main(EXPERIMENT)
