"""Gradient descent on a few examples, seen through the kernel of the initialisation
[M-fig2].

Let J be the derivative of the predictions with respect to all parameters, and e their
errors. A step of size α on the mean squared error of n examples changes the predictions
by −α (2/n) J Jᵀe: to first order in general, and exactly for a model that is linear in
its parameters.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from rankone._annotated import checked
from rankone.maml.learners import GradientLearner
from rankone.maml.tasks import Task

__all__ = ["frozen_predictions", "step_rates"]


def _slopes(learner: GradientLearner, params: Any, x: Array) -> Float[Array, "n p"]:
    """Derivative of one-dimensional predictions with respect to all parameters, one row
    per point.
    """
    slope = jax.grad(lambda p, point: learner.model(p, point)[0])
    return jax.vmap(lambda point: ravel_pytree(slope(params, point))[0])(x)


@checked
@partial(jax.jit, static_argnames="learner")
def step_rates(learner: GradientLearner, params: Any, task: Task) -> Float[Array, " n"]:
    """Eigenvalues of α (2/n) J Jᵀ on the examples of a task, smallest first.

    α is the step size of the learner and J the derivative of the predictions with
    respect to all parameters. To first order a step multiplies the error along an
    eigenvector of the eigenvalue λ by 1 − λ: λ = 1 removes the error, λ = 0 leaves it
    unchanged, and λ > 2 enlarges it.

    Args:
        learner: Learner with one output, and the squared error for its loss.
        params: Parameters before the step.
        task: Task, of which only the examples are used.
    """
    J = _slopes(learner, params, task.x)
    return jnp.linalg.eigvalsh(J @ J.T) * 2 / len(task.x) * learner.step_size


@checked
@partial(jax.jit, static_argnames=("learner", "steps"))
def frozen_predictions(
    learner: GradientLearner, params: Any, task: Task, steps: int
) -> Float[Array, "{steps}+1 queries 1"]:
    """Predictions after 0, 1, …, `steps` steps if the kernel stayed as it is at the
    initialisation.

    The model is replaced by its linearisation in the parameters. Descent on this model
    changes the errors at the n examples by eᵢ₊₁ = (I − α (2/n) K) eᵢ with K = J Jᵀ, as
    in `step_rates`.

    Args:
        learner: Learner with one output, and the squared error for its loss.
        params: The initialisation.
        task: Task to learn.
        steps: Number of steps.

    Returns:
        Predictions at the queries (steps + 1, queries, 1).
    """
    J, J_query = (_slopes(learner, params, x) for x in (task.x, task.x_query))
    rate = 2 / len(task.x) * learner.step_size

    def step(state: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], Array]:
        error, prediction = state
        change = rate * (J.T @ error)
        return (error - J @ change, prediction - J_query @ change), prediction

    start = learner.model(params, task.x) - task.y, learner.model(params, task.x_query)
    return jax.lax.scan(step, start, length=steps + 1)[1]
