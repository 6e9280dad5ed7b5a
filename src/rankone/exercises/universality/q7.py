"""Exercise 7: how many layers [M-appA-bdry, M-S3]."""

from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q7"
points = 2


@test_case(name="one layer a cell, and the end that cannot select")
def test_cells(layers):
    for J, want in ((2, 5), (3, 10), (8, 65)):
        hint = "Layer N has kernel 0 and is lost; layer 1 writes into all slots alike, and can still serve one cell."
        close(ask(layers, J)[0], want, hint)


@test_case(name="bits")
def test_bits(layers):
    for J, want in ((2, 5), (8, 9), (9, 11), (64, 15)):
        close(ask(layers, J)[1], want, "Bits of j, bits of l, one layer for all cells, and the two ends.")
