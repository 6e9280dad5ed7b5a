"""One hidden layer: the kernel and the finite step, compared with autodiff, and the
common direction in which all answers move.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

from rankone.nn import Dense
from rankone.precision import double_precision
from rankone.theory.one_layer import one_layer_kernel, one_layer_move
from rankone.universality import Network, adapt, predict


@pytest.fixture(autouse=True)
def x64():
    with double_precision():
        yield


def units(n, seed=0):
    """Weights (3, h) of n networks of six units, from very small to very large."""
    draws = np.random.default_rng(seed)
    return draws.normal(size=(n, 3, 6)) * np.exp(draws.normal(size=(n, 3, 1)))


def network(w, b, o):
    layers = Dense(w[:, None], b), Dense(o[None], np.array([0.3]))
    return Network(jnp.zeros(0), layers, 0.1)


@jax.jit
def stepped(net, x, y, x_star, alpha):
    """Output at x, and at x* before and after a plain step of `jax.grad` on (x, y)."""
    return (
        predict(net, x),
        predict(net, x_star),
        predict(adapt(net, x, y, alpha), x_star),
    )


@jax.jit
def moves_of(weights, x, x_star, d):
    return jax.vmap(lambda one: one_layer_move(*one, x, x_star, d))(weights)


def test_a_finite_step_changes_the_output_as_the_formula_says():
    """M-S9: the formula is exact up to rounding, for short and long steps, up and
    down.
    """
    x = 0.4
    x_star = np.linspace(0, 1, 7)
    for seed, (w, b, o) in enumerate(units(12)):
        alpha = 10.0 ** (seed % 4 - 2)
        y = (-1) ** seed * 2.0
        here, before, after = map(
            np.asarray, stepped(network(w, b, o), x, y, x_star, alpha)
        )
        got = one_layer_move(w, b, o, x, x_star, alpha * (y - here))
        np.testing.assert_allclose(got, after - before, rtol=1e-9, atol=1e-9)


def test_the_kernel_is_the_steps_first_order_and_at_least_one():
    """M-S9."""
    x = np.linspace(0, 1, 7)[:, None]
    x_star = np.linspace(0, 1, 7)
    for w, b, o in units(12, seed=1):
        kernel = np.asarray(one_layer_kernel(w, b, o, x, x_star))
        up, down = (
            np.asarray(one_layer_move(w, b, o, x, x_star, d)) for d in (1e-7, -1e-7)
        )
        np.testing.assert_allclose(kernel, (up - down) / 2e-7, rtol=1e-4)
        assert kernel.min() >= 1


def test_every_answer_moves_towards_the_error_and_at_least_as_far():
    """M-S9: for every network, example, question and step, of whatever length."""
    grid = np.linspace(0, 1, 6)
    x, x_star, d = np.meshgrid(
        grid, grid, [-30.0, -1.0, -0.05, 0.05, 1.0, 30.0], indexing="ij"
    )
    moves = moves_of(units(300, seed=2), x, x_star, d)
    assert (np.asarray(moves) / d).min() >= 1 - 1e-9


def test_at_the_example_the_answer_rises_with_y_while_the_step_is_short():
    """M-S9: the slope is at least α while |d| ≤ 1/√(1 + x²), and not always beyond."""
    x, d = np.meshgrid(np.linspace(0, 1, 6), np.linspace(-1, 1, 41), indexing="ij")
    moved = moves_of(units(300, seed=3), x, x, d / np.sqrt(1 + x**2))
    rise = np.diff(np.asarray(moved), axis=-1) / (0.05 / np.sqrt(1 + x[:, :1] ** 2))
    assert rise.min() >= 1 - 1e-6
    # c + 0·x, o = −1: falls from d = c/2 to c
    zero = np.zeros(1)
    c = np.array([6.0])
    kappa = np.array([-1.0])
    short, long = (
        float(one_layer_move(zero, c, kappa, 0.0, 0.0, d)) for d in (3.5, 5.5)
    )
    assert long < short


@pytest.mark.parametrize("alpha", [1.0, 1.3, 5.0])
def test_minus_y_is_missed_by_two_where_the_step_size_is_one_or_more(alpha):
    """M-S9: at every x, for y = 1 or for y = −1; the error of a network that always
    answers 0 is 1.
    """
    x, y = np.meshgrid(np.linspace(0, 1, 6), [-1.0, 1.0], indexing="ij")
    parameters = units(300, seed=4)
    w, b, o = (parameters[:, n, None, None] for n in range(3))
    before = (o * np.maximum(w * x[..., None] + b, 0)).sum(-1)
    after = before + np.asarray(
        jax.vmap(lambda one, d: one_layer_move(*one, x, x, d))(
            parameters, alpha * (y - before)
        )
    )
    assert np.abs(after + y).max(-1).min() >= 2 - 1e-9


def test_arguments_of_one_layer_are_refused_by_name():
    with refused(ValueError, match=r"^o"):
        one_layer_kernel(np.ones(3), np.ones(3), np.ones(2), 0.0, 0.0)
    with refused(ValueError, match=r"^w"):
        one_layer_move(np.ones((3, 1)), np.ones(3), np.ones(3), 0.0, 0.0, 0.1)
    with refused(ValueError, match=r"^d: got shape \(3,\)"):
        one_layer_move(np.ones(3), np.ones(3), np.ones(3), np.zeros(2), 0.0, np.ones(3))
