"""Exact and distributed memories against the published formulations."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import rankone as ro
from benchmarks import peers
from benchmarks.timing import Job, Machine, Work, compare

__all__ = ["SEED", "run"]

SEED = 0
BETA = 20.0
STEPS = 10  # steps of a retrieval
Case = tuple[dict[str, Any], dict[str, tuple[Job, Work]], dict[str, Job]]

# (D, Y): sizes of the distributed memory.
DISTRIBUTED = [(64, 10_000), (784, 10_000), (3072, 100_000), (12288, 50_000)]
EXACT = [(1_000_000, 64), (100_000, 256), (20_000, 1024)]  # (K, D)
QUICK_DISTRIBUTED = [(64, 500)]
QUICK_EXACT = [(2000, 64)]
QUERIES = (1, 64)
FIGURE_2 = {"D": 12288, "Y": 200_000, "K": 20, "steps": 100}
QUICK_FIGURE_2 = {"D": 256, "Y": 500, "K": 4, "steps": 5}


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Run all cases; returns the machine with its best rates, and one row for each pair
    compared.
    """
    if not peers.has_torch():
        print(
            "PyTorch is not installed: the Hopfield layer is left out (pip install "
            "torch==2.13.0 to include it)."
        )
    machine = Machine.of(quick)
    rows = list[dict[str, Any]]()
    distributed, exact = (
        (QUICK_DISTRIBUTED, QUICK_EXACT) if quick else (DISTRIBUTED, EXACT)
    )
    cases = chain(
        *(distributed_cases(*size) for size in distributed),
        *(exact_cases(*size) for size in exact),
    )
    for case, ours, against in cases:
        rounds = repetitions if case["task"] == "gradient" else max(3, repetitions // 3)
        rows += compare(machine, case, ours, against, rounds)
    for row in rows:  # limits use the best rates of the whole run
        row["limit_ms"] = 1e3 * machine.limit(Work(row["bytes"], row["flops"]))
    rows.append(figure_2_in_a_fresh_process(QUICK_FIGURE_2 if quick else FIGURE_2))
    return machine, rows


def unit_rows(key: jax.Array, n: int, D: int) -> jax.Array:
    """Random patterns of length 1, so that softmax attention and the log-sum-exp memory
    agree.
    """
    rows = jax.random.normal(key, (n, D), jnp.float32)
    return rows / jnp.linalg.norm(rows, axis=1, keepdims=True)


def stored_omega(features: ro.RandomFeatures) -> jax.Array:
    """Ω as the published code stores it: one matrix (Y, D)."""
    return features.frequencies.blocks.reshape(-1, features.D)[: features.Y]


@jax.jit
def read(memory: Any, x: jax.Array) -> Any:
    """Energy and gradient, jitted as the peers are. The public call also checks its
    arguments.
    """
    return memory(x)[:2] if callable(memory) else memory.energy_and_gradient(x)


@jax.jit
def total(patterns: jax.Array) -> jax.Array:
    """The least that any formulation does: read all patterns once."""
    return patterns.sum()


@jax.jit
def walk(memory: Any, x: jax.Array) -> jax.Array:
    """A few steps of retrieval."""
    return ro.retrieve(memory, x, step_size=0.1, max_steps=STEPS, tol=0.0).x


def distributed_memories(D: int, Y: int) -> tuple[jax.Array, dict[str, ro.DrDAM]]:
    """Twenty patterns, and two memories of them: with Ω stored, and with Ω in Hadamard
    blocks.
    """
    k_Xi, k_features = jax.random.split(jax.random.key(SEED))
    Xi = unit_rows(k_Xi, 20, D)
    kinds = {"stored": "gaussian", "Hadamard": "hadamard"}
    features = {
        form: ro.RandomFeatures(D, Y, key=k_features, projection=kind)
        for form, kind in kinds.items()
    }
    return Xi, {form: ro.DrDAM.store(Xi, BETA, f) for form, f in features.items()}


def distributed_cases(D: int, Y: int) -> Iterator[Case]:
    """Energy with gradient, and a step of retrieval, for 1 and 64 queries, against the
    published formulation.
    """
    Xi, memories = distributed_memories(D, Y)
    omega = stored_omega(memories["stored"].features)
    T = memories["stored"].T
    beta = jnp.float32(BETA)
    P = len(memories["Hadamard"].features.frequencies.first)
    # Two transforms forward and two back in every block, and one of each for all
    # blocks.
    transforms = 4 * -(-Y // P) + 2
    for N in QUERIES:
        x = Xi[jnp.arange(N) % 20] + 0.1 * unit_rows(jax.random.key(SEED + 1), N, D)
        work = {"stored": Work(4 * Y * D, 4 * N * Y * D)}
        # Two products with matrices of about √P; the signs, norms and T are read once.
        work["Hadamard"] = Work(4 * 5 * Y, transforms * N * P * 4 * P**0.5)
        for task, ours, peer in (
            (
                "gradient",
                read,
                lambda rows_first, x=x: peers.autodiff_gradient(
                    omega, T, beta, x, rows_first=rows_first
                ),
            ),
            (
                f"{STEPS} steps",
                walk,
                lambda rows_first, x=x: peers.autodiff_retrieval(
                    omega, T, beta, x, 0.1, STEPS, rows_first=rows_first
                ),
            ),
        ):
            steps = 1 if ours is read else STEPS
            forms = {
                form: (
                    lambda f=ours, m=m, x=x: f(m, x),
                    Work(steps * work[form].bytes, steps * work[form].flops),
                )
                for form, m in memories.items()
            }
            yield (
                {"task": task, "D": D, "Y": Y, "N": N},
                forms,
                {"as published": partial(peer, False), "by Ω z": partial(peer, True)},
            )


def exact_cases(K: int, D: int) -> Iterator[Case]:
    """The exact memory against one read of its patterns, a Hopfield layer in PyTorch,
    and the plain form in JAX.
    """
    k_Xi, k_x = jax.random.split(jax.random.key(SEED))
    Xi = unit_rows(k_Xi, K, D)
    beta = jnp.float32(BETA)
    memory = ro.MrDAM(Xi, BETA)
    for N in QUERIES:
        x = unit_rows(k_x, N, D)
        against: dict[str, Job] = {"one read": partial(total, Xi)}
        # The plain form stores every difference, which are (N, K, D) numbers.
        if K * D * N <= 2**27:
            against["plain JAX"] = lambda x=x: peers.plain_gradient(Xi, beta, x)
        if peers.has_torch():
            numbers = np.asarray(Xi), BETA, np.asarray(x)
            against |= {
                "Hopfield layer": peers.torch_layer(*numbers),
                "two products": peers.torch_products(*numbers),
            }
        work = Work(4 * K * D, 4 * N * K * D)
        forms = {"exact": memory, "prepared": memory.reader()}
        ours = {form: (lambda m=m, x=x: read(m, x), work) for form, m in forms.items()}
        yield {"task": "gradient", "K": K, "D": D, "N": N}, ours, against


def figure_2_in_a_fresh_process(size: dict[str, int]) -> dict[str, Any]:
    """Peak memory and time per step at the size of the paper's Fig. 2, in a process
    where nothing else has used memory before.
    """
    code = f"import json; from benchmarks.memory import figure_2; print(json.dumps(figure_2(**{size})))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    row = json.loads(done.stdout.strip().splitlines()[-1])
    size = ", ".join(f"{name}={row[name]}" for name in ("K", "D", "Y"))
    print(
        f"{row['task']:<14} {size:<24} {row['step_ms']:.2f} ms a step, "
        f"{row['peak_mb']:.0f} MB above the interpreter"
    )
    return row


def figure_2(*, D: int, Y: int, K: int, steps: int) -> dict[str, Any]:
    """Store K patterns and retrieve one. Memory is counted from that of an interpreter
    that has imported JAX and run one operation.
    """
    # NumPy arrays, as a reader's own pictures are
    normals = np.random.default_rng(SEED).normal(size=(K + 1, D)).astype(np.float32)
    Xi = normals[:K] / np.linalg.norm(normals[:K], axis=1, keepdims=True)
    x = Xi[0] + 0.1 * normals[K] / np.linalg.norm(normals[K])
    jnp.ones(8).sum().block_until_ready()
    before = _resident_mb("VmRSS")
    memory = ro.DrDAM.store(
        Xi,
        BETA,
        ro.RandomFeatures(D, Y, key=jax.random.key(SEED), projection="hadamard"),
    )
    options = {"step_size": 0.1, "max_steps": steps, "tol": 0.0, "progress": False}
    ro.retrieve(memory, x, **options).x.block_until_ready()
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        ro.retrieve(memory, x, **options).x.block_until_ready()
        seconds.append(time.perf_counter() - began)
    if jax.default_backend() == "cpu":
        peak = _resident_mb("VmHWM") - before
    else:
        peak = jax.devices()[0].memory_stats()["peak_bytes_in_use"] / 1e6
    row = {
        "task": "Fig. 2",
        "form": "Hadamard",
        "D": D,
        "Y": Y,
        "K": K,
        "N": 1,
        "peak_mb": peak,
    }
    return row | {"step_ms": 1e3 * float(np.median(seconds)) / steps}


def _resident_mb(field: str) -> float:
    """Resident memory now (VmRSS) or at its highest (VmHWM), in MB; not a number where
    there is no /proc.
    """
    try:
        with open("/proc/self/status") as status:
            return (
                next(int(line.split()[1]) for line in status if line.startswith(field))
                * 1024
                / 1e6
            )
    except FileNotFoundError:
        return float("nan")
