"""The package and its peers, timed side by side in one interleaved run:
`python -m benchmarks`.

On a GPU every product is in float32, ours and those of the peers, whose inputs JAX
would otherwise round to 10 bits. Its memory is shared with PyTorch and with the
processes that are started, so JAX does not take it all.
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_DEFAULT_MATMUL_PRECISION", "highest")
