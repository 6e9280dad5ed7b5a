"""A program of eight virtual devices, on whose mesh the caller uses explicit axes: each
public call of a split object, and of an object on one device with split states, and the
traffic of its compiled form. It prints JSON, for `test_mesh.py`.
"""

import json
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from eight_devices import STEPS, XI, D, L, both, draws, error, k, refusal, traffic
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import rankone as ro
from rankone.residual import ExactSearch, ShardedSearch

MESH = jax.make_mesh((8,), ("rows",), axis_types=(AxisType.Explicit,))
OTHER = jax.make_mesh((4, 2), ("rows", "columns"), axis_types=(AxisType.Explicit,) * 2)
X = XI[:8] + 0.05 * draws(8, D, seed=1)
SPLIT = jax.device_put(X, NamedSharding(MESH, P("rows")))
ROWS = jax.device_put(XI, NamedSharding(MESH, P("rows")))
LOGITS = draws(len(XI), L, seed=3)


def descend(m: Any, x: Any) -> Any:
    """States and energies of a retrieval."""
    run = ro.retrieve(m, x, **STEPS)
    return run.x, run.energies


def slope(m: Any, x: Any) -> Any:
    """Derivative of a retrieval with respect to the clamped half of its queries."""
    clamp = np.arange(D) < D // 2
    return jax.grad(lambda x: (descend_clamped(m, x, clamp) ** 2).sum())(x)


def descend_clamped(m: Any, x: Any, clamp: Any) -> Any:
    """States of a retrieval with clamped entries."""
    return ro.retrieve(m, x, clamp=clamp, **STEPS).x


def add(m: Any, x: Any) -> Any:
    """Energies after patterns were added, and removed again."""
    return m.add(x).remove(x).energy(x)


def search(m: Any, x: Any) -> Any:
    """Distances and indices of the nearest rows."""
    neighbours = m.search(x, k)
    return neighbours.distances, neighbours.indices


def predict(m: Any, x: Any) -> Any:
    """Scores of a residual memory."""
    return m.predict(x, logits=x[:, :L])


def objects() -> dict[str, tuple[Any, Callable]]:
    """Objects on one device, each with a call."""
    features = ro.RandomFeatures(D, 1001, key=jax.random.key(0))
    exact = ro.MrDAM(XI, 4.0)
    distributed = ro.DrDAM.store(XI, 4.0, features)
    residual = ro.ResMem(k=k).fit(XI, logits=LOGITS, labels=np.arange(len(XI)) % L)
    return {
        "MrDAM": (exact, both),
        "MrDAM certified": (exact, lambda m, x: m.certified(x)),
        "MrDAM retrieve": (exact, descend),
        "MrDAM derivative": (exact, slope),
        "DrDAM": (distributed, both),
        "DrDAM retrieve": (distributed, descend),
        "DrDAM add": (distributed, add),
        "RandomFeatures": (features, lambda m, x: m.phi(x)),
        "ExactSearch": (ExactSearch(XI), search),
        "ResMem": (residual, predict),
    }


def split(one: Any, call: Callable) -> dict[str, Any]:
    """The call on a split object: inside and outside the caller's jit with the mesh
    set, and inside jit without a mesh.
    """
    spread = one.sharded(MESH)
    with jax.set_mesh(MESH):
        results = [jax.jit(call)(spread, SPLIT), call(spread, SPLIT)]
        results += [jax.jit(lambda x: call(one.sharded(MESH), x))(SPLIT)]
        travels = traffic(call, spread, SPLIT)
    results.append(jax.jit(call)(spread, SPLIT))
    return case(one, call, results, travels)


def whole(one: Any, call: Callable) -> dict[str, Any]:
    """The call on an object on one device, where only the states are split: inside and
    outside the caller's jit, with and without a mesh set.
    """
    with jax.set_mesh(MESH):
        results = [jax.jit(call)(one, SPLIT), call(one, SPLIT)]
        travels = traffic(call, one, SPLIT)
    results.append(jax.jit(call)(one, SPLIT))
    if call is not slope:  # JAX refuses any derivative by such an array there
        results.append(call(one, SPLIT))
    return case(one, call, results, travels)


def case(
    one: Any, call: Callable, results: list, travels: dict[str, int]
) -> dict[str, Any]:
    """Error of the results, and whether they are on the caller's axes with their rows
    split as those of the states.
    """
    expected = call(one, X)
    leaves = jax.tree.leaves(results)
    axes = {jax.typeof(leaf).sharding.mesh.axis_types for leaf in leaves}
    return {
        "error": max(error(result, expected) for result in results),
        "explicit": axes == {(AxisType.Explicit,)},
        "rows": all(jax.typeof(leaf).sharding.spec[0] == "rows" for leaf in leaves),
        "sent": sum(travels.values()),
        "operand": max(leaf.nbytes for leaf in jax.tree.leaves(one)),
    }


def refusals() -> dict[str, str]:
    """Messages of the calls that need automatic axes."""
    spread = ro.MrDAM(XI, 4.0).sharded(MESH)
    calls = {
        "reader": spread.reader,
        "rows": lambda: ro.MrDAM(ROWS, 4.0),
        "rows in jit": lambda: jax.jit(lambda Xi: ro.MrDAM(Xi, 4.0).energy(X))(ROWS),
        "ShardedSearch": lambda: ShardedSearch(XI),
    }
    messages = {}
    for name, call in calls.items():
        with jax.set_mesh(MESH):
            messages[name] = refusal(call)
    with jax.set_mesh(OTHER):
        messages["another mesh"] = refusal(lambda: spread.energy(X))
    return messages


if __name__ == "__main__":
    results = {
        "split": {name: split(*pair) for name, pair in objects().items()},
        "whole": {name: whole(*pair) for name, pair in objects().items()},
        "refusals": refusals(),
    }
    print(json.dumps(results))
