"""The field of eqs 29 to 32: its two forms, that it is not a gradient, and the patterns
that it stores.
"""

import jax
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.precision import double_precision
from rankone.printed.memory_gradients import Barycentric, barycentric_field

K = 12
D = 7
BETA = 10.0


@pytest.fixture
def double():
    with double_precision():
        yield


def problem(Y=2000, K=K):
    k_data, k_query, k_features = jax.random.split(jax.random.key(0), 3)
    Xi = np.asarray(jax.random.uniform(k_data, (K, D))) / D**0.5
    x = np.asarray(jax.random.uniform(k_query, (5, D))) / D**0.5
    return Xi, x, ro.DrDAM.store(Xi, BETA, ro.RandomFeatures(D, Y, key=k_features))


def test_factored_form_is_eq_29(double):
    Xi, x, memory = problem()
    assert (
        np.abs(
            np.asarray(Barycentric.store(memory, Xi).field(x))
            - barycentric_field(memory, Xi, x)
        ).max()
        < 1e-12
    )


def test_eq_29_written_out(double):
    Xi, x, memory = problem(Y=50)
    omega = np.asarray(memory.features.omega)
    for state, got in zip(x, np.asarray(barycentric_field(memory, Xi, x)), strict=True):
        k = np.array([np.cos(BETA**0.5 * omega @ (state - xi)).mean() for xi in Xi])
        assert np.allclose(got, state - k @ Xi / k.sum(), atol=1e-10)


def test_printed_form_without_x_is_far_from_the_gradient(double):
    Xi, x, memory = problem(Y=20_000)
    exact = np.asarray(ro.MrDAM(Xi, BETA).gradient(x))
    field = np.asarray(barycentric_field(memory, Xi, x))
    assert np.linalg.norm(field - exact, axis=1).max() < 0.01
    assert np.linalg.norm((x - field) - exact, axis=1).min() > 0.1


def test_one_pattern_makes_the_field_exact(double):
    Xi, x, memory = problem(Y=5, K=1)
    field = np.asarray(barycentric_field(memory, Xi, x))
    assert np.abs(field - ro.MrDAM(Xi, BETA).gradient(x)).max() < 1e-12
    assert np.abs(field - memory.gradient(x)).max() > 1e-3


def test_jacobian_is_not_symmetric_and_that_of_the_gradient_is(double):
    Xi, x, memory = problem()
    field = Barycentric.store(memory, Xi)
    jacobians = jax.jit(
        lambda state: (
            jax.jacobian(field.field)(state),
            jax.jacobian(memory.gradient)(state),
        )
    )
    for state in x:
        J_B, J_A = map(np.asarray, jacobians(state))
        assert np.abs(J_B - J_B.T).max() > 1e-3
        assert np.abs(J_A - J_A.T).max() < 1e-8


def test_the_field_does_work_around_a_loop_and_the_gradient_does_not(double):
    Xi, x, memory = problem()
    field = Barycentric.store(memory, Xi)
    angle = 2 * np.pi * np.arange(200) / 200
    e = np.eye(D)
    circle = x[0] + 0.1 * (
        np.cos(angle)[:, None] * e[0] + np.sin(angle)[:, None] * e[1]
    )
    step = (
        0.1
        * (-np.sin(angle)[:, None] * e[0] + np.cos(angle)[:, None] * e[1])
        * 2
        * np.pi
        / 200
    )
    assert abs((np.asarray(memory.gradient(circle)) * step).sum()) < 1e-12
    assert abs((np.asarray(field.field(circle)) * step).sum()) > 1e-6


def test_the_barycentric_field_stores_M_times_D_plus_one_numbers():
    Xi, _, memory = problem(Y=10)
    field = Barycentric.store(memory, Xi)
    assert field.numbers == 2 * 10 * (D + 1)
    assert field.numbers > Xi.size


def test_adding_a_pattern_is_storing_it(double):
    Xi, x, memory = problem()
    less = Barycentric.store(ro.DrDAM.store(Xi[:-1], BETA, memory.features), Xi[:-1])
    added = np.asarray(less.add(Xi[-1]).field(x))
    stored = np.asarray(Barycentric.store(memory, Xi).field(x))
    assert np.abs(added - stored).max() < 1e-12


def test_retrieve_follows_the_field_to_a_stored_pattern():
    Xi = np.asarray(ro.data.binary_patterns(10, 30, key=jax.random.key(1)))
    memory = ro.DrDAM.store(
        Xi, 50.0, ro.RandomFeatures(30, 4000, key=jax.random.key(2))
    )
    end = ro.retrieve(
        Barycentric.store(memory, Xi), Xi + 0.02, max_steps=200, progress=False
    )
    assert np.abs(end.x - Xi).max() < 0.05


def test_patterns_of_another_length_are_refused():
    _, _, memory = problem(Y=10)
    with refused(ValueError, match="Xi"):
        Barycentric.store(memory, np.ones((3, D + 1)))
    with refused(ValueError, match="Xi"):
        barycentric_field(memory, np.ones((1, 3, D)), np.ones(D))
    with refused(ValueError, match=r"^memory: got"):
        Barycentric.store("memory", np.ones((3, D)))
