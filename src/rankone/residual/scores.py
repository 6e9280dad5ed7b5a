"""Evaluation of scores: their conversion to probabilities by projection or calibration,
and the fractions of answers that a memory corrects or breaks.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from rankone._checks import Numbers, array, host, integer, numbers, vectors
from rankone._module import Module
from rankone.residual.storage import classes, positive_scalar

__all__ = ["Calibration", "Gain", "calibration_error", "gain", "project"]


def project(scores: Numbers) -> Float[Array, "*n L"]:
    """Point of the probability simplex that is nearest to the scores: max(s − τ, 0),
    with τ such that the entries sum to 1 [S-eq3].

    The largest score stays the largest. The result may contain exact zeros, so do not
    take its logarithm.

    Args:
        scores: (..., L).
    """
    return _project(vectors("scores", scores))


@jax.jit
def _project(s: Array) -> Array:
    ranked = -jnp.sort(-s, axis=-1)
    excess = jnp.cumsum(ranked, axis=-1) - 1
    support = jnp.sum(
        ranked
        * jnp.broadcast_to(jnp.arange(1, s.shape[-1] + 1, dtype=s.dtype), s.shape)
        > excess,
        axis=-1,
        keepdims=True,
    )
    return jnp.maximum(
        s - jnp.take_along_axis(excess, support - 1, -1) / support.astype(s.dtype), 0
    )


class Calibration(Module):
    """Conversion of scores to probabilities by softmax(s/τ), which keeps the order of
    the scores and gives no zeros [S-eq3].

    It is the point p of the simplex that maximises ⟨p, s⟩ + τ · entropy(p).

    Attributes:
        temperature: τ.
    """

    temperature: Float[Array, ""]

    def __init__(self, temperature: Numbers) -> None:
        self.temperature = positive_scalar(
            "temperature", temperature, "a positive finite temperature"
        )

    @classmethod
    def fit(cls, scores: Numbers, labels: Numbers) -> "Calibration":
        """The τ with the least negative log-likelihood on held-out scores (n, L) and
        labels (n,).

        The log-likelihood is concave in 1/τ, so bisection in log τ finds the best τ
        between 10⁻³ and 10³.
        """
        s = array("scores", scores, "(n, L)", 2)
        return cls(
            _fit_temperature(s, classes("labels", labels, s.shape[:1], s.shape[1]))
        )

    def __call__(self, scores: Numbers) -> Float[Array, "*n L"]:
        """Probabilities of scores (..., L)."""
        scores = numbers("scores", scores)
        if scores.ndim < 1:
            raise ValueError(
                f"scores: got shape {scores.shape}; it must be of shape (..., L): one "
                "score per class."
            )
        return _temper(scores, self.temperature)


@jax.jit
def _temper(scores: Numbers, temperature: Array) -> Array:
    return jax.nn.softmax(jnp.asarray(scores) / temperature, axis=-1)


@jax.jit
def _fit_temperature(s: Array, y: Numbers) -> Array:
    label_scores = jnp.take_along_axis(s, jnp.asarray(y)[:, None], 1)[:, 0]

    def halve(ends: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
        low, high = ends
        middle = (low + high) / 2
        # derivative of the log-likelihood with respect to 1/τ
        slope = (
            label_scores
            - (jax.nn.softmax(s * jnp.exp(-middle)[None, None], -1) * s).sum(-1)
        ).mean()
        return (
            jnp.where(slope > 0, low, middle),
            jnp.where(slope > 0, middle, high),
        ), None

    reach = jnp.log(jnp.asarray(1e3, s.dtype))
    (low, high), _ = jax.lax.scan(halve, (-reach, reach), None, length=40)
    return jnp.exp((low + high) / 2)


def calibration_error(
    probs: Numbers, labels: Numbers, bins: int = 15
) -> Float[Array, ""]:
    """Expected calibration error: mean distance of confidence from accuracy over equal
    bins of confidence.

    Args:
        probs: Probabilities or scores (n, L); a confidence outside [0, 1] is clipped.
        labels: True classes (n,).
        bins: Number of bins.
    """
    p = array("probs", probs, "(n, L)", 2)
    y = classes("labels", labels, p.shape[:1], p.shape[1])
    return _calibration_error(p, y, integer("bins", bins))


@partial(jax.jit, static_argnames="bins")
def _calibration_error(p: Array, labels: Numbers, bins: int) -> Array:
    confidence = jnp.clip(p.max(1), 0, 1)
    hits = p.argmax(1) == labels
    places = jnp.minimum((confidence * bins).astype(int), bins - 1)
    gap = (
        jnp.zeros(bins, p.dtype).at[places].add(jnp.asarray(hits, p.dtype) - confidence)
    )
    return jnp.abs(gap).sum() / len(p)


class Gain(Module):
    """Sources of an improvement, as fractions of all examples of a test set.

    Attributes:
        corrected: The base model is wrong and the memory right: the paper's "TPR"
            [S-eq4,5].
        broken: The base model is right and the memory wrong: the paper's "FPR"
            [S-eq4,5].
        both_wrong: Both are wrong, with different answers. This needs three classes and
            does not change the error [S-dich].
        total: Error of the base model minus error of the memory, which is corrected −
            broken [S-gain].
    """

    corrected: float
    broken: float
    both_wrong: float
    total: float


def gain(labels: Numbers, base: Numbers, memory: Numbers) -> Gain:
    """The gain of a memory over its base model, by its sources [S-eq1, S-gain, S-hyper,
    S-cons].

    Args:
        labels: True classes (m,).
        base: The base model's answers (m,).
        memory: The memory's answers (m,).

    Raises:
        ValueError: If the shapes differ or there are no examples.
    """
    answers = {"labels": labels, "base": base, "memory": memory}
    y, b, m = (np.asarray(host(name, v)) for name, v in answers.items())
    if y.ndim != 1 or y.size == 0:
        raise ValueError(
            f"labels: got shape {y.shape}; it must be a non-empty array (m,)."
        )
    for name, v in (("base", b), ("memory", m)):
        if v.shape != y.shape:
            raise ValueError(
                f"{name}: got shape {v.shape}; "
                f"it must be answers, not scores: shape {y.shape}."
            )
    corrected = (b != y) & (m == y)
    broken = (b == y) & (m != y)
    both_wrong = (b != y) & (m != y) & (b != m)
    total = (b != y).mean() - (m != y).mean()
    return Gain(
        *(
            float(fraction)
            for fraction in (corrected.mean(), broken.mean(), both_wrong.mean(), total)
        )
    )
