"""Soft nearest neighbours as a ratio of two linear memories, and the error of this
ratio if the memories have a fixed length [W-knn].

The kernel κ(a, b) = exp(−‖a − b‖/σ) is the characteristic function of a Cauchy vector,
which is a Gaussian vector divided by an independent Gaussian number. Random features
with Cauchy frequencies therefore estimate this kernel. They turn the numerator Σ κ rᵢ
into one matrix and the denominator Σ κ into one vector, and neither grows with the
number of pairs. The vector is the T of a distributed memory.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Real
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import brief, positive
from rankone.memory import RandomFeatures
from rankone.memory.projections import Stored

__all__ = ["far_reading", "laplace_features", "ratio_error", "soft_reading"]

# Least Gaussian divisor of a frequency. With a smaller one the angles are so large that
# their cosine in float32 is noise, and on some processors NaN.
_SHORTEST = 1e-3
Columns = Float[NDArray, "_ _"]


@checked
def laplace_features(D: int, Y: int, sigma: float, *, key: Array) -> RandomFeatures:
    """Random features φ with E⟨φ(a), φ(b)⟩ = exp(−‖a − b‖/σ), used like any other
    `RandomFeatures` [W-knn].

    The frequencies are Cauchy vectors, whose length has no mean: one in a thousand is
    about a thousand times as long as the others. Single precision cannot compute the
    cosine of such large angles, so the Gaussian divisor is at least 0.001. This changes
    the kernel only for keys nearer to each other than about a thousandth of σ.

    Args:
        D: Length of the keys.
        Y: Number of frequencies; φ has 2Y entries.
        sigma: Width σ, positive.
        key: JAX random key.
    """
    positive("sigma", sigma)
    gaussian, divisor = jax.random.split(key)
    features = RandomFeatures(D, Y, key=gaussian)
    assert isinstance(features.frequencies, Stored)
    blocks = features.frequencies.blocks
    heavy = jnp.maximum(
        abs(jax.random.normal(divisor, (*blocks.shape[:-1], 1), blocks.dtype)),
        _SHORTEST,
    )
    return replace(features, frequencies=Stored(blocks / (sigma * heavy)))


@checked
def soft_reading(
    K: Real[ArrayLike, "D m"],
    R: Real[ArrayLike, "H m"],
    q: Real[ArrayLike, "D n"],
    sigma: float,
) -> Columns:
    """Weighted mean Σ w̄ᵢ rᵢ of the residuals of all pairs, with w̄ᵢ proportional to
    exp(−‖q − kᵢ‖/σ): ResMem if all stored pairs are its neighbours [W-knn].

    `far_reading` gives the limit as q moves away from all keys.

    Args:
        K: Keys (D, m).
        R: Residuals (H, m).
        q: Queries (D, n).
        sigma: Width σ, positive.
    """
    distances = _distances(*_columns(K, q))
    # relative to the nearest key, because far from all keys every weight underflows
    weights = _laplace(distances - distances.min(0, initial=np.inf), sigma)
    return np.asarray(R, float) @ weights / weights.sum(0)


@checked
def ratio_error(
    K: Real[ArrayLike, "D m"],
    R: Real[ArrayLike, "H m"],
    q: Real[ArrayLike, "D n"],
    sigma: float,
    Y: int,
) -> Float[NDArray, " n"]:
    r"""Mean squared error (summed over H) of `soft_reading` computed from Y random
    features, to first order in the errors of its two sums [W-knn].

    $\frac1{2Y}\sum_{ij}\langle c_i,c_j\rangle\,[\kappa(k_i,k_j)+\kappa(k_i,2q-k_j)]
    \,/\,(\sum_i\kappa(k_i,q))^2$
    with the kernel $\kappa(a,b)=e^{-\lVert a-b\rVert/\sigma}$ and $c_i=r_i-f(q)$, the
    difference of each residual from the reading $f(q)$. The error is large where the
    sum of the weights is small, and infinite where the square of this sum underflows.

    Args:
        K: Keys (D, m).
        R: Residuals (H, m).
        q: Queries (D, n).
        sigma: Width σ, positive.
        Y: Number of frequencies.
    """
    keys, queries = _columns(K, q)
    f = soft_reading(K, R, q, sigma)
    R = np.asarray(R, float)
    similarities = _laplace(_distances(keys, keys), sigma)
    total = _laplace(_distances(keys, queries), sigma).sum(0)
    errors = []
    for reading, at in zip(f.T, queries.T, strict=True):
        C = R - reading[:, None]
        mirrored = _laplace(_distances(keys, 2 * at[:, None] - keys), sigma)
        errors.append(((C.T @ C) * (similarities + mirrored)).sum() / (2 * Y))
    with np.errstate(divide="ignore"):
        return np.asarray(errors) / total**2


@checked
def far_reading(
    K: Real[ArrayLike, "D m"],
    R: Real[ArrayLike, "H m"],
    direction: Real[ArrayLike, " D"],
    sigma: float,
) -> Float[NDArray, " H"]:
    """Limit of a soft reading as the query moves to infinity along u: a softmax of ⟨u,
    k⟩/σ over the keys [W-far].

    Here u has length 1. The weights sum to one, so the reading does not tend to zero.
    With a Gaussian kernel the pair with the largest ⟨u, k⟩ would get all the weight.

    Args:
        K: Keys (D, m).
        R: Residuals (H, m).
        direction: u (D,), of any length but 0; the function normalises it.
        sigma: Width σ, positive.
    """
    u = np.asarray(direction, float)
    if not np.linalg.norm(u) > 0:
        raise ValueError(f"direction: got {brief(u)}; it must be a nonzero direction.")
    exponents = u @ np.asarray(K, float) / np.linalg.norm(u) / sigma
    weights = np.exp(exponents - exponents.max())
    return np.asarray(R, float) @ weights / weights.sum()


def _columns(K: ArrayLike, q: ArrayLike) -> tuple[Columns, Columns]:
    keys = np.asarray(K, float)
    queries = np.asarray(q, float)
    if keys.ndim != 2:
        raise ValueError(
            f"K: got shape {keys.shape}; it must be (D, m): one key per column."
        )
    fits = queries.ndim == 2 and len(queries) == len(keys)
    if not fits:
        raise ValueError(
            f"q: got shape {queries.shape}; "
            f"it must be ({len(keys)}, n): one query per column."
        )
    return keys, queries


def _distances(a: Columns, b: Columns) -> Columns:
    distances: Columns = np.linalg.norm(a[:, :, None] - b[:, None], axis=0)
    return distances


def _laplace(distances: Columns, sigma: float) -> Columns:
    positive("sigma", sigma)
    return np.exp(-distances / sigma)
