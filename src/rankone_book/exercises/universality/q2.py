"""Exercise 2: the kernel is an exact indicator [M-eq6]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 2


@test_case(name="agrees with B squared")
def test_square(kernel, draws):
    for J, epsilon in zip(
        (2, 3, 4), (0.0, *draws.uniform(0.1, 0.9, 2).tolist()), strict=True
    ):
        j, m = draws.integers(0, J, 2).tolist()
        B = epsilon * np.eye(2 * J)
        B[j, j] += 1
        B[j, J + m] = B[J + m, j] = 1
        hint = (
            "Multiply the square of B₀ + εI out, and read the upper right block of "
            "each term."
        )
        close(ask(kernel, j, m, J, epsilon), (B @ B)[:J, J:], hint)


@test_case(name="only one entry is not zero", points=0)
def test_one(kernel):
    answer = np.asarray(ask(kernel, 1, 2, 5, 0.3), float)
    close((np.abs(answer) > 1e-9).sum(), 1, "All entries but (j, l) vanish exactly.")
