"""Exercise 7: how many layers [M-appA-bdry, M-S3]."""

from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="one layer per cell, if layer 1 may serve a cell")
def test_cells(layers, draws):
    for J in draws.integers(2, 64, 3).tolist():
        hint = (
            "Layer N has kernel 0 and serves no cell; layer 1 writes into all slots "
            "alike, and can still serve one cell."
        )
        close(ask(layers, J)[0], J * J + 1, hint)


@test_case(name="layers that select by bits")
def test_bits(layers, draws):
    for J in (2 ** int(draws.integers(2, 7)), *draws.integers(5, 1000, 3).tolist()):
        bits = next(n for n in range(20) if 2**n >= J)
        close(
            ask(layers, J)[1],
            2 * bits + 3,
            "Count the bits of j and of l, the layer that serves all cells, and "
            "the two ends.",
        )
