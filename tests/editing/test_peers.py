"""The updates of MEMIT, EMMET, r-ROME and AlphaEdit as their authors' code computes
them, against the closed form's own code.

Each published update is written out below in numpy and float64, line by line after the
authors' repositories. The library is run in float64 too, so both sides carry rounding
errors of about 1e-16 times a condition number: `CLOSE` is far above that and far below
any other formula's distance, which `test_the_comparison_would_notice_...` measures.
"""

import numpy as np
import pytest
from refusals import refused

from rankone.editing import (
    batch_edit,
    projected_edit,
    quiet_directions,
    rank_one_edit,
    sequential_edit,
)

# Tolerance, relative to the largest entry. The moments below have a condition number
# under 1e5.
CLOSE = 1e-9
WEIGHTS = (15_000.0, 20_000.0, 10.0)  # those of GPT-J and of GPT-2 XL, and a small one


@pytest.fixture
def pairs():
    """Weights, second moments of many keys, a batch of new keys and its residuals."""
    rng = np.random.default_rng(0)
    D = 24
    H = 10
    m = 7
    old = rng.normal(size=(D, 400)) * np.geomspace(0.05, 3, D)[:, None]
    W = rng.normal(size=(H, D))
    return W, old @ old.T / 400, rng.normal(size=(D, m)), rng.normal(size=(H, m))


def distance(result, published):
    return abs(np.asarray(result) - published).max() / abs(published).max()


# The published updates


def memit(cov, layer_ks, resid, weight):
    """`execute_memit` of kmeng01/memit: adj_k and upd_matrix."""
    adj_k = np.linalg.solve(weight * cov + layer_ks @ layer_ks.T, layer_ks)
    return resid @ adj_k.T


def emmet(cov, layer_ks, resid, weight):
    """`execute_memit` of scalable-model-editing/unified-model-editing, "EMMET"."""
    C_inv = np.linalg.inv(weight * cov)
    D_inv = np.linalg.inv(layer_ks.T @ C_inv @ layer_ks)
    adj_k = (D_inv @ layer_ks.T @ C_inv).T
    return resid @ adj_k.T


def r_rome(cov, layer_ks, resid):
    """`execute_memit` of scalable-model-editing/rebuilding-rome, with one key (D, 1)."""
    C_inv = np.linalg.inv(cov)
    adj_k = ((layer_ks.T @ C_inv) / (layer_ks.T @ C_inv @ layer_ks)).T
    return resid @ adj_k.T


def project(cov, threshold):
    """`get_project` of jianghoucheng/AlphaEdit."""
    U, S, _ = np.linalg.svd(cov, full_matrices=False)
    small = np.flatnonzero(threshold > S)
    return U[:, small] @ U[:, small].T


def alphaedit(P, cache_c, layer_ks, resid, L2):
    """`apply_AlphaEdit_to_model` of jianghoucheng/AlphaEdit: upd_matrix, as (H, D)."""
    upd_matrix = np.linalg.solve(
        P @ (layer_ks @ layer_ks.T + cache_c) + L2 * np.eye(len(layer_ks)),
        P @ layer_ks @ resid.T,
    )
    return upd_matrix.T


# Against the library


@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_relaxed_batch_is_memits_update(pairs, weight, x64):
    W, C, K, R = pairs
    edit = batch_edit(W, C, K, W @ K + R, omega=1 / weight)
    assert distance(edit.delta, memit(C, K, R, weight)) < CLOSE


@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_exact_batch_is_emmets_update_whatever_its_weight(pairs, weight, x64):
    W, C, K, R = pairs
    edit = batch_edit(W, C, K, W @ K + R)
    assert distance(edit.delta, emmet(C, K, R, weight)) < CLOSE


def test_the_rank_one_edit_with_one_key_throughout_is_r_romes_update(pairs, x64):
    W, C, K, R = pairs
    k = K.mean(1)  # the mean over contexts
    edit = rank_one_edit(W, C, k, W @ k + R[:, 0])
    assert distance(edit.delta, r_rome(C, k[:, None], R[:, :1])) < CLOSE


@pytest.mark.parametrize("L2", [10.0, 1.0])
@pytest.mark.parametrize("earlier", [0, 5])
def test_the_projected_edit_is_alphaedits_update(pairs, L2, earlier, x64):
    W, C, K, R = pairs
    threshold = 2e-2
    B = quiet_directions(C, threshold=threshold)
    P = project(C, threshold)
    np.testing.assert_allclose(B @ B.T, P, atol=CLOSE)
    E = np.random.default_rng(1).normal(size=(len(C), earlier))
    written = E if earlier else None
    edit = projected_edit(W, B, K, W @ K + R, ridge=L2, written=written)
    published = alphaedit(P, E @ E.T, K, R, L2)
    assert 0 < B.shape[1] < len(C)
    assert distance(edit.delta, published) < CLOSE
    # the published change too lies along the directions
    assert distance(published @ P, published) < CLOSE


def test_the_comparison_would_notice_another_formula(pairs, x64):
    """The differences between similar formulas are far above the tolerance."""
    W, C, K, R = pairs
    exact = batch_edit(W, C, K, W @ K + R).delta
    assert distance(exact, memit(C, K, R, 10.0)) > 1e6 * CLOSE
    B = quiet_directions(C, threshold=2e-2)
    P = project(C, 2e-2)
    E = np.random.default_rng(1).normal(size=(len(C), 5))
    forgetful = projected_edit(W, B, K, W @ K + R, ridge=10.0).delta
    assert distance(forgetful, alphaedit(P, E @ E.T, K, R, 10.0)) > 1e6 * CLOSE


def test_sequential_memit_with_a_cache_equals_memit_at_once(pairs, x64):
    """If the written keys are added to C at the weight of the new pairs, a relaxed
    sequence ends in the same weights as the relaxed batch.
    """
    W, C, K, R = pairs
    weight = 10.0
    V = W @ K + R
    turn = sequential_edit(W, C, K, V, beta=1 / weight, omega=1 / weight)
    assert distance(turn.edit.delta, memit(C, K, R, weight)) < CLOSE


# What is refused


def test_directions_that_are_not_orthonormal_are_refused(pairs):
    W, _, K, R = pairs
    with refused(ValueError, match=r"directions: .*orthonormal"):
        projected_edit(W, np.ones((24, 2)), K, R)
    # unit vectors, two of them the same
    with refused(ValueError, match=r"directions: .*orthonormal"):
        projected_edit(W, np.eye(24)[:, [0, 1, 1]], K, R)
    with refused(ValueError, match=r"directions: .*\(24, n\)"):
        projected_edit(W, np.eye(23), K, R)


def test_a_threshold_below_all_eigenvalues_is_refused(pairs):
    with refused(ValueError, match=r"threshold: .*smallest eigenvalue"):
        quiet_directions(pairs[1], threshold=1e-9)


def test_keys_of_earlier_edits_of_another_length_are_refused(pairs):
    W, C, K, R = pairs
    B = quiet_directions(C, threshold=2e-2)
    with refused(ValueError, match="written: got shape"):
        projected_edit(W, B, K, R, written=K[:5])
