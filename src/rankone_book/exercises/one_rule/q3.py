"""Exercise 3: how loud one pair is [W-rule]."""

from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="the fraction after one write and after four")
def test_counts(weight_of_repeats, draws):
    for s, omega in draws.uniform(0.2, 3, (3, 2)).tolist():
        for n in (1, 4):
            hint = (
                "Each write adds ωφφᵀ to the inverse of G: what do n equal writes add "
                "together?"
            )
            close(ask(weight_of_repeats, s, omega, n), s / (s + 1 / (n * omega)), hint)


@test_case(name="after very many writes the fraction is 1", points=0)
def test_limit(weight_of_repeats):
    holds(
        abs(ask(weight_of_repeats, 1.0, 1.0, 10**9) - 1) < 1e-6,
        "as n → ∞ the fraction must tend to 1.",
    )
