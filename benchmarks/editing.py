"""Edits of one matrix at the size of GPT-2 XL against the published recipe: form C⁻¹ by
a general inverse, multiply.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

import rankone as ro
from benchmarks.timing import Job, Machine, Work, compare

__all__ = ["SEED", "run"]

SEED = 0
FULL = {"D": 6400, "H": 1600, "K": 1000}  # K pairs in a batch
QUICK = {"D": 96, "H": 24, "K": 8}
Case = tuple[dict[str, Any], dict[str, tuple[Job, Work]], dict[str, Job]]


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Run all cases; returns the machine with its best rates, and one row for each pair
    compared.
    """
    size = QUICK if quick else FULL
    machine = Machine.of(quick)
    rows = list[dict[str, Any]]()
    for case, ours, against in cases(**size):
        rounds = 2 if quick else max(3, repetitions // 3)
        rows += compare(machine, case | {"D": size["D"]}, ours, against, rounds)
    for row in rows:  # limits use the best rates of the whole run
        row["limit_ms"] = 1e3 * machine.limit(Work(row["bytes"], row["flops"]))
    return machine, rows


@jax.jit
def by_inverse(W: jax.Array, C: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """The published recipe: a general inverse, then the closed form."""
    return cached_inverse(W, jnp.linalg.inv(C), k, v)


@jax.jit
def by_lu(W: jax.Array, C: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """The form that a careful reader of the recipe would write: one general solve."""
    u = jnp.linalg.solve(C, k)
    return W + jnp.outer((v - W @ k) / (u @ k), u)


@jax.jit
def cached_inverse(
    W: jax.Array, inverse: jax.Array, k: jax.Array, v: jax.Array
) -> jax.Array:
    """The published recipe with C⁻¹ given."""
    u = inverse @ k
    return W + jnp.outer((v - W @ k) / (u @ k), u)


def problem(D: int, H: int, K: int) -> tuple[jax.Array, ...]:
    """Weights, second moments of 2D correlated keys, and K pairs."""
    keys = jax.random.split(jax.random.key(SEED), 4)
    known = jax.random.normal(keys[0], (D, 2 * D)) * jnp.geomspace(1, 0.03, D)[:, None]
    W = jax.random.normal(keys[1], (H, D)) / D**0.5
    return (
        W,
        known @ known.T,
        jax.random.normal(keys[2], (D, K)),
        jax.random.normal(keys[3], (H, K)),
    )


def cases(D: int, H: int, K: int) -> Iterator[Case]:
    """One edit given C, one edit given its factor or inverse, one refined edit, and a
    batch of K.
    """
    W, C, keys, values = problem(D, H, K)
    k = keys[:, 0]
    v = values[:, 0]
    once = Work(4 * (D * D + 2 * H * D), D**3 / 3 + 4 * H * D)
    peers = {
        "general inverse": partial(by_inverse, W, C, k, v),
        "LU solve": partial(by_lu, W, C, k, v),
    }
    yield {"task": "one edit"}, {"Cholesky": (partial(edited, W, C, k, v), once)}, peers
    refined = {"refinement step": (partial(edited, W, C, k, v, refine=1), once)}
    yield (
        {"task": "refined edit"},
        refined,
        {"general inverse": peers["general inverse"]},
    )
    yield from cached_cases(W, C, k, v)
    yield from batch_cases(W, C, keys, values)


def edited(
    W: jax.Array, C: Any, k: jax.Array, v: jax.Array, *, refine: int = 0
) -> jax.Array:
    """The public calls, with all their checks."""
    return ro.rank_one_edit(W, C, k, v, refine=refine).apply(W)


def cached_cases(
    W: jax.Array, C: jax.Array, k: jax.Array, v: jax.Array
) -> Iterator[Case]:
    """Many edits in the geometry of one C: its factor against its inverse, W reused or
    copied.
    """
    (H, D) = W.shape
    geometry = ro.KeyGeometry.from_moments(C)
    inverse = jnp.linalg.inv(C)
    weights = [W + 0]

    def in_place() -> jax.Array:
        weights[0] = ro.rank_one_edit(weights[0], geometry, k, v).apply(
            weights[0], donate=True
        )
        return weights[0]

    work = Work(4 * (D * D + 3 * H * D), 2 * D * D + 6 * H * D)
    ours = {
        "factor": (partial(edited, W, geometry, k, v), work),
        "factor, W reused": (in_place, work),
    }
    yield (
        {"task": "cached edit"},
        ours,
        {"cached inverse": partial(cached_inverse, W, inverse, k, v)},
    )


def batch_cases(
    W: jax.Array, C: jax.Array, keys: jax.Array, values: jax.Array
) -> Iterator[Case]:
    """All pairs in one factorisation, against the same pairs written individually with
    C⁻¹ given.
    """
    (H, D) = W.shape
    m = keys.shape[1]
    inverse = jnp.linalg.inv(C)
    geometry = ro.KeyGeometry.from_moments(C)
    pairs = [(keys[:, i], values[:, i]) for i in range(m)]
    flops = 2 * m * D * D + m * m * (D + H) + 4 * m * H * D

    def singles() -> jax.Array:
        now = W
        for k, v in pairs:
            now = cached_inverse(now, inverse, k, v)
        return now

    read = 4 * (D * D + 2 * H * D)
    ours = {
        "given C": (
            lambda: ro.batch_edit(W, C, keys, values).apply(W),
            Work(read, D**3 / 3 + flops),
        ),
        "given factor": (
            lambda: ro.batch_edit(W, geometry, keys, values).apply(W),
            Work(read, flops),
        ),
    }
    yield {"task": "batch", "K": m}, ours, {"one by one": singles}
