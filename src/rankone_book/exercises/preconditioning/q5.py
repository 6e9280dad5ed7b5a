"""Exercise 5: two kinds of weight decay [K-decay, K-penalty]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="the penalty ‖U‖² in terms of W")
def test_penalty(penalty_of_U, draws):
    for m, n in ((2, 3), (3, 3)):
        T = draws.normal(size=(m, m))
        V = draws.normal(size=(n, n))
        U = draws.normal(size=(m, n))
        # far from singular
        T = T + 4 * np.eye(m)
        V = V + 4 * np.eye(n)
        close(
            ask(penalty_of_U, T @ U @ V, T, V),
            np.sum(U**2),
            "Solve TUV = W for U.",
            atol=1e-4,
        )


@test_case(name="one step on U with a penalty on W")
def test_step(penalised_step, draws):
    for m, n in ((2, 3), (4, 2)):
        T = draws.normal(size=(m, 3))
        V = draws.normal(size=(3, n))
        (W, G) = draws.normal(size=(2, m, n))
        step = W - 0.1 * T @ T.T @ (G + 0.5 * W) @ V.T @ V
        hint = (
            "What is the gradient of the whole loss with respect to W? A step on U "
            "multiplies all of it by P."
        )
        close(ask(penalised_step, W, G, T, V, 0.1, 0.5), step, hint)
