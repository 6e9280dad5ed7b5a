"""Exact search: the same rows as brute force, whatever the sizes, ties, offsets,
devices and indices.
"""

import subprocess
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

from rankone._device import on_processor
from rankone.checks import Outcome
from rankone.precision import double_precision
from rankone.residual import ExactSearch, FaissSearch, ShardedSearch
from rankone.residual.blocks import block_bytes


def brute(rows, queries, k):
    distances = np.linalg.norm(
        np.asarray(rows, float)[None] - np.asarray(queries, float)[:, None], axis=-1
    )
    order = np.argsort(distances, 1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, 1), order


def nearest(rows, queries, k):
    return jax.tree.map(np.asarray, ExactSearch(rows).search(queries, k))


def draws(n, D, seed=0):
    return np.random.default_rng(seed).standard_normal((n, D)).astype(np.float32)


# Values of n: one row; one chunk; blocks of one row; several rows in a block; several
# chunks, the last of which overlaps; enough minima for a selection in two steps.
@pytest.mark.parametrize(
    ("n", "N", "k"),
    [
        (1, 3, 1),
        (7, 4, 7),
        (2500, 9, 80),
        (3003, 40, 60),
        (3999, 5, 3),
        (20_003, 110, 20),
        (40_003, 60, 2),
    ],
)
def test_search_finds_what_brute_force_finds(n, N, k):
    rows = draws(n, 6)
    queries = draws(N, 6, 1)
    # the last rows are close together, in a block that two chunks share
    rows[-20:] = rows[-1] + 0.1 * rows[-20:]
    queries[0] = rows[-1]
    neighbours = nearest(rows, queries, k)
    distances, _ = brute(rows, queries, k)
    assert neighbours.distances.shape == (N, k)
    np.testing.assert_allclose(neighbours.distances, distances, rtol=2e-6, atol=2e-6)
    # The rows are the same, but rows whose distances are equal in float32 may have any
    # order.
    recomputed = np.linalg.norm(
        rows[neighbours.indices].astype(float) - queries[:, None], axis=-1
    )
    np.testing.assert_allclose(recomputed, distances, rtol=2e-6, atol=2e-6)
    assert (np.diff(np.sort(neighbours.indices, 1), axis=1) > 0).all()


def test_one_query_of_many_dimensions_finds_what_brute_force_finds():
    """The product has the query on its left, and the last block is short."""
    rows = draws(2503, 64)
    rows[-1] = 0
    query = draws(1, 64, 1)
    distances, order = brute(rows, query, 5)
    neighbours = nearest(rows, query, 5)
    np.testing.assert_array_equal(neighbours.indices, order)
    np.testing.assert_allclose(neighbours.distances, distances, rtol=2e-6)


@pytest.mark.parametrize("n", [1500, 6000])
def test_equal_distances_come_in_the_order_of_the_rows(n):
    rows = draws(n, 4)
    rows[100 : n - 200] = rows[7]
    neighbours = nearest(rows, rows[7][None], 30)
    np.testing.assert_array_equal(neighbours.indices[0], [7, *range(100, 129)])
    assert (neighbours.distances == 0).all()


def test_ties_keep_their_order_though_a_later_block_holds_the_nearest_row():
    rows = 10 + abs(draws(6000, 4))
    rows[1000] = -np.eye(4)[0]
    rows[3000] = 0
    rows[3001] = np.eye(4)[0]
    neighbours = nearest(rows, np.zeros((1, 4), np.float32), 30)
    np.testing.assert_array_equal(neighbours.indices[0, :3], [3000, 1000, 3001])
    np.testing.assert_array_equal(neighbours.distances[0, :3], [0, 1, 1])


def test_large_norms_do_not_change_the_nearest_rows():
    rows = 1000 + draws(5000, 8)
    queries = 1000 + draws(6, 8, 1)
    by_product = jax.lax.top_k(2 * queries @ rows.T - (rows**2).sum(1), 5)[1]
    order = brute(rows, queries, 5)[1]
    assert (np.asarray(by_product) != order).any()
    np.testing.assert_array_equal(ExactSearch(rows).search(queries, 5).indices, order)


def test_distances_are_accurate_if_the_query_equals_a_stored_row():
    """All other rows have nearly the same distance. Products do not distinguish these
    distances, but differences do.
    """
    shell = draws(6000, 4)
    shell *= (
        10 + 4e-6 * np.random.default_rng(2).permutation(6000)[:, None]
    ) / np.linalg.norm(shell, axis=1)[:, None]
    rows = 100 + shell
    rows[2000] = 100
    neighbours = nearest(rows, rows[2000][None], 30)
    assert neighbours.indices[0, 0] == 2000
    # the error of a sum of four squares in float32; products of numbers near 100 would
    # have errors of 5e-5
    np.testing.assert_allclose(
        neighbours.distances, brute(rows, rows[2000][None], 30)[0], rtol=5e-7
    )


def test_double_precision_inputs_give_double_precision_results():
    with double_precision():
        rows = draws(4500, 5).astype(float)
        queries = draws(3, 5, 1).astype(float)
        neighbours = nearest(rows, queries, 4)
        assert neighbours.distances.dtype == np.float64
        np.testing.assert_allclose(
            neighbours.distances, brute(rows, queries, 4)[0], rtol=1e-13
        )


def test_search_runs_inside_jit_and_its_distances_have_the_gradient_of_a_norm():
    rows = jnp.asarray(draws(300, 3))
    q = jnp.asarray(draws(1, 3, 1))[0]
    value = jax.jit(lambda z: ExactSearch(rows).search(z, 2).distances[0])
    nearest = rows[brute(rows, q[None], 1)[1][0, 0]]
    np.testing.assert_allclose(
        jax.grad(value)(q), (q - nearest) / jnp.linalg.norm(q - nearest), rtol=1e-5
    )
    # at a stored row no direction leads away from it
    assert (jax.grad(value)(rows[0]) == 0).all()


def test_queries_of_any_leading_shape():
    rows = draws(50, 3)
    queries = draws(6, 3, 1)
    flat = nearest(rows, queries, 2)
    stacked = nearest(rows, queries.reshape(2, 3, 3), 2)
    np.testing.assert_array_equal(stacked.indices.reshape(6, 2), flat.indices)
    assert ExactSearch(rows).search(np.zeros((0, 3), np.float32), 2).indices.shape == (
        0,
        2,
    )


@pytest.mark.parametrize("n", [6, 2100])
def test_a_store_that_fills_up_finds_the_first_rows_alone(n):
    """This holds also in one dimension, where the largest number that can be squared is
    not infinite.
    """
    rows = draws(n, 1)
    search = jax.jit(lambda stored: ExactSearch(rows, stored).search(rows[:5], 4))
    for stored in (2, n - 1):
        neighbours = search(jnp.array(stored))
        distances, order = brute(rows[:stored], rows[:5], 4)
        missing = 4 - order.shape[1]
        np.testing.assert_array_equal(
            neighbours.indices,
            np.pad(order, ((0, 0), (0, missing)), constant_values=-1),
        )
        expected = np.pad(distances, ((0, 0), (0, missing)), constant_values=np.inf)
        np.testing.assert_allclose(neighbours.distances, expected, atol=2e-6)


def test_search_reports_empty_stores_and_nonfinite_distances():
    q = jnp.array([[0.0, 0.0], [3e38, 3e38], [jnp.nan, 0.0]])
    search = jax.jit(lambda q, stored: ExactSearch(draws(5, 2), stored).search(q, 3))
    far = Outcome.NOT_FINITE
    empty = Outcome.EMPTY
    np.testing.assert_array_equal(
        search(q, jnp.array(4)).outcome, [Outcome.OK, far, far]
    )
    np.testing.assert_array_equal(
        search(q, jnp.array(0)).outcome, [empty, empty, empty]
    )


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ExactSearch(np.ones((4, 2)), 5), "stored"),
        (lambda: ExactSearch(np.ones((4, 2)), 0), "stored"),
        (lambda: ExactSearch(np.ones((4, 2))).search(np.ones((1, 2)), True), "k"),
        (lambda: ExactSearch(np.ones((4, 2))).search(np.ones((1, 2)), 2.0), "k"),
        (lambda: ExactSearch(np.zeros((0, 3))), "rows"),
        (lambda: ExactSearch(np.zeros(3)), "rows"),
        (lambda: ExactSearch([[1.0, np.nan]]), "rows"),
        (lambda: ExactSearch(np.ones((4, 2))).search(np.ones((1, 2)), 5), "k"),
        (lambda: ExactSearch(np.ones((4, 2))).search(np.ones((1, 2)), 0), "k"),
        (lambda: ExactSearch(np.ones((4, 2))).search(np.ones((1, 3)), 1), "queries"),
        (lambda: ExactSearch(np.ones((4, 2))).search([[np.inf, 0.0]], 1), "queries"),
        (lambda: ShardedSearch(np.zeros((0, 3))), "rows"),
        (lambda: ShardedSearch([[1.0, np.nan]]), "rows"),
    ],
)
def test_bad_input_is_named(call, named):
    with refused(ValueError, match=f"^{named}: got"):
        call()


@pytest.mark.parametrize("entry", [jnp.nan, jnp.inf, -jnp.inf])
def test_an_entry_that_is_not_finite_is_not_called_too_large(entry):
    rows = jnp.eye(3).at[1, 1].set(entry)
    with refused(ValueError, match="^rows: got NaN or infinity"):
        ExactSearch(rows)


def test_working_memory_does_not_grow_with_the_store_or_the_queries():
    most = 20e6 if on_processor() else 500e6  # a GPU uses larger pieces
    assert (
        block_bytes(10**7, 64, queries=10**3)
        == block_bytes(10**9, 64, queries=10**6)
        < most
    )


EIGHT = """
import numpy as np, jax
from rankone.residual import ExactSearch, ShardedSearch
assert len(jax.devices()) == 8
rows = np.random.default_rng(0).standard_normal((3003, 5)).astype(np.float32)
queries = np.concatenate([rows[:2], np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)])
rows[1000:2500] = rows[0]
spread = ShardedSearch(rows)
sizes = {shard.data.shape for shard in spread.rows.addressable_shards}
assert sizes == {(376, 5)}, sizes
for k in (1, 60, 400):
    one, eight = ExactSearch(rows).search(queries, k), spread.search(queries, k)
    assert (one.indices == eight.indices).all()
    # a sum of five squares in two programs: each rounds by at most half of ε a term, which is 6e-8 of the sum
    np.testing.assert_allclose(one.distances, eight.distances, rtol=6e-7)
print("equal")
"""


def test_a_store_spread_over_eight_devices_gives_the_same_rows(root, light):
    flags = {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "JAX_PLATFORMS": "cpu",
    }
    done = subprocess.run(
        [sys.executable, "-c", EIGHT],
        cwd=root,
        env=light | flags,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "equal", done.stderr


def test_sharded_search_on_one_device_matches_brute_force():
    rows = draws(2100, 4)
    queries = draws(5, 4, 1)
    neighbours = ShardedSearch(rows, jax.devices()[:1]).search(queries, 7)
    np.testing.assert_array_equal(neighbours.indices, brute(rows, queries, 7)[1])


class FlatIndex:
    """The part of an index that FaissSearch uses, by brute force."""

    metric_type = 1

    def __init__(self, d):
        self.d = d
        self.rows = np.zeros((0, d), np.float32)

    @property
    def ntotal(self):
        return len(self.rows)

    def add(self, rows):
        self.rows = np.concatenate([self.rows, rows])

    def search(self, queries, k):
        distances, order = brute(self.rows, queries, k)
        return (distances**2).astype(np.float32), order


@pytest.fixture(params=["faiss", "stand-in"])
def index(request, monkeypatch):
    if request.param == "faiss":
        return pytest.importorskip("faiss").IndexFlatL2
    monkeypatch.setitem(
        sys.modules, "faiss", SimpleNamespace(IndexFlatL2=FlatIndex, METRIC_L2=1)
    )
    return FlatIndex


def test_an_index_of_faiss_answers_through_the_same_interface(index):
    rows = draws(400, 6)
    queries = draws(5, 6, 1)
    ours, theirs = (
        search.search(queries, 8) for search in (ExactSearch(rows), FaissSearch(rows))
    )
    np.testing.assert_array_equal(theirs.indices, ours.indices)
    np.testing.assert_allclose(theirs.distances, ours.distances, atol=2e-6)
    with refused(ValueError, match=r"^index: got dimension 5"):
        FaissSearch(rows, index(5))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda rows: FaissSearch("rows"), "rows"),
        (lambda rows: FaissSearch(rows, index={"a": 1}), "index"),
        (lambda rows: ShardedSearch(rows, devices={"a": 1}), "devices"),
        (lambda rows: ShardedSearch(rows, devices=[]), "devices"),
    ],
)
def test_indices_and_devices_are_refused_by_name(make, name):
    """This holds with and without faiss."""
    with refused(ValueError, match=rf"^{name}: got"):
        make(np.ones((3, 2)))


def test_without_faiss_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with refused(ImportError, match="pip install faiss-cpu"):
        FaissSearch(np.ones((2, 2)))
