"""Exercise 2: tokens written in chunks [W-delta]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


def by_hand(S, rate, size):
    """X, for residuals that are unit vectors, written chunk after chunk."""
    A = np.zeros_like(S)
    for start in range(0, len(S), size):
        chunk = slice(start, start + size)
        A[:, chunk] = rate * (np.eye(len(S)) - A @ S)[:, chunk]
    return A


@test_case(name="chunks of one pair are a sequence, one chunk of all is a batch step")
def test_ends(chunked, draws):
    keys = draws.normal(size=(9, 4)) / 3
    S = keys.T @ keys
    close(
        ask(chunked, S, 0.5, 4),
        0.5 * np.eye(4),
        "Within a chunk no pair changes the residual of another.",
    )
    close(
        ask(chunked, S, 0.5, 1),
        by_hand(S, 0.5, 1),
        "What is above the diagonal of X's inverse?",
    )


@test_case(name="chunks of three pairs, the last one smaller")
def test_between(chunked, draws):
    keys = draws.normal(size=(9, 7)) / 3
    S = keys.T @ keys
    hint = (
        "Keep the entries of S whose row belongs to an earlier chunk than their column."
    )
    close(ask(chunked, S, 0.7, 3), by_hand(S, 0.7, 3), hint)
