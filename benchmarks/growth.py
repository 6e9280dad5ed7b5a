"""How time grows with each size, and where an approximate index overtakes exact search.

The other suites compare single sizes in wall-clock time. This one sweeps a size over
decades, so that a page can draw how the cost grows. It counts the time that the process
spent on its processors, which varies less on a shared machine. Wall-clock time is
recorded too. The machine's rates are per second of processor time as well, so that the
limit of a row is the time of a bare read or a bare product.
"""

import time
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import rankone as ro
from benchmarks import timing
from benchmarks.memory import BETA, read, unit_rows
from benchmarks.residual import BLAS_FROM
from benchmarks.timing import Job, Machine, Work

__all__ = ["SEED", "run"]

SEED = 0
NEIGHBOURS = 10
QUERIES = 200  # queries of a search, for its time and for its recall
EXACT_K = (10_000, 30_000, 100_000, 300_000, 1_000_000)  # at D = 64
EXACT_D = (16, 64, 256, 1024)  # at K = 100,000
VECTOR_Y = (2**12, 2**14, 2**16, 2**18, 2**20)  # at D = 64, and at D = 1024
STORED_Y = (2**12, 2**14, 2**16, 2**18)  # at D = 64, where Ω has up to 2²⁴ numbers
VECTOR_D = (16, 64, 256, 1024, 4096)  # at Y = 2¹⁶
STORED_D = (16, 64, 256, 1024)
WRITTEN_K = (100, 300, 1000, 3000)  # at D = 64 and Y = 2¹⁴
SEARCH_N = (10_000, 30_000, 100_000, 300_000, 1_000_000)
SEARCH_D = 64
SEARCH_k = (1, 10, 100)  # at 100,000 rows
PROBES = (1, 2, 4, 8, 16, 32, 64, 128)
CANDIDATES = (8,)  # candidates per neighbour that are reranked exactly
INDEX_N = (10_000, 30_000, 100_000, 300_000)
CODE_ENTRIES = 4  # entries of a row that one byte of its code represents
DECAY = 1.0  # the j-th entry of a row has the variance j^−DECAY


class Case(NamedTuple):
    """One formulation at one size: its row of the record, its job, and its least
    work.
    """

    row: dict[str, Any]
    job: Job
    work: Work


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Run all sweeps; one row for each size, and one for each setting of an index."""
    machine = Machine.of(quick)
    rows = list[dict[str, Any]]()
    for sweep in sweeps(quick):
        rows += timed(machine, list(sweep), repetitions)
    if find_spec("faiss") is None:
        print("faiss-cpu is not installed: the index is left out (pip install it).")
    else:
        for data, vectors in data_sets(quick):
            rows += index_rows(machine, data, vectors, max(3, repetitions // 3), quick)
    for row in rows:  # limits use the best rates of the whole run
        row["limit_ms"] = 1e3 * machine.limit(Work(row["bytes"], row["flops"]))
    return machine, rows


def sweeps(quick: bool) -> Iterator[Iterator[Case]]:
    """The cases of each sweep, which are timed in turn."""

    def few(sizes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(size // 8 for size in sizes[:2]) if quick else sizes

    yield (exact_case("exact, K", K, 64) for K in few(EXACT_K))
    K = few(EXACT_K)[-1] // 10
    yield (exact_case("exact, D", K, D) for D in EXACT_D[: 2 if quick else None])
    for D in (64, 1024)[: 1 if quick else 2]:
        yield (vector_case("vector, Y", "hadamard", D, Y) for Y in few(VECTOR_Y))
    yield (vector_case("vector, Y", "gaussian", 64, Y) for Y in few(STORED_Y))
    Y = 2**8 if quick else 2**16
    yield (vector_case("vector, D", "hadamard", D, Y) for D in few(VECTOR_D))
    yield (vector_case("vector, D", "gaussian", D, Y) for D in few(STORED_D))
    yield (written_case(K, 64, Y // 4) for K in few(WRITTEN_K))
    for N in (1, 100):
        yield (search_case("search, n", n, N, NEIGHBOURS) for n in few(SEARCH_N))
    n = few(SEARCH_N)[-1] // 10
    yield (search_case("search, k", n, 100, k) for k in SEARCH_k)


def exact_case(sweep: str, K: int, D: int) -> Case:
    """Energy and gradient of the exact memory at one state."""
    k_Xi, k_x = jax.random.split(jax.random.key(SEED))
    memory = ro.MrDAM(unit_rows(k_Xi, K, D), BETA)
    x = unit_rows(k_x, 1, D)
    row = {"task": sweep, "form": "list", "K": K, "D": D, "N": 1}
    row["kept"] = memory.Xi.nbytes
    return Case(row, lambda: read(memory, x), Work(4 * K * D, 4 * K * D))


def vector_memory(projection: str, D: int, Y: int) -> tuple[ro.DrDAM, jax.Array]:
    """A distributed memory of twenty patterns, and the patterns."""
    k_Xi, k_features = jax.random.split(jax.random.key(SEED))
    Xi = unit_rows(k_Xi, 20, D)
    features = ro.RandomFeatures(D, Y, key=k_features, projection=projection)
    return ro.DrDAM.store(Xi, BETA, features), Xi


def vector_case(sweep: str, projection: str, D: int, Y: int) -> Case:
    """Energy and gradient of the distributed memory at one state: its cost does not
    depend on the number of patterns.
    """
    memory, Xi = vector_memory(projection, D, Y)
    x = Xi[:1] + 0.01
    row = {"task": sweep, "form": projection, "Y": Y, "D": D, "N": 1}
    row["kept"] = stored_bytes(memory)
    side = 1 << (D - 1).bit_length()  # side of a block, padded to a power of two
    flops = 4 * Y * D if projection == "gaussian" else 16 * Y * side**0.5
    return Case(row, lambda: read(memory, x), Work(row["kept"], flops))


def stored_bytes(memory: ro.DrDAM) -> int:
    """Bytes of T and of the frequencies."""
    arrays = jax.tree.leaves((memory.T, memory.features))
    return sum(array.nbytes for array in arrays)


def written_case(K: int, D: int, Y: int) -> Case:
    """Storing K patterns in the distributed memory."""
    key = jax.random.key(SEED)
    features = ro.RandomFeatures(D, Y, key=key, projection="hadamard")
    Xi = unit_rows(key, K, D)
    row = {"task": "written, K", "form": "hadamard", "K": K, "D": D, "Y": Y, "N": K}
    row["kept"] = 2 * Y * 4
    work = Work(4 * K * D, 8 * K * Y * (1 << (D - 1).bit_length()) ** 0.5)
    return Case(row, lambda: ro.DrDAM.store(Xi, BETA, features).T, work)


def decaying(n: int, D: int, seed: int = SEED) -> np.ndarray:
    """Normal rows without clusters, whose j-th entry has the variance j^−DECAY.

    There are no gaps between groups that an index could use, so its recall is
    informative. Entries of embeddings have unequal variances too.
    """
    rows = np.random.default_rng(seed).standard_normal((n, D), dtype=np.float32)
    return rows * np.arange(1, D + 1, dtype=np.float32) ** (-DECAY / 2)


def search_case(sweep: str, n: int, N: int, k: int) -> Case:
    """Exact search for the nearest rows."""
    store = ro.residual.ExactSearch(decaying(n, SEARCH_D))
    q = jnp.asarray(decaying(N, SEARCH_D, SEED + 1))
    row = {"task": sweep, "form": "exact search", "K": n, "D": SEARCH_D, "N": N, "k": k}
    row["kept"] = store.rows.nbytes
    work = Work(4 * n * SEARCH_D, 2 * N * n * SEARCH_D)
    return Case(row, lambda: store.search(q, k), work)


def timed(
    machine: Machine, cases: list[Case], repetitions: int
) -> list[dict[str, Any]]:
    """A row for each case, all timed in turn; `growth` is relative to the first case of
    the sweep, round by round.
    """
    jobs: dict[str, Job] = {str(i): case.job for i, case in enumerate(cases)}
    cpu, wall = measured(jobs | machine.jobs(), repetitions)
    # while a GPU computes, the processor may wait and count no time
    seconds = cpu if jax.default_backend() == "cpu" else wall
    machine.observe(seconds)
    rows = []
    for i, case in enumerate(cases):
        growth = np.array(seconds[str(i)]) / np.array(seconds["0"])
        rows.append(
            case.row
            | {"bytes": case.work.bytes, "flops": case.work.flops}
            | {"cpu_ms": spread(cpu[str(i)], 1e3), "wall_ms": spread(wall[str(i)], 1e3)}
            | {"growth": spread(growth)}
        )
        print(line(rows[-1]), flush=True)
    return rows


def measured(
    jobs: dict[str, Job], repetitions: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Processor and wall-clock seconds of each repetition of each job; every round runs
    all jobs, short ones several times.
    """
    calls = {}
    for name, job in jobs.items():
        seconds_of(job, 1)  # compile, and touch all memory
        calls[name] = max(1, min(100, int(timing.BURST / seconds_of(job, 1)[1])))
    cpu: dict[str, list[float]] = {name: [] for name in jobs}
    wall: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repetitions):
        for name, job in jobs.items():
            cpu_seconds, passed = seconds_of(job, calls[name])
            cpu[name].append(cpu_seconds)
            wall[name].append(passed)
    return cpu, wall


def seconds_of(job: Job, calls: int) -> tuple[float, float]:
    """Processor and wall-clock seconds of one call, on average over a few."""
    cpu_start = time.process_time()
    began = time.perf_counter()
    for _ in range(calls):
        jax.block_until_ready(job())
    passed = time.perf_counter() - began
    return (time.process_time() - cpu_start) / calls, passed / calls


def spread(values: Any, scale: float = 1) -> dict[str, float]:
    return {
        name: float(scale * summary(values))
        for name, summary in (("min", np.min), ("median", np.median), ("max", np.max))
    }


def line(row: dict[str, Any]) -> str:
    """A row as one line of text."""
    size = ", ".join(
        f"{name}={row[name]}"
        for name in ("K", "D", "Y", "N", "k", "probes", "candidates")
        if name in row
    )
    said = f"{row['task']:<12} {row['form']:<14} {size:<44}"
    said += f"{row['cpu_ms']['median']:9.2f} ms of processor"
    if "recall" in row:
        ratio = row["ratio"]["median"]
        said += f", recall {row['recall']:.3f}, ratio {ratio:.2f} to {row['peer']}"
    return said


def data_sets(quick: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Stores of rows, by name, with the queries as their last rows."""
    for n in (2_000,) if quick else INDEX_N:
        yield "normal rows", decaying(n + QUERIES, SEARCH_D)
    if not quick:
        yield "token embeddings", token_embeddings()


def token_embeddings() -> np.ndarray:
    """The vocabulary of SmolLM2 in a random order, one embedding per token, in the
    directions of its largest variances.
    """
    embedding = np.asarray(ro.language.load_smollm2().network.embedding, np.float32)
    centred = embedding - embedding.mean(0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, -SEARCH_D:]
    return np.random.default_rng(SEED).permutation(centred @ directions)


def index_rows(
    machine: Machine, data: str, vectors: np.ndarray, repetitions: int, quick: bool
) -> list[dict[str, Any]]:
    """IVF-PQ with exact reranking against exact search, for every setting of its two
    options: one row for each setting and each peer.
    """
    import faiss

    rows, queries = vectors[:-QUERIES], np.ascontiguousarray(vectors[-QUERIES:])
    n, D = rows.shape
    faiss.omp_set_num_threads(1)
    faiss.cvar.distance_compute_blas_threshold = BLAS_FROM * D
    exact = ro.residual.ExactSearch(rows)
    flat = faiss.IndexFlatL2(D)
    flat.add(rows)
    on_device = jnp.asarray(queries)
    truth = np.asarray(exact.search(on_device, NEIGHBOURS).indices)
    began = time.process_time()
    lists = int(4 * n**0.5)
    index = trained_index(rows, lists)
    built = time.process_time() - began
    store = ro.residual.FaissSearch(rows, index)
    jobs: dict[str, Job] = {
        "exact search": lambda: exact.search(on_device, NEIGHBOURS),
        "faiss, flat": lambda: flat.search(queries, NEIGHBOURS),
    }
    settings = [
        (probes, candidates)
        for probes in PROBES[: 4 if quick else None]
        for candidates in CANDIDATES
        if finds_enough(store, (probes, candidates), on_device)
    ]
    for setting in settings:
        jobs[str(setting)] = partial(searched, store, setting, on_device)
    cpu, wall = measured(jobs | machine.jobs(), repetitions)
    machine.observe(cpu)
    code_bytes = len(faiss.serialize_index(faiss.extract_index_ivf(index)))
    results = list[dict[str, Any]]()
    for setting in settings:
        indices = np.asarray(searched(store, setting, on_device).indices)
        both = zip(truth, indices, strict=True)
        recall = np.mean([np.isin(nearest, got).mean() for nearest, got in both])
        probes, candidates = setting
        scanned = n * probes / lists
        for peer in ("exact search", "faiss, flat"):
            ratio = np.array(cpu[peer]) / np.array(cpu[str(setting)])
            results.append(
                {"task": "index", "form": "IVF-PQ", "data": data}
                | {"K": n, "D": D, "N": QUERIES, "k": NEIGHBOURS, "lists": lists}
                | {"probes": probes, "candidates": candidates, "peer": peer}
                | {"recall": float(recall), "build_s": built, "kept": code_bytes}
                | {
                    "bytes": 4 * lists * D + scanned * (D // CODE_ENTRIES),
                    "flops": 2 * QUERIES * (lists + candidates * NEIGHBOURS) * D,
                }
                | {"cpu_ms": spread(cpu[str(setting)], 1e3)}
                | {"wall_ms": spread(wall[str(setting)], 1e3)}
                | {"peer_ms": spread(cpu[peer], 1e3), "ratio": spread(ratio)}
            )
            print(line(results[-1]), flush=True)
    return results


def trained_index(rows: np.ndarray, lists: int) -> Any:
    """An empty, trained IVF-PQ index that reranks its candidates by exact distances."""
    import faiss

    D = rows.shape[1]
    # One byte for four entries of a row, which is a sixteenth of float32.
    codes = faiss.index_factory(D, f"IVF{lists},PQ{D // CODE_ENTRIES}")
    index = faiss.IndexRefineFlat(codes)
    index.train(rows)
    return index


def finds_enough(store: Any, setting: tuple[int, int], queries: jax.Array) -> bool:
    """True if the probed lists have at least as many rows as neighbours are asked
    for.
    """
    try:
        searched(store, setting, queries)
    except ValueError:  # `FaissSearch` never returns fewer neighbours than asked for
        return False
    return True


def searched(store: Any, setting: tuple[int, int], queries: jax.Array) -> Any:
    """Neighbours at one setting: lists probed, and candidates reranked per neighbour."""
    import faiss

    probes, candidates = setting
    faiss.extract_index_ivf(store.index).nprobe = probes
    store.index.k_factor = candidates
    return store.search(queries, NEIGHBOURS)
