"""Exercise 4: sincos against cos features at equal length [D-fn5]."""

import numpy as np

from rankone_book.exercises import ask, close, holds, test_case

points = 3


@test_case(name="agrees with a simulation")
def test_simulation(variance_ratio, draws):
    omega = draws.normal(size=400_000)
    phase = draws.uniform(0, 2 * np.pi, 400_000)
    for distance in draws.uniform(0.5, 2, 3):
        sincos = 2 * np.var(np.cos(distance * omega))  # M features are M/2 frequencies
        cos = np.var(2 * np.cos(phase) * np.cos(distance * omega + phase))
        hint = (
            "At equal length M, sincos features have Y = M/2 frequencies and cos "
            "features Y = M."
        )
        close(
            ask(variance_ratio, np.exp(-(distance**2) / 2)),
            sincos / cos,
            hint,
            rtol=0.03,
        )


@test_case(name="at k = 0 the two estimates are equally good", points=0)
def test_far(variance_ratio):
    close(ask(variance_ratio, 0.0), 1, "Put k = 0 in both variances, at equal M.")


@test_case(name="the ratio tends to 0 at the right rate as k → 1")
def test_near(variance_ratio, draws):
    ratios = [
        ask(variance_ratio, 1 - gap) / (8 * gap**2)
        for gap in draws.uniform(0.005, 0.03, 2)
    ]
    holds(
        max(abs(r - 1) for r in ratios) < 0.1,
        "as k → 1 the ratio must fall like 8(1 − k)².",
    )
