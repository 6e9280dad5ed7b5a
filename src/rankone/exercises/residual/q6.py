"""Exercise 6: noise that makes remembering harmful [S-S4]."""

from otter.test_files import test_case

from rankone.exercises import ask, close, holds

OK_FORMAT = False
name = "q6"
points = 2


@test_case(name="with a full memory: the noise equals what the base misses")
def test_limit(hurting_noise):
    for L in (0.0, 0.6, 0.9):
        close(ask(hurting_noise, L, 0.0), (1 - L) ** 2, "Base model: (1 − L)². Memory, E Z = 0: σ². Which is larger?")


@test_case(name="at the threshold both have the same risk")
def test_threshold(hurting_noise):
    for L, risk in ((0.2, 0.3), (0.6, 0.05)):
        sigma2 = ask(hurting_noise, L, risk)
        hint = "Set σ² + (1 − L)²·risk of one neighbour equal to (1 − L)²."
        close(sigma2 + (1 - L) ** 2 * risk, (1 - L) ** 2, hint)


@test_case(name="a far neighbour leaves less room for noise")
def test_order(hurting_noise):
    near, far = ask(hurting_noise, 0.5, 0.1), ask(hurting_noise, 0.5, 0.5)
    holds(far < near, "the farther the neighbour, the less noise it takes.")
