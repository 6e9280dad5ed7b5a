"""Results that were once silently wrong are right now, or are refused with an error
that names the argument.
"""

import os
import platform
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from half import REFUSAL, needs_float16
from refusals import refused

import rankone as ro
from rankone.data.queries import occlude
from rankone.preconditioning import matrix_power
from rankone.residual.scores import Calibration
from rankone.theory.error_law import error_law
from rankone.universality import Constants, learn
from rankone.universality.errors import random_tasks
from rankone.universality.fitted import constant_network, shallow_network
from rankone.universality.two_layers import two_layer_network

W = np.zeros((2, 3))
C = np.eye(3)
V = np.ones((2, 2))
TWO = np.eye(2)
CLASSES = np.arange(2)
EDIT = ro.writes.Write(jnp.ones(2), jnp.ones(2))
REPEATED = np.ones((3, 2))
ZERO = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
EDITS = {
    "sequential": lambda K: ro.editing.sequential_edit(W, C, K, V),
    "cyclic": lambda K: ro.editing.cyclic_edit(W, C, K, V, cycles=3),
    "interpolated": lambda K: ro.editing.interpolate_residuals(W, C, K, V, np.ones(3)),
    "batch": lambda K: ro.batch_edit(W, C, K, V),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_zero_key_is_refused(name):
    with refused(ValueError, match=r"^K: got"):
        EDITS[name](ZERO)


@pytest.mark.parametrize("name", ["cyclic", "interpolated", "batch"])
def test_repeated_keys_are_refused_where_no_edit_answers_both(name):
    with refused(ValueError, match=r"^K: got"):
        EDITS[name](REPEATED)


def test_inside_jit_zero_and_repeated_keys_give_the_outcome_dependent():
    faults = [
        jax.jit(lambda K: ro.editing.sequential_edit(W, C, K, V).edit.outcome)(ZERO),
        jax.jit(lambda K: ro.editing.cyclic_edit(W, C, K, V, cycles=3).edit.outcome)(
            REPEATED
        ),
    ]
    assert [ro.checks.Outcome(int(fault)).name for fault in faults] == [
        "DEPENDENT",
        "DEPENDENT",
    ]


@pytest.mark.parametrize(
    "query", [np.full(3, np.nan), np.ones(4), np.ones((3, 2, 2)), np.ones(3) * 1j]
)
def test_invalid_queries_are_refused(query):
    with refused(ValueError, match=r"^q: got"):
        ro.editing.interpolate_residuals(W, C, np.eye(3)[:, :2], V, query)


def test_a_C_whose_condition_number_exceeds_float32_precision_is_refused():
    """At 10⁸ the change computed in float32 had a relative error of a half. At 10⁶ the
    error is a few hundredths.
    """
    U, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(32, 32)))
    k = np.random.default_rng(2).normal(size=32)
    v = np.ones(2)
    for power in (6, 8):
        bad = np.float32((U * np.logspace(0, -power, 32)) @ U.T)
        if power == 8:
            with refused(ValueError, match=r"^C: got"):
                ro.rank_one_edit(np.zeros((2, 32)), bad, k, v)
            continue
        u = np.linalg.solve(bad.astype(float), k)
        delta = np.asarray(ro.rank_one_edit(np.zeros((2, 32)), bad, k, v).delta)
        expected = np.outer(v, u) / (u @ k)
        assert np.linalg.norm(delta - expected) < 0.05 * np.linalg.norm(expected)


def test_the_count_of_keys_increases_even_beyond_two_to_the_24():
    moments = ro.editing.SecondMoments(jnp.eye(2), jnp.int32(2**24))
    assert int(moments.update(np.ones((1, 2))).count) == 2**24 + 1


def test_complex_numbers_and_texts_are_refused_instead_of_converted():
    edit = ro.rank_one_edit(W, C, np.ones(3), np.ones(2))
    for bad in (
        np.ones((2, 3)) * (1 + 5j),
        np.full((2, 3), "a"),
        np.full((2, 3), "2020-01-01", "datetime64[D]"),
    ):
        with refused(ValueError, match=r"^W: got"):
            edit.apply(bad)
        with refused(ValueError, match=r"^W_hat: got"):
            edit.undo(bad)
        with refused(ValueError, match=r"^rows: got"):
            ro.residual.ShardedSearch(bad)


@pytest.mark.parametrize("scale", [1e-30, 1e-19, 1e19])
def test_embeddings_whose_squares_overflow_or_underflow_are_refused(scale):
    rows = np.float32(scale * np.random.default_rng(0).normal(size=(50, 8)))
    for search in (ro.residual.ExactSearch, ro.residual.ShardedSearch):
        with refused(ValueError, match=r"^rows: got"):
            search(rows)


def test_float16_is_skipped_only_where_the_processor_does_not_convert_it():
    """Linux lists the instructions of an x86-64 processor, and `--xla_cpu_max_isa` can
    keep XLA from using some of them.
    """
    listed = Path("/proc/cpuinfo")
    lacking = (
        platform.machine() == "x86_64"
        and listed.is_file()
        and "f16c" not in listed.read_text().split()
    )
    emulated = "max_isa=sse4" in os.environ.get("XLA_FLAGS", "").lower()
    assert not REFUSAL or lacking or emulated


@needs_float16
def test_half_precision_embeddings_are_searched_in_single():
    """The square of 300 overflows in float16."""
    rows = np.float16(300 * np.random.default_rng(0).normal(size=(60, 8)))
    neighbours = ro.residual.ExactSearch(rows).search(rows[:40], 1)
    assert neighbours.indices[:, 0].tolist() == list(range(40))
    assert neighbours.distances.dtype == np.float32


def test_calibration_refuses_a_label_that_is_not_a_class():
    with refused(ValueError, match=r"^labels: got"):
        Calibration.fit(np.random.default_rng(0).normal(size=(20, 3)), np.full(20, 7))


def test_nan_is_never_right():
    logits = np.array([[np.nan, 0.0], [0.0, 1.0], [0.0, np.nan], [2.0, 1.0]])
    assert float(ro.maml.accuracy(logits, np.eye(2)[[0, 1, 0, 0]])) == 0.5


def test_a_law_beyond_float32_is_infinite_not_nan():
    """At x = −ξ and β = 200 the partition sum underflows: the relative error is
    infinite.
    """
    Xi = np.eye(3)
    law = error_law(ro.MrDAM(Xi, 200.0), -Xi[0])
    assert float(law.M_A) == float(law.M_B) == np.inf
    assert float(law.V) == pytest.approx(1.5, rel=1e-4)


@pytest.mark.parametrize("power", [-0.5, 0.5, 3.0])
def test_powers_have_a_derivative_at_equal_eigenvalues(power):
    """tr A^p has the derivative p A^(p−1), whatever the eigenvalues. The derivative of
    one entry is compared with finite differences.
    """
    A = np.diag([2.0, 2.0, 5.0])
    slope = jax.grad(lambda A: jnp.trace(matrix_power(A, power)))(A)
    np.testing.assert_allclose(
        slope, np.diag(power * np.diag(A) ** (power - 1)), rtol=1e-5, atol=1e-6
    )
    E = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    along = float(jax.jvp(lambda A: matrix_power(A, power)[0, 2], (A,), (E,))[1])
    lines = [np.linalg.eigh(A + step * E) for step in (1e-4, -1e-4)]
    above, below = (
        ((vectors * values**power) @ vectors.T)[0, 2] for values, vectors in lines
    )
    assert along == pytest.approx((above - below) / 2e-4, rel=1e-4)
    by_power = jax.grad(lambda p: jnp.trace(matrix_power(A, p)))(power)
    assert float(by_power) == pytest.approx(
        (np.diag(A) ** power * np.log(np.diag(A))).sum(), rel=1e-5
    )


def test_dimensions_too_high_for_a_finite_volume_are_refused():
    assert np.isfinite(ro.nearest_neighbour_risk(10, d=1000).exact)
    with refused(ValueError, match=r"^d: got"):
        ro.nearest_neighbour_risk(10, d=2000)


def worst(y_range, construction, **options):
    """Largest error, in half-widths of the range of y, at all x* in another cell than
    x.
    """
    network = ro.universal_learner(
        lambda x, y, xs: y * (xs > x), 4, construction, y_range=y_range, **options
    )
    low, high = y_range
    centres = (np.arange(4) + 0.5) / 4
    y = np.array([low, (2 * low + high) / 3, high])
    answers = [ro.predict(ro.adapt(network, 0.375, one), centres) for one in y]
    wrong = np.abs(np.array(answers) - y[:, None] * (centres > 0.375))[
        :, centres != 0.375
    ]
    return wrong.max() / (high - low) * 2


@pytest.mark.parametrize(("construction", "most"), [("seed", 2e-5), ("logdepth", 2e-4)])
def test_a_learner_is_as_good_on_every_range(construction, most):
    """The error was once 10 half-widths for ranges from 500 on, and 1.5 below 10⁻⁶."""
    errors = [worst((-R, R), construction) for R in (1e-6, 1.0, 300.0, 1e6)]
    assert max(errors) < most, errors


@pytest.mark.parametrize(
    "fitted", [constant_network, shallow_network, two_layer_network]
)
def test_a_fitted_net_scales_its_own_constants_with_the_range(fitted):
    """With the constants of [−1, 1], the error of two layers was once 0.4 half-widths
    at a range of 20 and 13 half-widths at 10⁻³.
    """
    x, y, x_star = (
        np.asarray(a) for a in random_tasks(jax.random.key(0), tasks=24, points=21)
    )
    errors = []
    for R in (1.0, 1e-3, 20.0, 1e6):
        network = fitted(
            lambda x, y, xs: y * np.sin(3 * (xs - x)), units=64, y_range=(-R, R)
        )
        answers = np.asarray(learn(network, x, np.float32(R) * y, x_star)) / R
        errors.append(
            np.sqrt(
                ((answers - y[:, None] * np.sin(3 * (x_star - x[:, None]))) ** 2).mean()
            )
        )
    np.testing.assert_allclose(errors, errors[0], rtol=0.1)
    assert errors[0] < 0.3


def test_ranges_out_of_reach_are_refused():
    def target(x, y, xs):
        return y

    for bad in ((-1e15, 1e15), (0, 1e-15), (1e6, 1e6 + 1)):
        with refused(ValueError, match=r"^y_range: got"):
            ro.universal_learner(target, 2, y_range=bad)
    with refused(ValueError, match=r"^constants: got"):
        ro.universal_learner(target, 2, y_range=(-500, 500), constants=Constants())
    for R in (1e-3, 20.0):  # the margin of a fitted net does not fit the range
        with refused(ValueError, match=r"^constants: got a margin of 4 for"):
            ro.universal_learner(
                target,
                2,
                "two_layers",
                y_range=(-R, R),
                constants=Constants(margin=4.0),
            )


@pytest.mark.parametrize(
    "bad",
    [{"beta": -1}, {"K": 0}, {"target": 99_999}, {"basis": "no"}, {"clamp": "yes"}],
)
def test_the_retrieval_explorer_refuses_values_too(bad):
    from rankone_book.widgets import RetrievalExplorer

    with refused(ValueError, match=r"^(beta|K|target|basis|clamp): got"):
        RetrievalExplorer(**bad)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (
            lambda: ro.ResMem(k=1).fit(TWO, TWO, CLASSES).correction("text"),
            "embeddings",
        ),
        (lambda: ro.ResMem(k=1).fit("text", TWO, CLASSES), "embeddings"),
        (
            lambda: ro.ResMem(k=1).fit(TWO, logits=TWO[:, None], labels=CLASSES),
            "logits",
        ),
        (
            lambda: ro.ResMem(k=1).fit(TWO, TWO, CLASSES).predict(TWO, logits=TWO[:1]),
            "logits",
        ),
        (lambda: ro.editing.KeyGeometry.from_moments(TWO).dual("text"), "a"),
        (lambda: ro.editing.weight_at("a", "layers[0].W", layout="out_in"), "tree"),
        (lambda: ro.editing.edit_at({"a": 1}, "a", EDIT, layout="out_in"), "tree"),
        (lambda: ro.editing.capture_keys(abs, TWO * 1j, "a", layout="out_in"), "model"),
        (lambda: ro.nn.Dense.from_augmented(TWO * np.nan), "matrix"),
        (lambda: ro.preconditioning.reparameterize("a", None), "network"),
        (lambda: matrix_power(TWO, np.inf), "power"),
        (lambda: occlude(TWO, visible=0.5, fill=np.inf), "fill"),
    ],
)
def test_what_is_refused_has_the_name_that_the_caller_wrote_for_it(call, named):
    with refused(ValueError, match=f"^{named}: got"):
        call()
