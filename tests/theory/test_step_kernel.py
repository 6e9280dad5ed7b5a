"""The kernel of an initialisation, for models that are linear in their parameters,
which it determines completely.
"""

import jax
import numpy as np
from refusals import refused

from rankone.maml import MLP, GradientLearner, SineTasks
from rankone.theory.step_kernel import frozen_predictions, step_rates


def test_the_kernel_of_a_linear_model_is_constant_during_adaptation():
    learner = GradientLearner(MLP(1, ()), step_size=0.02)
    task = SineTasks(shots=3, queries=4)(jax.random.key(1))
    params = learner.init(jax.random.key(2))
    frozen = np.asarray(frozen_predictions(learner, params, task, 2))
    for steps, predictions in enumerate(frozen):
        real = learner.model(learner.adapt(params, task, steps=steps), task.x_query)
        np.testing.assert_allclose(predictions, real, atol=1e-5)
    stepped = learner.model(learner.step(params, task), task.x_query)
    np.testing.assert_allclose(frozen[1], stepped, atol=1e-5)
    J = np.hstack([task.x, np.ones((3, 1))])
    np.testing.assert_allclose(
        step_rates(learner, params, task),
        np.linalg.eigvalsh(0.02 * 2 / 3 * J @ J.T),
        atol=1e-6,
    )


def test_steps_and_tasks_are_refused_by_name():
    learner = GradientLearner(MLP(1, ()))
    with refused(ValueError, match=r"^task: got"):
        step_rates(learner, learner.init(jax.random.key(0)), np.ones((3, 1)))
