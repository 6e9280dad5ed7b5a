"""Exercise 1: the vec identity, for columns and for rows [K-vec]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="stacked columns")
def test_columns(column_matrix, draws):
    for m, p, q, n in ((2, 3, 4, 2), (3, 2, 2, 5)):
        A = draws.normal(size=(m, p))
        X = draws.normal(size=(p, q))
        B = draws.normal(size=(q, n))
        hint = "Which multiple of A takes column k of X to column j of AXB?"
        product = np.asarray(ask(column_matrix, A, B)) @ X.ravel(order="F")
        close(product, (A @ X @ B).ravel(order="F"), hint)


@test_case(name="stacked rows")
def test_rows(row_matrix, draws):
    for m, p, q, n in ((2, 3, 4, 2), (3, 2, 2, 5)):
        A = draws.normal(size=(m, p))
        X = draws.normal(size=(p, q))
        B = draws.normal(size=(q, n))
        hint = "Row i of AXB is a weighted sum of the rows of XB."
        close(np.asarray(ask(row_matrix, A, B)) @ X.ravel(), (A @ X @ B).ravel(), hint)
