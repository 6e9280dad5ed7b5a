"""Exercise 1: the vec identity, for columns and for rows [K-vec]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q1"
points = 2
draws = np.random.default_rng(1)


@test_case(name="stacked columns")
def test_columns(column_matrix):
    for m, p, q, n in ((2, 3, 4, 2), (3, 2, 2, 5)):
        A, X, B = draws.normal(size=(m, p)), draws.normal(size=(p, q)), draws.normal(size=(q, n))
        hint = "Block (j, k) multiplies column k of X, and contributes B[k, j] A to column j."
        got = np.asarray(ask(column_matrix, A, B)) @ X.ravel(order="F")
        close(got, (A @ X @ B).ravel(order="F"), hint)


@test_case(name="stacked rows")
def test_rows(row_matrix):
    for m, p, q, n in ((2, 3, 4, 2), (3, 2, 2, 5)):
        A, X, B = draws.normal(size=(m, p)), draws.normal(size=(p, q)), draws.normal(size=(q, n))
        hint = "Row i of AXB is a mixture of rows of XB."
        close(np.asarray(ask(row_matrix, A, B)) @ X.ravel(), (A @ X @ B).ravel(), hint)
