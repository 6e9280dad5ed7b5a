"""The one operation of the book: a write adds (value − prediction) ⊗ (geometry · key)
to a memory.

Stored are keys K (D, m) and residuals R = V − M₀φ(K) (H, m), what a memory M₀ does not
answer yet. A kernel κ(a, b) = φ(a)ᵀ G φ(b) says how far a write at a reaches b, and S =
κ(K, K) how the writes reach each other. The memory then reads M₀φ(q) + R X κ(K, q), and
how the pairs were written is the choice of X (`rules`): a batch step, one after
another, in cycles, by recursive least squares, exactly.

With features of finite length the sum is a change of one matrix, a `Write`: R X times
(G φ(K))ᵀ, of rank m at most. A kernel without features (`Gaussian`) can be read but
gives no `Write`; nearest neighbours are not even a kernel of two arguments.
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
