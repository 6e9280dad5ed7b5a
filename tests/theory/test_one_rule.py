"""One rule: every method of writing, compared with the literal write, pair by pair; and
the error of each choice of X.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

from rankone.theory import one_rule
from rankone.writes import BatchStep, Cycled, Exact, InSequence, Recursive, Ridge

pytestmark = pytest.mark.usefixtures("x64")

H = 3
F = 7
M = 6
draws = np.random.default_rng(0)
MEMORY, K, V = (draws.normal(size=shape) for shape in ((H, F), (F, M), (H, M)))
ROOT = draws.normal(size=(F, F))
G = ROOT @ ROOT.T / F
S = K.T @ G @ K
R = V - MEMORY @ K
RATES = np.linspace(0.2, 1.8, M) / np.diag(S)
close = partial(np.testing.assert_allclose, rtol=0, atol=1e-8)


def kernel(n, spread, seed=0):
    """Laplace kernel between n points in the plane, and between these points and 200
    others.
    """
    keys, queries = (
        np.random.default_rng(seed).normal(size=(2, 2, max(n, 200))) * spread
    )
    keys = keys[:, :n]

    def reach(b):
        return np.exp(-np.linalg.norm(keys[:, :, None] - b[:, None], axis=0))

    return reach(keys), reach(queries)


def test_each_way_of_writing_corresponds_to_a_matrix_X():
    """W-rule: writes in sequence, in cycles, and by recursive least squares. Each is
    computed literally, and as M₀ + R X KᵀG.
    """

    def dual(rule):
        return MEMORY + R @ one_rule.matrix_of(rule, S) @ K.T @ G

    once = one_rule.write_one_by_one(MEMORY, K, V, RATES, G)
    close(once, dual(InSequence(RATES)))
    close(
        once, MEMORY + R @ np.linalg.inv(np.diag(1 / RATES) + np.triu(S, 1)) @ K.T @ G
    )
    close(MEMORY + R * RATES @ K.T @ G, dual(BatchStep(RATES)))
    again = one_rule.write_one_by_one(once, K, V, RATES, G)
    close(again, dual(Cycled(2, RATES)))
    for order in (np.arange(M), np.arange(M)[::-1]):
        W, after = one_rule.recursive_least_squares(
            MEMORY, K[:, order], V[:, order], 0.7, G
        )
        close(W, dual(Ridge(0.7)))
        close(W, dual(Recursive(0.7)))
        close(after, np.linalg.inv(np.linalg.inv(G) + 0.7 * K @ K.T))
    assert (
        np.abs(dual(Exact()) @ K - V).max() < 1e-8 < 1e-2 < np.abs(once @ K - V).max()
    )


def test_partial_solve_interpolates_between_the_batch_step_and_exact_writing():
    """W-rule: the four methods at the ends of the two fractions, an X between them, and
    the subtraction write by write.
    """
    diagonal = np.diag(S)
    close(
        one_rule.partial_solve(S, 0, 0), one_rule.matrix_of(BatchStep(1 / diagonal), S)
    )
    close(one_rule.partial_solve(S, 1, 0), one_rule.matrix_of(InSequence(), S))
    close(one_rule.partial_solve(S, 1, 1, 1 / 0.7), one_rule.matrix_of(Ridge(0.7), S))
    close(one_rule.partial_solve(S, 1, 1), one_rule.matrix_of(Exact(), S))
    for earlier, later, slack in np.random.default_rng(1).uniform(size=(20, 3)):
        X = np.linalg.inv(one_rule.partial_solve(S, earlier, later, slack))
        close(
            X,
            np.diag(diagonal + slack)
            + earlier * np.triu(S, 1)
            + later * np.tril(S, -1),
        )
        assert np.linalg.eigvalsh(X + X.T)[0] > 0
    written = np.zeros((H, M))
    for t in range(M):  # a fraction of the answers of the earlier writes is subtracted
        written[:, t] = (R[:, t] - 0.4 * written[:, :t] @ S[:t, t]) / diagonal[t]
    close(written, R @ one_rule.partial_solve(S, 0.4, 0))
    with refused(ValueError, match=r"^slack: got"):
        one_rule.partial_solve(S, 1, 1, -0.1)


def test_cycles_lose_the_energy_of_the_residuals_in_each_round():
    """W-cycles: Lyapunov's identity. The contraction is below 1, is attained, and
    bounds the distance from S⁻¹.
    """
    X = one_rule.matrix_of(InSequence(RATES), S)
    inverse = np.linalg.inv(S)
    gap = 2 / RATES - np.diag(S)
    after = R @ (np.eye(M) - X @ S)

    def energy(e):
        return np.einsum("hi,ij,hj->h", e, inverse, e)

    close(energy(R) - energy(after), ((R @ X) ** 2 * gap).sum(1))
    shrink = one_rule.contraction(S, RATES)
    assert (energy(after) <= shrink**2 * energy(R)).all()
    many = draws.normal(size=(20_000, M)) @ np.linalg.cholesky(S).T
    assert max(energy(many @ (np.eye(M) - X @ S)) / energy(many)) == pytest.approx(
        shrink**2, rel=0.02
    )
    close(np.linalg.det(np.eye(M) - X @ S), np.prod(1 - RATES * np.diag(S)))
    for relative, below in ((0.1, True), (1.9, True), (2.1, False)):
        assert (one_rule.contraction(S, relative / np.diag(S)) < 1) == below


@pytest.mark.parametrize("spread", [8.0, 30.0])
def test_with_little_overlap_every_way_of_writing_is_nearly_the_same(spread):
    """W-dilute: the bound holds for S⁻¹ and for one round. It is attained by the most
    negative overlaps that are possible.
    """
    points = np.random.default_rng(1).permutation(36)[:M]
    # on a grid, so that no two points are close
    keys = spread * np.stack([points % 6, points // 6])
    S = np.exp(-np.linalg.norm(keys[:, :, None] - keys[:, None], axis=0) / 3)
    rho = one_rule.overlap(S)
    assert 0 < rho < 1
    for rule in (Exact(), InSequence(), Cycled(3)):
        X = one_rule.matrix_of(rule, S)
        assert np.abs(X - np.eye(M)).sum(1).max() <= one_rule.dilute_bound(rho)
    worst = (1 + rho / (M - 1)) * np.eye(M) - rho / (M - 1)
    X = one_rule.matrix_of(Exact(), worst)
    assert np.abs(X - np.eye(M)).sum(1).max() == pytest.approx(
        one_rule.dilute_bound(one_rule.overlap(worst))
    )
    assert [one_rule.dilute_bound(overlap) for overlap in (0.75, 1.0)] == [3.0, np.inf]


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_expected_error_law_holds_for_every_way_of_writing(noise):
    """W-risk: compared with random residuals. The excess over the smallest error is a
    square.
    """
    S, weights = kernel(M, 1.0)
    draws = np.random.default_rng(2)
    n = weights.shape[1]
    joint = np.block([[S, weights[:, :1]], [weights[:, :1].T, np.ones((1, 1))]])
    fields = draws.normal(size=(100_000, M + 1)) @ np.linalg.cholesky(joint).T
    stored = fields[:, :-1] + noise * draws.normal(size=(100_000, M))
    ridge = Ridge(1 / noise**2) if noise else Exact()
    best = one_rule.matrix_of(ridge, S) @ weights
    least = one_rule.expected_error(best, S, weights, 1.0, noise)
    matrices = [
        one_rule.matrix_of(rule, S) @ weights
        for rule in (BatchStep(0.3), InSequence(), Ridge(2.0), Exact())
    ]
    # The last weights are normalised. They belong to no X, but the law holds for them
    # too.
    for w in (
        *matrices,
        weights / weights.sum(0),
    ):
        law = one_rule.expected_error(w, S, weights, 1.0, noise)
        errors = (stored @ w[:, 0] - fields[:, -1]) ** 2
        assert abs(errors.mean() - law[0]) < 5 * errors.std() / 100_000**0.5
        apart = w - best
        close(law - least, (apart * ((S + noise**2 * np.eye(M)) @ apart)).sum(0))
        assert law.shape == (n,)
        assert (law >= least - 1e-12).all()


def test_a_layer_of_delta_writes_is_a_triangle_solved_once():
    """W-delta: compared with the recursion, token by token. With rates so small that
    nothing interferes, it is linear attention.
    """
    K, Q, V = draws.normal(size=(3, F, M)) / F**0.5
    rates = np.linspace(0.2, 1, M)
    memory = np.zeros((F, F))
    answers = []
    for k, q, v, rate in zip(K.T, Q.T, V.T, rates, strict=True):
        memory = memory + rate * np.outer(v - memory @ k, k)
        answers.append(memory @ q)
    close(one_rule.delta_layer(K, V, Q, rates), np.stack(answers, 1))
    tiny = 1e-9
    attention = V @ np.triu(K.T @ Q)
    np.testing.assert_allclose(
        one_rule.delta_layer(K, V, Q, tiny) / tiny, attention, atol=1e-7
    )


def test_a_step_of_a_network_obeys_the_rule_to_first_order_and_no_further():
    """W-ttt: the rule is exact for a linear map. For a network the remainder falls with
    the square of the rate.
    """
    K = draws.normal(size=(2, 4))
    V = draws.normal(size=(3, 4))
    q = draws.normal(size=2)
    nets = {
        "linear": (
            lambda p, x: p["W"] @ x,
            {"W": jnp.asarray(draws.normal(size=(3, 2)))},
        ),
        "network": (
            lambda p, x: p["O"] @ jnp.tanh(p["W"] @ x),
            {
                "W": jnp.asarray(draws.normal(size=(5, 2))),
                "O": jnp.asarray(draws.normal(size=(3, 5))),
            },
        ),
    }
    for name, (f, params) in nets.items():

        @jax.jit
        def both(rate, f=f, params=params):
            def loss(p):
                return 0.5 * ((jax.vmap(lambda k: f(p, k), 1, 1)(K) - V) ** 2).sum()

            stepped = jax.tree.map(
                lambda w, g: w - rate * g, params, jax.grad(loss)(params)
            )
            move = one_rule.first_order_move(
                f, params, jnp.asarray(K), jnp.asarray(V), jnp.asarray(q), rate
            )
            return f(stepped, q) - f(params, q), move

        (far, law) = both(1e-2)
        (near, law_near) = both(1e-3)
        if name == "linear":
            close(far, law)
            W = np.asarray(params["W"])
            close(law, 1e-2 * (V - W @ K) @ (K.T @ q))
        else:
            ratio = np.linalg.norm(far - law) / np.linalg.norm(near - law_near)
            assert ratio == pytest.approx(100, rel=0.2)


def test_outside_jit_a_linear_map_moves_by_the_rule():
    M, K, V, q = (draws.normal(size=shape) for shape in ((3, 2), (2, 4), (3, 4), (2,)))
    move = one_rule.first_order_move(
        lambda p, x: p @ x, *(jnp.asarray(one) for one in (M, K, V, q)), 0.1
    )
    close(move, 0.1 * (V - M @ K) @ (K.T @ q))
    with refused(ValueError, match=r"^q: got shape \(3,\)"):
        one_rule.first_order_move(
            lambda p, x: p @ x,
            jnp.asarray(M),
            jnp.asarray(K),
            jnp.asarray(V),
            np.ones(3),
            0.1,
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: one_rule.contraction(np.ones((2, 2)), 1.0), "S: got"),
        (lambda: one_rule.contraction(np.full((2, 2), np.nan), 1.0), "S: got"),
        (lambda: one_rule.overlap(np.ones((2, 3))), "S: got"),
        (lambda: one_rule.overlap(2 * np.eye(2)), "S: got"),
        (lambda: one_rule.dilute_bound(-1.0), "rho: got"),
        (
            lambda: one_rule.expected_error(
                np.ones((2, 1)), np.eye(2), np.ones((2, 3))
            ),
            "w: got",
        ),
        (lambda: one_rule.write_one_by_one(MEMORY, K, V[:, :2], 1.0), "V: got"),
    ],
)
def test_bad_input_is_named(call, message):
    with refused(ValueError, match=message):
        call()
