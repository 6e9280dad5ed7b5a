"""Exercise 2: the kernel is an exact indicator [M-eq6]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q2"
points = 2


@test_case(name="agrees with B squared")
def test_square(kernel):
    for j, m, J, epsilon in ((0, 0, 2, 0.0), (1, 0, 3, 0.1), (2, 3, 4, 0.7)):
        B = epsilon * np.eye(2 * J)
        B[j, j] += 1
        B[j, J + m] = B[J + m, j] = 1
        hint = "The upper right block of B² is that of (B₀ + εI)² = B₀² + 2εB₀ + ε²I."
        close(ask(kernel, j, m, J, epsilon), (B @ B)[:J, J:], hint)


@test_case(name="only one cell answers, for every ε")
def test_one(kernel):
    answer = np.asarray(ask(kernel, 1, 2, 5, 0.3), float)
    close((np.abs(answer) > 1e-9).sum(), 1, "All entries but (j, l) vanish exactly.")
