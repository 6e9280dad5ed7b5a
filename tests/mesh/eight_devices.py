"""A program of eight virtual devices: each public call on split arrays against the same
call on one device, and the traffic of its compiled form. It prints JSON, for
`test_mesh.py`.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import rankone as ro
from rankone import maml
from rankone.editing import SecondMoments
from rankone.residual import ExactSearch, ShardedSearch

D, K, N, k, L = 8, 1024, 3, 5, 4
STEPS = {"step_size": 0.5, "max_steps": 6, "progress": False}
BYTES = {"f32": 4, "s32": 4, "u32": 4, "pred": 1, "u8": 1}
KINDS = (
    "all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter|"
    "ragged-all-to-all"
)
MESH = jax.make_mesh((jax.device_count(),), ("rows",))


def traffic(function: Callable, *arguments: Any) -> dict[str, int]:
    """Bytes that come out of each kind of collective operation of the compiled call."""
    text = jax.jit(function).lower(*arguments).compile().as_text()
    totals: dict[str, int] = {}
    for result, kind in re.findall(rf"= (.*?) ({KINDS})(?:-start)?\(", text):
        size = sum(
            BYTES[dtype] * math.prod(map(int, filter(None, dims.split(","))))
            for dtype, dims in re.findall(r"(\w+)\[([\d,]*)\]", result)
        )
        totals[kind] = totals.get(kind, 0) + size
    return totals


def error(result: Any, expected: Any) -> float:
    """Largest difference of any leaf, relative to the largest entry of that leaf."""
    worst = 0.0
    for a, b in zip(jax.tree.leaves(result), jax.tree.leaves(expected), strict=True):
        a, b = np.asarray(a, float), np.asarray(b, float)
        largest = max(abs(b).max(initial=0), 1e-30)
        worst = max(worst, abs(a - b).max(initial=0) / largest)
    return worst


def refusal(call: Callable) -> str:
    """The message of the ValueError that a call raises; "" if it raises none."""
    try:
        call()
    except ValueError as refused:
        return str(refused)
    return ""


def draws(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers in single precision."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


XI = 0.4 * draws(K, D)
X = XI[:N] + 0.05 * draws(N, D, seed=1)
ROWS = jax.make_array_from_callback(
    XI.shape, NamedSharding(MESH, P("rows")), lambda index: XI[index]
)


def both(m: Any, x: Any) -> Any:
    """Energy and gradient."""
    return m.energy_and_gradient(x)


def exact() -> dict[str, Any]:
    """The memory that stores every pattern, split over K."""
    cases = {}
    for name, options in (
        ("l2", {}),
        ("square", {"similarity": "dot", "separation": "square", "Q": "identity"}),
    ):
        one = ro.MrDAM(XI, 4.0, **options)
        split = one.sharded(MESH)
        cases[f"MrDAM {name}"] = {
            "error": error(both(split, X), both(one, X)),
            "sent": traffic(both, split, X),
            # in the log domain the largest similarity is reduced too
            "reduced": 4 * N * (D + (2 if name == "l2" else 1)),
            "operand": XI.nbytes,
        }
    one = ro.MrDAM(XI, 4.0)
    split = ro.MrDAM(ROWS, 4.0)
    run = ro.retrieve(split, X, **STEPS)
    expected = ro.retrieve(one, X, **STEPS)
    cases["MrDAM retrieve"] = {
        "error": error((run.x, run.energies), (expected.x, expected.energies)),
        "same": bool((run.certified == expected.certified).all()),
        "sent": traffic(lambda m, x: ro.retrieve(m, x, **STEPS).x, split, X),
        "reduced": 4 * N * (D + 2),
        "operand": XI.nbytes,
    }

    def slope(m: Any, x: Any) -> Any:
        slopes = jax.grad(lambda m: (ro.retrieve(m, x, **STEPS).x ** 2).sum())(m)
        return slopes.Xi, slopes.beta

    cases["MrDAM derivative"] = {"error": error(slope(split, X), slope(one, X))}
    return cases


def distributed() -> dict[str, Any]:
    """The memory of random features, split over Y."""
    cases = {}
    kinds = {
        "gaussian": {},
        "hadamard": {"projection": "hadamard"},
        "orthogonal cos": {"projection": "orthogonal", "basis": "cos"},
        "regenerated": {"regenerate": True},
    }
    few = XI[:40]
    for name, options in kinds.items():
        # 1001 frequencies cannot be divided evenly among eight devices, nor into
        # transforms of 64.
        features = ro.RandomFeatures(D, 1001, key=jax.random.key(0), **options)
        one = ro.DrDAM.store(few, 4.0, features)
        split = ro.DrDAM.store(few, 4.0, features.sharded(MESH))
        cases[f"DrDAM {name}"] = {
            "error": error((split.T.unpacked, both(split, X)), (one.T, both(one, X))),
            "sent": traffic(both, split, X),
            "reduced": 4 * N * (D + 1),
            "operand": one.T.nbytes,
        }
        if name == "gaussian":
            cases["DrDAM store over Y"] = {
                "sent": traffic(
                    lambda F: ro.DrDAM.store(few, 4.0, F).T, split.features
                ),
                "reduced": 0,
                "operand": one.T.nbytes,
            }
            added = split.add(X).remove(few[:2])
            cases["DrDAM add"] = {
                "error": error(added.T.unpacked, one.add(X).remove(few[:2]).T),
                "same": len(added) == len(few) + N - 2,
                "sent": traffic(lambda m, x: m.add(x).T, split, X),
                "reduced": 0,
                "operand": one.T.nbytes,
            }
            run = ro.retrieve(split, X, **STEPS)
            expected = ro.retrieve(one, X, **STEPS)
            cases["DrDAM retrieve"] = {
                "error": error((run.x, run.energies), (expected.x, expected.energies)),
                "sent": traffic(lambda m, x: ro.retrieve(m, x, **STEPS).x, split, X),
                "reduced": 4 * N * (D + 1),
                "operand": one.T.nbytes,
            }
            over = ro.DrDAM.store(ROWS, 4.0, features)
            where = split.placement
            rows = where.put(ROWS, where.axis)
            cases["DrDAM store over both"] = {
                "error": error(
                    ro.DrDAM.store(ROWS, 4.0, split.features).T.unpacked, over.T
                ),
                "sent": traffic(
                    lambda F, Xi, where=where: F._encode_offsets(
                        Xi, jnp.ones(K), jnp.zeros(D), 2.0, where
                    ),
                    split.features,
                    rows,
                ),
                # gathered are sixteen patterns of each device at a time, with weights
                "gathered": 4 * 8 * 16 * (D + 1),
                "operand": XI.nbytes,
            }
            cases["DrDAM store over K"] = {
                "error": error(over.T, ro.DrDAM.store(XI, 4.0, features).T),
            }
        if name == "hadamard":
            packed = replace(one, bits=2)
            cases["DrDAM packed"] = {
                "error": error(both(packed.sharded(MESH), X), both(packed, X)),
                "sent": traffic(both, packed.sharded(MESH), X),
                "reduced": 4 * N * (D + 1),
                "operand": packed.T.nbytes,
            }
    return cases


def residual() -> dict[str, Any]:
    """Searches and residual memories, split over n; moments, over tokens."""
    rows = np.concatenate([draws(2400, D, seed=2), np.ones((8, D), np.float32)])
    labels = np.arange(len(rows), dtype=np.int32) % L
    logits = draws(len(rows), L, seed=3)
    one = ExactSearch(rows)
    split = one.sharded(MESH)

    def look(search: Any, q: Any) -> Any:
        return search.search(q, k)

    def fit(n: int, **options: Any) -> ro.ResMem:
        return ro.ResMem(k=k, **options).fit(
            rows[:n], logits=logits[:n], labels=labels[:n]
        )

    def read(memory: Any, q: Any) -> Any:
        return memory.predict(q, logits=logits[:N])

    near, far = look(split, X), look(one, X)
    cases = {
        "ExactSearch": {
            "error": error(near.distances, far.distances),
            "same": bool((near.indices == far.indices).all()),
            "sent": traffic(look, split, X),
            "gathered": 2 * 4 * N * 8 * k,
            "operand": rows.nbytes,
        }
    }
    for name, options in (("all", {}), ("two largest", {"keep": 2})):
        memory = fit(len(rows), **options)
        spread = memory.sharded(MESH)
        cases[f"ResMem {name}"] = {
            "error": error(read(spread, X), read(memory, X)),
            "sent": traffic(read, spread, X),
            "gathered": 2 * 4 * N * 8 * k,
            "reduced": 4 * N * L,
            "operand": rows.nbytes,
        }
        short = fit(2401, search=ShardedSearch, **options)
        expected = read(fit(2401, **options), X)
        cases[f"ResMem ShardedSearch {name}"] = {
            "error": error(read(short, X), expected)
        }
    moments = SecondMoments.empty(D)
    free = NamedSharding(jax.sharding.Mesh(jax.devices(), ("rows",)), P("rows"))
    cases["SecondMoments"] = {
        "error": error(moments.update(ROWS).total, moments.update(XI).total),
        "sent": traffic(
            lambda m, a: m.update(a).total, moments, jax.device_put(XI, free)
        ),
        "reduced": 4 * D * D,
        "operand": XI.nbytes,
    }
    return cases


def tasks() -> dict[str, Any]:
    """Meta-training, with tasks split over devices."""
    family = maml.SineTasks(shots=3)
    learner = maml.GradientLearner(maml.MLP(1, (8,)))
    options = {"iterations": 100, "meta_batch": 16, "progress": False}
    one, split = (
        maml.meta_train(
            learner,
            family,
            maml.squared_error,
            key=jax.random.key(0),
            **options,
            **mesh,
        )
        for mesh in ({}, {"mesh": MESH})
    )
    return {"meta_train": {"error": error(split, one)}}


if __name__ == "__main__":
    assert len(jax.devices()) == 8
    assert jnp.zeros(()).dtype == jnp.float32
    print(json.dumps(exact() | distributed() | residual() | tasks()))
