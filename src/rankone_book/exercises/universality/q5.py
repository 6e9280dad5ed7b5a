"""Exercise 5: the second order of a step [M-S1]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


def product(W):
    return np.linalg.multi_dot([np.eye(len(W[0])), *W, np.eye(len(W[0]))])


@test_case(name="agrees with second differences")
def test_difference(second_order, draws):
    for N in (2, 3, 5):
        W, G = draws.normal(size=(2, N, 4, 4)) / 2

        def at(a):
            return product(list(W - a * G))

        step = 1e-3
        want = (at(step) - 2 * at(0.0) + at(-step)) / (2 * step**2)
        hint = (
            "Which products of gradients and weights have α² in front, and how many "
            "are there?"
        )
        close(ask(second_order, list(W), list(G)), want, hint, rtol=1e-3, atol=1e-4)


@test_case(
    name="the coefficient vanishes for the matrices of the second part", points=0
)
def test_channels(second_order, draws):
    W, G = np.zeros((2, 4, 4, 4))
    W[:, :2, :2], W[:, 2:, 2:] = draws.normal(size=(2, 4, 2, 2))
    G[:, 2:, :2] = draws.normal(size=(4, 2, 2))
    close(
        ask(second_order, list(W), list(G)),
        np.zeros((4, 4)),
        "Each G maps the first channel to the others, and gives 0 on the others.",
    )
