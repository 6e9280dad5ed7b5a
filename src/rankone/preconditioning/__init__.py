"""Kronecker preconditioning by W = TUV: operator, layers, transformations for optax,
and where T and V come from.
"""

from rankone.preconditioning.curvature import Skipped, layer_moments, skipped
from rankone.preconditioning.kronecker import (
    Factors,
    KroneckerPreconditioner,
    kronecker_preconditioner,
    unvec,
    vec,
)
from rankone.preconditioning.layers import (
    Reparameterized,
    between,
    merge,
    reparameterize,
    trainable,
)
from rankone.preconditioning.meta import adapt_U, meta_learn
from rankone.preconditioning.natural import prong, whiten
from rankone.preconditioning.transforms import (
    estimated_kronecker,
    kronecker_sgd,
    only_U,
    precondition,
    transport,
)
from rankone.preconditioning.whitening import (
    Moments,
    MovingMoments,
    TransposedMoments,
    damped,
    matrix_power,
    whitening_factors,
)

__all__ = [
    "Factors",
    "KroneckerPreconditioner",
    "Moments",
    "MovingMoments",
    "Reparameterized",
    "Skipped",
    "TransposedMoments",
    "adapt_U",
    "between",
    "damped",
    "estimated_kronecker",
    "kronecker_preconditioner",
    "kronecker_sgd",
    "layer_moments",
    "matrix_power",
    "merge",
    "meta_learn",
    "only_U",
    "precondition",
    "prong",
    "reparameterize",
    "skipped",
    "trainable",
    "transport",
    "unvec",
    "vec",
    "whiten",
    "whitening_factors",
]
