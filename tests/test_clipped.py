"""The published clip: frozen exactly where it acts, as often as the normal law says; the tangent is never frozen."""

import jax
import jax.numpy as jnp
import pytest

import rankone as ro
from rankone.data.queries import flip_bits
from rankone.memory.clipped import Clipped
from rankone.memory.laws import error_law


@pytest.fixture(scope="module")
def problem():
    D, K, Y, beta = 100, 300, 4_000, 50.0
    k_data, k_far, k_features = jax.random.split(jax.random.key(0), 3)
    Xi = ro.data.binary_patterns(K, D, key=k_data)
    far = ro.data.binary_patterns(40, D, key=k_far)
    memory = ro.DrDAM.store(Xi, beta, ro.RandomFeatures(D, Y, key=k_features))
    return Xi, far, memory


def test_clipped_gradient_is_exactly_zero_where_it_acts_and_the_gradient_elsewhere(problem):
    _, far, memory = problem
    clipped = Clipped(memory)
    frozen = clipped.frozen(far)
    energy, gradient = clipped.energy_and_gradient(far)
    assert 0.2 < frozen.mean() < 0.8
    assert (gradient[frozen] == 0).all()
    assert (jnp.abs(gradient[~frozen]).max(1) > 0).all()
    higher = Clipped(memory, clip=0.1)  # half a standard deviation: many states lie between the two clips
    assert (higher.frozen(far) == (memory.partition(far) <= 0.1)).all()
    assert ((higher.energy_and_gradient(far)[1] == 0).all(1) == higher.frozen(far)).all()
    assert higher.frozen(far).sum() > frozen.sum()
    high = memory.partition(far) > memory.floor
    assert jnp.allclose(gradient[high], memory.gradient(far)[high], rtol=1e-3, atol=1e-4)
    assert jnp.allclose(energy[frozen], -jnp.log(1e-5) / memory.beta, rtol=1e-5)


def test_frozen_query_is_called_retrieved_where_it_started(problem):
    _, far, memory = problem
    clipped = Clipped(memory)
    frozen = clipped.frozen(far)
    end = ro.retrieve(clipped, far, max_steps=20, progress=False)
    assert (end.x[frozen] == far[frozen]).all()
    assert end.converged[frozen].all()
    assert (end.steps[frozen] == 1).all()


def test_tangent_moves_every_query(problem):
    _, far, memory = problem
    frozen = Clipped(memory).frozen(far)
    assert (jnp.abs(memory.gradient(far)).max(1) > 0).all()
    # The direction is that of the slope of S, whatever its sign.
    slope = jax.vmap(jax.grad(memory.partition))(far)
    cosine = -(memory.gradient(far) * slope).sum(1) / (
        jnp.linalg.norm(memory.gradient(far), axis=1) * jnp.linalg.norm(slope, axis=1)
    )
    assert (cosine[frozen] > 0.999).all()


def test_frozen_share_follows_the_normal_law(problem):
    Xi, far, _ = problem
    Y, beta = 4_000, 50.0
    near = flip_bits(Xi[:40], 0.1, key=jax.random.key(1))
    for x in (far, near):
        law = error_law(ro.MrDAM(Xi, beta), x)
        chance = jax.scipy.stats.norm.cdf(-(law.S - 1e-5) * jnp.sqrt(Y / law.V)).mean()
        maps = (ro.RandomFeatures(100, Y, key=jax.random.key(s)) for s in range(8))
        share = jnp.mean(jnp.array([Clipped(ro.DrDAM.store(Xi, beta, f)).frozen(x).mean() for f in maps]))
        assert abs(share - chance) < 0.08  # 320 draws that share 8 maps: standard error about .04
