"""A program of eight virtual devices: memories larger than the limit of a device are
stored, read, descended, saved, and restored onto four devices. It prints JSON, for
`test_mesh.py`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp
from eight_devices import D, X, both, draws, error
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import rankone as ro
from rankone import _blocks

Y, K, BETA = 4096, 4096, 4.0
LIMIT = 40_000  # bytes that a device may hold
STEPS = {"step_size": 0.5, "max_steps": 6, "progress": False}


def most(tree: Any) -> int:
    """Bytes on the device that holds most of the arrays of a tree, by their sharding."""
    totals: dict[Any, int] = {}
    for leaf in jax.tree.leaves(tree):
        for shard in leaf.addressable_shards:
            totals[shard.device] = totals.get(shard.device, 0) + shard.data.nbytes
    return max(totals.values())


def size(tree: Any) -> int:
    """Bytes of the arrays of a tree, each counted once."""
    return sum(leaf.nbytes for leaf in jax.tree.leaves(tree))


def measures(memory: Any, one: Any) -> dict[str, float]:
    """Errors of a read and of a descent, compared with a memory on one device."""
    split, whole = (ro.retrieve(m, X, **STEPS) for m in (memory, one))
    return {
        "read": error(both(memory, X), both(one, X)),
        "descended": error(split.x, whole.x),
        "size": size(memory),
        "most": most(memory),
    }


def main(folder: Path) -> dict[str, Any]:
    """Measurements of each memory."""
    eight = jax.make_mesh((8,), ("rows",))
    four = jax.make_mesh((4,), ("rows",), devices=jax.devices()[:4])
    patterns = np.memmap(folder / "patterns", np.float32, "w+", shape=(K, D))
    patterns[:] = 0.4 * draws(K, D)
    _blocks._AT_ONCE = 0

    def split_features(key: Any) -> ro.RandomFeatures:
        return ro.RandomFeatures(D, Y, key=key).sharded(eight)

    key = jax.random.key(0)
    features = jax.jit(split_features)(key)
    memory = ro.DrDAM.store(patterns[:40], BETA, features)
    whole = ro.RandomFeatures(D, Y, key=key)
    results = {"DrDAM": measures(memory, ro.DrDAM.store(patterns[:40], BETA, whole))}
    split = jax.make_array_from_callback(
        (K, D), NamedSharding(eight, P("rows")), lambda index: patterns[index]
    )
    exact = ro.MrDAM(split, BETA)
    results["MrDAM"] = measures(exact, ro.MrDAM(patterns, BETA))

    other = ro.DrDAM.store(patterns[:1], BETA, whole.sharded(four))
    with ocp.StandardCheckpointer() as saver:
        saver.save(folder / "memory", memory)
        saver.wait_until_finished()
        restored = saver.restore(folder / "memory", other)
    results["restored"] = {
        "read": error(both(restored, X), both(memory, X)),
        "devices": len(restored.T.entries.sharding.device_set),
        "same": bool(
            (np.asarray(restored.T.unpacked) == np.asarray(memory.T.unpacked)).all()
        ),
    }
    return results


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1])) | {"limit": LIMIT}))
