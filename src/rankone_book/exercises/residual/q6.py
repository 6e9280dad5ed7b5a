"""Exercise 6: noise that makes remembering harmful [S-S4]."""

from rankone_book.exercises import ask, close, holds, test_case

points = 2


@test_case(name="the threshold at r = 0, as n → ∞")
def test_limit(hurting_noise, draws):
    for L in (0.0, *draws.uniform(0.1, 0.9, 2).tolist()):
        close(
            ask(hurting_noise, L, 0.0),
            (1 - L) ** 2,
            "What is the risk of the base alone? What is the risk with a neighbour at "
            "distance 0?",
        )


@test_case(name="at the threshold the risks with and without the memory are equal")
def test_threshold(hurting_noise, draws):
    for L, risk in draws.uniform(0.05, 0.6, (3, 2)).tolist():
        sigma2 = ask(hurting_noise, L, risk)
        hint = "Write both risks. The noise adds σ² to the risk with the memory."
        close(sigma2 + (1 - L) ** 2 * risk, (1 - L) ** 2, hint)


@test_case(name="a farther neighbour lowers the threshold", points=0)
def test_order(hurting_noise):
    near = ask(hurting_noise, 0.5, 0.1)
    far = ask(hurting_noise, 0.5, 0.5)
    holds(
        far < near,
        "the farther the neighbour, the less noise makes remembering harmful.",
    )
