"""Exact k-nearest neighbours against faiss, as installed and at its best, and
scikit-learn.
"""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers import has_torch, torch_search
from benchmarks.timing import Job, Machine, Work, compare
from rankone.residual import ExactSearch
from rankone.residual.blocks import block_bytes

__all__ = ["SEED", "run"]

SEED = 0
NEIGHBOURS = 50
# n, dim, queries
SIZES = [
    (50_000, 64, (1, 16, 100, 1000)),
    (50_000, 512, (1, 16, 100)),
    (200_000, 64, (1, 16, 100)),
    (1_000_000, 64, (1, 16, 100)),
    (1_000_000, 512, (1, 16, 100)),
]
QUICK = [(5_000, 16, (1, 8))]
CLASSES = 10
BLAS_FROM = 10  # queries from which faiss at its best multiplies matrices
Search = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
Case = tuple[dict[str, Any], dict[str, tuple[Job, Work]], dict[str, Job]]


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Run all cases; one row for each pair compared, with the largest difference of
    their soft k-NN regressions.
    """
    for module, package in (("faiss", "faiss-cpu"), ("sklearn", "scikit-learn")):
        if find_spec(module) is None:
            print(
                f"{package} is not installed: it is left out (pip install {package} to "
                "include it)."
            )
    machine = Machine.of(quick)
    rows = list[dict[str, Any]]()
    for size in QUICK if quick else SIZES:
        for case, ours, against in cases(*size):
            rows += compare(machine, case, ours, against, max(2, repetitions // 3))
    for row in rows:  # limits use the best rates of the whole run
        row["limit_ms"] = 1e3 * machine.limit(Work(row["bytes"], row["flops"]))
    return machine, rows


def cases(n: int, D: int, queries: tuple[int, ...]) -> Iterator[Case]:
    """One store, several numbers of queries; every peer's answers are compared with
    ours before anything is timed.
    """
    rng = np.random.default_rng(SEED)
    rows = rng.standard_normal((n, D), dtype=np.float32)
    q = rng.standard_normal((max(queries), D), dtype=np.float32)
    labels = np.eye(CLASSES)[rng.integers(0, CLASSES, n)]
    store = ExactSearch(rows)
    installed = peers(rows)
    for N in queries:
        searches = {name: f for name, f in installed.items() if suits(name, N)}
        on_device = jnp.asarray(q[:N])
        neighbours = store.search(on_device, NEIGHBOURS)
        mine = answer(
            np.asarray(neighbours.distances), np.asarray(neighbours.indices), labels
        )
        case = {"task": "k-NN", "K": n, "D": D, "N": N, "neighbours": NEIGHBOURS}
        case["differences"] = {
            name: largest(answer(*search(q[:N]), labels), mine)
            for name, search in searches.items()
        }
        case["block_mb"] = block_bytes(n, D, queries=N, k=NEIGHBOURS) / 1e6
        ours = {
            "two-phase": (
                lambda x=on_device: store.search(x, NEIGHBOURS),
                Work(4 * n * D, 2 * N * n * D),
            )
        }
        yield (
            case,
            ours,
            {name: lambda f=f, x=q[:N]: f(x) for name, f in searches.items()},
        )


def answer(
    distances: np.ndarray, indices: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """The soft k-NN regression, the purpose of a search, with the mean distance as its
    width.
    """
    weights = np.exp(-(distances - distances.min(1, keepdims=True)) / distances.mean())
    return np.einsum(
        "nk,nkc->nc", weights / weights.sum(1, keepdims=True), labels[indices]
    )


def largest(a: np.ndarray, b: np.ndarray) -> float:
    return float(abs(a - b).max())


def suits(name: str, queries: int) -> bool:
    """True unless `name` is a form of faiss that is not its best for so many queries.
    The best form computes one distance after another ("direct") for a few queries, and
    products of matrices ("BLAS") for more.
    """
    if name.startswith("faiss, direct"):
        return queries < BLAS_FROM
    if name.startswith("faiss, BLAS"):
        return queries >= BLAS_FROM
    return True


@cache
def faiss_as_installed() -> tuple[int, int]:
    """The threshold from which faiss multiplies matrices and its number of threads,
    before anything changes them.
    """
    import faiss

    return faiss.cvar.distance_compute_blas_threshold, faiss.omp_get_max_threads()


def peers(rows: np.ndarray) -> dict[str, Search]:
    """The peers that are installed, each a function from queries to distances and
    indices.
    """
    searches: dict[str, Search] = {}
    if jax.default_backend() != "cpu":  # faiss and scikit-learn would use the CPU
        if has_torch():
            searches["PyTorch, product and topk"] = torch_search(rows, NEIGHBOURS)
        return searches
    if find_spec("faiss"):
        import faiss

        index = faiss.IndexFlatL2(rows.shape[1])
        index.add(rows)
        installed, threads = faiss_as_installed()

        def search(
            x: np.ndarray, threshold: int, most: int
        ) -> tuple[np.ndarray, np.ndarray]:
            # faiss 1.15 compares the threshold with queries × dimensions
            faiss.cvar.distance_compute_blas_threshold = threshold
            faiss.omp_set_num_threads(most)
            squares, indices = index.search(x, NEIGHBOURS)
            return np.sqrt(np.maximum(squares, 0)), indices

        searches["faiss as installed"] = lambda x: search(x, installed, threads)
        for most in (1, 2):
            for form in ("direct", "BLAS"):
                searches[f"faiss, {form}, threads {most}"] = lambda x, most=most: (
                    search(x, BLAS_FROM * rows.shape[1], most)
                )
    if find_spec("sklearn"):
        from sklearn.neighbors import NearestNeighbors

        fitted = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="brute").fit(rows)
        searches["scikit-learn"] = fitted.kneighbors
    return searches
