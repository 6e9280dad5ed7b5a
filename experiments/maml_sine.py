"""The slides' Figs 2 and 3 on sine waves: more gradient steps than were trained, and
waves of another kind.

Five examples of a wave of amplitude 0.1 to 5 and phase 0 to π. `maml` and `first_order`
are trained through 5 gradient steps, `joint` through none (it learns the average wave),
`recurrent` reads the examples with a gated unit. All are judged on fresh waves, after
up to --steps steps where they take any; then on waves of one amplitude (to 10) with the
trained phases, and of one phase (to 2π) with the trained amplitudes. The slides name no
widths or rates; these are the public code's (two layers of 40, 70,000 iterations of 25
tasks, Adam and inner steps of 0.001). `maml_rates` chooses an inner step, and for
`recurrent` a rate of Adam, for each learner; the cells at these are measured with
--step_size and --adam.
"""

from math import pi

import jax
from checkpoints import checkpoint
from record import Experiment, main

from rankone.maml import (
    MLP,
    GradientLearner,
    RecurrentLearner,
    SineTasks,
    after_steps,
    draw_tasks,
    evaluate,
    meta_train,
)
from rankone.maml import squared_error as loss
from rankone_book.maml_runs import AMPLITUDES, PHASES

GRID = {"learner": ["maml", "first_order", "joint", "recurrent"]}
OPTIONS = {
    "iterations": 70_000,
    "meta_batch": 25,
    "width": 40,
    "step_size": 0.001,
    "adam": 0.001,
    "steps": 100,
    "tasks": 2000,
}


def build(learner: str, width: int, step_size: float):
    if learner == "recurrent":
        return RecurrentLearner(1)
    inner = {"maml": 5, "first_order": 5, "joint": 0}[learner]
    return GradientLearner(
        MLP(1, (width, width)), loss, step_size, inner, learner == "first_order"
    )


def score(meta_learner, params, batch, steps: int):
    """Mean loss after `steps` steps, or that of the only answer of a learner that takes
    no steps.
    """
    if not isinstance(meta_learner, GradientLearner):
        return evaluate(meta_learner, params, batch, loss).mean
    return after_steps(meta_learner, params, batch, loss, steps=steps)[1].mean[-1]


def measure(
    *,
    learner: str,
    iterations: int,
    meta_batch: int,
    width: int,
    step_size: float,
    adam: float,
    steps: int,
    tasks: int,
    seed: int,
) -> dict:
    """Meta-train one learner, and judge it."""
    meta_learner = build(learner, width, step_size)
    (k_train, k_test) = jax.random.split(jax.random.key(seed))
    with checkpoint(
        "maml_sine",
        learner=learner,
        width=width,
        step_size=step_size,
        adam=adam,
        iterations=iterations,
        seed=seed,
    ) as path:
        trained = meta_train(
            meta_learner,
            SineTasks(),
            loss,
            key=k_train,
            iterations=iterations,
            meta_batch=meta_batch,
            learning_rate=adam,
            checkpoint=path,
        )
    results = {"final_loss": trained.losses[-5:].mean()}
    fresh = draw_tasks(SineTasks(), tasks, key=k_test)
    if learner == "recurrent":
        results |= {"queries": [score(meta_learner, trained.params, fresh, 0)]}
    else:
        examples, queries = after_steps(
            meta_learner, trained.params, fresh, loss, steps=steps
        )
        results |= {
            "examples": examples.mean,
            "queries": queries.mean,
            "queries_error": queries.error,
        }
    by_amplitude = [
        draw_tasks(SineTasks(amplitude=(a, a)), tasks, key=k_test) for a in AMPLITUDES
    ]
    by_phase = [
        draw_tasks(SineTasks(phase=(p * pi, p * pi)), tasks, key=k_test) for p in PHASES
    ]
    for name, batches in {"by_amplitude": by_amplitude, "by_phase": by_phase}.items():
        for inner in (5,) if learner == "recurrent" else (5, steps):
            results[f"{name}_{inner}"] = [
                score(meta_learner, trained.params, batch, inner) for batch in batches
            ]
    return results


EXPERIMENT = Experiment("maml_sine", __doc__, GRID, measure, OPTIONS, seeds=(0, 1, 2))

if __name__ == "__main__":
    main(EXPERIMENT)
