"""Exercise 5: two kinds of weight decay [K-decay, K-penalty]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q5"
points = 2
draws = np.random.default_rng(5)


@test_case(name="the penalty on W that decay of U amounts to")
def test_penalty(penalty_of_U):
    for m, n in ((2, 3), (3, 3)):
        T, V, U = draws.normal(size=(m, m)), draws.normal(size=(n, n)), draws.normal(size=(m, n))
        close(ask(penalty_of_U, T @ U @ V, T, V), np.sum(U**2), "U = T⁻¹WV⁻¹.", atol=1e-4)


@test_case(name="one step of descent with a penalty on W")
def test_step(penalised_step):
    for m, n in ((2, 3), (4, 2)):
        T, V, (W, G) = draws.normal(size=(m, 3)), draws.normal(size=(3, n)), draws.normal(size=(2, m, n))
        step = W - 0.1 * T @ T.T @ (G + 0.5 * W) @ V.T @ V
        hint = "The penalty's gradient λW is part of the gradient, and is preconditioned with it."
        close(ask(penalised_step, W, G, T, V, 0.1, 0.5), step, hint)
