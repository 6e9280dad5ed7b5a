"""Exercise 6: cross-entropy and the switch [M-appB-CE]."""

import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3


@test_case(name="agrees with a finite difference of the loss")
def test_difference(switch_signal, draws):
    for classes in (2, 5):
        logits, w = draws.normal(size=(2, classes))

        def loss(z, y):
            return np.log(np.exp(logits + w * z).sum()) - (logits + w * z)[y]

        want = [(loss(1e-5, y) - loss(-1e-5, y)) / 2e-5 for y in range(classes)]
        hint = (
            "What is the gradient of the loss with respect to the logits? The switch "
            "reaches them through w."
        )
        close(ask(switch_signal, logits, w), want, hint, rtol=1e-3, atol=1e-6)


@test_case(name="one switch per class: agrees with a step by finite differences")
def test_classes(class_moves, draws):
    for classes in (2, 4):
        logits = draws.normal(size=classes)
        w = float(draws.uniform(0.5, 2))
        alpha = float(draws.uniform(0.1, 1))

        def loss(s, y):
            return np.log(np.exp(logits + w * s).sum()) - (logits + w * s)[y]

        nudge = 1e-5 * np.eye(classes)
        slope = [
            [(loss(e, y) - loss(-e, y)) / 2e-5 for e in nudge] for y in range(classes)
        ]
        hint = (
            "The step goes against the gradient, and the switch of class c feeds only "
            "the logit c, through w."
        )
        close(
            ask(class_moves, logits, w, alpha),
            -alpha * np.array(slope),
            hint,
            rtol=1e-3,
            atol=1e-6,
        )


@test_case(name="no signal if all weights are equal", points=0)
def test_equal(switch_signal):
    close(
        ask(switch_signal, np.array([0.3, -1.0, 2.0]), np.ones(3)),
        np.zeros(3),
        "The gradient of cross-entropy with respect to the logits sums to 0.",
    )
