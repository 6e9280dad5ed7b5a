"""One operation: each method of writing is a choice of X, the results of the book are
writes, and some other things are not.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import inf

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.checks import Outcome
from rankone.editing import KeyGeometry
from rankone.memory import RandomFeatures
from rankone.precision import double_precision
from rankone.preconditioning import Reparameterized
from rankone.residual.resmem import ResMem
from rankone.theory import deep_linear
from rankone.theory.conditioning import store_pair
from rankone.writes import (
    BatchStep,
    Cycled,
    Edited,
    Exact,
    FeatureKernel,
    Gaussian,
    InSequence,
    Kernel,
    KernelMemory,
    Laplace,
    Linear,
    Metric,
    NearestNeighbours,
    Recursive,
    Ridge,
    Rule,
    Write,
    interpolate,
)

# Numbers of outputs, inputs and pairs. All tests have the same shape, so that few
# programs are compiled.
H = 4
D = 12
M = 6
close = partial(np.testing.assert_allclose, rtol=0, atol=1e-8)


pytestmark = pytest.mark.usefixtures("x64")


@dataclass(frozen=True)
class Problem:
    """A memory M₀ (H, D), keys and values to write, the geometry C, and queries."""

    M0: np.ndarray
    K: np.ndarray
    V: np.ndarray
    C: np.ndarray
    q: np.ndarray

    @property
    def G(self):
        return np.linalg.inv(self.C)

    @property
    def R(self):
        return self.V - self.M0 @ self.K

    @property
    def S(self):
        return self.K.T @ self.G @ self.K


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    keys = rng.normal(size=(D, 40))
    return Problem(
        *(rng.normal(size=shape) for shape in ((H, D), (D, M), (H, M))),
        keys @ keys.T,
        rng.normal(size=(D, 3)),
    )


@pytest.fixture(scope="module")
def geometry(problem):
    with double_precision():
        return KeyGeometry.from_moments(problem.C)


def written(problem, geometry, rule):
    """M₀ after the write, as a matrix."""
    memory = KernelMemory.store(problem.K, problem.R, geometry, rule=rule)
    close(
        problem.M0 @ problem.q + memory.read(problem.q),
        memory.write.apply(problem.M0) @ problem.q,
    )
    return np.asarray(memory.write.apply(problem.M0))


def delta_rule(W, problem, rates, order=range(M)):
    """Gradient steps of ½‖v − Wk‖², one after another, in the geometry G."""
    for t in order:
        W = W + rates[t] * np.outer(
            problem.V[:, t] - W @ problem.K[:, t], problem.G @ problem.K[:, t]
        )
    return W


# The choice of X


def test_a_batch_step_is_the_diagonal_of_its_rates(problem, geometry):
    rates = np.linspace(0.1, 0.9, M)
    gradient = problem.R * rates @ problem.K.T @ problem.G
    close(written(problem, geometry, BatchStep(rates)), problem.M0 + gradient)


@pytest.mark.parametrize("zero", [False, True])
def test_writing_in_sequence_equals_the_delta_rule(problem, geometry, zero):
    rates = np.linspace(0.1, 0.9, M) / np.diag(problem.S)
    rates[2] = 0 if zero else rates[2]
    close(
        written(problem, geometry, InSequence(rates)),
        delta_rule(problem.M0, problem, rates),
    )


def test_writing_in_sequence_without_rates_equals_single_edits(problem, geometry):
    W = problem.M0
    for k, v in zip(problem.K.T, problem.V.T, strict=True):
        W = ro.rank_one_edit(W, geometry, k, v).apply(W)
    close(written(problem, geometry, InSequence()), W)
    close(written(problem, geometry, Recursive(inf, 0.0)), W)


def test_cycles_are_gauss_seidel_and_kaczmarz_and_end_at_the_inverse(problem, geometry):
    W = problem.M0
    A = np.zeros((H, M))
    for _ in range(3):
        W = delta_rule(W, problem, 1 / np.diag(problem.S))
        for t in range(M):  # Gauss–Seidel on A S = R
            A[:, t] += (problem.R - A @ problem.S)[:, t] / problem.S[t, t]
    close(written(problem, geometry, Cycled(3)), W)
    close(
        KernelMemory.store(problem.K, problem.R, geometry, rule=Cycled(3)).coefficients,
        A,
    )
    exact = written(problem, geometry, Exact())
    assert np.abs(W - exact).max() > 1e-3
    for rate in (1.0, 0.4, 1.6):
        close(
            written(problem, geometry, Cycled(4000, rate / np.diag(problem.S))), exact
        )


def test_recursive_least_squares_is_ridge_regression_in_any_order(problem, geometry):
    omega = 0.7
    W = problem.M0
    G = problem.G
    for k, v in zip(problem.K.T, problem.V.T, strict=True):
        gain = G @ k / (1 / omega + k @ G @ k)
        W = W + np.outer(v - W @ k, gain)
        G = G - np.outer(gain, G @ k)
    ridge = (
        problem.M0
        + problem.R
        @ np.linalg.inv(problem.S + np.eye(M) / omega)
        @ problem.K.T
        @ problem.G
    )
    back = replace(problem, K=problem.K[:, ::-1], V=problem.V[:, ::-1])
    for result in (
        W,
        written(problem, geometry, Ridge(omega)),
        ro.batch_edit(problem.M0, geometry, problem.K, problem.V, omega=omega).apply(
            problem.M0
        ),
    ):
        close(result, ridge)
    for pairs in (problem, back):
        close(written(pairs, geometry, Recursive(omega)), ridge)
    assert (
        np.abs(
            written(back, geometry, Recursive(omega, 0.0))
            - written(problem, geometry, Recursive(omega, 0.0))
        ).max()
        > 1e-3
    )


def test_exact_writes_are_exact_and_shortest(problem, geometry):
    W = written(problem, geometry, Exact())
    close(W @ problem.K, problem.V)
    shortest = problem.R @ np.linalg.inv(problem.S) @ problem.K.T @ problem.G
    close(W, problem.M0 + shortest)
    close(written(problem, geometry, Ridge(inf)), W)


# The five results


def test_an_edit_is_one_write_at_the_rate_1_over_s_and_a_step_of_descent_on_U(
    problem, geometry
):
    k = problem.K[:, 0]
    v = problem.V[:, 0]
    edit = ro.rank_one_edit(problem.M0, geometry, k, v)
    s = k @ problem.G @ k
    close(edit.left, (v - problem.M0 @ k) / s)
    one = replace(problem, K=problem.K[:, :1], V=problem.V[:, :1])
    for rule in (BatchStep(1 / s), InSequence(), Exact()):
        close(written(one, geometry, rule), edit.apply(problem.M0))
    close(store_pair(problem.M0, problem.C, k, v), edit.apply(problem.M0))
    values, vectors = np.linalg.eigh(problem.C)
    layer = Reparameterized.from_weight(
        problem.M0, np.eye(H), vectors / np.sqrt(values) @ vectors.T
    )

    def loss(U):
        return 0.5 * jnp.sum((v - replace(layer, U=U)(k)) ** 2)

    stepped = replace(layer, U=layer.U - jax.jit(jax.grad(loss))(layer.U) / s)
    close(stepped.W, edit.apply(problem.M0))


def test_batches_of_edits_are_exact_or_ridge_writes(problem, geometry):
    for omega, rule in ((inf, Exact()), (2.0, Ridge(2.0))):
        edit = ro.batch_edit(problem.M0, geometry, problem.K, problem.V, omega=omega)
        close(edit.apply(problem.M0), written(problem, geometry, rule))


def test_a_preconditioned_step_is_a_batch_step_with_a_geometry_of_outputs_too(problem):
    """TUV on one linear layer: residuals are multiplied by TTᵀ, and keys by VᵀV."""
    rng = np.random.default_rng(1)
    T = rng.normal(size=(H, 5))
    V = rng.normal(size=(7, D))
    layer = Reparameterized(*map(jnp.asarray, (T, rng.normal(size=(5, 7)), V)))
    W = np.asarray(layer.W)
    rate = 0.01

    def loss(U):
        return 0.5 * jnp.sum((problem.V - replace(layer, U=U)(problem.K.T).T) ** 2)

    stepped = replace(layer, U=layer.U - rate * jax.jit(jax.grad(loss))(layer.U))
    residuals = T @ T.T @ (problem.V - W @ problem.K)
    write = KernelMemory.store(
        problem.K, residuals, Metric(V.T @ V), rule=BatchStep(rate)
    ).write
    close(stepped.W, write.apply(W))


def test_a_distributed_memory_is_one_batch_step_with_all_values_one(
    problem,
):
    # the features are evaluated at √β times a key
    kernel = RandomFeatures(D, 50, key=jax.random.key(0))
    root = 0.3**0.5
    memory = ro.DrDAM.store(problem.K.T, 0.3, kernel)
    store = KernelMemory.store(
        root * problem.K, np.ones((1, M)), kernel, rule=BatchStep()
    )
    close(store.write.delta[0], memory.T)
    close(store.read(root * problem.q)[0], memory.partition(problem.q.T))
    close(
        store.write.at(kernel.features(root * problem.q))[0],
        memory.partition(problem.q.T),
    )
    # a normalised reading of it is 1 everywhere, because it divides by T itself
    close(store.ones, store.coefficients[0])


def test_one_update_of_an_exact_memory_is_nadaraya_watson_regression_of_patterns(
    problem,
):
    beta = 0.3
    memory = ro.MrDAM(problem.K.T, beta=beta)
    read = interpolate(
        problem.K,
        problem.K,
        problem.q,
        Gaussian(beta),
        rule=BatchStep(),
        normalise=True,
    )
    # the normalised reading is a descent step of size 1
    close(read.T, problem.q.T - np.asarray(memory.gradient(problem.q.T)))


def test_residual_memory_with_all_its_neighbours_is_a_ratio_of_two_linear_memories(
    problem,
):
    sigma = 2.0
    memory = ResMem(M, sigma).fit_residuals(problem.K.T, problem.R.T)
    ratio = interpolate(
        problem.K,
        problem.R,
        problem.q,
        Laplace(sigma),
        rule=BatchStep(),
        normalise=True,
    )
    close(ratio.T, memory.correction(problem.q.T))
    weights = np.asarray(Laplace(sigma).inner(problem.K, problem.q))
    close(ratio, problem.R @ weights / weights.sum(0))


@pytest.mark.parametrize("k", [1, 3, M])
def test_soft_nearest_neighbours_are_read_normalised(problem, k):
    memory = ResMem(k, 2.0).fit_residuals(problem.K.T, problem.R.T)
    read = interpolate(
        problem.K,
        problem.R,
        problem.q,
        NearestNeighbours(k, 2.0),
        rule=BatchStep(),
        normalise=True,
    )
    close(read.T, memory.correction(problem.q.T))


def test_one_step_through_a_deep_linear_network_writes_with_a_sum_of_kernels_one_for_each_layer():
    """To first order the step writes Σ_i P_i P_iᵀ e · κ_i(φ, φ*), where κ_i is the
    inner product of the inputs of layer i.
    """
    rng = np.random.default_rng(0)
    W = [rng.normal(size=(5, 5)) / 5**0.5 for _ in range(4)]
    e, phi, star = rng.normal(size=(3, 5))
    total = Write(jnp.zeros(5), jnp.zeros(5))
    for i in range(1, 5):
        P = deep_linear.left(W, i)
        Q = deep_linear.right(W, i)
        channel = KernelMemory.store(
            phi[:, None], (P @ P.T @ e)[:, None], Metric(Q.T @ Q), rule=BatchStep()
        )
        total = total + channel.write
    close(total.delta, deep_linear.first_order(W, e, phi))
    close(total.at(star), deep_linear.first_order(W, e, phi) @ star)
    assert total.left.shape == (5, 5)
    alpha = 1e-6
    finite = np.asarray(deep_linear.product(W))
    stepped = deep_linear.product(
        [
            w - alpha * deep_linear.layer_gradient(W, i, e, phi)
            for i, w in enumerate(W, 1)
        ]
    )
    np.testing.assert_allclose((finite - stepped) / alpha, total.delta, atol=1e-4)


# Counterexamples


def test_a_distributed_memory_is_not_the_delta_rule():
    """For two patterns with κ = .9, the sum gives 1.9 at the first pattern, and the
    delta rule gives 1.09.
    """
    beta = -2 * np.log(0.9)
    keys = np.array([[0.0, 1.0]])
    ones = np.ones((1, 2))
    hebb, delta = (
        float(interpolate(keys, ones, np.zeros(1), Gaussian(beta), rule=rule)[0])
        for rule in (BatchStep(), InSequence())
    )
    assert hebb == pytest.approx(1.9)
    assert delta == pytest.approx(1.09)


def test_the_error_in_a_hidden_layer_is_not_value_less_prediction():
    """The same activations and label under two heads give two errors, and so two writes
    at one key.
    """
    h = np.array([1.0, -0.5, 0.3])
    y = np.array([1.0, 0.0])
    errors = []
    for seed in (0, 1):
        head = np.random.default_rng(seed).normal(size=(2, 3))
        errors.append(
            np.asarray(
                jax.grad(lambda a, head=head: 0.5 * jnp.sum((y - head @ a) ** 2))(h)
            )
        )
    cosine = (
        errors[0] @ errors[1] / np.linalg.norm(errors[0]) / np.linalg.norm(errors[1])
    )
    assert abs(cosine) < 0.9


def test_the_kernel_of_a_slot_of_the_learner_is_not_a_geometry():
    """The step writes with one product of matrices and reads with another. E_jl is
    neither symmetric nor positive semidefinite.
    """
    E = np.zeros((2, 2))
    E[0, 1] = 1.0
    a = np.array([[1.0], [1.0]])
    b = np.array([[1.0], [-1.0]])
    assert float(Metric(E).inner(a, b)[0, 0]) != float(Metric(E).inner(b, a)[0, 0])
    assert float(Metric(E).inner(b, b)[0, 0]) < 0
    _, outcome = Exact().coefficients(np.ones((1, 1)), Metric(E).inner(b, b))
    assert outcome == Outcome.DEPENDENT


def test_reading_few_neighbours_is_not_a_linear_memory(problem):
    """The reading jumps where a neighbour changes, and the weight of a key depends on
    the other keys.
    """
    keys = np.array([[0.0, 1.0, 3.0]])
    values = np.array([[0.0, 1.0, 5.0]])
    kernel = NearestNeighbours(2, 1.0)

    def read(q):
        return float(
            interpolate(
                keys, values, np.array([q]), kernel, rule=BatchStep(), normalise=True
            )[0]
        )

    assert read(1.5 + 1e-9) - read(1.5 - 1e-9) > 1
    kernel = NearestNeighbours(1, 1.0)
    assert float(kernel.inner(keys[:, 1:], keys[:, :1])[0, 0]) == 1
    assert float(kernel.inner(keys, keys[:, :1])[1, 0]) == 0
    assert not isinstance(kernel, FeatureKernel)
    memory = KernelMemory.store(problem.K, problem.R, kernel, rule=BatchStep())
    with refused(ValueError, match="kernel: got NearestNeighbours"):
        _ = memory.write


def test_a_normalised_reading_is_not_linear_in_what_is_stored(problem, geometry):
    """So no Write can be read normalised: two memories of the same pairs add up to a
    memory with the same normalised reading.
    """
    once = KernelMemory.store(problem.K, problem.R, Laplace(1.0), rule=BatchStep())
    twice = KernelMemory.store(
        np.tile(problem.K, 2), np.tile(problem.R, 2), Laplace(1.0), rule=BatchStep()
    )
    close(twice.read(problem.q), 2 * once.read(problem.q))
    close(twice.read(problem.q, normalise=True), once.read(problem.q, normalise=True))


def test_a_normalised_reading_divides_by_the_reading_of_ones(
    problem,
):
    """With X = S⁻¹, it is a ratio of two interpolations. It is still exact at the keys,
    and 1 everywhere if all values are ones.
    """
    read = partial(interpolate, problem.K, kernel=Laplace(2.0), normalise=True)
    close(read(problem.R, q=problem.K), problem.R)
    close(read(np.ones((1, M)), q=problem.q), 1)
    S, weights = (
        np.asarray(Laplace(2.0).inner(problem.K, q)) for q in (problem.K, problem.q)
    )
    solved = np.linalg.solve(S, weights)
    close(read(problem.R, q=problem.q), problem.R @ solved / solved.sum(0))


def test_with_little_overlap_every_rule_reads_alike_at_the_keys():
    """For Sᵢᵢ = 1 and ρ = (n − 1) max|Sᵢⱼ| < 1, ‖S⁻¹ − I‖∞ ≤ ρ/(1 − ρ), and the bound
    is attained.
    """
    eye = np.eye(M)
    n = M
    for rho in (0.05, 0.3, 0.9):
        rng = np.random.default_rng(0)
        off = np.triu(rng.uniform(-1, 1, (n, n)), 1)
        S = eye + rho / (n - 1) * (off + off.T) / np.abs(off).max()
        for rule in (Exact(), Cycled(200)):
            X, _ = rule.coefficients(eye, S)
            assert np.abs(np.asarray(X) - eye).sum(1).max() <= rho / (1 - rho)
        # attained if all overlaps are as negative as possible
        worst = eye - rho / (n - 1) * (1 - eye)
        X, _ = Exact().coefficients(eye, worst)
        assert np.abs(np.asarray(X) - eye).sum(1).max() == pytest.approx(
            rho / (1 - rho)
        )


# The types


def test_kernels_and_rules_are_what_their_protocols_say(geometry):
    with_features = (
        Linear(),
        Metric(np.eye(D)),
        geometry,
        RandomFeatures(D, 8, key=jax.random.key(0)),
    )
    without = (Gaussian(1.0), Laplace(1.0), NearestNeighbours(2, 1.0))
    assert all(isinstance(kernel, FeatureKernel) for kernel in with_features)
    assert all(
        isinstance(kernel, Kernel) and not isinstance(kernel, FeatureKernel)
        for kernel in without
    )
    assert all(
        isinstance(rule, Rule)
        for rule in (
            BatchStep(),
            InSequence(),
            Cycled(1),
            Ridge(1.0),
            Recursive(1.0),
            Exact(),
        )
    )


def test_kernels_with_features_are_inner_products_of_them(problem, geometry):
    K = jnp.asarray(problem.K)
    q = jnp.asarray(problem.q)
    for kernel in (Linear(), Metric(problem.G), geometry):
        close(
            np.asarray(kernel.features(K)).T @ np.asarray(kernel.dual(q)),
            kernel.inner(K, q),
        )
    close(geometry.inner(K, K), problem.S)
    close(
        np.asarray(geometry.whiten(K)).T @ np.asarray(geometry.whiten(q)),
        geometry.inner(K, q),
    )


def test_each_rule_applies_its_matrix_and_names_bad_arguments(problem):
    R = problem.R
    S = problem.S
    one = np.eye(M)
    triangle = np.linalg.inv(2 * one + np.triu(S, 1))
    ridge = np.linalg.inv(S + one / 2)
    X = {
        BatchStep(0.5): one / 2,
        InSequence(0.5): triangle,
        Cycled(1, 0.5): triangle,
        Ridge(2.0): ridge,
        Recursive(2.0): ridge,
        Exact(): np.linalg.inv(S),
    }
    for rule, matrix in X.items():
        close(rule.coefficients(R, S)[0], R @ matrix)
        for name, bad in (
            ("R", ("a", S)),
            ("R", (R[0], S)),
            ("S", (R, S[:, :2])),
            ("S", (R, S * 1j)),
        ):
            with refused(ValueError, match=f"^{name}: got"):
                rule.coefficients(*bad)


def test_writes_add_up(problem):
    one, two = (
        Write(jnp.asarray(problem.R[:, i]), jnp.asarray(problem.K[:, i]))
        for i in (0, 1)
    )
    both = one + (two + two)
    assert both.left.shape == (H, 3)
    assert both.shape == (H, D)
    assert both.interference is None
    close(both.delta, one.delta + 2 * two.delta)
    close(Edited(problem.M0).then(one).then(two + two).W, both.apply(problem.M0))
    bad = replace(two, outcome=jnp.int32(Outcome.SINGULAR))
    assert (one + bad).outcome == (bad + one).outcome == Outcome.SINGULAR
    with refused(ValueError, match="other: got"):
        one + Write(jnp.ones(3), jnp.ones(3))


def test_dependent_keys_and_broken_numbers_are_reported_under_jit(problem):
    K = problem.K.copy()
    K[:, 1] = K[:, 0]

    @jax.jit
    def outcome(K, R, rate):
        return [
            KernelMemory.store(K, R, Linear(), rule=rule).outcome
            for rule in (Exact(), Ridge(1.0), BatchStep(rate))
        ]

    assert [int(o) for o in outcome(K, problem.R, 1.0)] == [
        Outcome.DEPENDENT,
        Outcome.OK,
        Outcome.OK,
    ]
    assert int(outcome(problem.K, problem.R, inf)[2]) == Outcome.NOT_FINITE


BAD = {
    "left": (lambda: Write(np.ones((2, 2, 2)), np.ones(2)), "left: got"),
    "right": (lambda: Write(np.ones((2, 3)), np.ones((4, 2))), "right: got"),
    "rates": (lambda: BatchStep(np.ones((2, 2))), "rates: got"),
    "rounds": (lambda: Cycled(2.5), "rounds: got"),
    "rounds none": (lambda: Cycled(0), "rounds: got"),
    "omega": (lambda: Ridge(0.0), "omega: got"),
    "omega nan": (lambda: Ridge(np.nan), "omega: got"),
    "beta": (lambda: Recursive(1.0, -1.0), "beta: got"),
    "width": (lambda: Gaussian(-1.0), "beta: got"),
    "sigma": (lambda: Laplace(0.0), "sigma: got"),
    "k": (lambda: NearestNeighbours(True, 1.0), "k: got"),
    "R": (
        lambda: interpolate(np.ones((2, 3)), np.ones((2, 2)), np.ones(2), Linear()),
        "R: got",
    ),
    "path": (lambda: Write(np.ones(2), np.ones(2)).save(1.5), "path: got"),
    "about": (
        lambda: Write(np.ones(2), np.ones(2)).save("nowhere", ["a"]),
        "about: got",
    ),
    "edit": (lambda: Edited(np.eye(2)).then("a"), "edit: got"),
    "q": (lambda: interpolate(np.eye(2), np.eye(2), np.ones(3), Linear()), "q: got"),
}


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(make, message):
    with refused(ValueError, match=message):
        make()
