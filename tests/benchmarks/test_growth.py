"""The sweeps of growth time the jobs that they name, and their record is complete.
Nothing here is timed.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import growth, timing


def test_column_i_of_a_generated_store_has_variance_one_over_i():
    n = 20_000
    variances = growth.decaying(n, 8).var(0)
    # A variance of n normal numbers has the relative standard error √(2/n).
    expected = 1 / np.arange(1, 9)
    np.testing.assert_allclose(variances, expected, rtol=5 * (2 / n) ** 0.5)


def test_every_round_runs_all_jobs_and_both_clocks_are_read(monkeypatch):
    monkeypatch.setattr(timing, "BURST", 0.0)
    calls = []
    jobs = {name: lambda name=name: calls.append(name) for name in "ab"}
    cpu, wall = growth.measured(jobs, 3)
    assert calls == list("aabb" + "ab" * 3)
    for seconds in (cpu, wall):
        assert [len(seconds[name]) for name in "ab"] == [3, 3]


def test_an_index_that_visits_all_lists_is_exact():
    faiss = pytest.importorskip("faiss")
    import rankone as ro

    rows = growth.decaying(2_000, 16)
    queries = growth.decaying(5, 16, seed=1)
    index = growth.trained_index(rows, 8)
    faiss.extract_index_ivf(index).nprobe = 8
    index.k_factor = 50  # enough candidates for the codes' errors
    neighbours = ro.residual.FaissSearch(rows, index).search(queries, growth.NEIGHBOURS)
    distances = np.linalg.norm(queries[:, None] - rows, axis=-1)
    expected = np.sort(distances)[:, : growth.NEIGHBOURS]
    np.testing.assert_allclose(neighbours.distances, expected, rtol=1e-5)


def test_the_committed_record_has_every_sweep_and_every_index():
    path = ROOT / "benchmarks/results/growth.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert {"device", "date", "cores", "versions", "load"} <= record.keys()
    assert record["versions"]["faiss-cpu"]
    rows = record["rows"]

    def sizes(size, task, **parameters):
        return tuple(
            row[size]
            for row in rows
            if row["task"] == task
            and all(row[key] == value for key, value in parameters.items())
        )

    assert sizes("K", "exact, K") == growth.EXACT_K
    assert sizes("D", "exact, D") == growth.EXACT_D
    assert sizes("K", "written, K") == growth.WRITTEN_K
    assert sizes("Y", "vector, Y", form="gaussian") == growth.STORED_Y
    assert sizes("D", "vector, D", form="hadamard") == growth.VECTOR_D
    for D in (64, 1024):
        feature_counts = sizes("Y", "vector, Y", form="hadamard", D=D)
        assert feature_counts == growth.VECTOR_Y
    for N in (1, 100):
        assert sizes("K", "search, n", N=N) == growth.SEARCH_N
    for peer in ("exact search", "faiss, flat"):
        stores = sizes("K", "index", data="normal rows", peer=peer)
        assert tuple(sorted(set(stores))) == growth.INDEX_N
        assert sizes("K", "index", data="token embeddings", peer=peer)
