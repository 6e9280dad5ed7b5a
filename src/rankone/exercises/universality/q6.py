"""Exercise 6: cross-entropy and the switch [M-appB-CE]."""

import numpy as np
from otter.test_files import test_case

from rankone.exercises import ask, close

OK_FORMAT = False
name = "q6"
points = 2


@test_case(name="agrees with a finite difference of the loss")
def test_difference(switch_signal):
    draws = np.random.default_rng(6)
    for classes in (2, 5):
        logits, w = draws.normal(size=(2, classes))
        loss = lambda z, y: np.log(np.exp(logits + w * z).sum()) - (logits + w * z)[y]  # noqa: E731, B023
        want = [(loss(1e-5, y) - loss(-1e-5, y)) / 2e-5 for y in range(classes)]
        hint = "∂L/∂logits = p − e_y; the switch reaches the logits through w."
        close(ask(switch_signal, logits, w), want, hint, rtol=1e-3, atol=1e-6)


@test_case(name="no signal if all weights are equal")
def test_equal(switch_signal):
    close(ask(switch_signal, np.array([0.3, -1.0, 2.0]), np.ones(3)), np.zeros(3), "p − e_y sums to 0.")
