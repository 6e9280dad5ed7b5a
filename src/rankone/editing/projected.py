"""Edits within directions that the old keys hardly use: AlphaEdit's update, computed as
a batch edit.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._annotated import checked
from rankone._checks import array, host, positive, readable
from rankone.editing.closed_form import batch_edit, matrix, pairs
from rankone.editing.geometry import KeyGeometry
from rankone.precision import full_precision
from rankone.writes import Write

__all__ = ["projected_edit", "quiet_directions"]


@checked
def quiet_directions(
    C: Float[ArrayLike, "D D"], *, threshold: float
) -> Float[Array, "D n"]:
    """Orthonormal directions along which the mean square of the old keys is below a
    threshold.

    AlphaEdit calls their span the null space of the old keys. Its published code uses
    the threshold 0.02, where C is the mean of kkᵀ over tokens of text.

    Args:
        C: Second moments of the keys (D, D).
        threshold: Positive number, in the unit of C. The eigenvectors whose eigenvalue
            is below it are returned.

    Returns:
        Eigenvectors, one per column (D, n).

    Raises:
        ValueError: If C is not square, or no eigenvalue is below the threshold.

    >>> import numpy as np
    >>> from rankone.editing import quiet_directions
    >>> abs(quiet_directions(np.diag([1.0, 0.01]), threshold=0.02)).tolist()
    [[0.0], [1.0]]
    """
    C = array("C", C, "(D, D): the second moments of the keys", 2)
    if C.shape[0] != C.shape[1]:
        raise ValueError(f"C: got shape {C.shape}; it must be square.")
    positive("threshold", threshold)
    sizes, directions = np.linalg.eigh(np.asarray(C, float))
    mask = sizes < threshold
    if not mask.any():
        raise ValueError(
            f"threshold: got {threshold}; it must be above the smallest eigenvalue of "
            f"C, {sizes[0]:.2g}."
        )
    return jnp.asarray(directions[:, mask], C.dtype)


@full_precision()
def projected_edit(
    W: Float[ArrayLike, "H D"],
    directions: Float[ArrayLike, "D n"],
    K: Float[ArrayLike, "D m"],
    V: Float[ArrayLike, "H m"],
    *,
    ridge: float = 10.0,
    written: "Float[ArrayLike, 'D p'] | None" = None,
) -> Write:
    """Regularised edit that changes W only along given directions: AlphaEdit's update
    [R-S10].

    The columns of B are the directions, P = BBᵀ projects on their span, R = V − WK are
    the residuals, and the columns of E are the keys of earlier edits. The change is

    Δ = R Kᵀ P (P(KKᵀ + EEᵀ)P + λI)⁻¹ P.

    It minimises ‖(W + Δ)K − V‖² + ‖ΔE‖² + λ‖Δ‖² among all Δ with ΔP = Δ. In the
    coordinates Bᵀk this is `batch_edit` with the second moments λI + BᵀEEᵀB and ω = 1.

    Args:
        W: Weights (H, D).
        directions: B, orthonormal columns (D, n), as `quiet_directions` returns them.
        K: Keys (D, m), one per column.
        V: Values (H, m).
        ridge: λ, positive, in the unit of a squared key; 10 in the published code.
        written: E, the keys of earlier edits (D, p), at which the edit should change
            answers little. The published code sums EEᵀ in its `cache_c`.

    Returns:
        The change. Its `interference` is None, because the old keys are not known here.

    Raises:
        ValueError: If a shape does not fit, the directions are not orthonormal, or the
            ridge is not positive.

    >>> import numpy as np
    >>> from rankone.editing import projected_edit
    >>> W, B = np.zeros((1, 2)), np.array([[0.0], [1.0]])
    >>> K, V = np.array([[3.0], [2.0]]), np.array([[5.0]])
    >>> projected_edit(W, B, K, V, ridge=1.0).delta.tolist()
    [[0.0, 2.0]]
    """
    W = matrix(W)
    D = W.shape[1]
    B = array("directions", directions, f"({D}, n): one direction per column", 2)
    n = B.shape[1]
    if len(B) != D:
        raise ValueError(
            f"directions: got shape {B.shape}; it must be ({D}, n), as W is {W.shape}."
        )
    if readable(B):
        basis = np.asarray(B)
        skew = float(np.abs(basis.T @ basis - np.eye(n)).max())
        # tolerance for the rounding error of a sum of D products
        if not skew < 100 * D**0.5 * float(jnp.finfo(B.dtype).eps):
            raise ValueError(
                f"directions: got columns whose products differ from those of "
                f"orthonormal ones by {skew:.1e}; it must be an orthonormal basis "
                f"(D, n)."
            )
    positive("ridge", ridge)
    K, V = pairs(W, K, V)
    moments = ridge * jnp.eye(n, dtype=B.dtype)
    if written is not None:
        E = array(
            "written", host("written", written), f"({D}, p): one key per column", 2
        )
        if E.shape[0] != D:
            raise ValueError(
                f"written: got shape {E.shape}; it must be ({D}, p), one key per column."
            )
        error_parts = B.T @ E
        moments = moments + error_parts @ error_parts.T
    key_parts = B.T @ K
    start = W @ B
    # the residual is that of the whole key, not of its part along the directions
    values = start @ key_parts + (V - W @ K)
    edit = batch_edit(
        start, KeyGeometry.from_moments(moments), key_parts, values, omega=1
    )
    return _outside(edit, B)


@jax.jit
@full_precision()
def _outside(edit: Write, B: Array) -> Write:
    """The edit of W B as an edit of W."""
    return Write(edit.left, B @ edit.right, None, edit.outcome)
