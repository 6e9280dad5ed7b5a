"""Stores of embeddings and the search for the nearest: on one device, spread over
several, or in an index of faiss.

All find the k nearest rows by Euclidean distance [S-eq2]; `ResMem(search=...)` takes
any of them.
"""

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, Bool, Float, Int

from rankone._checks import (
    Numbers,
    array,
    brief,
    concrete,
    host,
    integer,
    is_traced,
    known,
    readable,
    states,
)
from rankone._mesh import (
    Placement,
    automatic,
    check_placement,
    placement_of,
    placement_on,
    refuse_explicit,
)
from rankone._module import Module, assembled, derive
from rankone.checks import Outcome, outcome
from rankone.precision import at_least_single, wider
from rankone.residual.blocks import search_rows

__all__ = ["ExactSearch", "FaissSearch", "Neighbours", "ShardedSearch", "valid_rows"]

_AXIS = "rows"


class Neighbours(Module):
    """The k nearest rows of each query, nearest first; equal distances in the order of
    the rows.

    Attributes:
        distances: ‖q − z‖₂ (..., k), in the unit of the rows; ∞ where fewer than k rows
            are stored.
        indices: Rows of the store (..., k); −1 where fewer than k are stored.
    """

    distances: Float[Array, "*queries k"]
    indices: Int[Array, "*queries k"]

    @property
    def outcome(self) -> Int[Array, "*queries"]:
        """`checks.Outcome` of each query: EMPTY if nothing is stored, NOT_FINITE if a
        distance overflows or is NaN.
        """
        return _outcome(self)


@jax.jit
def _outcome(nearest: Neighbours) -> Array:
    row_mask = nearest.indices >= 0
    overflow = (row_mask & ~jnp.isfinite(nearest.distances)).any(-1)
    return outcome((overflow, Outcome.NOT_FINITE), (~row_mask.any(-1), Outcome.EMPTY))


class ExactSearch(Module):
    """Exact search by Euclidean distance in a store of rows [S-eq2].

    >>> import numpy as np, rankone as ro
    >>> store = ro.residual.ExactSearch(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]]))
    >>> found = store.search(np.zeros(2), k=2)
    >>> found.indices.tolist(), found.distances.tolist()
    ([0, 2], [0.0, 1.0])

    Args:
        rows: Embeddings (n, D), stored unchanged, together with half the squared norm
            of each row.
        stored: Number of rows that count, from the first on; all if None. It may be
            traced: a store of fixed shape can then fill up inside jit. Later rows are
            never returned.
        placement: How the rows are split over devices; `sharded` makes it. Rows that
            are already split over a mesh stay where they are.

    Raises:
        ValueError: If the store is empty, not a matrix, or has NaN or infinite entries.
    """

    rows: Float[Array, "n D"]
    stored: Int[Array, ""] | None = None
    placement: Placement | None = eqx.field(static=True, repr=False, default=None)
    half_norms: Float[Array, " n"] = eqx.field(init=False, repr=False, default=None)

    def __init__(
        self,
        rows: Numbers,
        stored: int | Int[Array, ""] | None = None,
        placement: Placement | None = None,
    ) -> None:
        _check_row_count(rows)
        rows = array(
            "rows", rows, "(n, D): one stored embedding per row", 2, finite=False
        )
        _check_size(rows)
        if stored is not None:
            if not is_traced(stored):
                integer("stored", stored, "a positive number of rows", most=len(rows))
            stored = jnp.asarray(stored)
            rows = jnp.where(
                jnp.arange(len(rows))[:, None] < stored, rows, _far_entry(rows.dtype)
            )
        self.rows = rows
        self.stored = stored
        check_placement(placement)
        self.placement = (
            placement_of(rows, is_store=True) if placement is None else placement
        )

    def __check_init__(self) -> None:
        derive(self, half_norms=_half_norms(self.rows, self.stored))

    def sharded(self, mesh: Mesh, axis: str | None = None) -> "ExactSearch":
        """The same store with its rows split over the devices of a mesh.

        Each device searches its own rows and sends its k best. If the number of devices
        does not divide the number of rows, use `ShardedSearch`, which adds padding.

        Args:
            mesh: Devices, such as `jax.make_mesh((8,), ("rows",))`.
            axis: Name of the axis of the mesh; by default its first.

        Raises:
            ValueError: If the number of devices does not divide the number of rows.

        >>> import jax, numpy as np, rankone as ro
        >>> store = ro.residual.ExactSearch(np.eye(3))
        >>> spread = store.sharded(jax.make_mesh((1,), ("rows",)))
        >>> spread.search(np.eye(3)[1], k=1).indices.tolist()
        [1]
        """
        return self._placed(placement_on(mesh, axis))

    def _placed(self, placement: Placement) -> "ExactSearch":
        """`sharded`, for a placement that was made before."""
        if len(self.rows) % placement.parts:
            raise ValueError(
                f"mesh: got {placement.parts} devices for {len(self.rows)} rows; it "
                "must be a number of devices that divides the number of rows."
            )
        fields = placement.placed(self, "rows", "half_norms").__dict__
        return assembled(ExactSearch, fields | {"placement": placement})

    def __len__(self) -> int:
        return len(self.rows)

    @automatic
    def search(self, queries: Numbers, k: int) -> Neighbours:
        """The k nearest rows to queries (..., D). Distances are differentiable with
        respect to queries and rows.

        Raises:
            ValueError: If k is not between 1 and the number of rows, or the queries do
                not fit them.
        """
        k = integer("k", k, "a positive number of neighbours", most=len(self))
        return _search(self, states("queries", queries, self.rows.shape[1]), k)


def _check_row_count(rows: Any) -> None:
    """ValueError if there are more rows than an index in 32 bits can name."""
    shape = getattr(rows, "shape", ())
    if shape and shape[0] > np.iinfo(np.int32).max:
        raise ValueError(
            f"rows: got {shape[0]:,} rows; it must be at most "
            f"{np.iinfo(np.int32).max:,}: search several stores, and keep the best."
        )


def _check_size(rows: Array | np.ndarray) -> None:
    """ValueError if rows can be read, and an entry is not finite, or squares of their
    differences would under- or overflow.
    """
    is_on_host = readable(rows)  # such as a NumPy array larger than a device
    if is_on_host or known(rows):
        if is_on_host:
            entries = np.asarray(rows)
            maximum = max(float(entries.max()), -float(entries.min()))
        else:
            maximum = float(concrete(_largest_entry, rows))
        lower, upper = _size_limits(rows)
        if not (maximum == 0 or lower <= maximum <= upper):
            array("rows", rows, "(n, D)", 2, once=True)  # raises for NaN and infinity
            raise ValueError(
                f"rows: got a largest entry of {maximum:.1e}; it must be between "
                f"{lower:.0e} and {upper:.0e}, so that squared distances neither "
                "underflow nor overflow: rescale the rows."
            )


def valid_rows(rows: Array) -> Bool[Array, ""]:
    """True if an `ExactSearch` of these rows (n, D) refuses none of their values: the
    check of its constructor, for use inside jit.
    """
    maximum = _largest_entry(rows)  # NaN if an entry is NaN
    lower, upper = _size_limits(rows)
    return (maximum == 0) | (lower <= maximum) & (maximum <= upper)


def _size_limits(rows: Array | np.ndarray) -> tuple[float, float]:
    """Smallest and largest size that the largest entry of rows (n, D) may have."""
    info = jnp.finfo(wider(rows.dtype, jnp.float32))
    lower = float(info.tiny) ** 0.5 / float(info.eps)
    upper = (float(info.max) / rows.shape[1]) ** 0.5 / 2
    return lower, upper


@jax.jit
def _largest_entry(rows: Array) -> Array:
    return jnp.abs(rows).max().astype(wider(rows.dtype, jnp.float32))


def _far_entry(dtype: np.dtype) -> float:
    """An entry of rows that do not count: no query is near them, and matrix products
    stay free of NaN.
    """
    return float(np.sqrt(np.finfo(dtype).max))


@jax.jit
def _half_norms(rows: Array, stored: int | Array | None) -> Array:
    """½‖z‖² of each row, ∞ of those that do not count; all do if `stored` is None."""
    half_norms = 0.5 * (at_least_single(rows) ** 2).sum(1)
    if stored is None:
        return half_norms
    return jnp.where(jnp.arange(len(rows)) < stored, half_norms, jnp.inf)


@partial(jax.jit, static_argnames="k")
def _search(store: "ExactSearch | ShardedSearch", q: Array, k: int) -> Neighbours:
    flat = q.reshape(-1, q.shape[-1]).astype(wider(q.dtype, store.half_norms.dtype))
    parts = (
        search_rows(store.rows, store.half_norms, flat, k)
        if store.placement is None
        else _search_parts(store.rows, store.half_norms, flat, k, store.placement)
    )
    return Neighbours(*(part.reshape(*q.shape[:-1], k) for part in parts))


class ShardedSearch(Module):
    """Exact search in a store of which each device holds an equal part [S-eq2].

    Each device searches its own rows. The k best rows of each device are gathered, and
    the k best of these are the result. The communication between the devices therefore
    does not grow with the store.

    Args:
        rows: Stored embeddings (n, D). If you give a NumPy array, no single device ever
            stores all rows. The rows are padded to a multiple of the number of devices.
        devices: Devices that store the rows; by default all.
        stored: Number of rows that count, from the first on; all if None.

    Raises:
        ValueError: If the store is empty, not a matrix, has NaN or infinite entries, or
            fewer rows than devices.
    """

    rows: Float[Array, "n D"]
    devices: tuple[jax.Device, ...] = eqx.field(static=True)
    stored: int = eqx.field(static=True)
    half_norms: Float[Array, " n"] = eqx.field(init=False, repr=False, default=None)

    def __init__(
        self,
        rows: Numbers,
        devices: Sequence[jax.Device] | None = None,
        stored: int | None = None,
    ) -> None:
        devices = jax.devices() if devices is None else devices
        is_device_list = isinstance(devices, list | tuple) and all(
            isinstance(device, jax.Device) for device in devices
        )
        if not is_device_list or len(devices) <= 0:
            raise ValueError(
                f"devices: got {brief(devices)}; "
                "it must be a list of devices, such as jax.devices()."
            )
        devices = tuple(devices)
        matrix = host("rows", rows)
        if matrix.ndim != 2:
            raise ValueError(
                f"rows: got shape {matrix.shape}; it must be an array of shape (n, D): "
                "one stored embedding per row."
            )
        if matrix.size == 0:
            raise ValueError(
                f"rows: got shape {matrix.shape}; it must be a non-empty array of shape "
                "(n, D): one stored embedding per row."
            )
        _check_row_count(matrix)
        n = (
            len(matrix)
            if stored is None
            else integer("stored", stored, most=len(matrix))
        )
        if n < len(devices):
            raise ValueError(
                f"rows: got {n} rows; it must be a store with a row or more for each "
                f"of {len(devices)} devices."
            )
        _check_size(matrix[:n])
        if len(matrix) % len(devices):
            matrix = np.asarray(matrix)
            is_floating = jnp.issubdtype(matrix.dtype, jnp.floating)
            matrix = matrix.astype(
                jax.dtypes.canonicalize_dtype(matrix.dtype if is_floating else float)
            )
            padding = ((0, -len(matrix) % len(devices)), (0, 0))
            matrix = np.pad(matrix, padding, constant_values=_far_entry(matrix.dtype))
        placement = Placement(Mesh(np.asarray(devices), (_AXIS,)), _AXIS)
        refuse_explicit(placement, "a ShardedSearch, but not for an ExactSearch,")
        sharding = NamedSharding(placement.mesh, placement.spec())
        rows = array("rows", jax.device_put(matrix, sharding), "(n, D)", 2, once=True)
        self.rows = rows
        self.devices = devices
        self.stored = n

    def __check_init__(self) -> None:
        derive(self, half_norms=_half_norms(self.rows, self.stored))

    def __reduce__(self) -> tuple:
        return _on_devices, (
            np.asarray(self.rows)[: self.stored],
            [device.id for device in self.devices],
        )

    def __len__(self) -> int:
        return self.stored

    @property
    def placement(self) -> Placement:
        """Placement of the rows over devices."""
        return Placement(Mesh(np.asarray(self.devices), (_AXIS,)), _AXIS)

    @automatic
    def search(self, queries: Numbers, k: int) -> Neighbours:
        """The k nearest rows to queries (..., D); the same rows as `ExactSearch`
        finds.
        """
        k = integer("k", k, "a positive number of neighbours", most=len(self))
        return _search(self, states("queries", queries, self.rows.shape[1]), k)


def _on_devices(rows: np.ndarray, ids: Sequence[int]) -> ShardedSearch:
    """A store from a copy or a pickle: on the devices of these numbers, or on all if
    there are none such.
    """
    return ShardedSearch(
        rows, [device for device in jax.devices() if device.id in ids] or None
    )


def _search_parts(
    rows: Array, half_norms: Array, q: Array, k: int, placement: Placement
) -> tuple[Array, Array]:
    """The k nearest rows to queries (N, D), from the k nearest of each device."""
    size = len(rows) // placement.parts
    count = min(k, size)  # all rows of a device if it has fewer than k

    def search_part(rows: Array, half_norms: Array, q: Array) -> tuple[Array, Array]:
        distances, indices = search_rows(rows, half_norms, q, count)
        first = size * jax.lax.axis_index(placement.axis)
        return distances, jnp.where(indices < 0, -1, first + indices)

    distances, indices = placement.run(
        search_part,
        (rows, half_norms, q),
        (placement.spec(), placement.spec(), P()),
        (placement.spec(1), placement.spec(1)),
    )
    # (N, devices · count); the devices are in order, so ties keep the order of the rows
    top, places = jax.lax.top_k(-distances, k)
    return -top, jnp.take_along_axis(indices, places, 1)


class FaissSearch(Module):
    """Search by a faiss index: exact by default, approximate if you pass an approximate
    index [S-eq2].

    Args:
        rows: Embeddings (n, D), stored in float32, as in faiss.
        index: A trained index of squared L2 distances; by default an `IndexFlatL2`. If
            it is empty, the rows are added; otherwise it contains the n rows already.

    Raises:
        ImportError: If faiss is not installed.
        ValueError: If the store is empty or not finite, or the index does not fit it.
    """

    rows: Float[Array, "n D"]
    index: Any = eqx.field(static=True)

    def __init__(self, rows: Numbers, index: Any = None) -> None:
        rows = array(
            "rows", rows, "(n, D): one stored embedding per row", 2, once=True
        ).astype(jnp.float32)
        is_index = index is None or all(
            hasattr(index, part) for part in ("d", "metric_type", "ntotal", "search")
        )
        if not is_index:
            raise ValueError(
                f"index: got {brief(index)}; it must be an index of faiss, or None."
            )
        try:
            faiss = import_module("faiss")
        except ModuleNotFoundError as error:
            raise ImportError(
                "FaissSearch needs faiss: pip install faiss-cpu. ExactSearch needs "
                "nothing."
            ) from error
        n, D = rows.shape
        index = faiss.IndexFlatL2(D) if index is None else index
        if index.d != D:
            raise ValueError(
                f"index: got dimension {index.d}; it must be an index of dimension {D}."
            )
        if index.metric_type != faiss.METRIC_L2:
            raise ValueError(
                f"index: got the faiss metric {index.metric_type}; "
                f"it must be an index of L2 distances, metric {faiss.METRIC_L2}."
            )
        if index.ntotal not in (0, n):
            raise ValueError(
                f"index: got {index.ntotal} rows; it must be empty or filled with "
                f"these {n} rows."
            )
        if index.ntotal == 0:
            index.add(np.asarray(rows))
        self.rows = rows
        self.index = index

    def __len__(self) -> int:
        return len(self.rows)

    def search(self, queries: Numbers, k: int) -> Neighbours:
        """The k nearest rows to queries (..., D). Not differentiable, and not inside
        jit.
        """
        k = integer("k", k, "a positive number of neighbours", most=len(self))
        q = np.asarray(states("queries", queries, self.rows.shape[1]), np.float32)
        square, indices = self.index.search(
            np.ascontiguousarray(q.reshape(-1, q.shape[-1])), k
        )
        if not indices.min(initial=0) >= 0:
            raise ValueError(
                f"k: got {brief(k)}; it must be a number of neighbours that the index "
                "can find: raise its probes."
            )
        shape = (*q.shape[:-1], k)
        return Neighbours(
            jnp.sqrt(jnp.maximum(square, 0)).reshape(shape),
            jnp.asarray(indices).reshape(shape),
        )
