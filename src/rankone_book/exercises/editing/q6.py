"""Exercise 6: sequential MEMIT is batch MEMIT, if C learns [R-S5, R-S6]."""

from rankone.editing import batch_edit
from rankone_book.exercises import ask, close, test_case

points = 3


def problem(draws, m, D=6, H=3):
    A = draws.normal(size=(D, 20))
    return (
        draws.normal(size=(H, D)),
        A @ A.T,
        draws.normal(size=(D, m)),
        draws.normal(size=(H, m)),
    )


@test_case(name="one relaxed edit")
def test_one(relaxed_edit, draws):
    for omega in (0.3, 1.0, 20.0):
        W, C, K, V = problem(draws, 1)
        hint = "Start from the normal equations, W'(C + ωkkᵀ) = WC + ωvkᵀ."
        reference = batch_edit(W, C, K, V, omega=omega).apply(W)
        close(ask(relaxed_edit, W, C, K[:, 0], V[:, 0], omega), reference, hint)


@test_case(name="the sequence gives the relaxed batch")
def test_sequence(relaxed_sequence, draws):
    for omega, m in ((1.0, 2), (5.0, 4)):
        W, C, K, V = problem(draws, m)
        reference = batch_edit(W, C, K, V, omega=omega).apply(W)
        close(
            ask(relaxed_sequence, W, C, K, V, omega),
            reference,
            "What must C be when the next pair comes?",
        )


@test_case(name="the order of the pairs does not matter", points=0)
def test_order(relaxed_sequence, draws):
    W, C, K, V = problem(draws, 3)
    forward, shuffled = (
        ask(relaxed_sequence, W, C, K[:, i], V[:, i], 2.0)
        for i in ([0, 1, 2], [2, 0, 1])
    )
    close(
        shuffled,
        forward,
        "The order still matters: what does the second edit have to know of the first?",
    )
