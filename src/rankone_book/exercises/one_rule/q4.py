"""Exercise 4: how much the order matters [W-rule]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 3


@test_case(name="the difference of the two orders, at both keys")
def test_pairs(order_gap, draws):
    for s in draws.uniform(-0.9, 0.9, 4).tolist():
        r = draws.normal(size=2)
        S = np.array([[1, s], [s, 1]])
        forth = r @ np.linalg.inv(np.eye(2) + np.triu(S, 1)) @ S
        back = r @ np.linalg.inv(np.eye(2) + np.tril(S, -1)) @ S
        hint = (
            "Each order answers the key written last exactly. What does it read at "
            "the other key? Subtract the second order from the first."
        )
        close(ask(order_gap, r[0], r[1], s), forth - back, hint)


@test_case(name="no difference if the keys do not overlap", points=0)
def test_none(order_gap):
    holds(
        np.allclose(ask(order_gap, 1.0, 2.0, 0.0), 0),
        "Keys without overlap do not interfere with one another.",
    )
