"""Residual memory: learn what you can, and look up what is left among the nearest neighbours."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, as_array, check, is_traced, positive, states
from rankone._pytree import pytree
from rankone.residual.search import ExactSearch, Neighbours, count
from rankone.residual.storage import Residuals, dense, largest

__all__ = ["ResMem", "onehot_residuals", "soft_weights"]

_SUM = 1e-3  # how far the sum of a row of probabilities may be from 1: half precision sums that well


def soft_weights(distances: ArrayLike, sigma: ArrayLike) -> Float[Array, "... k"]:
    r"""Normalised weights of the k nearest, $\bar w_i\propto e^{-\|z-z_i\|/\sigma}$ [S-eq2].

    The distance is not squared: a Laplace kernel. From logarithms, for all the $w_i$ themselves underflow a few
    dozen σ away.

    Args:
        distances: (..., k), in the unit of σ.
        sigma: Width σ, positive.
    """
    positive("sigma", sigma, "a positive finite width, in the unit of the embeddings: start at a typical distance")
    return _soft_weights(distances, sigma)


@jax.jit
def _soft_weights(distances: ArrayLike, sigma: ArrayLike) -> Array:
    return jax.nn.softmax(-jnp.asarray(distances) / sigma, axis=-1)


def onehot_residuals(probs: ArrayLike, labels: ArrayLike) -> Float[Array, "n L"]:
    """What the base model leaves: onehot(y) − probs, whose rows sum to 0 [S-res].

    Args:
        probs: The base model's probabilities (n, L), rows summing to 1.
        labels: Classes 0 … L − 1, (n,).
    """
    probs = _probabilities("probs", probs)
    check(probs.ndim == 2, "probs", f"shape {probs.shape}", "of shape (n, L): one row for each label")
    return _onehot_residuals(probs, _classes(labels, *probs.shape))


@jax.jit
def _onehot_residuals(probs: Array, y: Array) -> Array:
    return jax.nn.one_hot(y, probs.shape[1], dtype=probs.dtype) - probs


@pytree(data=["sigma", "temperature", "residuals", "search"], meta=["k", "keep", "build"])
@dataclass(frozen=True, init=False)
class ResMem:
    r"""Soft k-nearest-neighbour regression of a base model's residuals [S-eq3].

    $f(x)=\mathrm{softmax}(f_{\rm base}(x)/T)+\sum_i\bar w_i(x)\,r_i$ with
    $r_i=\mathrm{onehot}(y_i)-\mathrm{softmax}(f_{\rm base}(x_i)/T)$ [S-res] and $\bar w_i\propto e^{-\|z-z_i\|/\sigma}$
    on the k nearest $z_i$ [S-eq2]. Exactly k: where the paper's indicator would admit more on a tie, the earlier rows
    are taken. Scores sum to 1 and lie in (−1, 2); `rankone.residual.simplex` brings them back to probabilities.

    Args:
        k: Number of neighbours, at most the number stored.
        sigma: Width σ of the weights in the unit of the embeddings; positive.
        temperature: T, by which `logits` are divided; probabilities that you give are taken as they are.
        keep: Store only so many entries of each residual, the largest in size (for vocabularies); all if None. The
            rows then no longer sum to 0, nor the scores to 1 [S-appC-top128].
        search: What finds neighbours, made from the embeddings: `ExactSearch`, `ShardedSearch`, `FaissSearch`, or
            yours with `search(queries, k) -> Neighbours` and a length.

    Raises:
        ValueError: If k, sigma, temperature or keep is not positive.
    """

    k: int
    sigma: Float[Array, ""]
    temperature: Float[Array, ""]
    keep: int | None
    build: Callable[[Any], Any]
    residuals: Residuals | None
    search: Any

    def __init__(
        self,
        k: int = 50,
        sigma: ArrayLike = 1.0,
        temperature: ArrayLike = 1.0,
        *,
        keep: int | None = None,
        search: Callable[[Any], Any] = ExactSearch,
    ):
        for name, number in (("k", k), ("keep", 1 if keep is None else keep)):
            whole = hasattr(number, "__index__") and not is_traced(number)
            check(whole and number >= 1, name, number, "a positive whole number")
        positive("sigma", sigma, "a positive finite width, in the unit of the embeddings: start at a typical distance")
        positive("temperature", temperature, "a positive finite temperature; 1 leaves the base model as it is")
        check(callable(search), "search", search, "a class or function of the embeddings, such as ExactSearch")
        fields = {"k": k, "sigma": sigma, "temperature": temperature, "keep": keep, "build": search}
        for name, value in (fields | {"residuals": None, "search": None}).items():
            object.__setattr__(self, name, value)

    def fit(
        self, embeddings: ArrayLike, probs: ArrayLike | None = None, labels: Any = None, *, logits: Any = None
    ) -> "ResMem":
        """A memory of what the base model leaves of the labels; this one stays as it is.

        Args:
            embeddings: (n, D), where the neighbours are looked for.
            probs: The base model's probabilities (n, L) there; or give `logits`, to be divided by the temperature.
            labels: Classes 0 … L − 1, (n,).
            logits: (n, L), instead of probs.

        Raises:
            ValueError: If the store is empty or has fewer than k rows, shapes differ, or entries are not finite.
        """
        check(labels is not None, "labels", labels, "the classes of the embeddings, (n,)")
        return self.fit_residuals(embeddings, onehot_residuals(self._base(probs, logits), labels))

    def fit_residuals(self, embeddings: ArrayLike, residuals: "ArrayLike | Residuals") -> "ResMem":
        """The same for residuals (n, L) of any kind: targets minus predictions of a regression, or bare labels.

        Those of a vocabulary that are too many to write down come as `rankone.residual.storage.sparse` ones.
        """
        search = self.build(embeddings)
        stored = residuals if isinstance(residuals, Residuals) else self._stored(residuals)
        check(len(search) == len(stored), "residuals", f"{len(stored)} rows", f"{len(search)}, as the embeddings")
        count("k", self.k, len(search))
        return _with(self, residuals=stored, search=search)

    def _stored(self, residuals: ArrayLike) -> Residuals:
        whole = array("residuals", residuals, "(n, L): one residual a row", 2)
        return dense(whole) if self.keep is None else largest(whole, self.keep)

    def predict(self, embeddings: ArrayLike, probs: ArrayLike | None = None, *, logits: Any = None) -> Array:
        """Scores (..., L) at embeddings (..., D): the base model's probabilities there plus `correction`."""
        base = self._base(probs, logits)
        correction = self.correction(embeddings)
        wanted = f"one row for each embedding: {correction.shape}"
        check(base.shape == correction.shape, "probs", f"shape {base.shape}", wanted)
        return base + correction

    def correction(self, embeddings: ArrayLike) -> Float[Array, "... L"]:
        """The remembered residual $r_{kNN}$ at embeddings (..., D) -> (..., L) [S-eq2]."""
        return self.read(self.neighbours(embeddings))

    def neighbours(self, embeddings: ArrayLike) -> Neighbours:
        """The k nearest stored embeddings; find them once to read with several σ or fewer k."""
        check(self.search is not None, "ResMem", "nothing stored", "fitted first: memory = ResMem(...).fit(...)")
        return self.search.search(embeddings, self.k)

    def read(self, found: Neighbours) -> Float[Array, "... L"]:
        """The correction from neighbours already found (..., j) -> (..., L); the nearest `k` of them are used."""
        check(self.residuals is not None, "ResMem", "nothing stored", "fitted first: memory = ResMem(...).fit(...)")
        return _weigh(self.residuals, found, self.sigma, self.k)

    def using(self, **options: Any) -> "ResMem":
        """The same stored memory read with another `k` or `sigma`."""
        check(options.keys() <= {"k", "sigma"}, "options", sorted(options), "k or sigma; the rest needs a new fit")
        k, sigma = options.get("k", self.k), options.get("sigma", self.sigma)
        made = ResMem(k, sigma, keep=self.keep, search=self.build)
        return _with(made, temperature=self.temperature, residuals=self.residuals, search=self.search)

    def _base(self, probs: Any, logits: Any) -> Array:
        check((probs is None) != (logits is None), "probs", "both or neither of probs and logits", "one of the two")
        if logits is None:
            return _probabilities("probs", probs)
        logits = as_array(logits)
        return _softmax(states("logits", logits, logits.shape[-1] if logits.ndim else 1), self.temperature)


def _with(memory: ResMem, **fields: Any) -> ResMem:
    changed = object.__new__(ResMem)
    for name in memory.__dataclass_fields__:
        object.__setattr__(changed, name, fields.get(name, getattr(memory, name)))
    return changed


@jax.jit
def _softmax(logits: Array, temperature: ArrayLike) -> Array:
    return jax.nn.softmax(logits / temperature, -1)


@partial(jax.jit, static_argnames="k")
def _weigh(residuals: Residuals, found: Neighbours, sigma: ArrayLike, k: int) -> Array:
    """Σ w̄ᵢ rᵢ, a batch of queries at a time: the residuals of all neighbours of all queries may be too many."""
    distances, indices = (part[..., :k] for part in found)
    weights, k = _soft_weights(distances, sigma), min(k, distances.shape[-1])
    rows = weights.reshape(-1, k), indices.reshape(-1, k)
    read = jax.lax.map(lambda pair: residuals.weighted(*pair), rows, batch_size=256)
    return read.reshape(*weights.shape[:-1], residuals.L)


def _probabilities(name: str, value: ArrayLike) -> Array:
    probs = as_array(value)
    probs = states(name, probs, probs.shape[-1] if probs.ndim else 1)
    if not is_traced(probs):
        host = np.asarray(probs)
        sums = host.sum(-1) if host.size else np.ones(1)
        fits = bool((abs(sums - 1) < _SUM).all()) and bool((host >= -_SUM).all())
        check(fits, name, f"rows that sum to {sums.min():.3g} … {sums.max():.3g}", "probabilities; or use logits=")
    return probs


def _classes(labels: ArrayLike, n: int, L: int) -> Array:
    y = as_array(labels)
    check(y.shape == (n,), "labels", f"shape {y.shape}", f"shape ({n},): a class for each row")
    check(bool(jnp.issubdtype(y.dtype, jnp.integer)), "labels", y.dtype, f"whole numbers from 0 to {L - 1}")
    if y.size and not is_traced(y):
        host = np.asarray(y)
        check(host.min() >= 0 and host.max() < L, "labels", f"{host.min()} … {host.max()}", f"from 0 to {L - 1}")
    return y
