"""The one operation of the book: a write adds (value − prediction) ⊗ (geometry · key)
to a memory.

The memory stores keys K (D, m) and residuals R = V − M₀φ(K) (H, m): the values V minus
the answers that an earlier memory M₀ gives at the keys. A kernel κ(a, b) = φ(a)ᵀ G
φ(b), with features φ and a symmetric matrix G, the geometry, says how much a write at a
changes the answer at b. The matrix S = κ(K, K) contains these numbers for all stored
keys. The answer at a query q is M₀φ(q) + R X κ(K, q). The rule of writing (`Rule`)
chooses the matrix X (m, m): by a batch step, one pair after another, in cycles, by
recursive least squares, or exactly.

With features of finite length, the stored sum is a change of one matrix, a `Write`: R X
times (G φ(K))ᵀ, of rank m at most. A memory whose kernel has no finite features
(`Gaussian`) can be read but gives no `Write`. The weights of `NearestNeighbours` depend
on all stored keys, so they are not a kernel of two arguments.
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
