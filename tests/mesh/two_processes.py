"""One of two processes of `jax.distributed`: the same calls on arrays of which each
process holds a half. The first prints JSON, for `test_mesh.py`.
"""

import json
import sys

import jax

jax.distributed.initialize(
    sys.argv[1], num_processes=2, process_id=int(sys.argv[2]), initialization_timeout=60
)

import numpy as np  # noqa: E402  after the processes are connected
from eight_devices import MESH, ROWS, STEPS, XI, D, X, both, error  # noqa: E402

import rankone as ro  # noqa: E402

assert jax.device_count() == 2
assert not ROWS.is_fully_addressable
memory = ro.MrDAM(ROWS, 4.0)
one = ro.MrDAM(XI, 4.0)
features = jax.jit(lambda key: ro.RandomFeatures(D, 1001, key=key).sharded(MESH))(
    jax.random.key(0)
)
split = ro.DrDAM.store(XI[:40], 4.0, features)
whole = ro.DrDAM.store(XI[:40], 4.0, ro.RandomFeatures(D, 1001, key=jax.random.key(0)))
run = ro.retrieve(memory, X, **STEPS)
expected = ro.retrieve(one, X, **STEPS)
errors = {
    "MrDAM": error(both(memory, X), both(one, X)),
    "retrieve": error((run.x, run.energies), (expected.x, expected.energies)),
    "DrDAM": error(both(split, X), both(whole, X)),
    "add": error(both(split.add(X), X), both(whole.add(X), X)),
}
if jax.process_index() == 0:
    print(json.dumps(errors))
assert np.isfinite(list(errors.values())).all()
jax.distributed.shutdown()
