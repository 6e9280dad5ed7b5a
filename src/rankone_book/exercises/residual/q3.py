"""Exercise 3: when a bound begins to say something [S-lemD.1]."""

from math import log

from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="at your n the printed bound is below 2d, and at n − 1 it is not")
def test_boundary(useful_from):
    for d in (4, 5, 6, 8):
        n = int(ask(useful_from, d))
        holds(n > 2, f"your n = {n} for d = {d} is not above e.")
        before, at = (d**2 * (log(m) / d / m) ** (1 / d) for m in (n - 1, n))
        holds(
            at < 2 * d,
            f"at your n = {n} and d = {d} the bound is {at:.4g}, "
            f"not below 2d = {2 * d}.",
        )
        holds(
            before >= 2 * d,
            f"at n = {n - 1} and d = {d} the bound is {before:.4g}, "
            f"already below 2d = {2 * d}.",
        )


@test_case(name="the least n in eight dimensions", points=0)
def test_eight(useful_from):
    close(
        ask(useful_from, 8),
        93_789,
        "Where does log n/n, which falls for n > e, cross d(2/d)^d?",
        rtol=0,
    )
