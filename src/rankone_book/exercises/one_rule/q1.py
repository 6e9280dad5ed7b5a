"""Exercise 1: two pairs, one after the other [W-rule]."""

from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="values 1 and 2, overlap 1/2")
def test_chapter(after_sequence):
    close(
        ask(after_sequence, 1.0, 2.0, 0.5),
        (1.75, 2.0),
        "What does the memory already read at the second key before the second write?",
    )


@test_case(name="random values, and overlaps of either sign")
def test_random(after_sequence, draws):
    for r1, r2, s in draws.uniform(-1, 1, (4, 3)).tolist():
        hint = (
            "The second pair is answered exactly; the second write changes the "
            "reading at the first key by s times as much."
        )
        close(ask(after_sequence, r1, r2, s), (r1 + s * (r2 - s * r1), r2), hint)
