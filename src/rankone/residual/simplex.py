"""From scores that sum to 1 to probabilities: the nearest ones, or a softmax calibrated on held-out data."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, as_array, check, positive, states
from rankone._pytree import pytree

__all__ = ["Calibration", "calibration_error", "project"]


@jax.jit
def project(scores: ArrayLike) -> Float[Array, "... L"]:
    r"""The nearest point of the probability simplex, $\max(s-\tau,0)$ with $\tau$ such that it sums to 1 [S-eq3].

    The largest score stays the largest. Exact zeros may come out: do not take their logarithm.
    """
    s = jnp.asarray(scores)
    s = states("scores", s, s.shape[-1])
    ranked = -jnp.sort(-s, axis=-1)
    excess = jnp.cumsum(ranked, axis=-1) - 1
    kept = jnp.sum(ranked * jnp.arange(1, s.shape[-1] + 1) > excess, axis=-1, keepdims=True)
    return jnp.maximum(s - jnp.take_along_axis(excess, kept - 1, -1) / kept, 0)


@pytree(data=["temperature"])
@dataclass(frozen=True)
class Calibration:
    r"""Scores to probabilities by $\mathrm{softmax}(s/\tau)$: the point of the simplex that maximises
    $\langle p,s\rangle+\tau\cdot\text{entropy}(p)$. It keeps the order of the scores and has no zeros [S-eq3].

    Attributes:
        temperature: τ.
    """  # noqa: D205

    temperature: Float[Array, ""]

    @classmethod
    def fit(cls, scores: ArrayLike, labels: ArrayLike) -> "Calibration":
        """The τ with the least negative log-likelihood on held-out scores (n, L) and labels (n,).

        The likelihood is concave in 1/τ, so that halving an interval of log τ finds it; between 10⁻³ and 10³.
        """
        s, y = array("scores", scores, "(n, L)", 2), as_array(labels)
        check(y.shape == (len(s),), "labels", f"shape {y.shape}", f"shape ({len(s)},): a class for each row")
        return cls(_likeliest(s, y))

    def __call__(self, scores: ArrayLike) -> Float[Array, "... L"]:
        """Probabilities of scores (..., L)."""
        positive("temperature", self.temperature)
        return _tempered(scores, self.temperature)


@jax.jit
def _tempered(scores: ArrayLike, temperature: Array) -> Array:
    return jax.nn.softmax(jnp.asarray(scores) / temperature, axis=-1)


@jax.jit
def _likeliest(s: Array, y: Array) -> Array:
    own = jnp.take_along_axis(s, y[:, None], 1)[:, 0]

    def halve(ends: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
        low, high = ends
        middle = (low + high) / 2
        slope = (own - (jax.nn.softmax(s * jnp.exp(-middle)[None, None], -1) * s).sum(-1)).mean()  # by 1/τ
        return (jnp.where(slope > 0, low, middle), jnp.where(slope > 0, middle, high)), None

    reach = jnp.log(jnp.asarray(1e3, s.dtype))
    (low, high), _ = jax.lax.scan(halve, (-reach, reach), None, length=40)
    return jnp.exp((low + high) / 2)


def calibration_error(probs: ArrayLike, labels: ArrayLike, bins: int = 15) -> Float[Array, ""]:
    """Expected calibration error: mean distance of confidence from accuracy over equal bins of confidence.

    Args:
        probs: (n, L); of scores outside [0, 1] the confidence is clipped.
        labels: (n,).
        bins: Number of bins.
    """
    return _calibration_error(array("probs", probs, "(n, L)", 2), as_array(labels), bins)


@partial(jax.jit, static_argnames="bins")
def _calibration_error(p: Array, labels: Array, bins: int) -> Array:
    confidence, right = jnp.clip(p.max(1), 0, 1), p.argmax(1) == labels
    at = jnp.minimum((confidence * bins).astype(int), bins - 1)
    gap = jnp.zeros(bins, p.dtype).at[at].add(right - confidence)
    return jnp.abs(gap).sum() / len(p)
