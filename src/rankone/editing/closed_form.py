"""Closed-form edits: changes of a linear map that store new key–value pairs with the
least interference at the old keys.
"""

from functools import partial
from math import inf

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._checks import array, concrete, host, integer, readable
from rankone.checks import Outcome, outcome
from rankone.editing.geometry import (
    KeyGeometry,
    Quality,
    as_moments,
    factored,
    refuse_singular,
    transposed,
)
from rankone.precision import accurate_difference, full_precision, wider
from rankone.writes import KernelMemory, Ridge, Write
from rankone.writes.rules import weight

__all__ = [
    "batch_edit",
    "interpolate_residuals",
    "matrix",
    "pair",
    "pairs",
    "rank_one_edit",
    "refuse",
]

_ZERO = "non-zero: every linear map answers zero with zero"
_SINGULAR = "positive definite: it has no inverse in this precision; add a ridge"


def rank_one_edit(
    W: Real[ArrayLike, "H D"],
    C: "Real[ArrayLike, 'D D'] | KeyGeometry",
    k: Real[ArrayLike, " D"],
    v: Real[ArrayLike, " H"],
    *,
    ridge: ArrayLike = 0.0,
    refine: int = 0,
) -> Write:
    r"""Rank-one change of W that maps the key k to the value v with the least
    interference at the old keys [R-eq13, R-eq17, R-S1].

    Ŵ = W + Λuᵀ with u = C⁻¹k and Λ = (v − Wk)/(uᵀk) minimises ‖(Ŵ − W)K‖, the change
    of the answers at the old keys K, among all matrices with Ŵk = v. This holds for
    every W. If W is the least-squares map from K to old values V, Ŵ also minimises ‖ŴK
    − V‖. The `Write` that is returned has `left` Λ and `right` u.

    Args:
        W: Weights (H, D).
        C: Second moments KKᵀ of the keys (D, D), or a `KeyGeometry` made of them once
            for many edits.
        k: Key (D,), not zero.
        v: Value (H,).
        ridge: Added to the diagonal of C.
        refine: Number of refinement steps for C⁻¹k, as in `KeyGeometry.solve`; uᵀk and
            Wk are then summed with the same precision. The result is then in JAX's
            default dtype. Two steps give nearly all of its digits for every C that
            raises no error.

    Raises:
        ValueError: If a shape does not fit, an entry is not finite, the key is zero or
            C is singular. Inside jit the write's `outcome` reports this instead.

    >>> import numpy as np, rankone as ro
    >>> W, C = np.zeros((1, 2)), np.diag([1.0, 4.0])
    >>> edit = ro.rank_one_edit(W, C, k=np.array([1.0, 2.0]), v=np.array([6.0]))
    >>> edit.delta.tolist(), float(edit.interference)
    ([[3.0, 1.5]], 18.0)
    """
    W = matrix(W, finite=False)
    C, ridge = as_moments(C, ridge, W)
    refine = _steps(refine)
    k, v = pair(W, k, v, finite=False)
    edit, quality = _rank_one(W, C, ridge, k, v, refine)
    refuse_singular("C", quality, C, ridge)
    if fault := _code(edit.outcome):
        # A bad entry makes the interference NaN or infinite, and so the outcome a
        # failure. The entries are therefore checked only after a failure.
        matrix(W)
        pair(W, k, v)
        if fault == Outcome.SINGULAR:
            raise ValueError(f"C: got a singular matrix; it must be {_SINGULAR}.")
        largest = np.abs(np.asarray(k)).max()
        if not 0 < float(concrete(jnp.dot, edit.right, k)) < inf:
            raise ValueError(
                f"k: got entries up to {largest:.1e}; it must be of a length whose "
                "square has neither underflow nor overflow: rescale it."
            )
    return edit


def batch_edit(
    W: Real[ArrayLike, "H D"],
    C: "Real[ArrayLike, 'D D'] | KeyGeometry",
    K: Real[ArrayLike, "D m"],
    V: Real[ArrayLike, "H m"],
    *,
    omega: ArrayLike = inf,
    ridge: ArrayLike = 0.0,
    refine: int = 0,
) -> Write:
    r"""Change of W that stores m key–value pairs at once: exactly, or with a finite
    `omega` in the least-squares sense of MEMIT.

    Ŵ = W + R (I/ω + S)⁻¹ KᵀC⁻¹ with the residuals R = V − WK and S = KᵀC⁻¹K. For ω = ∞
    this is kernel interpolation of the residuals with the kernel aᵀC⁻¹b, and for a
    finite ω it is kernel ridge regression of them [R-S6]. In `rankone.writes` these are
    the rules `Exact` and `Ridge`.

    Args:
        W: Weights (H, D).
        C: Second moments (D, D) of the keys W already answers, or a `KeyGeometry`.
        K: Keys (D, m), linearly independent. With a finite `omega` keys may be repeated
            or zero, as long as 1/ω exceeds the rounding error of S. (In float32,
            repeated keys raise an error if ω kᵀC⁻¹k is above about 10⁶.)
        V: Values (H, m).
        omega: Weight of each new pair, relative to one old key if C is a sum, and to
            all of them together if C is a mean; ∞ writes the pairs exactly.
        ridge: Added to the diagonal of C.
        refine: As in `rank_one_edit`.

    Raises:
        ValueError: If a shape does not fit, an entry is not finite, keys are dependent
            or C is singular. Inside jit the write's `outcome` reports this instead.

    >>> import numpy as np, rankone as ro
    >>> K = np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> edit = ro.batch_edit(np.zeros((1, 2)), np.eye(2), K, np.array([[1.0, 3.0]]))
    >>> np.asarray(edit.delta).round(3).tolist()
    [[1.0, 2.0]]
    """
    W = matrix(W, finite=False)
    C, ridge = as_moments(C, ridge, W)
    refine = _steps(refine)
    K, V = pairs(W, K, V, finite=False)
    edit, quality = _batch(W, C, ridge, K, V, weight("omega", omega), refine)
    refuse_singular("C", quality, C, ridge)
    refuse(edit.outcome, W, K, V)
    return edit


def interpolate_residuals(
    W: ArrayLike,
    C: "ArrayLike | KeyGeometry",
    K: ArrayLike,
    V: ArrayLike,
    q: ArrayLike,
    *,
    omega: ArrayLike = inf,
) -> Float[Array, "H *n"]:
    """Answers of the batch edit at queries q, computed as a kernel memory without any
    change of W: Wq + R(S + I/ω)⁻¹κ(K, q) with R = V − WK, S = κ(K, K) and κ(a, b) =
    aᵀC⁻¹b [R-S6].

    Args:
        W: Weights (H, D).
        C: Second moments (D, D), or a `KeyGeometry`.
        K: Keys (D, m).
        V: Values (H, m).
        q: Queries (D,) or (D, n).
        omega: As in `batch_edit`.
    """
    W = matrix(W, finite=False)
    C, _ = as_moments(C, W=W)
    K, V = pairs(W, K, V, finite=False)
    D = W.shape[1]
    queries = host("q", q)
    q = array(
        "q",
        queries,
        f"({D},) or ({D}, n): one query per column",
        1 if queries.ndim == 1 else 2,
    )
    if q.shape[0] != D:
        raise ValueError(
            f"q: got shape {q.shape}; it must be of length {D}, as W is {W.shape}."
        )
    answer, fault, quality = _interpolated(W, C, K, V, q, weight("omega", omega))
    refuse_singular("C", quality, C)
    refuse(fault, W, K, V)
    return answer


def refuse(fault: Array, W: Array, K: Array, V: Array) -> None:
    """ValueError if `fault`, the outcome of an edit of several pairs, is a failure.
    Nothing is raised if the outcome cannot be read without cost: inside jit, or if it
    is on another device than the host.
    """
    if code := _code(fault):
        # A bad entry makes the outcome a failure, so entries are checked only then.
        matrix(W)
        pairs(W, K, V)
        if code == Outcome.SINGULAR:
            raise ValueError(f"C: got a singular matrix; it must be {_SINGULAR}.")
        hint = (
            "linearly independent keys: drop the repeated ones, or relax with an omega "
            "that rounding does not hide"
        )
        if code == Outcome.DEPENDENT:
            raise ValueError(
                "K: got keys that are zero, or dependent up to rounding; "
                f"it must be {hint}."
            )
        if code == Outcome.NOT_FINITE:
            raise ValueError(
                "V: got values whose edit overflows; "
                "it must be smaller relative to the keys: divide V and W by one number."
            )


def matrix(W: ArrayLike, *, finite: bool = True) -> Array:
    """Weights W as an array (H, D). With `finite=False` the check for NaN may be
    skipped, because it costs as much as an edit.
    """
    return array("W", W, "(H, D): the weights to edit", 2, finite=finite)


def pair(
    W: Array, k: ArrayLike, v: ArrayLike, name: str = "k", *, finite: bool = True
) -> tuple[Array, Array]:
    """A key (D,), not zero, and a value (H,), checked against the weights. With
    `finite=False` the check of their entries may be skipped.
    """
    k = array(name, k, f"({W.shape[1]},): one key", 1, finite=finite)
    v = array("v", v, f"({W.shape[0]},): one value", 1, finite=finite)
    _fits(W, k, v, name, "v")
    if finite and readable(k) and not np.asarray(k).any():
        raise ValueError(f"{name}: got a zero key; it must be {_ZERO}.")
    return k, v


def pairs(
    W: Array, K: ArrayLike, V: ArrayLike, *, finite: bool = True
) -> tuple[Array, Array]:
    """Keys (D, m) and values (H, m), checked against the weights. With `finite=False`
    the check of their entries may be skipped.
    """
    K = array("K", K, f"({W.shape[1]}, m): one key per column", 2, finite=finite)
    V = array("V", V, f"({W.shape[0]}, m): one value per column", 2, finite=finite)
    _fits(W, K, V, "K", "V")
    if K.shape[1] != V.shape[1]:
        raise ValueError(
            f"V: got shape {V.shape}; "
            f"it must be (H, {K.shape[1]}): a value for each key."
        )
    return K, V


def _code(fault: Array) -> int:
    """Code of an outcome; 0 if it cannot be read without cost."""
    # Through NumPy, because `int` of a JAX array takes five times as long.
    return int(np.asarray(fault)) if readable(fault) else 0


def _fits(W: Array, k: Array, v: Array, key: str, value: str) -> None:
    H, D = W.shape
    if k.shape[0] != D:
        raise ValueError(
            f"{key}: got shape {k.shape}; "
            f"it must be of length {D}, as W is {W.shape}{transposed(key, k.shape, D)}."
        )
    if v.shape[0] != H:
        raise ValueError(
            f"{value}: got shape {v.shape}; "
            f"it must be of length {H}, as W is {W.shape}."
        )


def _steps(refine: int) -> int:
    return integer("refine", refine, "a number of steps, 0 for none", least=0)


@partial(jax.jit, static_argnames="refine")
@full_precision()
def _rank_one(
    W: Array,
    C: Array | KeyGeometry,
    ridge: ArrayLike,
    k: Array,
    v: Array,
    refine: int,
) -> tuple[Write, Quality | None]:
    geometry, quality = factored(C, ridge)
    u = geometry.solve(k, refine=refine)
    s, r = _products(W, k, v, u, refine)
    singular = (geometry.outcome != Outcome.OK, Outcome.SINGULAR)
    interference = r @ r / s
    fault = outcome(singular, (~jnp.isfinite(interference), Outcome.NOT_FINITE))
    return Write(r / s, u, interference, fault), quality


@partial(jax.jit, static_argnames="refine")
@full_precision()
def _batch(
    W: Array,
    C: Array | KeyGeometry,
    ridge: ArrayLike,
    K: Array,
    V: Array,
    omega: ArrayLike,
    refine: int,
) -> tuple[Write, Quality | None]:
    geometry, quality = factored(C, ridge)
    A = geometry.solve(K, refine=refine)
    S, R = _products(W, K, V, A, refine)
    left, fault = Ridge(omega).coefficients(R, S)
    fault = jnp.where(geometry.outcome != Outcome.OK, geometry.outcome, fault)
    return Write(left, A, jnp.sum((left @ S) * left), fault), quality


def _products(
    W: Array, K: Array, V: Array, A: Array, refine: int
) -> tuple[Array, Array]:
    """KᵀA and V − WK, for one pair or many; summed as if in twice the precision where A
    was refined.
    """
    if not refine:
        K = K.astype(A.dtype)
        W = W.astype(A.dtype)
        V = V.astype(wider(V, A))
        return K.T @ A, V - (W @ K).astype(V.dtype)
    keys = K.reshape(len(K), -1)
    overlap = -accurate_difference(
        jnp.zeros((keys.shape[1], *A.shape[1:]), A.dtype), keys, A
    )
    return overlap.reshape(K.shape[1:] * 2), accurate_difference(
        V.astype(A.dtype), W.T, K
    )


@jax.jit
@full_precision()
def _interpolated(
    W: Array, C: Array | KeyGeometry, K: Array, V: Array, q: Array, omega: ArrayLike
) -> tuple[Array, Array, Quality | None]:
    geometry, quality = factored(C, 0.0)
    memory = KernelMemory.store(K, V - W @ K, geometry, rule=Ridge(omega))
    fault = jnp.where(geometry.outcome == Outcome.OK, memory.outcome, geometry.outcome)
    return W @ q + memory.read(q), fault, quality
