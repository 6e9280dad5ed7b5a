"""Exercise 8: weights of least error among those that add up to one [W-risk]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 4


def problem(draws):
    keys = draws.uniform(size=(2, 8))
    query = draws.uniform(size=(2, 1))
    return tuple(
        np.exp(-np.linalg.norm(keys[:, :, None] - b[:, None], axis=0))
        for b in (keys, query)
    )


@test_case(name="the weights add up to one", points=0)
def test_sum(unbiased_weights, draws):
    for noise in (0.3, 1.0, 3.0):
        S, at = problem(draws)
        close(
            np.sum(ask(unbiased_weights, S, at[:, 0], noise)),
            1.0,
            "The constraint is 1ᵀw = 1.",
        )


@test_case(name="no other weights with this sum have a smaller expected error")
def test_least(unbiased_weights, draws):
    for noise in (0.1, 1.0, 3.0):
        S, at = problem(draws)
        w = np.asarray(ask(unbiased_weights, S, at[:, 0], noise), float)
        close(w.sum(), 1.0, "The constraint is 1ᵀw = 1.")
        slope = S @ w + noise**2 * w - at[:, 0]
        hint = (
            "Weights near yours have a smaller error: the derivative of the expected "
            "error must be the same in every coordinate."
        )
        close(slope, np.full(8, slope.mean()), hint)


@test_case(name="at a stored key without noise, the weight of this key is 1", points=0)
def test_key(unbiased_weights, draws):
    S, _ = problem(draws)
    close(
        ask(unbiased_weights, S, S[:, 2], 0.0),
        np.eye(8)[2],
        "Without noise the weights of the ridge add up to one at every stored "
        "key: what is λ there?",
    )
