"""When a residual memory knows its own training examples by heart [S-rem3.2, S-S6]."""

from math import inf, log

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array
from rankone.residual.search import ExactSearch, count

__all__ = ["memorising_width", "worst_margin"]


def worst_margin(off_mass: ArrayLike) -> Float[Array, "..."]:
    r"""Least lead of the right label at a training example whose neighbours weigh β: 1 − 4β, attained [S-S6].

    At its own example the score is $(1-\beta)\,\mathrm{onehot}(y)+\beta(p+\bar r)$ with the neighbours' mean residual
    $\bar r$, so that y leads c by at least $(1-\beta)+\beta(-1-2)$. Neighbours of class c that the base model
    is wrong about for certain, as it is about the example, attain it.

    Args:
        off_mass: β = 1 − the example's own weight.
    """
    return 1 - 4 * jnp.asarray(off_mass)


def memorising_width(embeddings: ArrayLike, k: int) -> float:
    r"""A σ below which every training example is known by heart: $d_{\min}/\log(3(k-1))$ [S-rem3.2].

    Infinite for k = 1, which memorises at any σ; 0 if two embeddings coincide, for then nothing is guaranteed at any.
    """
    z = array("embeddings", embeddings, "(n, D): one embedding a row", 2)
    count("k", k, len(z))
    if len(z) == 1:
        return inf
    nearest = float(ExactSearch(z).search(z, 2).distances[:, 1].min())
    if nearest == 0:
        return 0.0
    return inf if k == 1 else nearest / log(3 * (k - 1))
