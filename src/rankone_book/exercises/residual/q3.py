"""Exercise 3: when a bound begins to say something [S-lemD.1]."""

from math import log

from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="from there on the bound is below 2d, and not just before")
def test_boundary(useful_from):
    for d in (4, 5, 6, 8):
        n = int(ask(useful_from, d))
        bound = [d**2 * (log(m) / d / m) ** (1 / d) for m in (max(n - 1, 1), n)]
        holds(
            bound[1] < 2 * d,
            f"at your n = {n} and d = {d} the bound is still {bound[1]:.4g}.",
        )
        holds(
            n > 2 and bound[0] >= 2 * d,
            f"at n = {n - 1} and d = {d} the bound is already {bound[0]:.4g}.",
        )


@test_case(name="eight dimensions", points=0)
def test_eight(useful_from):
    close(
        ask(useful_from, 8),
        93_789,
        "Where does log n/n, falling, cross d(2/d)^d?",
        rtol=0,
    )
