"""Two published formulas of a write: the edit as the published code computes it, and
the gradient step into a deep linear network.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Real

from rankone._annotated import checked
from rankone.checks import Outcome, outcome
from rankone.editing.closed_form import matrix, pair
from rankone.editing.geometry import KeyGeometry, as_moments
from rankone.theory.deep_linear import Matrix, check_ends, left, right
from rankone.writes import Write

__all__ = ["mixed_key_edit", "printed_first_order"]


@checked
def mixed_key_edit(
    W: Real[ArrayLike, "H D"],
    C: "Real[ArrayLike, 'D D'] | KeyGeometry",
    k_mean: Real[ArrayLike, " D"],
    k_bare: Real[ArrayLike, " D"],
    v: Real[ArrayLike, " H"],
) -> Write:
    """Edit of the published code, in which the direction u = C⁻¹k uses the mean key
    over the contexts, but uᵀk and Wk use the key without a context.

    With the edited weights the bare key gets the value v exactly, but the mean key in
    general does not. If uᵀk_bare is small, the change of the weights is very large.
    `rank_one_edit`, which uses one key throughout, avoids both problems.

    Args:
        W: Weights (H, D).
        C: Second moments (D, D), or a `KeyGeometry`.
        k_mean: Mean of the key over prefixed contexts.
        k_bare: Key of the prompt alone.
        v: Value (H,).
    """
    W = matrix(W)
    moments, _ = as_moments(C, W=W)
    geometry = (
        moments
        if isinstance(moments, KeyGeometry)
        else KeyGeometry.from_moments(moments)
    )
    k_mean, v = pair(W, k_mean, v, "k_mean")
    k_bare, _ = pair(W, k_bare, v, "k_bare")
    return _mixed(W, geometry, k_mean, k_bare, v)


@jax.jit
def _mixed(
    W: Array, geometry: KeyGeometry, k_mean: Array, k_bare: Array, v: Array
) -> Write:
    u = geometry.solve(k_mean)
    a = (v - W @ k_bare) / (u @ k_bare)
    interference = (a @ a) * (u @ k_mean)  # uᵀCu = uᵀk_mean
    return Write(
        a, u, interference, outcome((~jnp.isfinite(interference), Outcome.NOT_FINITE))
    )


@checked
def printed_first_order(W: Sequence[Matrix], e: Matrix, phi: Matrix) -> Matrix:
    """First-order change of the product of a deep linear network by one gradient step,
    as printed: the last factor is W₁…W_{i−1} instead of W_{i+1}…W_N [M-prod, M-z*].
    Sign and arguments are those of `deep_linear.first_order`.
    """
    check_ends(W, e, phi)
    terms = ((left(W, i), right(W, i)) for i in range(1, len(W) + 1))
    return np.sum([P @ np.outer(P.T @ e, Q @ phi) @ P for P, Q in terms], 0)
