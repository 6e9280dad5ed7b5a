"""The same exact search with the store spread over devices by JAX's own sharding."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, check, states
from rankone._pytree import pytree
from rankone.residual.search import ExactSearch, Neighbours, count, search_rows

__all__ = ["ShardedSearch"]

_AXIS = "rows"


@pytree(data=["shards"], meta=["n", "mesh"])
@dataclass(frozen=True, init=False)
class ShardedSearch:
    """Exact search in a store of which each device holds an equal part [S-eq2].

    Each device searches its own rows; the k best of each are gathered and the k best of those are the answer, so that
    what travels between devices does not grow with the store.

    Args:
        rows: Stored embeddings (n, D). Give a NumPy array and no device ever holds all of it.
        devices: By default all there are.

    Raises:
        ValueError: If the store is empty, not a matrix, has NaN or infinite entries, or fewer rows than devices.
    """

    shards: ExactSearch  # its rows padded to a multiple of the number of devices, and sharded over them
    n: int
    mesh: Mesh

    def __init__(self, rows: ArrayLike, devices: list[jax.Device] | None = None):
        mesh = Mesh(np.asarray(jax.devices() if devices is None else devices), (_AXIS,))
        held = np.asarray(rows)
        held = held if np.issubdtype(held.dtype, np.floating) else held.astype(jnp.result_type(float))
        check(held.ndim == 2, "embeddings", f"shape {held.shape}", "an array of shape (n, D): one embedding a row")
        n, size = len(held), -(-len(held) // mesh.size)
        check(n >= mesh.size, "embeddings", f"{n} rows", f"a store with a row or more for each of {mesh.size} devices")
        # Padding is so far away that no query is near it, and its norm is counted as infinite.
        far = np.sqrt(np.finfo(held.dtype).max)
        padded = np.pad(held, ((0, size * mesh.size - n), (0, 0)), constant_values=far)
        spread = array("embeddings", jax.device_put(padded, NamedSharding(mesh, P(_AXIS))), "(n, D)", 2)
        object.__setattr__(self, "shards", ExactSearch.of(spread, _half_norms(spread, n)))
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "mesh", mesh)

    def __len__(self) -> int:
        return self.n

    @property
    def rows(self) -> Float[Array, "n D"]:
        """The stored embeddings, without the padding."""
        return self.shards.rows[: self.n]

    def search(self, queries: ArrayLike, k: int) -> Neighbours:
        """The k nearest rows to queries (..., D); the same rows as `ExactSearch` finds."""
        count("k", k, self.n)
        q = states("queries", queries, self.shards.rows.shape[1])
        found = _search(self, q.reshape(-1, q.shape[-1]).astype(jnp.result_type(q, self.shards.rows)), k)
        return Neighbours(*(part.reshape(*q.shape[:-1], k) for part in found))


@partial(jax.jit, static_argnames="n")
def _half_norms(rows: Array, n: int) -> Array:
    return jnp.where(jnp.arange(len(rows)) < n, 0.5 * (rows**2).sum(1), jnp.inf)


@partial(jax.jit, static_argnames="k")
def _search(store: ShardedSearch, q: Array, k: int) -> Neighbours:
    size = len(store.shards) // store.mesh.size
    own = min(k, size)  # all a device has, if it has fewer

    def local(shard: ExactSearch, q: Array) -> tuple[Array, Array]:
        found = search_rows(shard, q, own)
        rows = found.indices + jax.lax.axis_index(_AXIS) * size
        return jnp.where(rows < store.n, found.distances, jnp.inf), rows

    spread = jax.shard_map(
        local, mesh=store.mesh, in_specs=(P(_AXIS), P()), out_specs=(P(None, _AXIS), P(None, _AXIS)), check_vma=False
    )
    distances, rows = spread(store.shards, q)  # (N, devices · own), devices in order: ties keep the order of the rows
    top, at = jax.lax.top_k(-distances, k)
    return Neighbours(-top, jnp.take_along_axis(rows, at, 1))
