"""Memories and searches give the same numbers in the small pieces that suit a processor
and in the large ones that suit a GPU.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from draws import normal

import rankone as ro
from rankone._device import on_processor
from rankone.memory import exact, features, nonlinear, projections
from rankone.residual import blocks

# Tolerance for float32 sums in another order. The largest measured difference is 1e-5
# of the largest entry.
CLOSE = 1e-4
PIECES = ["all at once", "a few at once"]
MODULES = (exact, features, nonlinear, blocks)


@pytest.fixture(params=["a few at once"])
def as_on_a_gpu(request, monkeypatch) -> Callable[[Callable[[], Any]], Any]:
    """A function that calls another as it would run on a GPU."""

    def call(function: Callable[[], Any]) -> Any:
        with monkeypatch.context() as patch:
            for module in MODULES:
                patch.setattr(module, "on_processor", lambda: False)
            if request.param == "a few at once":
                patch.setattr(features, "_SCRATCH", 2**13)
                patch.setattr(exact, "_LARGE_BLOCK_ENTRIES", 2**13)
                patch.setattr(blocks, "_GPU", blocks._Pieces(2**11, 128, 2**14, 2, 64))
            # on a CPU this changes only the key of compiled programs
            name = "float32" if request.param == "all at once" else "highest"
            with jax.default_matmul_precision(name):
                return function()

    return call


def assert_same(ours: Any, expected: Any) -> None:
    """Equal up to rounding of the largest entry of each array."""
    for one, other in zip(
        jax.tree.leaves(ours), jax.tree.leaves(expected), strict=True
    ):
        size = max(1e-30, float(np.abs(np.asarray(other, np.float64)).max()))
        np.testing.assert_allclose(one, other, rtol=0, atol=CLOSE * size)


@pytest.mark.parametrize(
    ("similarity", "dtype", "N"),
    [
        ("l2", "float32", 1),
        ("l2", "bfloat16", 7),
        ("dot", "float32", 7),
        ("dot", "bfloat16", 1),
    ],
)
@pytest.mark.parametrize("as_on_a_gpu", PIECES, indirect=True)
def test_gpu_block_sizes_give_the_same_exact_memory(as_on_a_gpu, similarity, dtype, N):
    memory = ro.MrDAM(jnp.asarray(normal(0, 997, 24), dtype), 0.2, similarity)
    x = normal(1, N, 24)

    def read() -> Any:
        prepared = memory.reader()(x - memory.origin[None])[:2]
        return memory.energy_and_gradient(x), prepared, memory.certified(x)

    assert_same(as_on_a_gpu(read), read())


@pytest.mark.parametrize(
    ("projection", "regenerate", "basis"),
    [
        ("gaussian", True, "cos"),
        ("orthogonal", False, "expexp"),
        ("hadamard", False, "sincos"),
    ],
)
def test_gpu_block_sizes_give_the_same_distributed_memory(
    as_on_a_gpu, monkeypatch, projection, regenerate, basis
):
    # blocks have few rows, so that a small memory has several blocks
    monkeypatch.setattr(projections, "_BLOCK_ENTRIES", 2**12)
    monkeypatch.setattr(projections, "_DRAWN_ENTRIES", 2**12)
    monkeypatch.setattr(projections, "_HADAMARD_ENTRIES", 2**14)
    feature_map = ro.RandomFeatures(
        61,
        1001,
        key=jax.random.key(0),
        projection=projection,
        regenerate=regenerate,
        basis=basis,
    )
    Xi = normal(1, 37, 61) / 10

    def stored_and_read() -> Any:
        memory = ro.DrDAM.store(Xi, 1.0, feature_map)
        return memory.T, memory.energy_and_gradient(Xi[:3]), feature_map.phi(Xi[:3])

    assert_same(as_on_a_gpu(stored_and_read), stored_and_read())


@pytest.mark.parametrize(
    ("n", "D", "dtype", "N"),
    [
        (9001, 24, "float32", 1),
        (9001, 24, "bfloat16", 150),
        (2500, 70, "float32", 3),
        (2500, 70, "bfloat16", 1),
    ],
)
@pytest.mark.parametrize("as_on_a_gpu", PIECES, indirect=True)
def test_gpu_block_sizes_give_the_same_search_results(as_on_a_gpu, n, D, dtype, N):
    store = ro.residual.ExactSearch(jnp.asarray(normal(0, n, D), dtype))
    q = normal(1, N, D)
    result = as_on_a_gpu(lambda: store.search(q, 9))
    expected = store.search(q, 9)
    np.testing.assert_array_equal(result.indices, expected.indices)
    assert_same(result.distances, expected.distances)


def test_long_rows_come_in_shorter_chunks(monkeypatch):
    monkeypatch.setattr(blocks, "on_processor", lambda: False)
    assert blocks._pieces(64).chunk == blocks._GPU.chunk
    entries = [blocks._pieces(D).chunk * D for D in (1024, 2048, 12288, 2**17)]
    assert max(entries) <= blocks._GPU.whole
    assert all(blocks._pieces(D).chunk % 32 == 0 for D in (1, 1000, 10**6))


def test_search_works_with_more_entries_than_an_index_can_address(monkeypatch):
    monkeypatch.setattr(blocks, "_LONGEST", 1000)
    rows, q = normal(0, 9001, 23), normal(1, 260, 23)
    neighbours = ro.residual.ExactSearch(rows).search(q, 5)
    distances = np.linalg.norm(q[:, None] - rows, axis=-1)
    assert_same(neighbours.distances, np.sort(distances)[:, :5])


def test_on_processor_follows_the_default_device_if_one_is_set(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert not on_processor()
    for place in ("cpu", jax.devices("cpu")[0]):
        with jax.default_device(place):
            assert on_processor()
