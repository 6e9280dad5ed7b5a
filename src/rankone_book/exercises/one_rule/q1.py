"""Exercise 1: two pairs, one after the other [W-rule]."""

from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="the pairs of the chapter")
def test_chapter(after_sequence):
    close(
        ask(after_sequence, 1.0, 2.0, 0.5),
        (1.75, 2.0),
        "What is missing at the second key when its turn comes?",
    )


@test_case(name="random residuals, and overlaps of either sign")
def test_random(after_sequence, draws):
    for r1, r2, s in draws.uniform(-1, 1, (4, 3)).tolist():
        hint = (
            "The second pair is answered exactly; what it wrote is seen at the first "
            "key, times s."
        )
        close(ask(after_sequence, r1, r2, s), (r1 + s * (r2 - s * r1), r2), hint)
