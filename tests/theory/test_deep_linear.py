"""The lemmas of the universality chapter: exact identities first, then the printed
forms of the slides.
"""

from functools import reduce
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.precision import double_precision
from rankone.printed.one_write import printed_first_order
from rankone.theory.deep_linear import (
    first_order,
    layer_gradient,
    left,
    longest_chain,
    product,
    right,
    written,
)
from rankone.theory.error_signals import (
    class_switch_signals,
    cross_entropy_signal,
    kink_signals,
    signal,
)
from rankone.universality import Constants, activations, adapt, learn, predict
from rankone.universality.errors import random_tasks
from rankone.universality.hats import hat_network
from rankone.universality.selectors import (
    amplifiers,
    bit_selector,
    cell_index,
    cell_selector,
    kernels,
    seed_matrix,
    telescope,
    unipotent,
)
from rankone.universality.shot_moments import moment_stack, prony, write_moments
from rankone.universality.tables import cells_grid

GOLDEN = (5**0.5 - 1) / 2


@pytest.fixture(autouse=True)
def x64():
    with double_precision():
        yield


def stack(N=6, D=5, seed=0):
    draws = np.random.default_rng(seed)
    return (
        [draws.normal(size=(D, D)) / D**0.5 for _ in range(N)],
        draws.normal(size=D),
        draws.normal(size=D),
    )


# --- the writes of a step


def test_layer_gradients_are_outer_products():
    """M-grad, against autodiff."""
    W, e, phi = stack()
    by_autodiff = jax.jit(jax.grad(lambda W: e @ (product(W) @ phi)))(
        [jnp.asarray(w) for w in W]
    )
    for i, g in enumerate(by_autodiff, 1):
        np.testing.assert_allclose(layer_gradient(W, i, e, phi), g, atol=1e-14)
        assert np.linalg.matrix_rank(layer_gradient(W, i, e, phi)) == 1


def test_first_order_is_the_derivative_of_the_product_and_the_printed_factor_is_not():
    """M-prod, M-z*: the remainder falls like α with the corrected factor, and not at
    all with the printed one.
    """
    W, e, phi = stack()
    G = [layer_gradient(W, i, e, phi) for i in range(1, 7)]
    remainders = []
    for alpha in (1e-4, 1e-5):
        slope = (
            product(W) - product([w - alpha * g for w, g in zip(W, G, strict=True)])
        ) / alpha
        remainders.append(np.abs(slope - first_order(W, e, phi)).max())
        assert np.abs(slope - printed_first_order(W, e, phi)).max() > 0.1
    assert remainders[1] == pytest.approx(remainders[0] / 10, rel=0.01)


def channels(N, seed=1):
    """Block-diagonal W with J = 2 and three slots, φ before and after the step, and
    e.
    """
    draws = np.random.default_rng(seed)
    W = np.zeros((N, 8, 8))
    W[:, :4, :4] = draws.normal(size=(N, 4, 4))
    W[:, 4:7, 4:7] = draws.normal(size=(N, 3, 3))
    W[:, 7, 7] = draws.normal(size=N)
    before = np.zeros(8)
    after = draws.normal(size=8)
    before[:2] = draws.normal(size=2)
    after[4:7] = 0
    e = np.concatenate([np.zeros(4), draws.normal(size=4)])
    return list(W), before, after, e


def test_the_step_is_exactly_first_order_for_every_alpha():
    """M-S1: the products of the gradients vanish, and M-eq3 gives the written
    values.
    """
    W, before, after, e = channels(5)
    G = [layer_gradient(W, i, e, before) for i in range(1, 6)]
    assert longest_chain(W, G) == 0
    A = [left([w[4:7, 4:7] for w in W], i) for i in range(1, 6)]
    B = [right([w[:4, :4] for w in W], i) for i in range(1, 6)]
    for alpha in (1e-3, 1.0, 1e3):
        z = product([w - alpha * g for w, g in zip(W, G, strict=True)]) @ after
        np.testing.assert_allclose(
            z,
            (product(W) - alpha * first_order(W, e, before)) @ after,
            rtol=1e-11,
            atol=1e-9,
        )
        kernel = [before[:4] @ b.T @ b @ after[:4] for b in B]
        wrote = -alpha * sum(
            k * a @ a.T @ e[4:7] for k, a in zip(kernel, A, strict=True)
        )
        np.testing.assert_allclose(z[4:7], wrote, rtol=1e-10, atol=1e-9 * alpha)


def test_a_dense_step_has_a_second_order():
    W, e, phi = stack()
    G = [layer_gradient(W, i, e, phi) for i in range(1, 7)]
    # this includes neighbouring layers
    between = [
        reduce(np.matmul, [G[i], *W[i + 1 : k], G[k]])
        for k in range(6)
        for i in range(k)
    ]
    assert longest_chain(W, G) == pytest.approx(np.abs(between).max(), rel=1e-12)
    assert longest_chain(W[:2], G[:2]) == np.abs(G[0] @ G[1]).max() > 0.01


def test_kernel_form_equals_the_product():
    """M-eq3 with the package's selector and telescope."""
    J = 3
    eps = 0.05
    selector = cell_selector(J, eps)
    W = list(telescope(selector, epsilon=eps, damping=1e-3)[::-1])  # W₁ first
    phi = np.zeros(16)
    after = np.zeros(16)
    e = np.zeros(16)
    phi[1] = 1
    after[J + 2] = 1
    e[6:15] = -0.4
    G = [layer_gradient(W, i, e, phi) for i in range(1, len(W) + 1)]
    z = product([w - 0.3 * g for w, g in zip(W, G, strict=True)]) @ after
    B = np.concatenate([np.eye(6)[None], selector.B, np.eye(6)[None]])
    A = np.concatenate([np.ones((1, 9)), selector.A, np.full((1, 9), eps)])
    np.testing.assert_allclose(
        z[6:15], written(A, B, e[6:15], phi[:6], after[:6], 0.3), atol=1e-14
    )
    want = 0.3 * 0.4 * (1 + 2 * eps) * (eps + np.eye(9)[cell_index(1, 2, J)])  # M-v
    np.testing.assert_allclose(z[6:15], want, atol=1e-14)


# --- the kink


def test_the_gradient_at_the_kink_is_a_convention():
    """M-(1): the gradient is 0 with jax.nn.relu, 2⁻ⁱ with jnp.maximum, and 1 with a
    jnp.where that counts the kink as active. Off the kink it is 1.
    """
    np.testing.assert_array_equal(kink_signals(jax.nn.relu, 6), 0)
    np.testing.assert_array_equal(
        kink_signals(lambda z: jnp.maximum(z, 0), 6), 0.5 ** np.arange(1, 7)
    )
    np.testing.assert_array_equal(kink_signals(lambda z: jnp.where(z >= 0, z, 0), 6), 1)
    np.testing.assert_array_equal(kink_signals(jax.nn.relu, 6, rest=1e-8), 1)


# --- selectors


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.7])
def test_the_printed_selectors_kernel_is_an_exact_indicator(epsilon):
    """M-eq6: (1 + 2ε) at (j, l) and 0 elsewhere, whatever ε."""
    for j, m in ((0, 0), (1, 2), (3, 1)):
        want = np.zeros((4, 4))
        want[j, m] = 1 + 2 * epsilon
        np.testing.assert_allclose(
            kernels(seed_matrix(j, m, 4, epsilon)), want, atol=1e-15
        )


def test_ramps_lie_on_the_edges_of_the_cells():
    """A ramp goes from t to t + ω, where t is the multiple of ω that puts the middle
    nearest to j/J.
    """
    for J in (2, 3, 7, 16, 100):
        ramp = 2.0**-14 / J.bit_length()
        middle = cells_grid(J, ramp).t + ramp / 2
        assert abs(middle - np.arange(1, J) / J).max() <= ramp / 2 * (1 + 1e-9)


def test_kernels_are_the_products_of_columns_of_the_two_halves():
    """k(j, l) = (B[e_j; 0])·(B[0; e_l]), for every matrix of a stack, symmetric or
    not.
    """
    B = np.random.default_rng(0).normal(size=(2, 6, 6))
    want = [[[b[:, j] @ b[:, 3 + m] for m in range(3)] for j in range(3)] for b in B]
    np.testing.assert_allclose(kernels(B), want, atol=1e-14)


def test_the_printed_selector_has_the_stated_eigenvalues():
    """M-appA-Bpd: (1 ± √5)/2 + ε and ε; positive definite only above the golden
    value.
    """
    for epsilon, j, m in ((0.1, 0, 2), (0.1, 1, 1), (0.3, 2, 0)):
        spectrum = np.linalg.eigvalsh(seed_matrix(j, m, 3, epsilon))
        want = sorted([-GOLDEN + epsilon, *[epsilon] * 4, 1 + GOLDEN + epsilon])
        np.testing.assert_allclose(spectrum, want, atol=1e-14)
    assert np.linalg.eigvalsh(seed_matrix(0, 1, 3, GOLDEN + 0.01)).min() > 0
    assert abs(np.linalg.det(seed_matrix(0, 1, 3, GOLDEN))) < 1e-15


def test_the_printed_rows_would_give_the_wrong_kernel():
    """M-appC-B: [e_j; 0]ᵀ[e_l; 0] is 0 for j ≠ l; [e_j; e_l]ᵀ[e_j; 0] is 1."""
    B = seed_matrix(1, 2, 4, 0.0)
    e = np.eye(4)
    before = B @ np.concatenate([e[1], 0 * e[1]])
    after = B @ np.concatenate([0 * e[2], e[2]])
    np.testing.assert_array_equal(before, np.concatenate([e[1], e[2]]))
    np.testing.assert_array_equal(after, np.concatenate([e[1], 0 * e[1]]))
    assert before @ after == 1
    assert np.concatenate([e[1], 0 * e[1]]) @ np.concatenate([e[2], 0 * e[2]]) == 0


def test_the_unipotent_selector_is_exact_and_well_conditioned():
    """M-S2: kernel E_jl, inverse 2I − B, condition φ², symmetric part with eigenvalues
    1/2, 1, 3/2.
    """
    E = np.outer(np.eye(5)[1], np.eye(5)[3])
    B = unipotent(E)
    np.testing.assert_array_equal(kernels(B), E)
    np.testing.assert_array_equal(B @ (2 * np.eye(10) - B), np.eye(10))
    assert np.linalg.cond(B) == pytest.approx((1 + GOLDEN) ** 2, rel=1e-12)
    np.testing.assert_allclose(
        np.unique(np.linalg.eigvalsh((B + B.T) / 2).round(12)), [0.5, 1, 1.5]
    )
    W = telescope(cell_selector(3, 0.1, printed=False), epsilon=0.1, damping=1e-3)
    assert set(np.unique(W[:, :6, :6].round(12))) <= {-1.0, 0.0, 1.0}


def test_the_printed_index_takes_only_J_values():
    """M-index."""
    cells = [(j, m) for m in range(3) for j in range(3)]
    assert [cell_index(j, m, 3) for j, m in cells] == list(range(9))
    assert sorted({j + 3 * 3 for j, _ in cells}) == [9, 10, 11]


def test_amplifiers_write_one_slot_each():
    """M-Ajl."""
    np.testing.assert_array_equal(
        amplifiers(2, 3, 0.1), [[1.1, 0.1, 0.1], [0.1, 1.1, 0.1]]
    )


@pytest.mark.parametrize(
    "selector",
    [
        cell_selector(3, 0.05),
        bit_selector(5, 0.05),
        cell_selector(3, 0.1, reference=True),
    ],
)
def test_the_telescope_gives_back_every_product(selector):
    """M-appA-tele, M-appA-bdry: the selector's B and A inside; I, and kernel 0, at both
    ends.
    """
    n, S = selector.A.shape
    half = selector.B.shape[-1]
    N = n + 2
    W = list(telescope(selector, epsilon=0.05, damping=1e-3)[::-1])
    forward = [w[:half, :half] for w in W]
    backward = [w[half:-1, half:-1] for w in W]
    for c in range(n):
        np.testing.assert_allclose(right(forward, c + 2), selector.B[c], atol=1e-13)
        np.testing.assert_allclose(
            left(backward, c + 2) ** 2, np.diag(selector.A[c]), atol=1e-13
        )
    np.testing.assert_array_equal(left(backward, 1), np.eye(S))
    np.testing.assert_array_equal(right(forward, N), np.eye(half))
    np.testing.assert_allclose(right(forward, 1), np.eye(half), atol=1e-13)
    np.testing.assert_allclose(product(backward), 1e-3 * np.eye(S), atol=1e-14)


def test_partial_products_are_nonnegative_and_single_layers_are_not():
    """M-appA-psd, M-appA-idx: every Ŵ_i…Ŵ_N φ must be ≥ 0 in every entry, which does
    not follow from definiteness.
    """
    W = list(telescope(cell_selector(3, 0.1), epsilon=0.1, damping=1e-3)[::-1])
    assert min(w.min() for w in W) < -0.5
    assert min(right(W, i).min() for i in range(len(W))) > -1e-12
    M = np.array([[1, -0.9], [-0.9, 1]])
    assert np.linalg.eigvalsh(M).min() > 0
    assert (M @ [0, 1]).min() < 0


def test_quotients_of_definite_matrices_need_not_be_definite():
    """M-appA-Wbar."""
    M = np.array([[1.0, 0.9], [0.9, 1.0]])
    M_next = np.diag([1.0, 9.0])
    W = np.linalg.solve(M, M_next)
    assert np.linalg.eigvalsh(W + W.T).min() < 0
    assert W.min() < 0


@pytest.mark.parametrize("J", [2, 5, 8])
def test_bits_decode_to_one_for_the_own_cell_and_at_most_zero_for_others(J):
    """M-S3, at ε = 0."""
    selector = bit_selector(J, 0.0)
    assert len(selector.B) == 2 * int(np.ceil(np.log2(J))) + 1
    # (reader's cell, written cell)
    read = selector.decode @ (selector.kernels() @ selector.A).T
    np.testing.assert_array_equal(np.diag(read), 1)
    assert (read - np.diag(np.diag(read))).max() <= 0


# --- inside the network


def test_forward_activations_stay_nonnegative_before_and_after():
    """M-appA-in: the ReLUs of the stack clip only rounding errors, before and after the
    step.
    """
    network = ro.universal_learner(lambda x, y, s: y * s, cells=3)
    for net, x in ((network, 0.4), (adapt(network, 0.4, -1.0), 0.9)):
        h = [np.asarray(a) for a in activations(net, x)]
        inputs = np.concatenate([h[1][None], h[2][:-1]])
        pre = np.einsum("nij,nj->ni", net.layers[2].W, inputs)
        assert pre.min() > -1e-12


def test_the_networks_slots_are_the_kernel_forms():
    """M-eq3, M-v, M-appB in the whole network: αwΔ(1 + 2ε)(ε1 + e_jl)."""
    network = ro.universal_learner(
        lambda x, y, s: y * s, cells=3, constants=Constants(offset=1e-7, epsilon=0.05)
    )
    z = np.asarray(activations(adapt(network, 0.5, 0.3), 0.9)[2])[-1, 6:-1]
    want = 0.1 * 0.01 * 2.3 * 1.1 * (0.05 + np.eye(9)[cell_index(1, 2, 3)])
    np.testing.assert_allclose(z, want, rtol=1e-5)


def test_before_the_step_only_one_unit_of_the_readout_is_active():
    """M-eq4, M-eq5: before the step, all units of the read-out but one are inactive at
    every x.
    """
    network = ro.universal_learner(lambda x, y, s: y * s, cells=3)
    before = np.asarray(activations(network, np.linspace(0, 1, 200))[3])
    assert before[:, 1:].max() == 0
    assert before[:, 0].min() > 0
    after = np.asarray(activations(adapt(network, 0.5, 0.3), 0.9)[3])
    assert after[1:].max() > 0.5


# --- losses


def test_the_error_signal_of_squared_loss_depends_on_y_unlike_absolute_loss():
    """M-appB-loss, M-lin-e."""
    y = np.array([0.1, 1.0, 10.0])
    np.testing.assert_allclose(signal("squared", y), -y)
    np.testing.assert_allclose(signal("absolute", y), -1)
    np.testing.assert_allclose(signal("Huber", y), [-0.1, -1, -1])


def test_cross_entropy_cannot_move_a_switch_one_way():
    """M-appB-CE."""
    draws = np.random.default_rng(0)
    for _ in range(3):
        logits, w = draws.normal(size=(2, 6))
        signals, p = map(np.asarray, cross_entropy_signal(logits, w))
        np.testing.assert_allclose(signals, p @ w - w, atol=1e-13)
        assert abs(float(p @ signals)) < 1e-13
        assert float(signals.min()) < 0 < float(signals.max())
    equal, _ = cross_entropy_signal(logits, np.ones(6))
    np.testing.assert_allclose(equal, 0, atol=1e-13)


def test_each_class_switch_moves_up_only_for_its_own_label():
    """M-appB-CE: one-sided switches are enough. The label's switch moves up by 1 − p_y,
    and all others move down by p.
    """
    for logits in np.random.default_rng(0).normal(size=(100, 6)) * 3:
        moves = -np.asarray(class_switch_signals(logits))
        p = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(moves, np.eye(6) - p, atol=1e-13)
        np.testing.assert_array_equal(moves > 0, np.eye(6))


# --- sharper


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_shots_are_recovered_from_the_written_moments(k):
    """M-S6: from real gradient steps, in float64."""
    draws = np.random.default_rng(k)
    x = (np.arange(k) + draws.uniform(0.2, 0.8, k)) / k
    y = draws.uniform(-1, 1, k)
    moments = write_moments(x, y)
    np.testing.assert_allclose(
        moments, [np.mean((y + 2) * x**i) for i in range(2 * k)], atol=1e-8
    )
    atoms, masses = prony(moments)
    np.testing.assert_allclose(atoms, x, atol=1e-4)
    np.testing.assert_allclose(k * np.asarray(masses) - 2, y, atol=1e-3)


def test_moments_are_what_a_step_by_autodiff_leaves():
    """M-S6: a plain gradient step on the weights of the stack, in float64."""
    constants = Constants(offset=1e-9)
    x, y = np.array([0.2, 0.7]), np.array([0.5, -0.3])
    chosen = moment_stack(2, constants)
    stack = telescope(chosen, epsilon=constants.epsilon, damping=constants.damping)
    ends = np.append(np.full(4, constants.offset), constants.switch)

    def run(stack, phi):
        for W in stack:
            phi = jax.nn.relu(W @ phi)
        return phi

    def loss(stack):
        outputs = [
            run(stack, np.concatenate([a ** np.arange(4), np.zeros(4), ends]))
            for a in x
        ]
        read = jnp.stack([output[8:].sum() for output in outputs])
        start = y - (y + 2) - jax.lax.stop_gradient(constants.linear * read)
        return 0.5 * jnp.mean((start + constants.linear * read - y) ** 2)

    after = stack - constants.alpha * np.asarray(jax.jit(jax.grad(loss))(stack))
    phi_star = np.concatenate([np.zeros(4), [1, 0, 0, 0], ends])
    slots = np.asarray(run(after, phi_star))[8:-1]
    slots = slots / (constants.alpha * constants.linear)
    expected = np.linalg.solve(np.eye(4) + constants.epsilon, slots)
    np.testing.assert_allclose(write_moments(x, y), expected, rtol=1e-10)


def test_prony_by_hand():
    atoms, masses = prony([3.0, 1.0, 0.5, 0.25])  # mass 2 at ½, mass 1 at 0
    np.testing.assert_allclose(atoms, [0, 0.5], atol=1e-12)
    np.testing.assert_allclose(masses, [1, 2], atol=1e-12)
    with refused(ValueError, match="moments"):
        prony([1.0, 2.0, 3.0])


def test_hats_make_the_bilinear_interpolant():
    """M-S7: the outputs equal the interpolant, and the distance from the target is
    O(J⁻²), also for the largest error.
    """

    def g(x, s):
        return np.sin(2 * np.pi * (s - x))

    x, y, x_star = map(np.asarray, random_tasks(jax.random.key(1), tasks=30, points=50))
    y = 1.5 + y / 2
    worst = []
    for J in (7, 13):
        network = hat_network(g, J)
        assert network.y_range == (1, 2)
        nodes = np.linspace(0, 1, J)
        got = np.asarray(learn(network, x, y, x_star), float)

        def hat(t):
            return np.maximum(0, 1 - np.abs(t[..., None] - nodes) * (J - 1))

        ideal = (
            np.einsum("nj,nml,jl->nm", hat(x), hat(x_star), g(nodes[:, None], nodes))
            * y[:, None]
        )
        np.testing.assert_allclose(got, ideal, atol=1e-6)
        worst.append(np.abs(got - y[:, None] * g(x[:, None], x_star)).max())
    for coarse, fine in pairwise(worst):
        assert np.log2(coarse / fine) == pytest.approx(2, rel=0.2)
    assert float(predict(network, 0.3)) == pytest.approx(0, abs=1e-9)


def test_the_ratio_of_the_first_two_kernels_is_monotone():
    """M-S5: so that (Δκ₂, Δκ₁, x*) determines (x, y, x*)."""
    x, s = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201), indexing="ij")
    ratio = (1 + x * s) / (1 + x * s / 4 + (1 - x / 2) * (1 - s / 2))
    assert np.diff(ratio, axis=0).min() > 0


def test_the_shallow_networks_first_layers_write_the_two_kernels():
    network = ro.universal_learner(
        lambda x, y, s: y * s, construction="shallow", units=50
    )
    x = 0.3
    y = 0.4
    s = 0.8
    h = np.asarray(activations(adapt(network, x, y), s)[2])
    kappa = 1 + x * s / 4 + (1 - x / 2) * (1 - s / 2), 1 + x * s
    np.testing.assert_allclose(h[:3], [2.4 * kappa[0], 2.4 * kappa[1], s], rtol=2e-3)
    assert float(h[3] - h[4]) == pytest.approx(1, abs=1e-9)
    gate = np.asarray(activations(network, x)[2])
    assert float(gate[3] - gate[4]) == 0
