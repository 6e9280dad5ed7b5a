"""Exercise 4: what arrives through a chain of kinks [M-(1)]."""

from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q4"
points = 2


@test_case(name="agrees with a derivative taken by hand")
def test_chain(arrives):
    for layer in (1, 2, 7):
        for slope in (0.0, 0.5, 1.0):
            want = 1.0
            for _ in range(layer):
                want *= slope
            close(ask(arrives, layer, slope), want, "Every unit between the output and the layer, itself too, counts.")


@test_case(name="the whole step of a stack")
def test_total(written_share):
    for N, slope in ((3, 0.5), (6, 0.5), (4, 1.0), (5, 0.0)):
        want = sum(slope**i for i in range(1, N + 1)) / N
        close(ask(written_share, N, slope), want, "Add what arrives at the layers 1 to N and divide by N.")
