"""The published clip freezes a state exactly where it acts, as often as the normal law
predicts. The tangent never freezes a state.
"""

import jax
import numpy as np
import pytest
from scipy.stats import norm

import rankone as ro
from rankone.data.queries import flip_bits
from rankone.printed.memory_gradients import Clipped
from rankone.theory.error_law import error_law


@pytest.fixture(scope="module")
def problem():
    D = 100
    K = 300
    Y = 4_000
    beta = 50.0
    k_data, k_far, k_features = jax.random.split(jax.random.key(0), 3)
    Xi = np.asarray(ro.data.binary_patterns(K, D, key=k_data))
    far = np.asarray(ro.data.binary_patterns(40, D, key=k_far))
    memory = ro.DrDAM.store(Xi, beta, ro.RandomFeatures(D, Y, key=k_features))
    return Xi, far, memory


def test_the_clipped_gradient_is_zero_exactly_on_frozen_states(
    problem,
):
    _, far, memory = problem
    clipped = Clipped(memory)
    frozen = np.asarray(clipped.frozen(far))
    energy, gradient = map(np.asarray, clipped.energy_and_gradient(far))
    assert 0.2 < frozen.mean() < 0.8
    assert (gradient[frozen] == 0).all()
    assert (np.abs(gradient[~frozen]).max(1) > 0).all()
    # many states lie between the two clips, half a standard deviation apart
    higher = Clipped(memory, clip=0.1)
    mask = np.asarray(higher.frozen(far))
    S = np.asarray(memory.partition(far))
    assert (mask == (S <= 0.1)).all()
    assert ((np.asarray(higher.energy_and_gradient(far)[1]) == 0).all(1) == mask).all()
    assert mask.sum() > frozen.sum()
    high = float(memory.floor) < S
    assert np.allclose(
        gradient[high], np.asarray(memory.gradient(far))[high], rtol=1e-3, atol=1e-4
    )
    assert np.allclose(energy[frozen], -np.log(1e-5) / 50, rtol=1e-5)


def test_a_frozen_query_is_reported_as_converged_at_its_start(problem):
    _, far, memory = problem
    clipped = Clipped(memory)
    frozen = np.asarray(clipped.frozen(far))
    end = jax.tree.map(
        np.asarray, ro.retrieve(clipped, far, max_steps=20, progress=False)
    )
    assert (end.x[frozen] == far[frozen]).all()
    assert end.converged[frozen].all()
    assert (end.steps[frozen] == 1).all()


def test_tangent_moves_every_query(problem):
    _, far, memory = problem
    frozen = np.asarray(Clipped(memory).frozen(far))
    gradient = np.asarray(memory.gradient(far))
    assert (np.abs(gradient).max(1) > 0).all()
    # The direction is that of the slope of S, whatever its sign.
    slope = np.asarray(jax.jit(jax.vmap(jax.grad(memory.partition)))(far))
    cosine = -(gradient * slope).sum(1) / (
        np.linalg.norm(gradient, axis=1) * np.linalg.norm(slope, axis=1)
    )
    assert (cosine[frozen] > 0.999).all()


def test_frozen_share_follows_the_normal_law(problem):
    Xi, far, _ = problem
    Y = 4_000
    beta = 50.0
    near = flip_bits(Xi[:40], 0.1, key=jax.random.key(1))
    for x in (far, near):
        law = error_law(ro.MrDAM(Xi, beta), x)
        chance = norm.cdf(
            -(np.asarray(law.S) - 1e-5) * np.sqrt(Y / np.asarray(law.V))
        ).mean()
        maps = (ro.RandomFeatures(100, Y, key=jax.random.key(s)) for s in range(8))
        fraction = np.mean(
            [Clipped(ro.DrDAM.store(Xi, beta, f)).frozen(x) for f in maps]
        )
        # 320 draws with 8 maps have a standard error of about .04
        assert abs(fraction - chance) < 0.08
