"""An edit is a value: a change of low rank that can be looked at, applied, undone and saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import check
from rankone._pytree import pytree
from rankone.precision import precision_of

__all__ = ["Edited", "LowRankEdit", "RankOneEdit", "load_edit"]


@pytree(data=["left", "right", "interference"])
@dataclass(frozen=True)
class RankOneEdit:
    r"""The change $\hat W-W=\Lambda u^\top$ that writes one pair [R-eq13].

    Attributes:
        left: Λ (H,), the multiplier: residual over squared length of the key; the shadow price of the target [R-title].
        right: u = C⁻¹k (D,).
        interference: ‖(Ŵ−W)K‖²_F = ‖r‖²/(kᵀC⁻¹k), what the edit does to all keys behind C together.
    """

    left: Float[Array, " H"]
    right: Float[Array, " D"]
    interference: Float[Array, ""]

    @property
    def delta(self) -> Float[Array, "H D"]:
        """Ŵ − W as a matrix."""
        with precision_of(self):
            return _outer(self.left, self.right)

    def apply(self, W: ArrayLike, *, donate: bool = False) -> Float[Array, "H D"]:
        """Ŵ, in the precision of W. With `donate` the memory of W is reused and W is gone."""
        return _apply(self, W, 1, donate)

    def undo(self, W_hat: ArrayLike, *, donate: bool = False) -> Float[Array, "H D"]:
        """W up to the rounding of one addition; `Edited` gives it back to the last bit."""
        return _apply(self, W_hat, -1, donate)

    def at(self, q: ArrayLike) -> Float[Array, "H ..."]:
        """What the edit adds to the answer at queries q, (D,) or (D, n): Λ(uᵀq)."""
        with precision_of(self, q):
            return _along(self.left, self.right, jnp.asarray(q))

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> Path:
        """Write the edit to an .npz file; `about` (numbers and strings) goes with it. `load_edit` reads it."""
        return _save(self, path, about or {})


@pytree(data=["left", "right", "interference"])
@dataclass(frozen=True)
class LowRankEdit:
    r"""The change $\hat W-W=\Lambda A^\top$ that writes m pairs.

    Attributes:
        left: (H, m).
        right: (D, m).
        interference: ‖(Ŵ−W)K‖²_F.
    """

    left: Float[Array, "H m"]
    right: Float[Array, "D m"]
    interference: Float[Array, ""]

    @property
    def delta(self) -> Float[Array, "H D"]:
        """Ŵ − W as a matrix."""
        with precision_of(self):
            return _product(self.left, self.right)

    def apply(self, W: ArrayLike, *, donate: bool = False) -> Float[Array, "H D"]:
        """Ŵ, in the precision of W. With `donate` the memory of W is reused and W is gone."""
        return _apply(self, W, 1, donate)

    def undo(self, W_hat: ArrayLike, *, donate: bool = False) -> Float[Array, "H D"]:
        """W up to the rounding of one addition; `Edited` gives it back to the last bit."""
        return _apply(self, W_hat, -1, donate)

    def at(self, q: ArrayLike) -> Float[Array, "H ..."]:
        """What the edit adds to the answer at queries q, (D,) or (D, n)."""
        with precision_of(self, q):
            return _through(self.left, self.right, jnp.asarray(q))

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> Path:
        """Write the edit to an .npz file; `about` (numbers and strings) goes with it. `load_edit` reads it."""
        return _save(self, path, about or {})


@pytree(data=["base", "edits"])
@dataclass(frozen=True)
class Edited:
    """A weight matrix and the edits written over it, which can be taken back exactly, for the matrix itself stays.

    Attributes:
        base: W before any edit (H, D).
        edits: In the order they were made.
    """

    base: Float[Array, "H D"]
    edits: tuple[RankOneEdit | LowRankEdit, ...] = ()

    @property
    def W(self) -> Float[Array, "H D"]:
        """The matrix as it now stands."""
        W = jnp.asarray(self.base)
        for edit in self.edits:
            W = edit.apply(W)
        return W

    def then(self, edit: RankOneEdit | LowRankEdit) -> "Edited":
        """With one more edit."""
        wanted = (edit.left.shape[0], edit.right.shape[0])
        check(wanted == self.base.shape, "edit", f"an edit of a {wanted} matrix", f"one of shape {self.base.shape}")
        return Edited(self.base, (*self.edits, edit))

    def undo(self, count: int = 1) -> "Edited":
        """Without the last `count` edits: bit for bit what it was before them."""
        check(0 <= count <= len(self.edits), "count", count, f"between 0 and the {len(self.edits)} edits made")
        return Edited(self.base, self.edits[: len(self.edits) - count])


def load_edit(path: str | Path) -> tuple[RankOneEdit | LowRankEdit, dict[str, Any]]:
    """An edit written by `save`, and what was saved about it.

    Raises:
        ValueError: If the file is not such an edit, or is cut short.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            held = {key: archive[key] for key in archive.files}
        arrays = [held.pop(key) for key in ("left", "right", "interference")]
    except FileNotFoundError:
        raise
    except Exception as error:  # zipfile, numpy and zlib each have their own
        raise ValueError(f"path: got {str(path)!r}; it must be a whole .npz file written by an edit's save.") from error
    kind: type[RankOneEdit | LowRankEdit] = RankOneEdit if arrays[0].ndim == 1 else LowRankEdit
    with precision_of(arrays):
        return kind(*map(jnp.asarray, arrays)), {key: value.item() for key, value in held.items()}


def _save(edit: RankOneEdit | LowRankEdit, path: str | Path, about: Mapping[str, Any]) -> Path:
    path = Path(path).with_suffix(".npz")
    clash = {"left", "right", "interference"} & set(about)
    check(not clash, "about", sorted(clash), "named otherwise: these are the edit's own")
    np.savez(path, left=edit.left, right=edit.right, interference=edit.interference, **about)
    return path


@jax.jit
def _outer(left: Array, right: Array) -> Array:
    return left[:, None] * right


@jax.jit
def _product(left: Array, right: Array) -> Array:
    return left @ right.T


@jax.jit
def _along(left: Array, right: Array, q: Array) -> Array:
    return jnp.multiply.outer(left, right @ q)


@jax.jit
def _through(left: Array, right: Array, q: Array) -> Array:
    return left @ (right.T @ q)


def _apply(edit: RankOneEdit | LowRankEdit, W: ArrayLike, sign: int, donate: bool) -> Array:
    W = jnp.asarray(W)
    W = W if jnp.issubdtype(W.dtype, jnp.floating) else W.astype(edit.left.dtype)  # else the change would be rounded
    wanted = (edit.left.shape[0], edit.right.shape[0])
    check(W.shape == wanted, "W", f"shape {W.shape}", f"{wanted}: the matrix the edit was made for")
    with precision_of(edit, W):
        return (_add_in_place if donate else _add)(W, edit, sign)


def _sum(W: Array, edit: RankOneEdit | LowRankEdit, sign: int) -> Array:
    return (W + sign * edit.delta).astype(W.dtype)


_add = partial(jax.jit, static_argnames="sign")(_sum)
_add_in_place = partial(jax.jit, static_argnames="sign", donate_argnums=0)(_sum)
