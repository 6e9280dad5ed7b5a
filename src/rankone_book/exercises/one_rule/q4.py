"""Exercise 4: how much the order matters [W-rule]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 3


@test_case(name="what two orders of two pairs read, at both keys")
def test_pairs(order_gap, draws):
    for s in draws.uniform(-0.9, 0.9, 4).tolist():
        r = draws.normal(size=2)
        S = np.array([[1, s], [s, 1]])
        forth = r @ np.linalg.inv(np.eye(2) + np.triu(S, 1)) @ S
        back = r @ np.linalg.inv(np.eye(2) + np.tril(S, -1)) @ S
        hint = (
            "In either order one key is answered exactly. By how much does the other "
            "miss?"
        )
        close(ask(order_gap, r[0], r[1], s), forth - back, hint)


@test_case(name="no gap where the keys do not overlap", points=0)
def test_none(order_gap):
    holds(
        np.allclose(ask(order_gap, 1.0, 2.0, 0.0), 0),
        "Keys without overlap do not disturb one another.",
    )
