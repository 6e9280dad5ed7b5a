"""Scores of a learner on fresh tasks, by the number of steps."""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone._checks import boolean, brief, instance, integer, random_key
from rankone._module import Module
from rankone.maml.learners import GradientLearner, Loss
from rankone.maml.tasks import Task
from rankone.maml.training import Learner, TaskFamily, check_hashable, check_learner

__all__ = ["Score", "after_steps", "draw_tasks", "evaluate"]


class Score(Module):
    """Mean of a metric over some tasks, and the standard error of this mean.

    Attributes:
        mean: Mean over the tasks: one number, or one for each number of steps.
        error: Standard error of the mean.
    """

    mean: Float[Array, "*steps"]
    error: Float[Array, "*steps"]


def draw_tasks(tasks: TaskFamily, number: int, *, key: Array) -> Task:
    """Fresh tasks of a family, as one `Task` whose arrays have a leading axis of length
    `number`.

    Args:
        tasks: Family of tasks.
        number: Number of tasks.
        key: JAX random key.
    """
    if not callable(tasks):
        raise ValueError(
            f"tasks: got {brief(tasks)}; "
            "it must be a family of tasks, such as SineTasks()."
        )
    random_key("key", key)
    return jax.vmap(tasks)(
        jax.random.split(key, integer("number", number, "at least 1 task"))
    )


def evaluate(learner: Learner, params: Any, tasks: Task, metric: Loss) -> Score:
    """Mean of a metric at the queries of some tasks, from the family used in training
    or from another [M-fig3].

    Args:
        learner: Any learner.
        params: Meta-trained parameters of the learner.
        tasks: From `draw_tasks`.
        metric: Function of (predictions, targets).
    """
    check_learner("learner", learner)
    _check_drawn(tasks)
    check_hashable("metric", metric)
    return _evaluated(learner, params, tasks, metric)


@partial(jax.jit, static_argnames=("learner", "metric"))
def _evaluated(learner: Learner, params: Any, tasks: Task, metric: Loss) -> Score:
    def score(task: Task) -> Array:
        return metric(learner.predict(params, task), task.y_query)

    return _summary(jax.lax.map(score, tasks, batch_size=100))


def _check_drawn(tasks: Task) -> None:
    instance("tasks", tasks, Task, "tasks from draw_tasks")
    if tasks.x.ndim != 3:
        raise ValueError(
            f"tasks: got x of shape {tasks.x.shape}; "
            "it must be tasks from draw_tasks, along one leading axis."
        )


def after_steps(
    learner: GradientLearner,
    params: Any,
    tasks: Task,
    metric: Loss,
    *,
    steps: int,
    each: bool = False,
) -> tuple[Score, Score]:
    """The metric after 0, 1, …, `steps` inner steps: on the examples of each task, and
    at its queries [M-fig2].

    Args:
        learner: Learner to evaluate; its own number of steps is not used.
        params: Initialisation of the learner.
        tasks: From `draw_tasks`.
        metric: Function of (predictions, targets).
        steps: Number of inner steps.
        each: True if every task has an initialisation of its own, along a leading axis
            of `params`.

    Returns:
        Scores on the examples and at the queries, each with `steps` + 1 entries.
    """
    instance("learner", learner, GradientLearner, "a GradientLearner")
    _check_drawn(tasks)
    check_hashable("metric", metric)
    steps = integer("steps", steps, "0 or more", least=0)
    # all step sizes share one program
    return _after_steps(
        replace(learner, step_size=1.0),
        learner.step_size,
        params,
        tasks,
        metric,
        steps,
        boolean("each", each),
    )


@partial(jax.jit, static_argnames=("learner", "metric", "steps", "per_task"))
def _after_steps(
    learner: GradientLearner,
    step_size: Any,
    params: Any,
    tasks: Task,
    metric: Loss,
    steps: int,
    per_task: bool,
) -> tuple[Score, Score]:
    learner = replace(learner, step_size=step_size)

    def judge(p: Any, task: Task) -> tuple[Array, Array]:
        model = learner.model
        return metric(model(p, task.x), task.y), metric(
            model(p, task.x_query), task.y_query
        )

    def curves(params_and_task: tuple[Any, Task]) -> tuple[Array, Array]:
        task_params, task = params_and_task
        start = task_params if per_task else params
        return jax.lax.scan(
            lambda p, _: (learner.step(p, task), judge(p, task)),
            start,
            length=steps + 1,
        )[1]

    examples, queries = jax.lax.map(
        curves, (params if per_task else None, tasks), batch_size=100
    )
    return _summary(examples), _summary(queries)


def _summary(values: Array) -> Score:
    return Score(values.mean(0), values.std(0, ddof=1) / jnp.sqrt(len(values)))
