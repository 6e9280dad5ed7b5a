"""One GPU's share of a billion keys on 64 of them: the case that the page *How it
grows* computes by arithmetic.

The keys are spread evenly, so one GPU holds a 64th of them. It reads the list of its
keys in bfloat16, searches them, and reads a vector of a 64th of the frequencies.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

import rankone as ro
from benchmarks.growth import Case, spread
from benchmarks.memory import BETA, read, unit_rows
from benchmarks.timing import Machine, Work, interleave

__all__ = ["SEED", "run"]

SEED = 0
DEVICES = 64
K = 10**9
D = 768
FREQUENCIES = 8 * K  # with a noise of a quarter of one pattern's term in the energy
NEIGHBOURS = 10
QUERIES = (1, 64)
SLICES = 100  # slices in which the keys are drawn
NEEDS = 40e9  # bytes that the device must have


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Run all cases; one row for each, or none where the device is too small."""
    machine = Machine.of(quick)
    limit = (jax.devices()[0].memory_stats() or {}).get("bytes_limit", 0)
    if not quick and limit < NEEDS:
        print(
            f"The keys need a device of {NEEDS / 1e9:.0f} GB, and this one offers "
            f"{limit / 1e9:.0f} GB: left out."
        )
        return machine, []
    sizes = (10_000, 2**14) if quick else (K // DEVICES, FREQUENCIES // DEVICES)
    rows = list[dict[str, Any]]()
    for case in cases(*sizes):
        seconds = interleave({"ours": case.job} | machine.jobs(), repetitions)
        machine.observe(seconds)
        rows.append(
            case.row
            | {"bytes": case.work.bytes, "flops": case.work.flops}
            | {"wall_ms": spread(seconds["ours"], 1e3)}
        )
        print(rows[-1], flush=True)
    for row in rows:  # limits use the best rates of the whole run
        row["limit_ms"] = 1e3 * machine.limit(Work(row["bytes"], row["flops"]))
    return machine, rows


@partial(jax.jit, static_argnums=1)
def keys(key: jax.Array, n: int) -> jax.Array:
    """Normal rows in bfloat16, drawn slice by slice: (n, D)."""

    def normal_rows(one: jax.Array) -> jax.Array:
        return jax.random.normal(one, (n // SLICES, D), jnp.bfloat16) / D**0.5

    return jax.lax.map(normal_rows, jax.random.split(key, SLICES)).reshape(-1, D)


def cases(n: int, Y: int) -> Iterator[Case]:
    """The list, read and searched, then the vector, which needs the list's memory."""
    k_Xi, k_x = jax.random.split(jax.random.key(SEED))
    Xi = keys(k_Xi, n)
    x = unit_rows(k_x, max(QUERIES), D)
    memory = ro.MrDAM(Xi, BETA)
    form = {"form": "list, bfloat16", "K": n, "D": D, "kept": Xi.nbytes}
    for N in QUERIES:
        work = Work(Xi.nbytes, 4 * N * n * D)
        row = {"task": "energy and gradient", "N": N}
        yield Case(form | row, partial(read, memory, x[:N]), work)
    del memory
    store = ro.residual.ExactSearch(Xi)
    for N in QUERIES:
        work = Work(Xi.nbytes, 2 * N * n * D)
        row = {"task": "nearest keys", "N": N, "k": NEIGHBOURS}
        yield Case(form | row, partial(store.search, x[:N], NEIGHBOURS), work)
    del store, Xi
    features = ro.RandomFeatures(D, Y, key=k_x, projection="hadamard")
    vector = ro.DrDAM.store(x[:20], BETA, features)
    stored_bytes = sum(a.nbytes for a in jax.tree.leaves((vector.T, vector.features)))
    form = {
        "form": "vector, Hadamard frequencies",
        "Y": Y,
        "D": D,
        "kept": stored_bytes,
    }
    side = 1 << (D - 1).bit_length()
    work = Work(stored_bytes, 16 * Y * side**0.5)
    row = {"task": "energy and gradient", "N": 1}
    yield Case(form | row, partial(read, vector, x[:1]), work)
