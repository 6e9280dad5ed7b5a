"""Exercise 8: what truncation keeps, and what it costs [S-appC-top128]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close, holds

OK_FORMAT = False
name = "q8"
points = 2
draws = np.random.default_rng(8)
probs, labels = draws.dirichlet(np.full(12, 0.3), 60), draws.integers(0, 12, 60)
residuals = np.eye(12)[labels] - probs


@test_case(name="m entries at most, unchanged, the largest in size")
def test_kept(truncated):
    for m in (1, 3, 12):
        kept = np.asarray(ask(truncated, residuals, m))
        holds(((kept != 0).sum(1) <= m).all(), f"more than {m} entries were kept.")
        close(np.where(kept != 0, kept, residuals), residuals, "Kept entries stay as they are.")
        size = np.sort(abs(residuals), 1)[:, -m:].sum(1)
        close(abs(kept).sum(1), size, "Largest in absolute value: most entries of a residual are negative.")


@test_case(name="one neighbour still memorises")
def test_memorised(truncated):
    scores = probs + np.asarray(ask(truncated, residuals, 2))
    holds((scores.argmax(1) == labels).all(), "the label's own entry must be among those kept.")
