"""Exact k-nearest neighbours against faiss, as installed and at its best, and scikit-learn."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import jax.numpy as jnp
import numpy as np

from benchmarks.timing import Job, Machine, Work, compare
from rankone.residual import ExactSearch
from rankone.residual.search import block_bytes

__all__ = ["SEED", "run"]

SEED = 0
NEIGHBOURS = 50
SIZES = [(50_000, 64, (1, 100, 1000)), (1_000_000, 64, (1, 100)), (1_000_000, 512, (1, 100))]  # n, dim, queries
QUICK = [(5_000, 16, (1, 8))]
BLAS_FROM = 20  # queries from which faiss at its best multiplies matrices
Case = tuple[dict[str, Any], dict[str, tuple[Job, Work]], dict[str, Job]]


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Run all cases; one row for each pair compared, with the largest difference of their distances."""
    for module, package in (("faiss", "faiss-cpu"), ("sklearn", "scikit-learn")):
        if find_spec(module) is None:
            print(f"{package} is not installed: it is left out (pip install {package} to include it).")
    machine, rows = Machine(256 if quick else 2048), list[dict[str, Any]]()
    for size in QUICK if quick else SIZES:
        for case, ours, against in cases(*size):
            rows += compare(machine, case, ours, against, max(2, repetitions // 3))
    return machine, rows


def cases(n: int, D: int, queries: tuple[int, ...]) -> Iterator[Case]:
    """One store, several numbers of queries; every peer's distances are compared with ours before the clock runs."""
    rng = np.random.default_rng(SEED)
    rows, q = rng.standard_normal((n, D), dtype=np.float32), rng.standard_normal((max(queries), D), dtype=np.float32)
    store, searches = ExactSearch(rows), peers(rows)
    for N in queries:
        asked = q[:N]
        mine = np.asarray(store.search(asked, NEIGHBOURS).distances)
        differences = {name: float(abs(np.asarray(search(asked)) - mine).max()) for name, search in searches.items()}
        case = {"task": "k-NN", "K": n, "D": D, "N": N, "neighbours": NEIGHBOURS, "differences": differences}
        case["block_mb"] = block_bytes(n, D, queries=N, k=NEIGHBOURS) / 1e6
        on_device = jnp.asarray(asked)
        ours = {"two-phase": (lambda x=on_device: store.search(x, NEIGHBOURS), Work(4 * n * D, 2 * N * n * D))}
        yield case, ours, {name: lambda f=f, x=asked: f(x) for name, f in searches.items()}


def peers(rows: np.ndarray) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Those that are installed, each a function from queries to distances."""
    found: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
    if find_spec("faiss"):
        import faiss

        index, installed = faiss.IndexFlatL2(rows.shape[1]), faiss.cvar.distance_compute_blas_threshold
        index.add(rows)
        threads = faiss.omp_get_max_threads()

        def search(x: np.ndarray, threshold: int, most: int) -> np.ndarray:
            faiss.cvar.distance_compute_blas_threshold = threshold
            faiss.omp_set_num_threads(most)
            return np.sqrt(np.maximum(index.search(x, NEIGHBOURS)[0], 0))

        found["faiss as installed"] = lambda x: search(x, installed, threads)
        for most in (1, 2):
            found[f"faiss, BLAS, threads {most}"] = lambda x, most=most: search(x, BLAS_FROM, most)
    if find_spec("sklearn"):
        from sklearn.neighbors import NearestNeighbors

        fitted = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="brute").fit(rows)
        found["scikit-learn"] = lambda x: fitted.kneighbors(x)[0]
    return found
