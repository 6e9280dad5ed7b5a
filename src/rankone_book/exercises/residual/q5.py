"""Exercise 5: corrected, broken, and the third case [S-gain, S-dich]."""

from rankone_book.exercises import ask, close, test_case

points = 2


def labels(draws):
    return draws.integers(0, 4, (3, 500))


@test_case(name="corrected minus broken is the decrease of the error")
def test_difference(split_gain, draws):
    y, base, memory = labels(draws)
    corrected, broken, _ = ask(split_gain, y, base, memory)
    hint = (
        "Take fractions of all examples: base wrong and memory right, minus base "
        "right and memory wrong."
    )
    close(corrected - broken, (base != y).mean() - (memory != y).mean(), hint)


@test_case(name="the three cases together are all disagreements")
def test_disagreements(split_gain, draws):
    y, base, memory = labels(draws)
    close(
        sum(ask(split_gain, y, base, memory)),
        (base != memory).mean(),
        "Both can be wrong in different ways.",
    )


@test_case(name="a memory that only corrects breaks nothing")
def test_oracle(split_gain, draws):
    y, base, _ = labels(draws)
    close(
        ask(split_gain, y, base, y),
        [(base != y).mean(), 0, 0],
        "Return the fractions in the order corrected, broken, both wrong.",
    )
