"""Exercise 5: how many keys may be crowded in [W-dilute]."""

from rankone.theory.one_rule import dilute_bound
from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="your m keeps the bound at or below ε, and m + 1 does not")
def test_most(most_keys, draws):
    for s, eps in draws.uniform(0.001, 0.05, (5, 2)).tolist():
        n = ask(most_keys, s, 10 * eps)
        holds(n >= 1, "m counts keys: it must be at least 1.")
        holds(
            dilute_bound((n - 1) * s) <= 10 * eps,
            "with your m the bound ρ/(1 − ρ) is above ε.",
        )
        holds(
            dilute_bound(n * s) > 10 * eps,
            "with one more key the bound would still be at or below ε.",
        )


@test_case(name="overlaps of at most 0.01, and ε = 1", points=0)
def test_whole(most_keys):
    close(
        ask(most_keys, 0.01, 1.0),
        51,
        "ρ may be up to 1/2 here, and each other key adds 0.01 to it.",
    )
