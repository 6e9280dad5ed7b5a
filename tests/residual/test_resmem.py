"""ResMem: the stored residuals, the readings, memorised examples, and the effect on an
error.
"""

import copy
import pickle
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from half import needs_float16
from refusals import refused
from scipy.special import softmax

import rankone as ro
from rankone.checks import Outcome
from rankone.nn import initial_layers
from rankone.precision import double_precision
from rankone.residual import ExactSearch, ShardedSearch
from rankone.residual.classifier import _loss, _loss_with_memory, train
from rankone.residual.next_token import context_lengths, window_starts
from rankone.residual.resmem import soft_weights
from rankone.residual.scores import Calibration, calibration_error, gain, project
from rankone.residual.storage import onehot_residuals, sparse, valid_classes
from rankone.theory.resmem_rates import memorising_width, worst_margin
from rankone.writes import BatchStep, NearestNeighbours, interpolate

RNG = np.random.default_rng(0)
N = 120
D = 4
L = 5
Z = RNG.standard_normal((N, D)).astype(np.float32)
P = RNG.dirichlet(np.full(L, 0.5), N).astype(np.float32)
Y = RNG.integers(0, L, N)
NEW = RNG.standard_normal((9, D)).astype(np.float32)
P_NEW = RNG.dirichlet(np.full(L, 0.5), 9).astype(np.float32)


def by_loops(k, sigma, stored=N):
    scores = []
    for z, p in zip(NEW, P_NEW, strict=True):
        distances = [float(np.sqrt(((z - other) ** 2).sum())) for other in Z[:stored]]
        near = sorted(range(stored), key=lambda i: distances[i])[:k]
        w = np.array([np.exp(-distances[i] / sigma) for i in near])
        residuals = [np.eye(L)[Y[i]] - P[i] for i in near]
        scores.append(
            p + sum(a * r for a, r in zip(w / w.sum(), residuals, strict=True))
        )
    return np.array(scores)


@pytest.mark.parametrize(("k", "sigma"), [(1, 1.0), (7, 0.3), (N, 2.0)])
def test_scores_are_base_plus_weighted_residuals(k, sigma):
    scores = ro.ResMem(k=k, sigma=sigma).fit(Z, P, Y).predict(NEW, P_NEW)
    np.testing.assert_allclose(scores, by_loops(k, sigma), atol=2e-6)


def test_residuals_sum_to_zero_and_scores_sum_to_one_but_can_be_negative():
    residuals = onehot_residuals(P, Y)
    np.testing.assert_allclose(np.asarray(residuals).sum(1), 0, atol=1e-6)
    scores = np.asarray(ro.ResMem(k=3, sigma=0.5).fit(Z, P, Y).predict(NEW, P_NEW))
    np.testing.assert_allclose(scores.sum(1), 1, atol=1e-6)
    assert scores.min() < 0
    assert scores.min() > -1
    assert scores.max() < 2


def test_logits_are_divided_by_the_temperature():
    logits = RNG.standard_normal((N, L)).astype(np.float32)
    tempered = softmax(logits / 2.5, axis=1)
    one = ro.ResMem(k=4, temperature=2.5).fit(Z, logits=logits, labels=Y)
    other = ro.ResMem(k=4).fit(Z, tempered, Y)
    np.testing.assert_allclose(
        one.predict(Z, logits=logits), other.predict(Z, tempered), atol=1e-6
    )


def test_weights_are_those_of_unsquared_distances_and_do_not_underflow():
    d = np.array([0.5, 1.0, 4.0])
    np.testing.assert_allclose(
        soft_weights(d, 0.7), np.exp(-d / 0.7) / np.exp(-d / 0.7).sum(), rtol=1e-5
    )
    np.testing.assert_allclose(
        soft_weights(np.array([800.0, 801.0]), 1.0),
        1 / (1 + np.exp([-1.0, 1.0])),
        rtol=1e-4,
    )


@pytest.mark.parametrize("x64", [False, True])
def test_precision_follows_the_inputs(x64):
    with double_precision(x64):
        kind = np.float64 if x64 else np.float32
        scores = (
            ro.ResMem(k=3)
            .fit(Z.astype(kind), P.astype(kind), Y)
            .predict(NEW.astype(kind), P_NEW.astype(kind))
        )
        assert scores.dtype == kind


def test_memory_passes_through_jit_and_is_differentiable():
    memory = ro.ResMem(k=5, sigma=0.5).fit(Z, P, Y)

    def read(m, z):
        return m.correction(z)

    np.testing.assert_allclose(
        jax.jit(read)(memory, NEW), memory.correction(NEW), atol=1e-6
    )
    slope = np.asarray(jax.jit(jax.grad(lambda z: memory.correction(z)[0]))(NEW[0]))
    step = 1e-2 * np.eye(D)[1].astype(np.float32)
    above, below = (np.asarray(memory.correction(NEW[0] + s))[0] for s in (step, -step))
    numeric = (above - below) / 2e-2
    assert abs(slope[1] - numeric) < 0.05 * max(abs(slope[1]), 0.05)


def test_one_search_serves_other_widths_and_fewer_neighbours():
    memory = ro.ResMem(k=20, sigma=1.0).fit(Z, P, Y)
    neighbours = memory.neighbours(NEW)
    for k, sigma in ((20, 0.2), (6, 3.0)):
        fresh = ro.ResMem(k=k, sigma=sigma).fit(Z, P, Y).correction(NEW)
        np.testing.assert_allclose(
            memory.using(k=k, sigma=sigma).read(neighbours), fresh, atol=1e-6
        )


def test_with_labels_as_residuals_the_correction_is_a_vote_of_neighbours():
    labels = np.eye(L, dtype=np.float32)[Y]
    plain = ro.ResMem(k=9, sigma=1.0).fit_residuals(Z, labels).correction(NEW)
    near = ro.ResMem(k=9, sigma=1.0).fit_residuals(Z, labels).neighbours(NEW)
    votes = np.einsum(
        "nk,nkl->nl",
        np.asarray(soft_weights(near.distances, 1.0)),
        labels[np.asarray(near.indices)],
    )
    np.testing.assert_allclose(plain, votes, atol=1e-6)


def accuracy(memory, z, p, y):
    return (np.asarray(memory.fit(z, p, y).predict(z, p)).argmax(1) == y).mean()


def test_one_neighbour_memorises_at_any_width_unless_embeddings_coincide():
    assert accuracy(ro.ResMem(k=1, sigma=1e6), Z, P, Y) == 1
    twice = np.repeat(Z[:20], 2, axis=0)
    flat = np.full((40, 2), 0.5, np.float32)
    for k, sigma in ((1, 1e-3), (2, 1e-3)):
        assert (
            accuracy(ro.ResMem(k=k, sigma=sigma), twice, flat, np.tile([0, 1], 20))
            == 0.5
        )
    assert memorising_width(twice, 3) == 0


def test_widths_below_the_theorems_memorise_and_wide_ones_do_not():
    for k in (2, 6):
        assert (
            accuracy(ro.ResMem(k=k, sigma=0.999 * memorising_width(Z, k)), Z, P, Y) == 1
        )
    assert accuracy(ro.ResMem(k=6, sigma=1e6), Z, P, Y) < 0.9
    assert memorising_width(Z, 1) == memorising_width(Z[:1], 1) == np.inf


@pytest.mark.parametrize("k", [2, 5])
def test_width_of_the_theorem_is_attained_by_neighbours_all_equally_far(k):
    """The keys are the corners of a regular simplex, and the base model is certain of
    the wrong class everywhere.
    """
    corners = np.eye(k)
    labels = (np.arange(k) > 0).astype(int)
    wrong = np.eye(2)[(np.arange(k) == 0).astype(int)]
    width = memorising_width(corners, k)
    assert width == pytest.approx(2**0.5 / np.log(3 * (k - 1)), rel=1e-6)
    for factor, known in ((0.999, True), (1.001, False)):
        memory = ro.ResMem(k=k, sigma=factor * width).fit(corners, wrong, labels)
        assert (
            np.asarray(memory.predict(corners, wrong))[0].argmax() == labels[0]
        ) == known


def test_lead_of_the_label_is_at_least_one_minus_four_beta_and_attained():
    for beta in (0.1, 0.249, 0.26):
        sigma = -1 / np.log(beta / (1 - beta))
        memory = ro.ResMem(k=2, sigma=sigma).fit(
            [[0.0], [1.0]], np.eye(2)[[1, 0]], np.array([0, 1])
        )
        (s,) = np.asarray(memory.predict([[0.0]], np.eye(2)[[1]]))
        assert abs(s[0] - s[1] - worst_margin(beta)) < 1e-5
    rng = np.random.default_rng(1)
    for _ in range(300):
        p, q = rng.dirichlet(np.full(4, 0.2), 2)
        c, y = rng.integers(0, 4, 2)
        beta = rng.uniform()
        s = (1 - beta) * np.eye(4)[y] + beta * (p + np.eye(4)[c] - q)
        assert s[y] - np.delete(s, y).max() >= worst_margin(beta) - 1e-6


def test_truncated_residuals_still_memorise_but_scores_no_longer_sum_to_one():
    memory = ro.ResMem(k=1, keep=2)
    assert accuracy(memory, Z, P, Y) == 1
    fitted = memory.fit(Z, P, Y)
    assert abs(np.asarray(fitted.predict(NEW, P_NEW)).sum(1) - 1).max() > 0.05
    everything = ro.ResMem(k=6, keep=L).fit(Z, P, Y).correction(NEW)
    np.testing.assert_allclose(
        everything, ro.ResMem(k=6).fit(Z, P, Y).correction(NEW), atol=1e-6
    )


@pytest.mark.parametrize(
    ("value", "column", "error"),
    [
        (np.float32, int, 1e-6),
        pytest.param(np.float16, np.uint8, 1e-3, marks=needs_float16),
    ],
)
def test_sparse_residuals_give_the_same_correction_as_kept_entries(
    value, column, error
):
    full = np.asarray(onehot_residuals(P, Y))
    columns = np.argsort(-abs(full), 1)[:, :3]
    values = np.take_along_axis(full, columns, 1)
    expected = ro.ResMem(k=6, keep=3).fit(Z, P, Y).correction(NEW)
    stored = sparse(values.astype(value), columns.astype(column), L)
    correction = ro.ResMem(k=6).fit_residuals(Z, stored).correction(NEW)
    assert correction.dtype == expected.dtype
    np.testing.assert_allclose(correction, expected, atol=error)


@pytest.mark.parametrize(("k", "keep"), [(7, None), (7, 3), (N, None)])
def test_residual_memory_is_interpolation_with_a_nearest_neighbour_kernel(k, keep):
    """One batch step writes R. The weights κ(K, q) of the k nearest keys, divided by
    their sum, read it.
    """
    with double_precision():
        memory = ro.ResMem(k=k, sigma=0.8, keep=keep).fit(
            Z.astype(float), P.astype(float), Y
        )
        q = NEW.astype(float)
        residuals = np.eye(L)[Y] - P.astype(float)
        if keep:
            residuals *= (
                abs(residuals) >= -np.sort(-abs(residuals), 1)[:, keep - 1 : keep]
            )
        kernel = NearestNeighbours(k, 0.8)
        read = interpolate(
            Z.T.astype(float),
            residuals.T,
            q.T,
            kernel,
            rule=BatchStep(),
            normalise=True,
        )
        np.testing.assert_allclose(memory.correction(q), read.T, atol=1e-8)
        np.testing.assert_allclose(
            memory.kernel_memory().read(q.T, normalise=True), read, atol=1e-12
        )


@pytest.mark.parametrize("search", [ExactSearch, ShardedSearch])
def test_a_memory_can_be_replaced_compared_copied_and_pickled(search):
    memory = ro.ResMem(k=2, sigma=0.5, keep=3, search=search).fit(Z, P, Y)
    assert (
        replace(memory)
        == memory
        == copy.deepcopy(memory)
        == pickle.loads(pickle.dumps(memory))
    )
    assert replace(memory.store) == memory.store
    assert replace(memory, sigma=0.7) == memory.using(sigma=0.7) != memory
    assert hash(replace(memory)) == hash(memory)
    assert "\n" not in repr(memory)
    assert len(repr(memory)) < 400
    assert memory.sigma.shape == ()
    assert ro.ResMem(sigma=2) == ro.ResMem(sigma=2.0)


def test_an_empty_memory_inside_jit_gives_no_correction_until_rows_are_stored():
    @jax.jit
    def read(stored):
        memory = ro.ResMem(
            k=4, sigma=0.5, search=lambda rows: ExactSearch(rows, stored)
        ).fit(Z, P, Y)
        neighbours = memory.neighbours(NEW)
        return memory.read(neighbours), neighbours

    for stored in (0, 1, 3, 50):
        correction, neighbours = read(jnp.array(stored))
        expected = (
            by_loops(min(stored, 4), 0.5, stored) - P_NEW
            if stored
            else np.zeros((9, L))
        )
        np.testing.assert_allclose(correction, expected, atol=2e-6)
        assert (
            np.asarray(neighbours.outcome) == (Outcome.OK if stored else Outcome.EMPTY)
        ).all()


def test_device_values_are_checked_when_stored_and_not_when_read(
    monkeypatch,
):
    memory = ro.ResMem(k=1).fit(Z, P, Y)
    monkeypatch.setattr("rankone._checks._on_host", lambda leaf: False)
    assert memory.predict(NEW, 2 * P_NEW).shape == (9, L)
    assert onehot_residuals(2 * P, Y).shape == (N, L)
    with refused(ValueError, match=r"^embeddings: got"):
        ro.ResMem(k=1).fit(jnp.where(Z > 2, jnp.nan, Z), P, Y)


def by_steps(rows):
    """An exact search that `fit` does not recognise. `fit` then checks one argument
    after another, and computes residuals and search in two programs.
    """
    return ExactSearch(rows)


@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
@pytest.mark.parametrize("keep", [None, 2])
def test_a_fit_by_one_program_stores_the_same_as_a_fit_by_steps(convert, keep):
    Z_, P_, Y_ = map(convert, (Z, P, Y))
    memories = [
        [
            ro.ResMem(k=2, temperature=3.0, keep=keep, search=search).fit(
                Z_, labels=Y_, **base
            )
            for search in (ExactSearch, by_steps)
        ]
        for base in ({"probs": P_}, {"logits": P_})
    ]
    for one, other in memories:
        assert one.store == other.store
        leaves = jax.tree.leaves(one.residuals), jax.tree.leaves(other.residuals)
        for a, b in zip(*leaves, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)  # P is of order 1


def test_a_fit_stores_rows_of_jax_without_a_copy_and_those_of_numpy_as_a_copy():
    rows = jnp.asarray(Z)
    assert ro.ResMem(k=1).fit(rows, P, Y).store.rows is rows
    own = Z.copy()
    memory = ro.ResMem(k=1).fit(own, P, Y)
    own[:] = 0
    np.testing.assert_array_equal(memory.store.rows, Z)


def test_a_small_fit_is_one_program(monkeypatch):
    memory = ro.ResMem(k=1)
    inputs = [tuple(map(convert, (Z, P, Y))) for convert in (np.asarray, jnp.asarray)]
    for arrays in inputs:
        memory.fit(*arrays)  # the first call traces, and so runs the steps

    def step(*_):
        raise AssertionError("a step of its own")

    monkeypatch.setattr(ro.ResMem, "_residuals", step)
    monkeypatch.setattr(ro.ResMem, "_storing", step)
    for arrays in inputs:
        memory.fit(*arrays)
        with ro.checks.value_checks(False):
            memory.fit(*arrays)


BAD = {
    "nan": (np.where(Z > 2, np.nan, Z), P, Y),
    "infinite": (np.where(Z > 2, np.inf, Z), P, Y),
    "large": (1e30 * Z, P, Y),
    "small": (1e-30 * Z, P, Y),
    "sum": (Z, 2 * P, Y),
    "negative": (Z, P + np.array([2, -2, 0, 0, 0], np.float32), Y),
    "nan probs": (Z, np.where(P > 0.9, np.nan, P), Y),
    "label": (Z, P, Y + 1),
    "negative label": (Z, P, Y - 1),
}


@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
@pytest.mark.parametrize("bad", BAD)
def test_a_fit_by_one_program_refuses_in_the_same_words(bad, convert):
    arrays = [convert(array) for array in BAD[bad]]
    messages = []
    for search in (ExactSearch, by_steps):
        with refused(ValueError) as caught:
            ro.ResMem(k=1, search=search).fit(*arrays)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_compiled_fit_refuses_bad_logits_and_labels():
    logits = jnp.where(jnp.asarray(P) > 0.9, jnp.inf, P)
    with refused(ValueError, match=r"^logits: got NaN or infinity"):
        ro.ResMem(k=1).fit(jnp.asarray(Z), logits=logits, labels=jnp.asarray(Y))
    # in 32 bits these labels would be 0 … 4 again
    with refused(ValueError, match=r"^labels: got 4294967296"):
        ro.ResMem(k=1).fit(Z, P, Y + 2**32)
    # 200 classes are more than an int8 can name
    wide = jnp.full((N, 200), 1 / 200)
    labels = jnp.full(N, -1, jnp.int8)
    with refused(ValueError, match=r"^labels: got -1"):
        ro.ResMem(k=1).fit(jnp.asarray(Z), wide, labels)
    assert valid_classes(-labels, 200)
    assert len(ro.ResMem(k=1).fit(jnp.asarray(Z), wide, -labels).residuals) == N


def test_constant_arrays_are_fitted_and_checked_inside_jit_of_the_caller():
    embeddings, probs, twice, labels = map(jnp.asarray, (Z, P, 2 * P, Y))

    def correction(q, probs):
        return ro.ResMem(k=1).fit(embeddings, probs, labels).correction(q)

    inside = jax.jit(lambda q: correction(q, probs))(NEW)
    np.testing.assert_allclose(inside, correction(NEW, probs), rtol=0, atol=1e-6)
    with refused(ValueError, match=r"^probs: got rows that sum"):
        jax.jit(lambda q: correction(q, twice))(NEW)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ro.ResMem(k=0), "k"),
        (lambda: ro.ResMem(k=1.5), "k"),
        (lambda: ro.ResMem(k=True), "k"),
        (lambda: ro.ResMem(k=10**30), "k"),
        (lambda: ro.ResMem(sigma=1e-60), "sigma"),
        (lambda: ro.ResMem(keep=2.0), "keep"),
        (lambda: train(Z, Y, (2.5,), key=jax.random.key(0)), "widths"),
        (lambda: window_starts(10, 4, 2.0), "stride"),
        (lambda: ro.ResMem(sigma=0.0), "sigma"),
        (lambda: ro.ResMem(sigma=-1.0), "sigma"),
        (lambda: ro.ResMem(temperature=0.0), "temperature"),
        (lambda: ro.ResMem(temperature=np.nan), "temperature"),
        (lambda: ro.ResMem(keep=0), "keep"),
        (lambda: ro.ResMem(k=1, keep=L + 1).fit(Z, P, Y), "keep"),
        (lambda: ro.ResMem(k=N + 1).fit(Z, P, Y), "k"),
        (lambda: ro.ResMem(k=1).fit(np.where(Z > 2, np.nan, Z), P, Y), "embeddings"),
        (
            lambda: ro.ResMem(k=1).fit(
                np.zeros((0, 3)), np.zeros((0, 2)), np.zeros(0, int)
            ),
            "embeddings",
        ),
        (lambda: ro.ResMem(k=1).fit(Z[:5], P, Y), "labels"),
        (
            lambda: ro.ResMem(k=1).fit_residuals(
                Z, sparse(P[:5], np.zeros((5, L), int), L)
            ),
            "residuals",
        ),
        (
            lambda: sparse(np.where(P > 0.5, np.nan, P), np.zeros((N, L), int), L),
            "values",
        ),
        (lambda: sparse(P, np.zeros((N, 2), int), L), "columns"),
        (lambda: sparse(P, np.full((N, L), L), L), "columns"),
        (lambda: sparse(P, np.full((N, L), -1), L), "columns"),
        (lambda: sparse(P, P, L), "columns"),
        (lambda: ro.ResMem(k=1).fit(Z, 2 * P, Y), "probs"),
        (lambda: ro.ResMem(k=1).fit(Z, P[0], Y), "probs"),
        (lambda: ro.ResMem(k=1).fit(Z, P[None], Y), "probs"),
        (lambda: ro.ResMem(k=1).fit(Z, P.astype(str), Y), "probs"),
        (lambda: ro.ResMem(k=1).fit(None, P, Y), "embeddings"),
        (lambda: ro.ResMem(sigma="1"), "sigma"),
        (lambda: ro.ResMem(k=1, search=3), "search"),
        (
            lambda: ro.ResMem(k=1).read(ro.ResMem(k=1).fit(Z, P, Y).neighbours(NEW)),
            "ResMem",
        ),
        (lambda: ro.ResMem(k=1).fit(Z, P, Y, logits=P), "probs"),
        (lambda: ro.ResMem(k=1).fit(Z, P, Y + L), "labels"),
        (lambda: ro.ResMem(k=1).fit(Z, P, P), "labels"),
        (lambda: ro.ResMem(k=1).fit(Z, P), "labels"),
        (lambda: ro.ResMem(k=1).correction(Z), "ResMem"),
        (lambda: ro.ResMem(k=1).fit(Z, P, Y).predict(NEW, P), "probs"),
    ],
)
def test_bad_input_is_named(call, named):
    with refused(ValueError, match=f"^{named}: got"):
        call()


# --- probabilities, gains, windows, and the network


def test_projection_is_the_nearest_point_of_the_simplex():
    scores = RNG.standard_normal((6, 4))
    with double_precision():
        p = np.asarray(project(scores))
    np.testing.assert_allclose(p.sum(1), 1)
    assert p.min() >= 0
    for s, nearest in zip(scores, p, strict=True):
        others = RNG.dirichlet(np.ones(4), 2000)
        assert ((others - s) ** 2).sum(1).min() >= ((nearest - s) ** 2).sum() - 1e-9
    np.testing.assert_allclose(project(P[:3]), P[:3], atol=1e-6)


def test_calibration_finds_the_temperature_that_made_the_labels():
    scores = 2 * RNG.standard_normal((4000, 3))
    chances = np.exp(scores / 0.8) / np.exp(scores / 0.8).sum(1, keepdims=True)
    labels = (RNG.uniform(size=(4000, 1)) > chances.cumsum(1)).sum(1)
    fitted = Calibration.fit(scores, labels)
    assert abs(fitted.temperature - 0.8) < 0.08
    assert calibration_error(fitted(scores), labels) < 0.03
    assert calibration_error(np.eye(3)[labels], labels) == 0


def test_calibration_error_by_hand():
    """One answer is certain and right, one is certain and wrong, and two with
    probability 0.6 are right: (|1 − 2| + |2 − 1.2|)/4.
    """
    probs = [[1.0, 0.0], [1.0, 0.0], [0.4, 0.6], [0.6, 0.4]]
    assert calibration_error(probs, [0, 1, 1, 0]) == pytest.approx(0.45)


def test_gain_is_corrected_minus_broken_with_a_third_case():
    y, base, memory = (
        np.array(v)
        for v in ([0, 1, 2, 0, 1, 2], [0, 2, 0, 1, 0, 1], [1, 1, 1, 0, 0, 2])
    )
    gains = gain(y, base, memory)
    assert vars(gains) == pytest.approx(
        {"corrected": 3 / 6, "broken": 1 / 6, "both_wrong": 1 / 6, "total": 2 / 6}
    )
    assert gains.total == pytest.approx(gains.corrected - gains.broken)
    with refused(ValueError, match=r"^base: got"):
        gain(y, base[:3], memory)


def test_only_the_first_tokens_of_a_text_have_little_context():
    contexts = context_lengths(1000, 256, 192)
    assert (contexts < 64).sum() == 64
    assert (contexts[:64] == np.arange(64)).all()
    assert (contexts >= 0).all()
    assert window_starts(100, 256, 192).tolist() == [0]
    # windows from 0, 2 and, to end with the text, 3
    assert context_lengths(7, 4, 2).tolist() == [
        0,
        1,
        2,
        3,
        2,
        3,
        3,
    ]
    with refused(ValueError, match=r"^stride: got"):
        window_starts(10, 4, 5)


def test_training_is_adam_along_a_cosine():
    """With fewer rows than a batch, every epoch is one step on all rows. This is
    compared with Adam as published, from the same start.
    """
    with double_precision():
        rng = np.random.default_rng(5)
        x = jnp.asarray(rng.standard_normal((40, 2)))
        y = jnp.asarray(rng.integers(0, 3, 40))
        start = jax.jit(
            lambda key: initial_layers(jax.random.split(key)[0], (2, 4, 3), float)
        )
        layers = start(jax.random.key(1))
        w, structure = jax.tree.flatten(layers)
        slope = jax.jit(jax.grad(_loss))
        mean = square = [np.zeros(part.shape) for part in w]
        for t in range(5):
            g = [
                np.asarray(part)
                for part in jax.tree.leaves(
                    slope(jax.tree.unflatten(structure, w), x, y)
                )
            ]
            mean = [0.9 * m + 0.1 * part for m, part in zip(mean, g, strict=True)]
            square = [
                0.999 * s + 0.001 * part**2 for s, part in zip(square, g, strict=True)
            ]
            rate = 0.1 * (1 + np.cos(np.pi * t / 5)) / 2
            a = 1 - 0.9 ** (t + 1)
            b = 1 - 0.999 ** (t + 1)
            moves = [
                m / a / (np.sqrt(s / b) + 1e-8)
                for m, s in zip(mean, square, strict=True)
            ]
            w = [part - rate * move for part, move in zip(w, moves, strict=True)]
        parameters = train(
            x, y, (4,), key=jax.random.key(1), epochs=5, step_size=0.1
        ).layers
        for a, b in zip(jax.tree.leaves(parameters), w, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)


def test_training_with_the_memory_lowers_the_leave_one_out_error():
    """The added loss is the squared error of ResMem with one neighbour, with each
    example left out of the store in turn.
    """
    x, names = ro.data.letters()
    x = ((x[:1500] - 7.5) / 4).astype(np.float32)
    y = np.unique(names, return_inverse=True)[1][:1500]
    nearest = np.asarray(ExactSearch(x).search(x, 2).indices)[:, 1:]
    options = {
        "key": jax.random.key(2),
        "epochs": 20,
        "step_size": 1e-2,
        "nearest": nearest,
    }
    plain, smooth = (
        train(x, y, (8,), **options, roughness=weight) for weight in (0.0, 20.0)
    )

    def errors(network):
        p = softmax(np.asarray(network.logits(x)), 1)
        truth = np.eye(26)[y]
        return ((p + (truth - p)[nearest[:, 0]] - truth) ** 2).sum(1).mean(), (
            (p - truth) ** 2
        ).sum(1).mean()

    loss = jax.jit(
        lambda layers, weight: _loss_with_memory(
            layers, (*data, weight), jnp.arange(1500)
        )
    )
    data = jnp.asarray(x), jnp.asarray(y), jnp.asarray(nearest)
    for network in (plain, smooth):
        alone, both = (
            float(loss(network.layers, np.float32(weight))) for weight in (0, 3)
        )
        assert both - alone == pytest.approx(3 * errors(network)[0], rel=1e-4)
    (energy, square) = errors(plain)
    (less, more) = errors(smooth)
    assert less < 0.99 * energy
    assert more > square
    for bad in (
        {"roughness": -1.0},
        {"nearest": nearest[:5]},
        {"nearest": np.zeros((1500, 1))},
    ):
        with refused(ValueError, match=f"^{next(iter(bad))}: got"):
            train(x, y, (8,), **(options | bad))


def test_a_small_network_learns_the_sign_of_a_product():
    x = RNG.standard_normal((600, 2)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    network = train(x, y, (16, 8), key=jax.random.key(0), epochs=60, step_size=1e-2)
    assert (np.asarray(network.logits(x)).argmax(1) == y).mean() > 0.95
    assert network.embed(x).shape == (600, 8)
    with refused(ValueError, match=r"^widths: got"):
        train(x, y, (), key=jax.random.key(0))
