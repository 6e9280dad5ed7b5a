"""Edits with fewer keys than dimensions: the limit of a vanishing ridge, compared with
the pseudo-inverse of C.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, readable
from rankone.checks import Outcome, outcome
from rankone.editing.closed_form import matrix, pair
from rankone.editing.geometry import transposed
from rankone.precision import full_precision
from rankone.writes import Write

__all__ = ["pseudo_inverse_edit", "ridge_limit_edit"]

# The part of k outside the span of K is taken as rounding error in float32 if it is
# shorter than this fraction of ‖k‖.
_SHARE = 1e-4


def ridge_limit_edit(W: ArrayLike, K: ArrayLike, k: ArrayLike, v: ArrayLike) -> Write:
    """The limit, as λ → 0, of the edit with C = KKᵀ + λI, for any number of keys.

    If k lies outside the span of K, it is written along its part P⊥k orthogonal to the
    span. The change (v − Wk)(P⊥k)ᵀ/‖P⊥k‖² has no interference at the keys of K. At
    other keys the interference can be large, because ‖P⊥k‖ can be small. If K is only a
    sample of the keys, use a positive ridge instead of this limit. If k lies inside the
    span, it is written with the pseudo-inverse of C.

    Args:
        W: Weights (H, D).
        K: Keys (D, n), one per column; n may be less than D.
        k: Key (D,), not zero.
        v: Value (H,).
    """
    return _limit(*_arguments(W, K, k, v))


def pseudo_inverse_edit(
    W: ArrayLike, K: ArrayLike, k: ArrayLike, v: ArrayLike
) -> Write:
    """Edit by the closed form with C⁺ in place of C⁻¹, where C⁺ is the pseudo-inverse
    of C = KKᵀ. It maps k to v. If k lies outside the span of K, it changes answers at
    keys of K that `ridge_limit_edit` leaves unchanged; inside the span both edits are
    the same.

    Args:
        W: Weights (H, D).
        K: Keys (D, n).
        k: Key (D,), not orthogonal to all keys.
        v: Value (H,).

    Raises:
        ValueError: If k is orthogonal to every key: the formula then divides by zero.
    """
    edit = _pseudo_inverse(*_arguments(W, K, k, v))
    fault = edit.outcome
    if readable(fault) and np.asarray(fault) == Outcome.SINGULAR:
        raise ValueError(
            "k: got a key orthogonal to all keys; "
            "it must be one with a component in their span; or use ridge_limit_edit."
        )
    return edit


def _arguments(
    W: ArrayLike, K: ArrayLike, k: ArrayLike, v: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    W = matrix(W)
    K = array("K", K, "(D, n): one key per column", 2)
    if K.shape[0] != W.shape[1]:
        raise ValueError(
            f"K: got shape {K.shape}; it must be ({W.shape[1]}, n), as W is "
            f"{W.shape}{transposed('K', K.shape, W.shape[1])}."
        )
    return W, K, *pair(W, k, v)


@jax.jit
@full_precision()
def _limit(W: Array, K: Array, k: Array, v: Array) -> Write:
    complement, direction, _ = _parts(K, k)
    is_independent = complement @ complement > _SHARE**2 * (k @ k)
    return _edit_along(
        W, K, jnp.where(is_independent, complement, direction), k, v, jnp.asarray(False)
    )


@jax.jit
@full_precision()
def _pseudo_inverse(W: Array, K: Array, k: Array, v: Array) -> Write:
    _, u, largest = _parts(K, k)
    return _edit_along(W, K, u, k, v, u @ k <= _SHARE**2 * (k @ k) / largest**2)


def _parts(K: Array, k: Array) -> tuple[Array, Array, Array]:
    """P⊥k, what of k is outside the span of K; (KKᵀ)⁺k; and the largest singular value
    of K.
    """
    U, sizes, _ = jnp.linalg.svd(K, full_matrices=False)
    spanned = sizes > sizes.max() * max(K.shape) * jnp.finfo(K.dtype).eps
    coefficients = jnp.where(spanned, U.T @ k, 0)
    return (
        k - U @ coefficients,
        U @ (coefficients / jnp.where(spanned, sizes, 1) ** 2),
        sizes.max(),
    )


def _edit_along(
    W: Array, K: Array, u: Array, k: Array, v: Array, singular: Array
) -> Write:
    left: Float[Array, " H"] = (v - W @ k) / (u @ k)
    interference = (left @ left) * jnp.sum((u @ K) ** 2)
    overflow = (~jnp.isfinite(interference), Outcome.NOT_FINITE)
    return Write(left, u, interference, outcome((singular, Outcome.SINGULAR), overflow))
