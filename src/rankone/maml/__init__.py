"""Meta-learning by gradient descent: an initialisation from which a few gradient steps
learn a task [M-fig2, M-fig3, M-fig4, M-fig5].

A learner maps a task's few examples to predictions. `GradientLearner` takes gradient
steps from a meta-learned initialisation (MAML), `RecurrentLearner` reads the examples
in order, and `OracleLearner` gets the description of the task. One loop, `meta_train`,
trains them all; `evaluate` and `after_steps` measure them on tasks that `draw_tasks`
makes.
"""

from rankone.maml.evaluation import Score, after_steps, draw_tasks, evaluate
from rankone.maml.learners import (
    GradientLearner,
    OracleLearner,
    RecurrentLearner,
    accuracy,
    cross_entropy,
    squared_error,
)
from rankone.maml.perceptron import MLP, width_for
from rankone.maml.tasks import LetterTasks, PolynomialTasks, SineTasks, Task
from rankone.maml.training import MetaTrained, meta_train

__all__ = [
    "MLP",
    "GradientLearner",
    "LetterTasks",
    "MetaTrained",
    "OracleLearner",
    "PolynomialTasks",
    "RecurrentLearner",
    "Score",
    "SineTasks",
    "Task",
    "accuracy",
    "after_steps",
    "cross_entropy",
    "draw_tasks",
    "evaluate",
    "meta_train",
    "squared_error",
    "width_for",
]
