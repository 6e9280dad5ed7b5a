"""Exercise 5: how many keys may be crowded in [W-dilute]."""

from rankone.theory.one_rule import dilute_bound
from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="one key more would break the bound, and none fewer is needed")
def test_most(most_keys, draws):
    for s, eps in draws.uniform(0.001, 0.05, (5, 2)).tolist():
        n = ask(most_keys, s, 10 * eps)
        holds(
            dilute_bound((n - 1) * s) <= 10 * eps,
            "With so many keys the theorem no longer allows the tolerance.",
        )
        holds(
            dilute_bound(n * s) > 10 * eps,
            "One more key would still be within the tolerance.",
        )


@test_case(name="a whole number", points=0)
def test_whole(most_keys):
    close(
        ask(most_keys, 0.01, 1.0),
        51,
        "rho may be 1/2 here, and each other key adds 0.01 to it.",
    )
