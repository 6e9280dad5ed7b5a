"""The step size of each learner of `maml_sine` and `maml_letters`, over one grid, on
tasks that neither of them shows.

A rate is a multiple of the learner's usual one: of the inner step for `maml`,
`first_order` and `ordinary`, and of Adam in meta-training for `recurrent`, which takes
no steps. `ordinary` is the start without meta-training through steps: on waves a
network trained on all tasks jointly, on letters random weights. Tasks are drawn with
seed 3; `maml_sine` and `maml_letters` have the seeds 0 to 2. On letters they are tasks
of the 18 letters of meta-training, not of the 8 that are shown. Meta-training is
shorter than in the runs that are shown, except for `recurrent`, whose best rate of Adam
depends on the length. Where a learner was best at an end of the grid, further values of
--rate were measured in that direction.
"""

from functools import cache
from typing import Any

import jax
import numpy as np
from record import Experiment, main

from rankone.maml import (
    MLP,
    GradientLearner,
    LetterTasks,
    RecurrentLearner,
    SineTasks,
    accuracy,
    after_steps,
    cross_entropy,
    draw_tasks,
    evaluate,
    meta_train,
    squared_error,
)
from rankone_book.maml_runs import ADAM, FAMILIES, STEP_SIZE

GRID = {
    "family": list(FAMILIES),
    "learner": ["maml", "first_order", "ordinary", "recurrent"],
    "rate": [0.3, 1.0, 3.0, 10.0],
}
OPTIONS = {"waves": 20_000, "letters": 1000, "steps": 100, "tasks": 1000}
BATCH = {"waves": 25, "letters": 32}
# Length of the meta-training of `recurrent`, relative to that of the others.
LONGER = {"waves": 3.5, "letters": 5.0}
INNER = {"maml": 5, "first_order": 5, "ordinary": 0}


def tasks_of(family: str) -> Any:
    shots = FAMILIES[family].shots
    return SineTasks() if shots is None else LetterTasks(shots=shots)


@cache
def trained(
    family: str, learner: str, step_size: float, adam: float, iterations: int, seed: int
) -> tuple[Any, Any]:
    """A learner and its parameters after meta-training; the random start of
    `ordinary` on letters is left as it is.
    """
    kind = FAMILIES[family].kind
    letters = kind == "letters"
    loss = cross_entropy if letters else squared_error
    sizes = (16, 5) if letters else (1, 1)
    if learner == "recurrent":
        meta_learner = RecurrentLearner(*sizes)
    else:
        width = 64 if letters else 40
        meta_learner = GradientLearner(
            MLP(sizes[0], (width, width), sizes[1]),
            loss,
            step_size,
            INNER[learner],
            learner == "first_order",
        )
    key = jax.random.split(jax.random.key(seed))[0]
    if letters and learner == "ordinary":
        return meta_learner, meta_learner.init(key)
    options = {"iterations": iterations, "meta_batch": BATCH[kind]}
    run = meta_train(
        meta_learner, tasks_of(family), loss, key=key, learning_rate=adam, **options
    )
    return meta_learner, run.params


def measure(
    *,
    family: str,
    learner: str,
    rate: float,
    waves: int,
    letters: int,
    steps: int,
    tasks: int,
    seed: int,
) -> dict:
    """Score after each step, at the queries of tasks that meta-training has not drawn:
    squared error on waves, fraction right on letters; scores end where they are no
    longer finite.
    """
    kind = FAMILIES[family].kind
    iterations = {"waves": waves, "letters": letters}[kind]
    reads = learner == "recurrent"
    step_size = STEP_SIZE[kind] * (1.0 if reads or learner == "ordinary" else rate)
    adam = ADAM * (rate if reads else 1.0)
    if reads:
        iterations = round(LONGER[kind] * iterations)
    meta_learner, params = trained(family, learner, step_size, adam, iterations, seed)
    metric = squared_error if kind == "waves" else accuracy
    fresh = draw_tasks(
        tasks_of(family), tasks, key=jax.random.split(jax.random.key(seed))[1]
    )
    if reads:
        return {"queries": _finite(evaluate(meta_learner, params, fresh, metric).mean)}
    if learner == "ordinary":
        meta_learner = GradientLearner(
            meta_learner.model, meta_learner.loss, STEP_SIZE[kind] * rate
        )
    scores = after_steps(meta_learner, params, fresh, metric, steps=steps)[1].mean
    return {"queries": _finite(scores)}


def _finite(scores: Any) -> np.ndarray:
    values = np.atleast_1d(np.asarray(scores))
    return values[: int(np.logical_and.accumulate(np.isfinite(values)).sum())]


EXPERIMENT = Experiment(
    "maml_rates", __doc__, GRID, measure, OPTIONS, of="the book", seeds=(3,)
)

if __name__ == "__main__":
    main(EXPERIMENT)
