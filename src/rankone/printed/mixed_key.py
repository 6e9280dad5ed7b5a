"""The edit as its published code computes it: one key for the direction, another for the step."""

import jax
from jaxtyping import ArrayLike, Float

from rankone._checks import array, check
from rankone.editing.closed_form import matrix
from rankone.editing.geometry import KeyGeometry, as_geometry
from rankone.precision import precision_of
from rankone.writes.write import RankOneEdit

__all__ = ["mixed_key_edit"]


def mixed_key_edit(
    W: Float[ArrayLike, "H D"],
    C: "Float[ArrayLike, 'D D'] | KeyGeometry",
    k_mean: Float[ArrayLike, " D"],
    k_bare: Float[ArrayLike, " D"],
    v: Float[ArrayLike, " H"],
) -> RankOneEdit:
    """U from the mean key over contexts, but uᵀk and Wk from the key without a context.

    It answers the bare key exactly and the mean key by accident; where uᵀk_bare happens to be small, it writes a huge
    change. `rank_one_edit` with one key throughout is the cure.

    Args:
        W: Weights (H, D).
        C: Second moments (D, D), or a `KeyGeometry`.
        k_mean: Mean of the key over prefixed contexts.
        k_bare: Key of the prompt alone.
        v: Value (H,).
    """
    W, geometry = matrix(W), as_geometry(C)
    k_mean, k_bare = array("k_mean", k_mean, f"({W.shape[1]},)", 1), array("k_bare", k_bare, f"({W.shape[1]},)", 1)
    for name, k in (("k_mean", k_mean), ("k_bare", k_bare)):
        check(k.shape[0] == W.shape[1] == geometry.D, name, f"shape {k.shape}", f"({geometry.D},)")
    v = array("v", v, f"({W.shape[0]},)", 1)
    with precision_of(W, geometry, k_mean, k_bare, v):
        return _mixed(W, geometry, k_mean, k_bare, v)


@jax.jit
def _mixed(W: jax.Array, geometry: KeyGeometry, k_mean: jax.Array, k_bare: jax.Array, v: jax.Array) -> RankOneEdit:
    u = geometry.solve(k_mean)
    left = (v - W @ k_bare) / (u @ k_bare)
    return RankOneEdit(left, u, (left @ left) * (u @ k_mean))  # uᵀCu = uᵀk_mean
