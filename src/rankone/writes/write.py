"""A write as an object: a change of low rank that can be inspected, applied, undone,
added to another write and saved.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int

from rankone._annotated import checked
from rankone._checks import boolean, brief, host, integer, scalar, settled
from rankone._files import read_arrays, save_arrays
from rankone._module import Module
from rankone.checks import Outcome
from rankone.precision import canonical, full_precision, wider

__all__ = ["Edited", "LowRankEdit", "RankOneEdit", "Write", "load_edit", "load_write"]


class Write(Module):
    """The change left · rightᵀ of a matrix (H, D) that writes one key–value pair, or m
    of them [R-eq13].

    `RankOneEdit` and `LowRankEdit` are other names of the class `Write`.

    Attributes:
        left: Coefficients R X: the residuals R = V − WK times the matrix X (m, m) of
            the rule, as in `rankone.writes`; (H,) for one pair, (H, m) for m. For an
            exact edit with C = K₀K₀ᵀ they are the Lagrange multiplier Λ, the rate at
            which half the interference grows with the target value [R-title].
        right: The geometry times the key: (D,) for one pair, (D, m) for m. For an edit
            this is C⁻¹k (see `KeyGeometry`).
        interference: tr(ΔCΔᵀ) for Δ = left rightᵀ and the C of the geometry, with its
            ridge. For C = K₀K₀ᵀ this is the sum of the squared changes of the answers
            at the old keys K₀, ‖left rightᵀ K₀‖²_F; for the mean of kkᵀ over these
            keys, it is that sum divided by their number. None without old keys.
        outcome: A `rankone.checks.Outcome`, which reports a failure inside jit too; 0
            if the write succeeded.

    >>> import jax.numpy as jnp
    >>> from rankone.writes import Write
    >>> write = Write(jnp.array([1.0, 2.0]), jnp.array([0.0, 0.5, 0.0]))
    >>> write
    Write(left=f32[2], right=f32[3], interference=None, outcome=0)
    >>> write.apply(jnp.zeros((2, 3))).tolist()
    [[0.0, 0.5, 0.0], [0.0, 1.0, 0.0]]
    >>> write.at(jnp.array([4.0, 4.0, 4.0])).tolist()
    [2.0, 4.0]
    """

    left: Float[Array, "H *m"]
    right: Float[Array, "D *m"]
    interference: Float[Array, ""] | None = None
    outcome: Int[Array, ""] = eqx.field(
        default_factory=lambda: scalar(np.int32(Outcome.OK))
    )

    def __post_init__(self) -> None:
        left = _floating("left", self.left)
        right = _floating("right", self.right)
        if left.ndim not in (1, 2):
            raise ValueError(
                f"left: got shape {left.shape}; "
                "it must be (H,) for one pair or (H, m) for m."
            )
        shapes_match = right.ndim == left.ndim and right.shape[1:] == left.shape[1:]
        if not shapes_match:
            raise ValueError(
                f"right: got shape {right.shape}; it must be a vector or matrix with as "
                f"many columns as left, {left.shape}."
            )
        outcome = host("outcome", self.outcome)
        if not jnp.issubdtype(outcome.dtype, jnp.integer):
            raise ValueError(
                f"outcome: got {brief(self.outcome)}; "
                "it must be an integer, of checks.Outcome."
            )
        if self.interference is not None:
            self.interference = _floating("interference", self.interference)
        self.left = left
        self.right = right
        self.outcome = scalar(outcome)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (H, D) of the matrix that the write changes."""
        return self.left.shape[0], self.right.shape[0]

    @property
    def delta(self) -> Float[Array, "H D"]:
        """The change as a matrix."""
        return _delta(canonical(self))

    def apply(self, W: ArrayLike, *, donate: bool = False) -> Float[Array, "H D"]:
        """Edited matrix W + delta, in the precision of W. With `donate` the memory of W
        is reused, and W must not be used again.
        """
        return _apply(self, "W", W, 1, donate)

    def undo(self, W_hat: ArrayLike, *, donate: bool = False) -> Float[Array, "H D"]:
        """Weights before the edit, W_hat − delta, up to rounding. `Edited` restores
        them to the last bit.
        """
        return _apply(self, "W_hat", W_hat, -1, donate)

    def at(self, q: ArrayLike) -> Float[Array, "H *n"]:
        """Change of the answer Wq by the write, left · rightᵀ q, at queries q, (D,) or
        (D, n).
        """
        return _at(canonical(self), _queries(self, q))

    def __add__(self, other: "Write") -> "Write":
        """Both writes as one of all their columns; its interference is not the sum of
        theirs, and is set to None.
        """
        if not isinstance(other, Write):
            return NotImplemented
        if other.shape != self.shape:
            raise ValueError(
                f"other: got a write of a {other.shape} matrix; "
                f"it must be of shape {self.shape}."
            )
        left = jnp.concatenate([_columns(self.left), _columns(other.left)], axis=1)
        right = jnp.concatenate([_columns(self.right), _columns(other.right)], axis=1)
        return Write(
            left,
            right,
            outcome=jnp.where(self.outcome != 0, self.outcome, other.outcome),
        )

    @checked
    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> Path:
        """Copy of the write in an .npz file that `load_write` reads; returns the path.
        The file is written in full or not at all.

        Args:
            path: Path of the file; ".npz" is added to a name without this ending.
            about: Numbers and texts to save with the write, by names that differ from
                those of its fields.

        Returns:
            The path of the file.
        """
        path = Path(path)
        about = dict(about or {})
        path = path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")
        fields = {
            name: value for name, value in self.__dict__.items() if value is not None
        }
        for name, value in about.items():
            if not isinstance(name, str) or name in _FIELDS:
                raise ValueError(
                    f"about: got {brief(name)}; "
                    f"it must be a text other than {', '.join(sorted(_FIELDS))}."
                )
            is_plain = isinstance(
                value, str | bool | int | float | np.bool_ | np.number
            )
            if not is_plain:
                raise ValueError(
                    f"about: got {name}={value!r}; "
                    "it must be numbers and texts; json.dumps makes a text of a list."
                )
        save_arrays(path, fields | about)
        return path


RankOneEdit = Write
LowRankEdit = Write
_FIELDS = ("left", "right", "interference", "outcome")


@checked
def load_write(path: str | Path) -> tuple[Write, dict[str, Any]]:
    """`Write` read from a file of `Write.save`, and the numbers and texts saved with
    it. Arrays in float64 become float32 where double precision is not enabled.
    `load_write` and `load_edit` are two names of one function.

    Raises:
        ValueError: If the file was not written by `Write.save`, or is cut short.
    """
    try:
        arrays = read_arrays(path)
        fields = {
            name: jnp.asarray(arrays.pop(name)) for name in _FIELDS if name in arrays
        }
        return Write(**fields), {key: value.item() for key, value in arrays.items()}
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"path: got {str(path)!r}; it must be a whole .npz file written by an "
            f"edit's save: {error}"
        ) from error


load_edit = load_write


class Edited(Module):
    """A weight matrix and the writes made to it. Writes can be undone exactly, because
    the original matrix is stored.

    Attributes:
        base: W before any edit (H, D).
        edits: Edits in the order they were made.
    """

    base: Float[ArrayLike, "H D"]
    edits: tuple[Write, ...] = ()

    def __post_init__(self) -> None:
        are_writes = isinstance(self.edits, list | tuple) and all(
            isinstance(edit, Write) for edit in self.edits
        )
        if not are_writes:
            raise ValueError(
                f"edits: got {brief(self.edits)}; it must be a tuple of writes."
            )
        self.base = _floating("base", self.base)
        self.edits = tuple(self.edits)

    @property
    def W(self) -> Float[Array, "H D"]:
        """The matrix with all edits applied."""
        W = jnp.asarray(self.base)
        for edit in self.edits:
            W = edit.apply(W)
        return W

    @checked
    def then(self, edit: Write) -> "Edited":
        """Edited object with one more edit."""
        shape = np.shape(self.base)
        if edit.shape != shape:
            raise ValueError(
                f"edit: got an edit of a {edit.shape} matrix; "
                f"it must be one of shape {shape}."
            )
        return Edited(self.base, (*self.edits, edit))

    def undo(self, count: int = 1) -> "Edited":
        """Edited object as it was before the last `count` edits, bit for bit."""
        total = len(self.edits)
        count = integer(
            "count", count, f"between 0 and the {total} edits made", least=0, most=total
        )
        return Edited(self.base, self.edits[: total - count])


def _floating(name: str, value: ArrayLike) -> Array:
    """`value` as a floating array of real numbers."""
    if settled(value):
        return value
    out = canonical(host(name, value))
    return jnp.asarray(
        out
        if jnp.issubdtype(out.dtype, jnp.floating)
        else out.astype(jnp.result_type(float))
    )


def _queries(write: Write, q: ArrayLike) -> Array:
    q = _floating("q", q)
    D = len(write.right)
    if q.ndim not in (1, 2) or len(q) != D:
        raise ValueError(
            f"q: got shape {q.shape}; "
            f"it must be ({D},) or ({D}, n): one query per column."
        )
    return q


def _columns(factor: Array) -> Array:
    return factor if factor.ndim == 2 else factor[:, None]


@jax.jit
@full_precision()
def _delta(write: Write) -> Array:
    wide = wider(write.left, write.right)
    return _columns(write.left).astype(wide) @ _columns(write.right).T.astype(wide)


@jax.jit
@full_precision()
def _at(write: Write, q: Array) -> Array:
    return _columns(write.left) @ (_columns(write.right).T @ q)


def _apply(write: Write, name: str, value: ArrayLike, sign: int, donate: bool) -> Array:
    donate = boolean("donate", donate)
    # floating, because a matrix of integers would round the change
    W = _floating(name, value)
    if W.shape != write.shape:
        raise ValueError(
            f"{name}: got shape {W.shape}; "
            f"it must be {write.shape}: the matrix the edit was made for."
        )
    return (_add_in_place if donate else _add)(W, canonical(write), sign)


def _sum(W: Array, write: Write, sign: int) -> Array:
    wide = wider(W, write.left)
    return (W.astype(wide) + sign * _delta(write).astype(wide)).astype(W.dtype)


_add = partial(jax.jit, static_argnames="sign")(_sum)
_add_in_place = partial(jax.jit, static_argnames="sign", donate_argnums=0)(_sum)
