"""Exercise 6: the best rate of a batch step [W-risk]."""

import numpy as np

from rankone.theory.one_rule import expected_error
from rankone_book.exercises import ask, close, test_case

points = 3


@test_case(
    name="no other rate has a smaller expected error, on average over the queries"
)
def test_best(best_rate, draws):
    for noise in (0.0, 0.8):
        keys, queries = draws.uniform(size=(2, 2, 12))
        S, at = (
            np.exp(-np.linalg.norm(keys[:, :, None] - b[:, None], axis=0))
            for b in (keys, queries)
        )

        def cost(rate, S=S, at=at, noise=noise):
            return expected_error(rate * at, S, at, 1.0, noise).mean()

        flat = [cost(-1.0), cost(0.0), cost(1.0)]
        vertex = (flat[0] - flat[2]) / (flat[0] - 2 * flat[1] + flat[2]) / 2
        close(
            ask(best_rate, S, at, noise),
            vertex,
            "The mean expected error is a parabola in η: where is its minimum?",
        )
