"""Exercise 3: no step size up to 2 raises the energy [D-sharp1]."""

import numpy as np

from rankone.memory import MrDAM
from rankone_book.exercises import ask, close, holds, test_case

points = 3


@test_case(name="exact for one pattern, where the energy is a parabola")
def test_one_pattern(guaranteed_decrease, draws):
    for eta in (0.1, 1.0, 1.9, 2.0, 2.7):
        xi, x = draws.normal(size=(2, 4))
        g = x - xi
        decrease = 0.5 * g @ g - 0.5 * (1 - eta) ** 2 * (g @ g)
        hint = "Put the step −ηg into Taylor's formula with the largest curvature 1."
        close(ask(guaranteed_decrease, eta, g), decrease, hint, atol=1e-4)


@test_case(name="never more than the actual decrease of the energy", points=0)
def test_guarantee(guaranteed_decrease, draws):
    for beta in (0.5, 5.0, 50.0):
        memory = MrDAM(draws.uniform(size=(12, 4)), beta)
        for eta in (0.1, 1.0, 1.9):
            x = draws.uniform(size=4)
            energy, g = memory.energy_and_gradient(x)
            decrease = energy - memory.energy(x - eta * np.asarray(g))
            holds(
                ask(guaranteed_decrease, eta, np.asarray(g)) <= decrease + 1e-4,
                f"at η = {eta} the energy falls by less than you guarantee.",
            )


@test_case(name="a step with η = 1 ends at the softmax-weighted mean")
def test_em(em_step, draws):
    for K, D in ((3, 2), (8, 5)):
        Xi = draws.normal(size=(K, D))
        x = draws.normal(size=D)
        beta = draws.uniform(1, 6)
        hint = (
            "The weights are a softmax: of what? The patterns differ in length, "
            "so inner products alone are not enough."
        )
        close(
            ask(em_step, x, Xi, beta),
            x - np.asarray(MrDAM(Xi, beta).gradient(x)),
            hint,
            atol=1e-4,
        )
