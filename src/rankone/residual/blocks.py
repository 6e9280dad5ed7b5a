r"""Exact nearest-neighbour search in JAX: the minimum of each block of rows by matrix
products, then distances in the blocks that can contain a nearest row.

With $s_i=\frac12\|z_i\|^2-\langle q,z_i\rangle$ the order of $s$ is the order of
$\|q-z_i\|$. Phase one finds the least $s$ of every block of rows. The k nearest rows
lie in the k blocks with the least minima. Phase two takes a few blocks more than k,
computes $\|q-z_i\|$ in them from differences, and *certifies* the result: the minimum
of any other block, less the rounding error of a product, belongs to a distance not
below the k-th. A query that is not certified (because there are too many duplicates, or
the norms are so large that rounding hides the distances) is searched again from
differences alone.
"""

import math
from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from rankone._checks import integer
from rankone._device import on_processor

__all__ = ["block_bytes", "search_rows"]

# Possible sizes of a block, whose rows have one minimum. Each size divides a chunk, so
# that no block is in two chunks.
_BLOCKS = (4, 8, 16, 32)
_MINIMA = 8  # block minima in a group, of which the least is compared first
# entries of differences that take as long as selecting among one more minimum
_MINIMUM_COST = 4
# Least and largest dimension in which one query is multiplied from the left. In this
# range XLA's product reads the rows 1.2 to 1.5 times as fast as from the right; with 32
# entries it is 0.7 times as fast, and with 4,096 a tenth as fast (AVX-512, one thread).
_LEFT = (64, 256)
# Number of rows up to which all differences are computed at once. Then nothing needs to
# be certified, and little is compiled.
_SMALL = 2_000
_SPARE = 8  # blocks beyond k, so that ties and rounding seldom call for a second search
_LONGEST = 2**31 - 1  # entries that an index in 32 bits can address
_HIGHEST = jax.lax.Precision.HIGHEST  # with TF32, a GPU would lose half of the digits


class _Pieces(NamedTuple):
    """How large the pieces are in which a search is computed.

    Attributes:
        chunk: Rows of one matrix product, a multiple of `_BLOCKS`.
        queries: Columns of one matrix product.
        whole: Number of scores up to which the store is read in one product, without
            slices and hence without copies of slices.
        group: Chunks between two selections of blocks.
        at_once: Queries that phase two processes at a time.
    """

    chunk: int
    queries: int
    whole: int
    group: int
    at_once: int


# Small chunks, because the copied rows and the result of a product then stay in cache.
# Large groups, because a selection costs the same for 200 minima as for 10,000. The
# queries of phase two are split over the cores.
_PROCESSOR = _Pieces(chunk=2**10, queries=128, whole=2**21, group=256, at_once=8)
# Few large pieces, because a GPU launches several kernels for each.
_GPU = _Pieces(chunk=2**18, queries=128, whole=2**28, group=16, at_once=128)


def _pieces(D: int) -> _Pieces:
    """The pieces for rows of D entries."""
    if on_processor():
        return _PROCESSOR
    # long rows get shorter chunks, because each chunk is copied
    most = _GPU.whole >> max(0, D - 1).bit_length()
    return _GPU._replace(chunk=min(_GPU.chunk, max(_PROCESSOR.chunk, most)))


def _in_one_product(rows: Array, q: Array) -> bool:
    """True if one product compares all rows with the queries."""
    n, D = rows.shape
    pieces = _pieces(D)
    # a GPU copies rows to convert their precision, except for a single query
    is_copied = rows.dtype != q.dtype and len(q) > 1 and not on_processor()
    entries = n * max(len(q), D if is_copied else 0)
    return n <= pieces.chunk or entries <= pieces.whole


def block_bytes(
    n: int, D: int, *, queries: int = 1, k: int = 50, itemsize: int = 4
) -> int:
    """Working memory of a search beside the store, in bytes: bounded in n, whatever the
    number of queries.

    It contains one chunk of rows, its product with a batch of queries, the minima of a
    group of chunks, and the rows of phase two.
    """
    n, D, queries, k, itemsize = (
        integer(name, number)
        for name, number in (
            ("n", n),
            ("D", D),
            ("queries", queries),
            ("k", k),
            ("itemsize", itemsize),
        )
    )
    pieces = _pieces(D)
    N = min(queries, pieces.queries)
    m = (k + _SPARE) * min(queries, pieces.at_once)
    if n <= _SMALL:
        return itemsize * n * (D + 2)
    block = _block_size(n, D, k)
    chunk = pieces.chunk
    if n * N <= pieces.whole or n <= chunk or block == 1:
        return itemsize * (n * N + m * block * D)
    minima = N * (min(pieces.group, n // chunk) * chunk // block + 2 * (k + _SPARE))
    return itemsize * (chunk * (D + N) + 2 * minima + m * block * D)


def search_rows(
    rows: Array, half_norms: Array, q: Array, k: int
) -> tuple[Array, Array]:
    """Distances and indices (N, k) of the nearest rows to queries (N, D), nearest
    first; nothing is checked.

    Args:
        rows: (n, D).
        half_norms: ½‖z‖² of each row (n,); a row with ∞ is never returned.
        q: Queries (N, D), of the dtype of the distances.
        k: Number of neighbours.
    """
    if not len(q):
        return jnp.zeros((0, k), q.dtype), jnp.zeros((0, k), jnp.int32)
    store, store_half, points = jax.lax.stop_gradient((rows, half_norms, q))
    most = _pieces(q.shape[1]).queries
    batches = -(-len(q) // most)
    size = -(-len(q) // batches)  # batches of equal size reuse the same memory
    padded = jnp.pad(points, ((0, batches * size - len(q)), (0, 0)))
    indices = jax.lax.map(
        lambda part: _search_batch(store, store_half, part, k),
        padded.reshape(batches, size, -1),
    )
    indices = indices.reshape(-1, k)[: len(q)]
    distances = jax.lax.map(
        lambda pair: _distance(rows[pair[1]], pair[0]),
        (q, indices),
        batch_size=most,
    )
    row_mask = jnp.isfinite(store_half[indices])
    return jnp.where(row_mask, distances, jnp.inf), jnp.where(row_mask, indices, -1)


def _distance(rows: Array, q: Array) -> Array:
    """‖rows − q‖, with the derivative 0 where it is 0."""
    # a product, because XLA sums short rows entry by entry
    square = jnp.matmul(
        (rows.astype(q.dtype) - q[None]) ** 2, jnp.ones_like(q), precision=_HIGHEST
    )
    return jnp.where(square == 0, 0, jnp.sqrt(jnp.where(square == 0, 1, square)))


def _search_batch(rows: Array, half_norms: Array, q: Array, k: int) -> Array:
    """Indices (N, k) of the nearest rows to queries (N, D)."""
    if len(rows) <= _SMALL:
        return jax.lax.map(
            lambda query: jax.lax.top_k(
                -((rows.astype(q.dtype) - query[None]) ** 2).sum(-1), k
            )[1],
            q,
        )
    block = _block_size(len(rows), q.shape[1], k)
    minima, blocks = _least_blocks(rows, half_norms, q, k, block)

    def pick(query: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        return _search_blocks(rows, *query, k=k, block=block)

    indices, certified = jax.lax.map(
        pick, (q, minima, blocks), batch_size=_pieces(q.shape[1]).at_once
    )
    # The result would be the same without the condition, but XLA would copy the store
    # even if the loop runs zero times.
    return jax.lax.cond(
        certified.all(), lambda: indices, lambda: _repair(rows, q, indices, certified)
    )


def _repair(rows: Array, q: Array, indices: Array, certified: Array) -> Array:
    """The indices, with those of uncertified queries searched again individually."""
    order = jnp.argsort(certified, stable=True)  # the uncertified first

    def search_again(i: Array, indices: Array) -> Array:
        return indices.at[order[i]].set(
            _search_differences(rows, q[order[i]], indices.shape[1])
        )

    return jax.lax.fori_loop(0, (~certified).sum(), search_again, indices)


def _block_size(n: int, D: int, k: int) -> int:
    """Number of rows with one minimum, so that selecting among the n/block minima takes
    about as long as the differences in k blocks; 1 where the blocks of phase two would
    be most of the store.
    """
    balance = (_MINIMUM_COST * n / ((k + _SPARE) * D)) ** 0.5
    block = min(_BLOCKS, key=lambda size: abs(math.log(size / balance)))
    return block if n >= 2 * (k + _SPARE) * block else 1


def _least_blocks(
    rows: Array, half_norms: Array, q: Array, k: int, block: int
) -> tuple[Array, Array]:
    """The k + 8 + 1 least block minima (N, m), in order, and the first row of each
    block.
    """
    n = len(rows)
    m = min(k + _SPARE + 1, -(-n // block))
    pieces = _pieces(q.shape[1])
    if block == 1 or _in_one_product(rows, q):
        minima, places = _least(_minima(rows, half_norms, q, block), m)
        return minima, places * block
    chunks = -(-n // pieces.chunk)

    def least_of_group(first: int) -> tuple[Array, Array]:
        minima, starts = _group(
            rows, half_norms, q, first, min(pieces.group, chunks - first), block
        )
        least, places = _least(minima, min(m, len(starts)))
        return least, starts[places].astype(jnp.int32)

    groups = map(least_of_group, range(0, chunks, pieces.group))
    return reduce(lambda a, b: _merge(a, b, m), groups)


def _merge(
    a: tuple[Array, Array], b: tuple[Array, Array], m: int
) -> tuple[Array, Array]:
    """The m least minima of two groups, and the first rows of their blocks."""
    minima, starts = (jnp.concatenate(pair, 1) for pair in zip(a, b, strict=True))
    least, places = _least(minima, min(m, minima.shape[1]))
    return least, jnp.take_along_axis(starts, places, 1)


def _least(values: Array, m: int) -> tuple[Array, Array]:
    """The m least of each row of values (N, count), in order, and their places."""
    N, count = values.shape
    if count < 2 * m * _MINIMA:
        least, places = jax.lax.top_k(-values, m)
        return -least, places
    # The m least values lie in the m groups with the least minima, and are at most the
    # largest of these minima. Larger entries become infinite, because top_k, which
    # maintains a heap, is fast at skipping them.
    padding = ((0, 0), (0, -count % _MINIMA))
    groups = jnp.pad(values, padding, constant_values=jnp.inf).reshape(N, _MINIMA, -1)
    minima, chosen = jax.lax.top_k(-groups.min(1), m)
    entries = jnp.take_along_axis(groups, chosen[:, None], 2)
    entries = jnp.where(entries <= -minima.min(1)[:, None, None], entries, jnp.inf)
    least, places = jax.lax.top_k(-entries.reshape(N, -1), m)
    group = jnp.take_along_axis(chosen, places % m, 1)
    return -least, places // m * groups.shape[2] + group


def _group(
    rows: Array, half_norms: Array, q: Array, first: int, chunks: int, block: int
) -> tuple[Array, Array]:
    """Minima (N, blocks) of some chunks, and the first row of each block."""
    size = _pieces(q.shape[1]).chunk

    def chunk(_: None, i: Array) -> tuple[None, tuple[Array, Array]]:
        # The last chunk reaches back over rows of the chunk before it, which must not
        # count twice.
        start = jnp.minimum(i * size, len(rows) - size)
        part = _chunk(rows, start, size)
        norms = jax.lax.dynamic_slice_in_dim(half_norms, start, size)
        norms = jnp.where(start + jnp.arange(size) >= i * size, norms, jnp.inf)
        return None, (
            _minima(part, norms, q, block),
            start + block * jnp.arange(size // block),
        )

    _, (minima, places) = jax.lax.scan(chunk, None, first + jnp.arange(chunks))
    return minima.transpose(1, 0, 2).reshape(len(q), -1), places.reshape(-1)


def _chunk(rows: Array, start: Array, size: int) -> Array:
    """`size` rows from the row `start` on."""
    if rows.size > _LONGEST:
        return jax.lax.dynamic_slice_in_dim(rows, start, size)
    # as one long slice, because XLA copies short rows entry by entry
    part = jax.lax.dynamic_slice_in_dim(
        rows.reshape(-1), start * rows.shape[1], size * rows.shape[1]
    )
    return part.reshape(size, -1)


def _minima(rows: Array, half_norms: Array, q: Array, block: int) -> Array:
    """Least ½‖z‖² − ⟨q, z⟩ of every `block` rows, less what rounding may have added to
    it: (N, ⌈rows/block⌉).
    """
    # Bound of the rounding error of a product of length D and of its terms, relative to
    # ½‖z‖² + ½‖q‖².
    rounding = 2 * (q.shape[1] + 4) * float(jnp.finfo(q.dtype).eps)
    rows = rows.astype(q.dtype)
    half_norms = (1 - rounding) * half_norms
    padding = 0, -len(rows) % block
    if len(q) == 1 and not on_processor():
        # reads the rows once, even if they are converted
        scores = half_norms[None] - (rows * q).sum(-1)[None]
        scores = jnp.pad(scores, ((0, 0), padding), constant_values=jnp.inf)
        minima = scores.reshape(1, -1, block).min(2)
    elif len(q) == 1 and _LEFT[0] <= q.shape[1] <= _LEFT[1]:
        scores = half_norms[None] - jnp.matmul(q, rows.T, precision=_HIGHEST)
        scores = jnp.pad(scores, ((0, 0), padding), constant_values=jnp.inf)
        minima = scores.reshape(1, -1, block).min(2)
    else:
        scores = half_norms[:, None] - jnp.matmul(rows, q.T, precision=_HIGHEST)
        scores = jnp.pad(scores, (padding, (0, 0)), constant_values=jnp.inf)
        parts = scores.reshape(-1, block, len(q))
        if len(q) == 1:  # where XLA's own minimum compares entry by entry
            minima = reduce(jnp.minimum, [parts[:, i] for i in range(block)]).T
        else:
            minima = parts.min(1).T
    return minima - rounding / 2 * (q**2).sum(1)[:, None]


def _search_blocks(
    rows: Array, q: Array, minima: Array, first: Array, *, k: int, block: int
) -> tuple[Array, Array]:
    """The k nearest rows of the blocks, and True if no row outside can be nearer. The
    minima are lower bounds of ½‖z‖² − ⟨q, z⟩.
    """
    n = len(rows)
    covers_store = len(first) * block >= n
    first = jnp.sort(first if covers_store else first[:-1])  # row order, for ties
    # the last block may be short, and then its slice reaches back
    start = jnp.minimum(first, n - block)
    blocks = jax.vmap(lambda row: jax.lax.dynamic_slice_in_dim(rows, row, block))(start)
    # a product, because XLA sums short rows entry by entry
    square = jnp.matmul(
        (blocks.astype(q.dtype) - q[None, None]) ** 2,
        jnp.ones_like(q),
        precision=_HIGHEST,
    )
    # Only rows that are nearer than all other blocks compete. They are few, so top_k is
    # fast.
    row_mask = _row_mask(n, first, start, block, _pieces(len(q)).chunk)
    if not covers_store:
        row_mask &= square / 2 < minima[-1] + (q**2).sum() / 2
    square = jnp.where(row_mask, square, jnp.inf)
    top, places = jax.lax.top_k(-square.reshape(-1), k)
    indices = (start[places // block] + places % block).astype(jnp.int32)
    # .min() instead of [-1], because XLA turns a sliced top_k into a sort of all
    # entries
    return indices, covers_store | (top.min() > -jnp.inf)


def _row_mask(n: int, first: Array, start: Array, block: int, chunk: int) -> Array:
    """True for the rows of the slices that count: a short block and the last chunk reach
    back over rows of other blocks.
    """
    rows = start[:, None] + jnp.arange(block, dtype=start.dtype)[None]
    block_start = first[:, None]
    return (rows >= block_start) & (
        (block_start % block == 0) | (rows >= (n - 1) // chunk * chunk)
    )


def _search_differences(rows: Array, q: Array, k: int) -> Array:
    """Indices (k,) of the nearest rows from ‖z − q‖² itself, chunk by chunk, the lower
    row first on a tie.
    """
    n = len(rows)
    size = min(len(rows), max(_pieces(len(q)).chunk, k))

    def chunk(
        candidates: tuple[Array, Array], i: Array
    ) -> tuple[tuple[Array, Array], None]:
        start = jnp.minimum(i * size, n - size)
        places = start + jnp.arange(size)
        square = (
            (jax.lax.dynamic_slice_in_dim(rows, start, size).astype(q.dtype) - q[None])
            ** 2
        ).sum(-1)
        square = jnp.where(places >= i * size, square, jnp.inf)
        values, order = jax.lax.top_k(jnp.concatenate([candidates[0], -square]), k)
        return (
            values,
            jnp.concatenate([candidates[1], places.astype(jnp.int32)])[order],
        ), None

    empty = jnp.full(k, -jnp.inf, q.dtype), jnp.full(k, n, jnp.int32)
    (_, indices), _ = jax.lax.scan(chunk, empty, jnp.arange(-(-n // size)))
    return indices
