"""The classical network's identities, its descent, and the load at which it fails."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused
from scipy.optimize import approx_fprime
from scipy.special import logsumexp, softmax
from scipy.stats import norm

import rankone as ro
from rankone.memory.hopfield import hebbian, hopfield_energy, recall, synchronous_step
from rankone.memory.nonlinear import ACTIVATIONS
from rankone.precision import double_precision


def signs(seed, *shape):
    return np.random.default_rng(seed).choice(np.array([-1, 1], np.float32), shape)


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def hessian(memory, x):
    return np.asarray(jax.jit(jax.hessian(memory.energy))(x))


def test_energy_is_minus_the_sum_of_squared_overlaps():
    Xi = signs(0, 7, 40)
    sigma = signs(1, 5, 40)
    by_patterns = [-sum(float(xi @ s) ** 2 for xi in Xi) for s in sigma]
    # integers below 2**24: exact in float32
    assert np.array_equal(hopfield_energy(sigma, hebbian(Xi)), by_patterns)


def test_memory_matrix_is_the_sum_of_outer_products():
    Xi = signs(0, 4, 9)
    assert np.array_equal(hebbian(Xi), sum(np.outer(xi, xi) for xi in Xi))


def test_diagonal_shifts_the_energy_by_a_constant():
    Xi = signs(0, 7, 40)
    sigma = signs(1, 30, 40)
    T = hebbian(Xi)
    gap = np.asarray(hopfield_energy(sigma, T)) - hopfield_energy(
        sigma, T - np.diag(np.diagonal(T))
    )
    assert np.array_equal(gap, np.full(30, -7 * 40))


def test_a_recalled_state_is_a_minimum_over_single_flips_by_brute_force():
    T = hebbian(signs(0, 3, 10))
    run = recall(signs(1, 20, 10), T)
    assert bool(run.converged.all())
    for sigma in np.asarray(run.sigma):
        flipped = np.where(np.eye(10, dtype=bool), -sigma, sigma)
        assert (
            np.asarray(hopfield_energy(flipped, T)) >= float(hopfield_energy(sigma, T))
        ).all()


def test_recall_agrees_with_a_loop_over_neurons():
    T = np.asarray(hebbian(signs(3, 6, 25)))
    start = np.asarray(signs(4, 25))
    sigma = start.copy()
    for _ in range(50):
        for i in range(25):
            field = T[i] @ sigma - T[i, i] * sigma[i]
            if field * sigma[i] < 0:
                sigma[i] *= -1
    assert np.array_equal(recall(start, T).sigma, sigma)


def test_energy_never_rises_over_a_sweep_and_the_trace_ends_at_the_final_energy():
    T = hebbian(signs(0, 30, 100))
    run = recall(signs(1, 50, 100), T)
    assert run.energies.shape == (50, 51)
    assert np.diff(run.energies).max() <= 0
    energies = np.asarray(run.energies)
    assert np.array_equal(energies[:, -1], hopfield_energy(run.sigma, T))
    assert np.array_equal(energies[:, 0], hopfield_energy(signs(1, 50, 100), T))


def test_the_first_neuron_updated_decides_between_two_minima():
    run = recall(np.array([1.0, 1.0]), hebbian([[1.0, -1.0]]))
    assert run.sigma.tolist() == [-1, 1]
    assert int(run.sweeps) == 1


def test_recall_has_not_converged_while_a_neuron_flips():
    """Two neurons attract each other and differ. The first flips in the first sweep,
    and none in the second.
    """
    T = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert [bool(recall([1.0, -1.0], T, max_sweeps=n).converged) for n in (1, 2)] == [
        False,
        True,
    ]


def test_on_a_tie_neurons_stay_as_they_are():
    """Two orthogonal patterns of two bits leave no field between the neurons: T =
    2I.
    """
    T = hebbian([[1.0, 1.0], [1.0, -1.0]])
    states = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    np.testing.assert_array_equal(synchronous_step(states, T), states)
    np.testing.assert_array_equal(recall(states, T).sigma, states)


def test_synchronous_updates_can_alternate_for_ever():
    T = hebbian([[1.0, -1.0]])
    states = [np.array([1.0, 1.0])]
    for _ in range(2):
        states.append(synchronous_step(states[-1], T))
    assert states[1].tolist() == [-1, -1]
    assert states[2].tolist() == [1, 1]


def test_ground_states_of_one_pattern_are_the_pattern_and_its_mirror():
    xi = signs(2, 6)
    states = np.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    lowest = states[np.asarray(hopfield_energy(states, hebbian(xi[None]))) == -36]
    assert {tuple(s) for s in lowest.tolist()} == {
        tuple(xi.tolist()),
        tuple((-xi).tolist()),
    }


def test_the_network_keeps_patterns_below_the_critical_load_and_loses_them_above():
    D = 500
    for load, stable in ((0.08, True), (0.25, False)):
        Xi = signs(5, round(load * D), D)
        overlap = (
            np.asarray(recall(Xi[:20], hebbian(Xi), max_sweeps=20).sigma) * Xi[:20]
        ).mean()
        # the overlaps are 0.999 and 0.35 in the limit of large D
        assert (overlap > 0.97) if stable else (overlap < 0.6)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: hebbian([[0.0, 1.0]]), "Xi"),
        (lambda: hebbian([1.0, -1.0]), "Xi"),
        (lambda: recall([0.5, 1.0], np.eye(2)), "sigma"),
        (lambda: recall([1.0, 1.0, 1.0], np.eye(2)), "sigma"),
        (lambda: recall(np.ones((0, 2)), np.eye(2)), "sigma"),
        (lambda: recall([1.0, 1.0], np.ones((2, 3))), "T"),
        (lambda: recall([1.0, 1.0], np.eye(2), max_sweeps=0), "max_sweeps"),
        (lambda: hopfield_energy([np.nan, 1.0], np.eye(2)), "sigma"),
    ],
)
def test_bad_input_names_the_argument(call, argument):
    with refused(ValueError, match=f"^{argument}: got"):
        call()


# --- The dense memories of the same chapter, through the package's own MrDAM.


def softmax_energy(x, Xi, beta):
    return -logsumexp(-0.5 * beta * ((x - Xi) ** 2).sum(-1)) / beta


def test_the_jacobian_of_normalisation_has_exponent_two_not_the_printed_one():
    """D-fn3: at a norm other than one the printed exponent 3/2 disagrees with the
    finite differences.
    """
    x = np.array([2.0, -1.0, 3.0, 0.5])
    r = np.linalg.norm(x)
    differences = approx_fprime(x, lambda y: y / np.linalg.norm(y), 1e-7)

    def jacobian(power):
        return (np.eye(4) - np.outer(x, x) / r**power) / r

    # the error of forward differences is 1e-7 times the curvature
    assert np.abs(differences - jacobian(2)).max() < 1e-6
    assert np.abs(differences - jacobian(1.5)).max() > 1e-2
    # v ↦ Jᵀv, on each axis
    rows = jax.jit(ACTIVATIONS["unit"].derivative)(np.eye(4), np.tile(x, (4, 1)))
    assert np.abs(rows - differences).max() < 1e-6


def test_a_gradient_step_with_unit_activation_never_shortens_the_state():
    with double_precision():
        Xi = normal(0, 9, 5)
        x = normal(1, 5)
        gradient = np.asarray(ro.MrDAM(Xi, 2.0, "dot", g="unit").gradient(x))
        assert abs(float(gradient @ x)) < 1e-14
        lengths = (
            ((x - 0.7 * gradient) ** 2).sum(),
            (x**2).sum() + 0.49 * (gradient**2).sum(),
        )
        assert float(abs(lengths[0] - lengths[1])) < 1e-13


def test_hessian_is_the_identity_minus_beta_times_the_covariance():
    """D-sharp1, with its bounds and the case of two memories that attains the lower
    one.
    """
    with double_precision():
        Xi = np.asarray(ro.data.binary_patterns(40, 12, key=jax.random.key(2)), float)
        x = Xi[0] + 0.1 * normal(3, 12)
        beta = 30.0
        matrix = hessian(ro.MrDAM(Xi, beta), x)
        p = softmax(-0.5 * beta * ((x - Xi) ** 2).sum(-1))
        centred = Xi - p @ Xi
        assert (
            np.abs(matrix - (np.eye(12) - beta * (centred.T * p) @ centred)).max()
            < 1e-12
        )
        d2 = ((Xi[:, None] - Xi) ** 2).sum(-1).max()
        eigenvalues = np.linalg.eigvalsh(matrix)
        assert 1 - beta * d2 / 4 - 1e-12 < eigenvalues[0]
        assert eigenvalues[-1] < 1 + 1e-12
        pair = ro.MrDAM(np.array([[-0.5, 0.0], [0.5, 0.0]]), 50.0)
        midpoint = np.linalg.eigvalsh(hessian(pair, np.zeros(2)))
        assert np.allclose(midpoint, [1 - 50 / 4, 1], atol=1e-12)


@pytest.mark.parametrize("eta", [0.1, 1.0, 1.9, 2.0])
def test_every_step_size_up_to_two_lowers_the_energy_by_the_promised_amount(eta):
    with double_precision():
        Xi = np.asarray(ro.data.binary_patterns(100, 30, key=jax.random.key(4)), float)
        for beta in (1.0, 50.0, 500.0):
            memory = ro.MrDAM(Xi, beta)
            x = Xi[:20] + 0.2 * normal(5, 20, 30)
            for _ in range(10):
                energy, gradient = map(np.asarray, memory.energy_and_gradient(x))
                x = x - eta * gradient
                promised = energy - eta * (1 - eta / 2) * (gradient**2).sum(-1)
                assert (np.asarray(memory.energy(x)) - promised).max() < 1e-13


def test_a_step_size_beyond_two_raises_the_energy():
    memory = ro.MrDAM(np.zeros((1, 3)), 1.0)
    assert (
        np.diff(
            ro.retrieve(memory, np.ones(3), step_size=2.2, max_steps=10, tol=0).energies
        )
        > 0
    ).all()


def test_a_unit_step_is_one_step_of_attention():
    Xi = normal(0, 6, 4)
    x = normal(1, 4)
    attention = softmax(-1.5 * ((x - Xi) ** 2).sum(-1)) @ Xi
    assert np.allclose(x - ro.MrDAM(Xi, 3.0).gradient(x), attention, atol=1e-6)


@pytest.mark.parametrize(("beta", "parts"), [(3.9, False), (4.2, True)])
def test_two_patterns_have_separate_minima_above_beta_d_squared_of_four(beta, parts):
    with double_precision():
        pair = np.array([[-0.5, 0.0], [0.5, 0.0]])
        y = np.asarray(
            ro.retrieve(
                ro.MrDAM(pair, beta), pair[1], step_size=1.0, max_steps=5000, tol=1e-12
            ).x
        )[0]
    assert (abs(y) > 0.1) == parts
    assert abs(y - 0.5 * np.tanh(beta * y / 2)) < 1e-9


def test_a_query_between_two_patterns_can_converge_to_a_saddle():
    """D-unn4: neither a small change of the energy nor a small move distinguishes a
    saddle from a memory, but the curvature does.
    """
    pair = ro.MrDAM(np.array([[-0.5, 0.0], [0.5, 0.0]]), 16.0)
    run = ro.retrieve(pair, np.array([0.0, 0.3]), step_size=0.5, max_steps=500)
    assert bool(run.converged)
    assert np.linalg.eigvalsh(hessian(pair, run.x))[0] < -2.9


def test_without_the_square_the_gradient_does_not_vanish_at_the_pattern():
    """D-unn1: the printed exp(−β‖x − ξ‖/2) is a cone, whose gradient does not vanish
    near its tip.
    """
    cone = ro.MrDAM(
        np.zeros((1, 3)),
        4.0,
        lambda Xi, z: -0.5 * jnp.linalg.norm(z[:, None] - Xi[None], axis=-1),
    )
    x = np.array([1e-4, 2e-4, -1e-4])
    assert np.isclose(np.linalg.norm(cone.gradient(x)), 0.5, atol=1e-5)
    assert np.linalg.norm(ro.MrDAM(np.zeros((1, 3)), 4.0).gradient(x)) < 1e-3


@pytest.mark.parametrize(("n", "K"), [(2, 60), (3, 1000)])
def test_unstable_bits_follow_the_law_of_a_power_separation(n, K):
    """D-eq3: a bit of a stored pattern is unstable with probability Q((D^(n−1) / (2n −
    3)!! K)^½).
    """
    D = 64
    double_factorial = {2: 1, 3: 3}[n]
    Xi = np.random.default_rng(n).choice([-1.0, 1.0], (K, D))
    wrong = total = 0
    for p in range(40):
        s = Xi @ Xi[p]
        flipped = s[:, None] - 2 * Xi * Xi[p]
        wrong += int(((s[:, None] ** n - flipped**n).sum(0) < 0).sum())
        total += D
    predicted = norm.sf((D ** (n - 1) / (double_factorial * K)) ** 0.5)
    # 5 standard errors of the 2560 bits, and the difference due to finite D
    assert abs(wrong / total - predicted) < 0.035


def test_log_sum_exp_is_a_soft_minimum():
    with double_precision():
        Xi = normal(0, 9, 5)
        x = normal(1, 30, 5)
        nearest = (0.5 * ((x[:, None] - Xi) ** 2).sum(-1)).min(1)
        energy = np.asarray(ro.MrDAM(Xi, 3.0).energy(x))
        assert (energy <= nearest).all()
        assert (energy >= nearest - np.log(9) / 3 - 1e-14).all()
        assert np.allclose(energy, [softmax_energy(y, Xi, 3.0) for y in x], atol=1e-14)
