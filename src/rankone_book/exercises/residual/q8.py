"""Exercise 8: what truncation keeps, and what it costs [S-appC-top128]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 2


def base(draws):
    probs = draws.dirichlet(np.full(12, 0.3), 60)
    labels = draws.integers(0, 12, 60)
    return probs, labels, np.eye(12)[labels] - probs


@test_case(name="the m largest entries in absolute value, unchanged")
def test_kept(truncated, draws):
    _, _, residuals = base(draws)
    for m in (1, 3, 12):
        entries = np.asarray(ask(truncated, residuals, m))
        holds(
            ((entries != 0).sum(1) <= m).all(),
            f"more than {m} entries of a row were kept.",
        )
        close(
            np.where(entries != 0, entries, residuals),
            residuals,
            "Kept entries stay as they are.",
        )
        size = np.sort(abs(residuals), 1)[:, -m:].sum(1)
        close(
            abs(entries).sum(1),
            size,
            "Keep the largest in absolute value: most entries of a residual are "
            "negative.",
        )


@test_case(name="one neighbour still memorises", points=0)
def test_memorised(truncated, draws):
    probs, labels, residuals = base(draws)
    scores = probs + np.asarray(ask(truncated, residuals, 2))
    holds(
        (scores.argmax(1) == labels).all(),
        "the label's own entry must be among those kept.",
    )
