"""The steps that the benchmark on preconditioning compares are the same. Nothing here
is timed.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import preconditioning as suite


def test_the_implicit_operator_and_its_peers_give_the_same_update():
    (_, ours, peers), = suite.update_cases(24)  # fmt: skip
    update = ours["implicit"][0]()
    np.testing.assert_allclose(peers["two products"](), update, atol=1e-5)
    np.testing.assert_allclose(
        peers["operator on vecs"](), np.ravel(update, order="F"), atol=1e-5
    )
    T, U, V, _ = map(np.asarray, suite.matrices(24, 4))
    np.testing.assert_allclose(
        T @ U @ V - np.asarray(peers["step on U, W rebuilt"]()), update, atol=1e-5
    )
    _, ours, peers = suite.dense_case(8)
    np.testing.assert_allclose(
        peers["P in memory"](), np.ravel(ours["implicit"][0](), order="F"), atol=1e-5
    )


def test_the_factored_forward_pass_is_the_one_through_W():
    _, ours, peers = suite.forward_case(24, 6)
    np.testing.assert_allclose(ours["factored"][0](), peers["through W"](), atol=1e-5)


def test_a_step_on_U_is_the_step_on_W_with_fixed_factors():
    _, forms = suite.training_case(24, 6)
    (layer, _) = forms["W = TUV"][0]()
    (dense, _) = forms["fixed factors"][0]()
    np.testing.assert_allclose(layer.W, dense.W, atol=2e-6)
    T, V, U = map(np.asarray, suite.matrices(24, 3))
    assert np.abs(T @ U @ V - np.asarray(dense.W)).max() > 1e-4  # it moved


def test_the_step_with_moments_averages_them_and_applies_the_factors_it_has():
    _, forms = suite.training_case(24, 6)
    network, (state, _) = forms["moving moments"][0]()
    # the step that computed the factors, and this step, which does not renew them
    assert state.steps == 2
    # two batches have been averaged
    np.testing.assert_allclose(state.moments[0].weight, 1 - 0.95**2, rtol=1e-5)
    assert np.abs(np.asarray(state.operators[0].left) - np.eye(24)).max() > 0.1
    T, V, U = map(np.asarray, suite.matrices(24, 3))
    W = T @ U @ V
    x, y = (
        np.asarray(jax.random.normal(jax.random.key(s), (6, 24), jnp.float32))
        for s in (1, 2)
    )
    gradient = (x @ W.T - y).T @ x / 6
    applied = np.asarray(state.operators[0].apply(gradient))
    np.testing.assert_allclose(
        (W - np.asarray(network.W)) / 1e-3, applied, atol=1e-2 * np.abs(applied).max()
    )
