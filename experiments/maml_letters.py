"""The slides' Figs 2, 3 and 4 with UCI Letter in Omniglot's place: more steps, sheared
features, training from scratch.

A task is to distinguish five letters from 1 example of each (Figs 2 and 3), or from 4
of each, twenty in all (Fig. 4). Meta-training uses 18 letters, the figures use the 8
others. `maml` and `first_order` are trained through 5 gradient steps; `recurrent` reads
the examples with a gated unit. `scratch` starts from random weights and takes steps of
each size in SCRATCH. The other learners have the inner step, and `recurrent` the rate
of Adam, that was best in `maml_rates`.
"""

import jax
from checkpoints import checkpoint
from record import Experiment, main

from rankone.maml import (
    MLP,
    GradientLearner,
    LetterTasks,
    RecurrentLearner,
    accuracy,
    after_steps,
    cross_entropy,
    draw_tasks,
    evaluate,
    meta_train,
)
from rankone_book.maml_runs import ADAM, SHEARS, chosen_rate
from rankone_book.records import load_record

GRID = {"learner": ["maml", "first_order", "recurrent", "scratch"], "shots": [1, 4]}
OPTIONS = {
    "iterations": 60_000,
    "meta_batch": 32,
    "width": 64,
    "steps": 100,
    "tasks": 2000,
}
SCRATCH = [0.03, 0.1, 0.3, 1.0]


def gradient_learner(
    width: int, step_size: float, first_order: bool = False
) -> GradientLearner:
    return GradientLearner(
        MLP(16, (width, width), 5), cross_entropy, step_size, 5, first_order
    )


def curves(meta_learner, params, batch, steps: int, each: bool = False) -> dict:
    """Accuracy after each step, on the examples and on further letters of the same
    tasks.
    """
    examples, queries = after_steps(
        meta_learner, params, batch, accuracy, steps=steps, each=each
    )
    return {
        "examples": examples.mean,
        "queries": queries.mean,
        "queries_error": queries.error,
    }


def measure(
    *,
    learner: str,
    shots: int,
    iterations: int,
    meta_batch: int,
    width: int,
    steps: int,
    tasks: int,
    seed: int,
) -> dict:
    """Meta-train one learner, and judge it on the letters that it has not seen."""
    k_train, k_test = jax.random.split(jax.random.key(seed))
    fresh = draw_tasks(LetterTasks("test", shots=shots), tasks, key=k_test)
    if learner == "scratch":
        learners = {rate: gradient_learner(width, rate) for rate in SCRATCH}
        own = {
            rate: jax.vmap(m.init)(jax.random.split(k_train, tasks))
            for rate, m in learners.items()
        }
        return {
            f"{r:g}": curves(m, own[r], fresh, steps, each=True)
            for r, m in learners.items()
        }
    recurrent = learner == "recurrent"
    rate = chosen_rate(load_record("maml_rates"), f"letters{shots}", learner)
    adam = rate if recurrent else ADAM
    meta_learner = (
        RecurrentLearner(16, 5)
        if recurrent
        else gradient_learner(width, rate, learner == "first_order")
    )
    family = LetterTasks(shots=shots)
    with checkpoint(
        "maml_letters",
        learner=learner,
        shots=shots,
        width=width,
        rate=rate,
        iterations=iterations,
        seed=seed,
    ) as path:
        trained = meta_train(
            meta_learner,
            family,
            cross_entropy,
            key=k_train,
            iterations=iterations,
            meta_batch=meta_batch,
            learning_rate=adam,
            checkpoint=path,
        )
    known_letters = evaluate(
        meta_learner, trained.params, draw_tasks(family, tasks, key=k_test), accuracy
    ).mean
    results = {
        "rate": rate,
        "final_loss": trained.losses[-5:].mean(),
        "seen": known_letters,
    }
    if not recurrent:
        results |= curves(meta_learner, trained.params, fresh, steps)
    sheared = [
        draw_tasks(LetterTasks("test", shots=shots, shear=shear), tasks, key=k_test)
        for shear in SHEARS
    ]
    scores = [
        evaluate(meta_learner, trained.params, batch, accuracy) for batch in sheared
    ]
    return results | {
        "by_shear": [s.mean for s in scores],
        "by_shear_error": [s.error for s in scores],
    }


EXPERIMENT = Experiment(
    "maml_letters",
    __doc__,
    GRID,
    measure,
    OPTIONS,
    of="the book",
    seeds=(0, 1, 2),
    value=2,
)

if __name__ == "__main__":
    main(EXPERIMENT)
