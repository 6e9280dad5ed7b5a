"""The fraction of a gradient that U can follow between fixed T and V."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.theory.reach import best_share, example_share, reach_share

m = 6
n = 9
r = 3
G = np.random.default_rng(0).normal(size=(m, n)).astype(np.float32)


def factors(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, r)).astype(np.float32), rng.normal(size=(r, n)).astype(
        np.float32
    )


def test_reach_share_is_the_share_of_the_first_decrease_and_at_most_best_share():
    """K-sharp8: descent on U with orthonormal factors, against descent on W, at a rate
    that goes to zero.
    """
    T, V = (np.linalg.qr(f)[0] for f in (factors(1)[0], factors(1)[1].T))
    layer = ro.Reparameterized(T, np.zeros((r, r), np.float32), V.T, G * 0)
    by_U = jax.jit(jax.grad(lambda layer: jnp.sum(layer.W * G)))(layer).U
    assert float((by_U**2).sum() / (G**2).sum()) == pytest.approx(
        float(reach_share(G, T, V.T)), rel=1e-5
    )
    left, sizes, right = np.linalg.svd(G, full_matrices=False)
    assert float(reach_share(G, left[:, :r], right[:r])) == pytest.approx(
        float(best_share(G, r)), rel=1e-5
    )
    assert float(best_share(G, r)) == pytest.approx(
        (sizes[:r] ** 2).sum() / (sizes**2).sum(), rel=1e-5
    )
    assert max(float(reach_share(G, *factors(seed))) for seed in range(20)) < float(
        best_share(G, r)
    )


def test_random_factors_reach_a_share_of_r_squared_over_mn_on_average():
    """K-sharp8: r²/mn on average, whatever the gradient."""
    for gradient in (G, np.outer(G[:, 0], G[0])):
        shares = [float(reach_share(gradient, *factors(seed))) for seed in range(400)]
        assert np.mean(shares) == pytest.approx(r * r / (m * n), rel=0.15)


def test_leading_eigenvectors_reach_most_of_single_examples():
    """K-sharp8: the product law, on examples whose errors and inputs are
    independent.
    """
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, n)) * np.geomspace(1, 0.1, n)
    delta = rng.normal(size=(20_000, m)) * np.arange(1, m + 1)
    A, D = (np.float32(rows.T @ rows / len(rows)) for rows in (x, delta))
    T = np.eye(m, dtype=np.float32)[:, -r:]
    V = np.eye(n, dtype=np.float32)[:r]
    ratio = (((delta @ T) ** 2).sum(1) * ((x @ V.T) ** 2).sum(1)).mean() / (
        (delta**2).sum(1) * (x**2).sum(1)
    ).mean()
    law = float(example_share(A, D, T, V))
    assert law == pytest.approx(ratio, rel=0.02)
    top = [np.linalg.eigh(moment)[1][:, -r:] for moment in (D, A)]
    best = float(example_share(A, D, top[0], top[1].T))
    assert best == pytest.approx(law, rel=1e-2)
    assert max(float(example_share(A, D, *factors(seed))) for seed in range(20)) < best


def test_shapes_that_do_not_chain_are_refused():
    T, V = factors(0)
    with refused(ValueError, match="G"):
        reach_share(G.T, T, V)
    with refused(ValueError, match="rank"):
        best_share(G, m + 1)
    with refused(ValueError, match="A"):
        example_share(np.eye(m), np.eye(m), T, V)
    with refused(ValueError, match="D"):
        example_share(np.eye(n), np.eye(n), T, V)
