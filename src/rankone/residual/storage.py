"""Residuals of a base model, onehot(y) − softmax(f): stored in full, or as the largest
entries of each.
"""

from functools import partial
from typing import Protocol, cast, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.dtypes import canonicalize_dtype
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, ArrayLike, Bool, Float, Integer

from rankone._checks import (
    Numbers,
    array,
    host,
    integer,
    numbers,
    positive,
    readable,
    renamed,
    scalar,
    vectors,
)
from rankone._mesh import Placement
from rankone._module import Module, assembled
from rankone.precision import wider

__all__ = [
    "Residuals",
    "bare_labels",
    "checked_onehot_residuals",
    "classes",
    "dense",
    "from_arrays",
    "full",
    "largest",
    "onehot_residuals",
    "positive_number",
    "positive_scalar",
    "probabilities",
    "sparse",
    "split",
    "valid_classes",
    "valid_probabilities",
]

# tolerance of the sum of a row of probabilities, which half precision satisfies
_SUM = 1e-3


@runtime_checkable
class Residuals(Protocol):
    """Stored residuals: n vectors of length L."""

    def __len__(self) -> int:
        """Number n of the vectors."""

    @property
    def L(self) -> int:
        """Length of a vector."""

    def weighted(self, weights: Array, rows: Array) -> Array:
        """Weighted sum Σ weights[j] · residual[rows[j]] -> (L,)."""


class _Dense(Module):
    values: Float[Array, "n L"]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def L(self) -> int:
        return self.values.shape[1]

    def weighted(self, weights: Array, rows: Array) -> Array:
        return jnp.matmul(weights, self.values[rows], precision="highest")


class _Sparse(Module):
    values: Float[Array, "n m"]
    columns: Integer[Array, "n m"]
    length: int = eqx.field(static=True)

    @property
    def L(self) -> int:
        return self.length

    def __len__(self) -> int:
        return len(self.values)

    def weighted(self, weights: Array, rows: Array) -> Array:
        sums = jnp.zeros(self.L, wider(weights, self.values))
        values = self.values[rows].astype(sums.dtype)
        return sums.at[self.columns[rows]].add(
            weights[:, None].astype(sums.dtype) * values
        )


class _Split(Module):
    """Residuals of which each device holds an equal part; rows past n are 0."""

    parts: Residuals
    n: int = eqx.field(static=True)
    placement: Placement | None = eqx.field(static=True, repr=False)

    def __len__(self) -> int:
        return self.n

    @property
    def L(self) -> int:
        return self.parts.L

    def _placed(self, placement: Placement) -> "_Split":
        """The same residuals over the devices of a placement."""
        n = self.n

        def put(leaf: Array) -> Array:
            padding = [(0, -n % placement.parts)] + [(0, 0)] * (leaf.ndim - 1)
            return placement.put(jnp.pad(leaf[:n], padding), placement.axis)

        fields = {"parts": jax.tree.map(put, self.parts), "placement": placement}
        return assembled(_Split, self.__dict__ | fields)

    def weighted(self, weights: Array, rows: Array) -> Array:
        placement = self.placement
        if placement is None:
            return self.parts.weighted(weights, rows)

        def part_sums(parts: Residuals, weights: Array, rows: Array) -> Array:
            size = len(parts)
            place = rows - size * jax.lax.axis_index(placement.axis)
            part_mask = (place >= 0) & (place < size)
            sums = parts.weighted(
                jnp.where(part_mask, weights, 0), jnp.clip(place, 0, size - 1)
            )
            return jax.lax.psum(sums, placement.axis)

        specs = (jax.tree.map(lambda _: placement.spec(), self.parts), P(), P())
        return placement.run(part_sums, (self.parts, weights, rows), specs, P())


def from_arrays(arrays: tuple[Array, ...], L: int) -> Residuals:
    """Residuals from their arrays, as `jax.tree.leaves` gives them; nothing is
    checked.
    """
    if len(arrays) == 1:
        return dense(arrays[0])
    values, columns = arrays
    return _Sparse(values, columns, L)


def split(residuals: Residuals, placement: Placement) -> Residuals:
    """The residuals split over devices by rows, if all arrays of them have one row per
    residual; else as they are.
    """
    n = len(residuals)
    if isinstance(residuals, _Split):
        return residuals._placed(placement)
    if any(leaf.shape[:1] != (n,) for leaf in jax.tree.leaves(residuals)):
        return residuals
    return _Split(residuals, n, None)._placed(placement)


def dense(residuals: Array) -> Residuals:
    """Residuals (n, L) with every entry [S-res]; they are not checked."""
    return assembled(_Dense, {"values": residuals})


def largest(residuals: Array, m: int) -> Residuals:
    """The m entries of each residual that are largest in size, the others 0
    [S-appC-top128]. The entries are not checked.

    With one neighbour, a stored example still gets its own label, because the entry of
    the label, 1 − p_y, is the sum of the sizes of all other entries and hence never
    smaller than any of them.
    """
    L = residuals.shape[1]
    m = integer(
        "keep",
        m,
        "a positive number of entries, not above the number of classes",
        most=L,
    )
    values, columns = _top_entries(residuals, m)
    return assembled(_Sparse, {"values": values, "columns": columns, "length": L})


@partial(jax.jit, static_argnames="m")
def _top_entries(residuals: Array, m: int) -> tuple[Array, Array]:
    columns = jax.lax.top_k(jnp.abs(residuals), m)[1]
    return jnp.take_along_axis(residuals, columns, 1), columns


@jax.jit
def full(residuals: Residuals) -> Float[Array, "n L"]:
    """Dense array (n, L) of all residuals; entries that are not stored are 0."""
    n = len(residuals)
    return jax.vmap(lambda row: residuals.weighted(jnp.ones(1), row[None]))(
        jnp.arange(n)
    )


def sparse(values: Numbers, columns: Numbers, L: int) -> Residuals:
    """Residuals of length L, given by m entries each, for a vocabulary whose full
    residuals would not fit in memory.

    Args:
        values: Entries (n, m); they may have half precision.
        columns: Positions of the entries (n, m), integers from 0 to L − 1, of any width.
        L: Length of a vector.

    Raises:
        ValueError: If shapes differ, a value is not finite, or a column is outside 0 …
            L − 1.
    """
    entries = array(
        "values", values, "(n, m): some entries of each residual", 2, once=True
    )
    L = integer("L", L)
    return _Sparse(entries, classes("columns", columns, entries.shape, L), L)


def bare_labels(labels: Numbers, L: int) -> Residuals:
    """One-hot vectors of length L of n labels (n,): the residuals without any model,
    for plain nearest neighbours.
    """
    columns = host("labels", labels)
    if columns.ndim != 1 or columns.size == 0:
        raise ValueError(
            f"labels: got shape {columns.shape}; it must be (n,): one class per row, "
            "and not empty."
        )
    with renamed(columns="labels"):
        return sparse(np.ones((*columns.shape, 1)), columns[..., None], L)


def onehot_residuals(probs: Numbers, labels: Numbers) -> Float[Array, "n L"]:
    """Residuals of the base model, onehot(y) − probs, whose rows sum to 0 [S-res].

    Args:
        probs: The base model's probabilities (n, L), rows summing to 1.
        labels: Classes 0 … L − 1, (n,).
    """
    return checked_onehot_residuals(probabilities("probs", probs), labels)


def checked_onehot_residuals(probs: Array, labels: Numbers) -> Float[Array, "n L"]:
    """`onehot_residuals` of probabilities that were checked."""
    if probs.ndim != 2 or not probs.shape[1]:
        raise ValueError(
            f"probs: got shape {probs.shape}; it must be of shape (n, L): one row for "
            "each label."
        )
    return _onehot_residuals(
        probs, classes("labels", labels, probs.shape[:1], probs.shape[1])
    )


@jax.jit
def _onehot_residuals(probs: Array, y: Array) -> Array:
    return jax.nn.one_hot(y, probs.shape[1], dtype=probs.dtype) - probs


def probabilities(name: str, value: Numbers) -> Float[Array, "*n L"]:
    """`value` as an array of probabilities. Rows that do not sum to 1 raise an error if
    the array is on the host.
    """
    probs = vectors(name, value)
    if readable(probs) and probs.size:
        host_probs = np.asarray(probs)
        sums = host_probs.sum(-1)
        fits = abs(sums - 1).max() < _SUM and host_probs.min() >= -_SUM
        if not fits:
            raise ValueError(
                f"{name}: got rows that sum to {sums.min():.3g} … {sums.max():.3g}, "
                f"with a smallest entry of {host_probs.min():.3g}; it must be "
                "probabilities; or use logits=."
            )
    return probs


def valid_probabilities(probs: Float[Array, "*n L"]) -> Bool[Array, ""]:
    """True if `probabilities` refuses none of these values, for use inside jit."""
    # a sum is NaN or infinite if an entry is
    return (abs(probs.sum(-1) - 1) < _SUM).all() & (probs.min() >= -_SUM)


def positive_scalar(name: str, value: Numbers, hint: str) -> Float[Array, ""]:
    """`value` as a positive floating scalar array; a Python number gets the default
    dtype.
    """
    return scalar(positive_number(name, value, hint))


def positive_number(name: str, value: Numbers, hint: str) -> ArrayLike:
    """`value` as a positive floating number. A Python number stays one, because a
    jitted function takes it faster than an array can be made from it.
    """
    positive(name, value, hint, dtype=canonicalize_dtype(float))
    dtype = getattr(value, "dtype", None)
    is_floating = dtype is not None and jnp.issubdtype(dtype, jnp.floating)
    return cast(ArrayLike, value) if is_floating else float(cast(float, value))


def classes(
    name: str, value: Numbers, shape: tuple[int, ...], L: int
) -> Integer[Array, "..."]:
    """`value` as integers from 0 to L − 1, of this shape."""
    indices = host(name, value)
    if indices.shape != shape:
        raise ValueError(
            f"{name}: got shape {indices.shape}; it must be shape {shape}: one for "
            "each row."
        )
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise ValueError(
            f"{name}: got an array of {indices.dtype}; it must be integers from 0 to "
            f"{L - 1}."
        )
    if readable(indices) and indices.size:
        entries = np.asarray(indices)
        minimum = int(entries.min())
        maximum = int(entries.max())
        if not (minimum >= 0 and maximum < L):
            raise ValueError(
                f"{name}: got {minimum} … {maximum}; it must be from 0 to {L - 1}."
            )
    return numbers(name, indices)


def valid_classes(labels: Integer[Array, "..."], L: int) -> Bool[Array, ""]:
    """True if `classes` refuses none of these values, for use inside jit."""
    # Labels are converted first, because the largest class may not fit in a narrow
    # type. A label too large for an index becomes negative.
    indices = labels.astype(int)
    return (indices.min() >= 0) & (indices.max() < L)
