"""Exercise 4: what arrives through a chain of kinks [M-(1)]."""

from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="agrees with the chain rule, layer by layer")
def test_chain(arrives, draws):
    for layer in (1, 2, 7):
        for slope in (0.0, 1.0, *draws.uniform(0.2, 0.9, 2).tolist()):
            want = 1.0
            for _ in range(layer):
                want *= slope
            close(
                ask(arrives, layer, slope),
                want,
                "The error passes every ReLU from the output to the layer, and "
                "also the layer's own.",
            )


@test_case(name="the fraction that arrives at all N layers together")
def test_total(fraction_arriving, draws):
    for N, slope in zip(
        (4, 5, 3, 6), (1.0, 0.0, *draws.uniform(0.2, 0.9, 2).tolist()), strict=True
    ):
        want = sum(slope**i for i in range(1, N + 1)) / N
        close(
            ask(fraction_arriving, N, slope),
            want,
            "Add what arrives at the layers 1 to N and divide by N.",
        )
