"""The package and its peers, timed side by side in one interleaved run:
`python -m benchmarks`.

On a GPU every product is computed in float32, ours and those of the peers; JAX would
otherwise round the inputs to 10 bits. The GPU's memory is shared with PyTorch and with
the processes that are started, so JAX must not allocate all of it.
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_DEFAULT_MATMUL_PRECISION", "highest")
