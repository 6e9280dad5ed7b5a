"""The one operation of the book: a write adds (value − prediction) ⊗ (geometry · key)
to a memory.

The memory stores keys K (D, m) and residuals R = V − M₀φ(K) (H, m), which a memory M₀
does not answer yet. A kernel κ(a, b) = φ(a)ᵀ G φ(b) says how much a write at a changes
the answer at b, and S = κ(K, K) says so for all stored keys. The answer at q is
M₀φ(q) + R X κ(K, q). The method of writing is the choice of X (`rules`): a batch step, one
pair after another, in cycles, by recursive least squares, or exactly.

With features of finite length the sum is a change of one matrix, a `Write`: R X times
(G φ(K))ᵀ, of rank m at most. A kernel without finite features (`Gaussian`) can be read
but gives no `Write`. The weights of nearest neighbours are not a kernel of two
arguments.
"""

from rankone.writes.kernels import (
    FeatureKernel,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Metric,
    NearestNeighbours,
)
from rankone.writes.memory import KernelMemory, interpolate
from rankone.writes.rules import (
    BatchStep,
    Cycled,
    Exact,
    InSequence,
    Recursive,
    Ridge,
    Rule,
)
from rankone.writes.write import (
    Edited,
    LowRankEdit,
    RankOneEdit,
    Write,
    load_edit,
    load_write,
)

__all__ = [
    "BatchStep",
    "Cycled",
    "Edited",
    "Exact",
    "FeatureKernel",
    "Gaussian",
    "InSequence",
    "Kernel",
    "KernelMemory",
    "Laplace",
    "Linear",
    "LowRankEdit",
    "Metric",
    "NearestNeighbours",
    "RankOneEdit",
    "Recursive",
    "Ridge",
    "Rule",
    "Write",
    "interpolate",
    "load_edit",
    "load_write",
]
