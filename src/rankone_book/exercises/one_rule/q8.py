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


@test_case(name="they add up to one", points=0)
def test_sum(unbiased_weights, draws):
    for noise in (0.3, 1.0, 3.0):
        S, at = problem(draws)
        close(
            np.sum(ask(unbiased_weights, S, at[:, 0], noise)),
            1.0,
            "What does the constraint say?",
        )


@test_case(name="no others that add up to one err less")
def test_least(unbiased_weights, draws):
    for noise in (0.1, 1.0, 3.0):
        S, at = problem(draws)
        w = np.asarray(ask(unbiased_weights, S, at[:, 0], noise), float)
        close(w.sum(), 1.0, "What does the constraint say?")
        slope = S @ w + noise**2 * w - at[:, 0]
        hint = (
            "Weights beside yours err less: the derivative must be the same in every "
            "coordinate."
        )
        close(slope, np.full(8, slope.mean()), hint)


@test_case(name="at a key, without noise, that key alone", points=0)
def test_key(unbiased_weights, draws):
    S, _ = problem(draws)
    close(
        ask(unbiased_weights, S, S[:, 2], 0.0),
        np.eye(8)[2],
        "An exact reading adds up to one at its keys by itself.",
    )
