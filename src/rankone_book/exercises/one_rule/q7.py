"""Exercise 7: a memory that lets go [W-rule]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


def memory_after(K, V, rates, gamma):
    """The memory itself: it fades, then writes what is missing."""
    M = np.zeros((len(V), len(K)))
    for k, v, rate in zip(K.T, V.T, rates, strict=True):
        M = gamma * M
        M = M + rate * np.outer(v - M @ k, k)
    return M


@test_case(name="without fading, X is that of the sequence")
def test_plain(gated, draws):
    S = (lambda K: K.T @ K)(draws.normal(size=(6, 4)) / 2)
    rates = draws.uniform(0.2, 1, 4)
    close(
        ask(gated, S, rates, 1.0),
        np.linalg.inv(np.diag(1 / rates) + np.triu(S, 1)),
        "With gamma = 1 nothing fades: X must be that of the delta rule in sequence.",
    )


@test_case(name="VXKᵀ is the memory after all pairs, with fading")
def test_fading(gated, draws):
    K = draws.normal(size=(6, 5)) / 2
    V = draws.normal(size=(2, 5))
    rates = draws.uniform(0.2, 1, 5)
    for gamma in (0.9, 0.3):
        X = np.asarray(ask(gated, K.T @ K, rates, gamma), float)
        close(
            V @ X @ K.T,
            memory_after(K, V, rates, gamma),
            "The write of pair s has faded t − s times when pair t is written. "
            "How often has it faded at the end?",
        )
