"""A program of eight virtual devices: second moments whose rows are split over them,
their factor, and edits with it, against one device and numpy. It prints JSON, for
`test_mesh.py`.
"""

import json
import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from eight_devices import draws, error, refusal, traffic
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import rankone as ro
from rankone.editing import SecondMoments, geometry, interpolate_residuals, split
from rankone.editing.closed_form import _batch, _rank_one
from rankone.editing.keys import _update

D, H, N, M = 96, 8, 40, 3
# The size above which C is factored without moving its rows.
split._LARGE = D - 1
split._BLOCK = 4  # blocks of four of the twelve rows of a device
MESH = Mesh(np.asarray(jax.devices()), ("rows",))
KEYS = draws(2 * D, D)
C = KEYS.T @ KEYS
W, B, V = draws(H, D, seed=1), draws(D, M, seed=2), draws(H, M, seed=3)
PAIR = W, B[:, 0], V[:, 0]


def placed(array: Any, *spec: Any, mesh: Mesh = MESH) -> jax.Array:
    """An array over the mesh."""
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))


ROWS = placed(C, "rows")


def largest(function: Callable, *arguments: Any) -> float:
    """Entries of the largest array on a device in the compiled program, as a fraction
    of those of C.
    """
    text = function.lower(*arguments).compile().as_text()
    shapes = re.findall(r"\w+\[([\d,]+)\]", text)
    return max(math.prod(map(int, shape.split(","))) for shape in shapes) / D**2


def edits(moments: Any) -> Any:
    """The edits with C: of one pair, of several with a ridge, refined, and as reads."""
    W, k, v = PAIR
    one = ro.rank_one_edit(W, moments, k, v)
    refined = ro.rank_one_edit(W, moments, k, v, refine=2)
    several = ro.batch_edit(W, moments, B, V, ridge=0.1)
    read = interpolate_residuals(W, moments, B, V, B[:, 0])
    return one, refined, several, read


def factors() -> dict[str, Any]:
    """The factor and its solves, against numpy in double precision."""
    exact = C.astype(float)
    scale = np.sqrt(np.diagonal(exact))
    upper = np.linalg.cholesky(exact / np.outer(scale, scale)).T
    solution = np.linalg.solve(exact, B)
    results = {"condition": float(np.linalg.cond(upper) ** 2)}
    other = Mesh(np.asarray(jax.devices()).reshape(2, 4), ("copies", "rows"))
    for name, moments in {
        "rows": ROWS,
        "columns": placed(C, None, "rows"),
        "one of two axes": placed(C, "rows", mesh=other),
        "explicit axes": placed(
            C, "rows", mesh=MESH.update(axis_types=(AxisType.Explicit,))
        ),
    }.items():
        here = ro.KeyGeometry.from_moments(moments)
        whole = ro.KeyGeometry.from_moments(C)
        results[name] = {
            "split": isinstance(here.factor, split.SplitTriangular),
            "factor": error(here.factor.dense, upper),
            "below": int(np.count_nonzero(np.tril(here.factor.dense, -1))),
            "solve": error(here.solve(B), solution),
            "one": error(here.solve(B[:, 0]), solution[:, 0]),
            "refined": error(here.solve(B, refine=2), solution),
            "inner": error(here.inner(B, B), whole.inner(B, B)),
            "edits": error(edits(moments), edits(C)),
        }
    return results


def copies() -> dict[str, Any]:
    """A copy of a geometry, on the devices and without them."""
    here = ro.KeyGeometry.from_moments(ROWS)
    copy = pickle.loads(pickle.dumps(here))
    alone = split.SplitTriangular(here.factor.dense, here.factor.diagonal, None)
    solution = here.factor.backward(here.factor.forward(B))
    return {
        "spec": str(copy.factor.dense.sharding.spec),
        "error": error(copy.solve(B), here.solve(B)),
        "alone": error(alone.backward(alone.forward(B)), solution),
    }


def sizes() -> dict[str, Any]:
    """The largest array on a device, and the traffic."""
    here = ro.KeyGeometry.from_moments(ROWS)
    placement = here.factor.placement
    moments = SecondMoments(ROWS, np.int32(0))
    W, k, v = PAIR
    keys, mask = placed(KEYS[:N], "rows"), np.ones(N, bool)
    calls = {
        "factor": (geometry._factor, ROWS, 0.1, placement),
        "solve": (geometry._solve, here, B, 0),
        "refined": (geometry._solve, here, B, 1),
        "whiten": (geometry._whitened, here, B),
        "edit": (_rank_one, W, here, 0.0, k, v, 0),
        "batch": (_batch, W, here, 0.0, B, V, math.inf, 0),
        "update": (_update, moments, keys, mask, placement),
    }
    return {name: largest(*call) for name, call in calls.items()} | {
        "sent": traffic(lambda g, b: g.solve(b), here, B)
    }


def updates() -> dict[str, Any]:
    """Split moments of a batch and of blocks, compared with those on one device."""
    one = SecondMoments.empty(D).update(KEYS)
    empty = jax.jit(lambda: SecondMoments.empty(D).sharded(MESH))()
    batch = empty.update(KEYS)
    blocks = empty.update(iter(np.split(KEYS, 4)))
    rows = empty.update(placed(KEYS, "rows"))
    return {
        "spec": [str(m.total.sharding.spec) for m in (empty, batch, blocks, rows)],
        "error": [error(m.mean, one.mean) for m in (batch, blocks, rows)],
    }


def refusals() -> dict[str, str]:
    """Messages of calls that are refused."""
    here = ro.KeyGeometry.from_moments(ROWS)
    explicit = MESH.update(axis_types=(AxisType.Explicit,))
    moments = SecondMoments(ROWS, np.int32(0))

    def from_moments(values: Any) -> None:
        ro.KeyGeometry.from_moments(placed(values, "rows"))

    calls = {
        "rows": lambda: SecondMoments.empty(12).sharded(MESH),
        "observe": lambda: here.observe(B),
        "singular": lambda: from_moments(np.ones_like(C)),
        "indefinite": lambda: from_moments(-C),
        "finite": lambda: from_moments(np.nan * C),
        "symmetric": lambda: from_moments(np.triu(C)),
    }
    messages = {name: refusal(call) for name, call in calls.items()}
    with jax.set_mesh(explicit):
        messages["explicit"] = refusal(lambda: ro.KeyGeometry.from_moments(ROWS))
        messages["explicit update"] = refusal(lambda: moments.update(KEYS))
    return messages


if __name__ == "__main__":
    assert len(jax.devices()) == 8
    parts = (factors, copies, sizes, updates, refusals)
    print(json.dumps({part.__name__: part() for part in parts}))
