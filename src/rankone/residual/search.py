r"""Exact nearest neighbours in JAX: block minima by matrix products, then distances in the blocks that can still win.

With $s_i=\frac12\|z_i\|^2-\langle q,z_i\rangle$ the order of $s$ is the order of $\|q-z_i\|$. Phase one finds the least
$s$ of every block of rows. The k nearest rows lie in k blocks, and those are among the blocks with the least minima.
Phase two takes a few more than k, computes $\|q-z_i\|$ there from differences, and *certifies* the result: no other
block's minimum, less the rounding of a product, lies below the k-th distance. A query that is not certified (duplicates
beyond count, or norms that drown the distances) is searched again from differences alone.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Int

from rankone._checks import array, check, is_traced, states
from rankone._pytree import pytree

__all__ = ["ExactSearch", "Neighbours", "block_bytes", "count", "search_rows"]

_BLOCK = 20  # rows with one minimum: fewer cost more comparisons in phase one, more cost distances in phase two
_NARROW, _MANY = 128, 500_000  # so short and so many rows are in blocks twice as long: a distance costs little
_AT_ONCE = 8  # queries of phase two at a time, for the cores to share
_CHUNK = 4_000  # rows of one matrix product, a multiple of 2·_BLOCK: with _QUERIES columns its result stays in cache
_GROUP = 64  # chunks between two selections of blocks: a selection costs the same for 200 minima as for 10,000
_QUERIES = 128  # queries of one matrix product
_WHOLE = 2**21  # scores below which the store is read in one product: no slice, hence no copy of a slice
_SMALL = 2_000  # rows up to which the differences are taken at once: nothing to certify, and little to compile
_SPARE = 8  # blocks beyond k, so that ties and rounding seldom call for a second search
_HIGHEST = jax.lax.Precision.HIGHEST  # TF32 would cost the GPU half of the digits


class Neighbours(NamedTuple):
    """The k nearest rows of each query, nearest first; equal distances in the order of the rows.

    Attributes:
        distances: ‖q − z‖₂ (..., k), in the unit of the rows.
        indices: Rows of the store (..., k).
    """

    distances: Float[Array, "... k"]
    indices: Int[Array, "... k"]


@pytree(data=["rows", "half_norms"])
@dataclass(frozen=True, init=False)
class ExactSearch:
    """Exact search by Euclidean distance in a store of rows [S-eq2].

    Args:
        rows: Stored embeddings (n, D); kept as they are, with one number a row beside them.

    Raises:
        ValueError: If the store is empty, not a matrix, or has NaN or infinite entries.
    """

    rows: Float[Array, "n D"]
    half_norms: Float[Array, " n"]

    def __init__(self, rows: ArrayLike):
        rows = array("embeddings", rows, "(n, D): one stored embedding a row", 2)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "half_norms", _half_norms(rows))

    @classmethod
    def of(cls, rows: Array, half_norms: Array) -> "ExactSearch":
        """From rows that were checked, and half of their squared norms; a row of norm ∞ is never found."""
        store = object.__new__(cls)
        object.__setattr__(store, "rows", rows)
        object.__setattr__(store, "half_norms", half_norms)
        return store

    def __len__(self) -> int:
        return len(self.rows)

    def search(self, queries: ArrayLike, k: int) -> Neighbours:
        """The k nearest rows to queries (..., D). Distances are differentiable by queries and rows.

        Raises:
            ValueError: If k is not between 1 and the number of rows, or the queries do not fit them.
        """
        count("k", k, len(self))
        q = states("queries", queries, self.rows.shape[1])
        return _search(self, q, k)


def count(name: str, value: int, n: int) -> None:
    """Raise unless `value` is a whole number from 1 to n, the number of stored rows."""
    whole = isinstance(value, int) or (hasattr(value, "__index__") and not is_traced(value))
    check(whole and 1 <= value <= n, name, value, f"a whole number from 1 to {n:,}, the number of stored embeddings")


def block_bytes(n: int, D: int, *, queries: int = 1, k: int = 50, itemsize: int = 4) -> int:
    """Working memory of a search beside the store, in bytes: bounded in n, whatever the number of queries.

    One chunk of rows, its product with a batch of queries, the minima of a group of chunks, and phase two's rows.
    """
    N, m = min(queries, _QUERIES), (k + _SPARE) * min(queries, _AT_ONCE)
    if n <= _SMALL:
        return itemsize * n * (D + 2)
    block = _block_size(n, D, k)
    if n * N <= _WHOLE or n <= _CHUNK or block == 1:
        return itemsize * (n * N + m * block * D)
    minima = N * (min(_GROUP, n // _CHUNK) * _CHUNK // block + 2 * (k + _SPARE))
    return itemsize * (_CHUNK * (D + N) + 2 * minima + m * block * D)


@jax.jit
def _half_norms(rows: Array) -> Array:
    return 0.5 * (rows**2).sum(1)


@partial(jax.jit, static_argnames="k")
def _search(store: ExactSearch, q: Array, k: int) -> Neighbours:
    flat = q.reshape(-1, q.shape[-1]).astype(jnp.result_type(q, store.rows))
    return jax.tree.map(lambda part: part.reshape(*q.shape[:-1], k), search_rows(store, flat, k))


@partial(jax.jit, static_argnames="k")
def search_rows(store: ExactSearch, q: Array, k: int) -> Neighbours:
    """The search itself, of queries (N, D), without checks."""
    if not len(q):
        return Neighbours(jnp.zeros((0, k), q.dtype), jnp.zeros((0, k), jnp.int32))
    frozen, points = jax.lax.stop_gradient((store, q))
    batches = -(-len(q) // _QUERIES)
    size = -(-len(q) // batches)  # equal batches, each in the memory of one
    padded = jnp.pad(points, ((0, batches * size - len(q)), (0, 0)))
    indices = jax.lax.map(partial(_batch, frozen, k=k), padded.reshape(batches, size, -1))
    indices = indices.reshape(-1, k)[: len(q)]
    near = jax.lax.map(lambda pair: _distance(store.rows[pair[1]], pair[0]), (q, indices), batch_size=_QUERIES)
    return Neighbours(near, indices)


def _distance(rows: Array, q: Array) -> Array:
    """‖rows − q‖, with the derivative 0 where it is 0."""
    square = ((rows - q) ** 2).sum(-1)
    return jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1)), 0)


def _batch(store: ExactSearch, q: Array, k: int) -> Array:
    """Indices (N, k) of the nearest rows to queries (N, D)."""
    if len(store.rows) <= _SMALL:
        return jax.lax.map(lambda one: jax.lax.top_k(-((store.rows - one) ** 2).sum(-1), k)[1], q)
    block = _block_size(len(store.rows), q.shape[1], k)
    minima, blocks = _least_blocks(store, q, k, block)
    norms = store.half_norms  # of which those of padding are infinite
    largest = jnp.where(jnp.isfinite(norms), norms, 0).max()  # here, not in the loop over queries
    pick = lambda one: _within_blocks(store.rows, largest, *one, k=k, block=block)  # noqa: E731
    indices, certified = jax.lax.map(pick, (q, minima, blocks), batch_size=_AT_ONCE)
    # The result needs no condition; but without it XLA copies the store before a loop that it does not enter.
    return jax.lax.cond(certified.all(), lambda: indices, lambda: _repaired(store, q, indices, certified))


def _repaired(store: ExactSearch, q: Array, indices: Array, certified: Array) -> Array:
    """The indices, with those of uncertified queries searched again, one by one."""
    again = jnp.argsort(certified, stable=True)  # the uncertified first

    def repair(i: Array, indices: Array) -> Array:
        return indices.at[again[i]].set(_by_differences(store.rows, q[again[i]], indices.shape[1]))

    return jax.lax.fori_loop(0, (~certified).sum(), repair, indices)


def _block_size(n: int, D: int, k: int) -> int:
    """Rows with one minimum; one where the blocks wanted would hold most of the store."""
    block = 2 * _BLOCK if D <= _NARROW and n >= _MANY else _BLOCK
    return block if n >= 2 * (k + _SPARE) * block else 1


def _least_blocks(store: ExactSearch, q: Array, k: int, block: int) -> tuple[Array, Array]:
    """The k + 8 + 1 least block minima (N, m), in order, and the first row of each block."""
    n, N = len(store.rows), len(q)
    m = min(k + _SPARE + 1, -(-n // block))
    if n * N <= _WHOLE or n <= _CHUNK or block == 1:
        values, at = jax.lax.top_k(-_minima(store.rows, store.half_norms, q, block), m)
        return -values, at * block
    chunks = -(-n // _CHUNK)
    best = jnp.full((N, m), -jnp.inf, q.dtype), jnp.zeros((N, m), jnp.int32)
    for first in range(0, chunks, _GROUP):
        best = _merge(best, *_group(store, q, first, min(_GROUP, chunks - first), block))
    return -best[0], best[1]


def _merge(best: tuple[Array, Array], minima: Array, rows: Array) -> tuple[Array, Array]:
    values = jnp.concatenate([best[0], -minima], 1)
    rows = jnp.concatenate([best[1], jnp.broadcast_to(rows.astype(jnp.int32), minima.shape)], 1)
    values, at = jax.lax.top_k(values, best[0].shape[1])
    return values, jnp.take_along_axis(rows, at, 1)


def _group(store: ExactSearch, q: Array, first: int, chunks: int, block: int) -> tuple[Array, Array]:
    """Minima (N, blocks) of some chunks, and the first row of each block."""

    def chunk(_: None, i: Array) -> tuple[None, tuple[Array, Array]]:
        start = jnp.minimum(i * _CHUNK, len(store.rows) - _CHUNK)  # the last reaches back: rows seen do not count twice
        rows = jax.lax.dynamic_slice_in_dim(store.rows, start, _CHUNK)
        half = jax.lax.dynamic_slice_in_dim(store.half_norms, start, _CHUNK)
        half = jnp.where(start + jnp.arange(_CHUNK) >= i * _CHUNK, half, jnp.inf)
        return None, (_minima(rows, half, q, block), start + block * jnp.arange(_CHUNK // block))

    _, (minima, rows) = jax.lax.scan(chunk, None, first + jnp.arange(chunks))
    return minima.transpose(1, 0, 2).reshape(len(q), -1), rows.reshape(-1)


def _minima(rows: Array, half: Array, q: Array, block: int) -> Array:
    """Least ½‖z‖² − ⟨q, z⟩ of every `block` rows: (N, ⌈rows/block⌉)."""
    scores = half[:, None] - jnp.matmul(rows, q.T, precision=_HIGHEST)
    scores = jnp.pad(scores, ((0, -len(rows) % block), (0, 0)), constant_values=jnp.inf)
    return scores.reshape(-1, block, len(q)).min(1).T


def _within_blocks(
    rows: Array, largest: Array, q: Array, minima: Array, first: Array, *, k: int, block: int
) -> tuple[Array, Array]:
    """The k nearest rows of the blocks, and whether no row outside can be nearer."""
    n, D = rows.shape
    everything = len(first) * block >= n
    first = jnp.sort(first if everything else first[:-1])  # in order, for ties
    start = jnp.minimum(first, n - block)  # the last block may be short, and then its slice reaches back
    held = jax.vmap(lambda row: jax.lax.dynamic_slice_in_dim(rows, row, block))(start)
    square = jnp.where(_counted(n, first, start, block), ((held - q) ** 2).sum(-1), jnp.inf)
    top, at = jax.lax.top_k(-square.reshape(-1), k)
    indices = (start[at // block] + at % block).astype(jnp.int32)
    if everything:
        return indices, jnp.array(True)
    own = (q**2).sum() / 2
    rounding = 2 * (D + 4) * jnp.finfo(q.dtype).eps * (own + largest)  # of a product of length D, and of its terms
    # .min(), not [-1]: at the sight of a slice XLA turns top_k into a sort of everything
    return indices, minima[-1] - rounding > -top.min() / 2 - own


def _counted(n: int, first: Array, start: Array, block: int) -> Array:
    """Which rows of the slices count: a short block and the last chunk reach back over rows that others hold."""
    rows, own = start[:, None] + jnp.arange(block), first[:, None]
    return (rows >= own) & ((own % block == 0) | (rows >= (n - 1) // _CHUNK * _CHUNK))


def _by_differences(rows: Array, q: Array, k: int) -> Array:
    """Indices (k,) of the nearest rows from ‖z − q‖² itself, chunk by chunk, the lower row first on a tie."""
    n, size = len(rows), min(len(rows), max(_CHUNK, k))

    def chunk(best: tuple[Array, Array], i: Array) -> tuple[tuple[Array, Array], None]:
        start = jnp.minimum(i * size, n - size)
        at = start + jnp.arange(size)
        square = ((jax.lax.dynamic_slice_in_dim(rows, start, size) - q) ** 2).sum(-1)
        square = jnp.where(at >= i * size, square, jnp.inf)
        values, order = jax.lax.top_k(jnp.concatenate([best[0], -square]), k)
        return (values, jnp.concatenate([best[1], at.astype(jnp.int32)])[order]), None

    empty = jnp.full(k, -jnp.inf, q.dtype), jnp.full(k, n, jnp.int32)
    (_, indices), _ = jax.lax.scan(chunk, empty, jnp.arange(-(-n // size)))
    return indices
