"""Write key–value pairs into a linear map at the least cost to the keys it already answers."""

from functools import partial
from math import inf, isfinite

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, check, is_traced, real
from rankone.editing.geometry import KeyGeometry, as_geometry
from rankone.precision import double_precision, precision_of, smallest_pivot
from rankone.writes.write import LowRankEdit, RankOneEdit

__all__ = ["batch_edit", "interpolate_residuals", "matrix", "pairs", "rank_one_edit"]


def rank_one_edit(
    W: Float[ArrayLike, "H D"],
    C: "Float[ArrayLike, 'D D'] | KeyGeometry",
    k: Float[ArrayLike, " D"],
    v: Float[ArrayLike, " H"],
    *,
    ridge: ArrayLike = 0.0,
    refine: int = 0,
) -> RankOneEdit:
    r"""The least disturbing change of W that answers the key k with the value v [R-eq13, R-eq17, R-S1].

    $\hat W=W+\Lambda u^\top$ with $u=C^{-1}k$ and $\Lambda=(v-Wk)/(u^\top k)$ minimises $\lVert(\hat W-W)K\rVert_F$
    among all matrices with $\hat Wk=v$, whatever W is; if W is the least-squares map, it minimises
    $\lVert\hat WK-V\rVert_F$ too.

    Args:
        W: Weights (H, D).
        C: Second moments KKᵀ of the keys (D, D), or a `KeyGeometry` made of them once for many edits.
        k: Key (D,), not zero.
        v: Value (H,).
        ridge: Added to the diagonal of C.
        refine: Steps of float64 refinement of C⁻¹k; with one the change is right to about 1e-10, and is float64.

    Raises:
        ValueError: If a shape does not fit, an entry is not finite, the key is zero or C is singular.
    """
    W, geometry = matrix(W, finite=False), as_geometry(C, ridge)
    k, v = array("k", k, f"({W.shape[1]},): one key", 1), array("v", v, f"({W.shape[0]},): one value", 1)
    _fits(W, geometry, k, v, "k", "v")
    if not is_traced(k):
        check(bool(np.any(k)), "k", "a zero key", "non-zero: every linear map answers zero with zero")
    with double_precision() if refine else precision_of(W, geometry, k, v):
        edit = _rank_one(W, geometry, k, v, refine)
        if not is_traced(edit) and not isfinite(edit.interference):
            matrix(W)  # a NaN in W shows in Wk: only then is all of W looked through
            wanted = "of a length whose square has neither underflow nor overflow: rescale it, or take refine=1"
            check(0 < float(edit.right @ k) < inf, "k", f"entries up to {np.abs(k).max():.1e}", wanted)
        return edit


def batch_edit(
    W: Float[ArrayLike, "H D"],
    C: "Float[ArrayLike, 'D D'] | KeyGeometry",
    K: Float[ArrayLike, "D m"],
    V: Float[ArrayLike, "H m"],
    *,
    omega: ArrayLike = inf,
    ridge: ArrayLike = 0.0,
    refine: int = 0,
) -> LowRankEdit:
    r"""Write m pairs at once, exactly or, with a finite `omega`, in the least-squares sense of MEMIT.

    $\hat W=W+R\,(\omega^{-1}I+S)^{-1}K^\top C^{-1}$ with $R=V-WK$ and $S=K^\top C^{-1}K$: kernel interpolation of the
    residuals, or kernel ridge regression of them [R-S6].

    Args:
        W: Weights (H, D).
        C: Second moments (D, D) of the keys W already answers, or a `KeyGeometry`.
        K: Keys (D, m), linearly independent unless `omega` is finite.
        V: Values (H, m).
        omega: How often each new pair counts against one old key; ∞ writes it exactly.
        ridge: Added to the diagonal of C.
        refine: As in `rank_one_edit`.

    Raises:
        ValueError: If a shape does not fit, an entry is not finite, keys are dependent or C is singular.
    """
    W, geometry = matrix(W), as_geometry(C, ridge)
    K, V = pairs(W, geometry, K, V)
    weight = real("omega", omega, "positive; inf writes the pairs exactly")
    check(weight is None or weight > 0, "omega", weight, "positive; inf writes the pairs exactly")
    with double_precision() if refine else precision_of(W, geometry, K, V):
        edit, pivot = _batch(W, geometry, K, V, omega, refine)
    if not is_traced(pivot):
        hint = "linearly independent keys: drop the repeated ones, or relax with omega"
        check(float(pivot) > smallest_pivot(K.shape[1], pivot.dtype), "K", f"a pivot of {float(pivot):.1e}", hint)
    return edit


def interpolate_residuals(
    W: ArrayLike, C: "ArrayLike | KeyGeometry", K: ArrayLike, V: ArrayLike, q: ArrayLike, *, omega: ArrayLike = inf
) -> Float[Array, "H ..."]:
    """Wq + R(S + I/ω)⁻¹κ(K, q) with κ(a, b) = aᵀC⁻¹b: the batch edit as a kernel memory, no matrix changed [R-S6].

    Args:
        W: Weights (H, D).
        C: Second moments (D, D), or a `KeyGeometry`.
        K: Keys (D, m).
        V: Values (H, m).
        q: Queries (D,) or (D, n).
        omega: As in `batch_edit`.
    """
    W, geometry = matrix(W), as_geometry(C)
    K, V = pairs(W, geometry, K, V)
    with precision_of(W, geometry, K, V, q):
        return _interpolated(W, geometry, K, V, jnp.asarray(q), omega)


def matrix(W: ArrayLike, *, finite: bool = True) -> Array:
    """W as an (H, D) array; looking for NaN in it costs as much as an edit, so that it can be put off."""
    if finite or not hasattr(W, "dtype") or not jnp.issubdtype(W.dtype, jnp.floating):
        return array("W", W, "(H, D): the weights to edit", 2)
    W = jnp.asarray(W)
    check(W.ndim == 2 and W.size > 0, "W", f"shape {W.shape}", "an array of shape (H, D): the weights to edit")
    return W


def pairs(W: Array, geometry: KeyGeometry, K: ArrayLike, V: ArrayLike) -> tuple[Array, Array]:
    """Keys (D, m) and values (H, m), checked against the weights and the geometry."""
    K = array("K", K, f"({W.shape[1]}, m): one key a column", 2)
    V = array("V", V, f"({W.shape[0]}, m): one value a column", 2)
    _fits(W, geometry, K, V, "K", "V")
    check(K.shape[1] == V.shape[1], "V", f"shape {V.shape}", f"(H, {K.shape[1]}): a value for each key")
    return K, V


def _fits(W: Array, geometry: KeyGeometry, k: Array, v: Array, key: str, value: str) -> None:
    H, D = W.shape
    check(geometry.D == D, "C", f"({geometry.D}, {geometry.D})", f"({D}, {D}), as W is {W.shape}")
    check(k.shape[0] == D, key, f"shape {k.shape}", f"of length {D}, as W is {W.shape}")
    check(v.shape[0] == H, value, f"shape {v.shape}", f"of length {H}, as W is {W.shape}")


@partial(jax.jit, static_argnames="refine")
def _rank_one(W: Array, geometry: KeyGeometry, k: Array, v: Array, refine: int) -> RankOneEdit:
    u = geometry.solve(k, refine=refine)
    s = u @ k
    r = v - W.astype(s.dtype) @ k
    return RankOneEdit(r / s, u, r @ r / s)


@partial(jax.jit, static_argnames="refine")
def _batch(W: Array, geometry: KeyGeometry, K: Array, V: Array, omega: ArrayLike, refine: int) -> tuple:
    A = geometry.solve(K, refine=refine)
    S = K.T.astype(A.dtype) @ A
    S = (S + S.T) / 2
    R = V - W.astype(A.dtype) @ K
    scale = jnp.sqrt(jnp.diagonal(S))  # keys of very different lengths are no reason to fail
    # 1/ω before the division by scale², or the gradient at ω = ∞ is 0·∞
    relaxed = S / scale / scale[:, None] + jnp.diag(1 / jnp.asarray(omega, S.dtype) / scale**2)
    factor = jnp.linalg.cholesky(relaxed)
    left = jax.scipy.linalg.cho_solve((factor, True), (R / scale).T).T / scale
    pivots = jnp.nan_to_num(jnp.diagonal(factor) ** 2)
    return LowRankEdit(left, A, jnp.sum((left @ S) * left)), pivots.min()


@jax.jit
def _interpolated(W: Array, geometry: KeyGeometry, K: Array, V: Array, q: Array, omega: ArrayLike) -> Array:
    kernel = geometry.inner(K, K) + jnp.eye(K.shape[1], dtype=K.dtype) / omega
    return W @ q + (V - W @ K) @ jnp.linalg.solve(kernel, geometry.inner(K, q))
