"""Residual memory: the residuals of a base model, looked up among the nearest
neighbours.
"""

from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.dtypes import canonicalize_dtype
from jax.sharding import Mesh, SingleDeviceSharding
from jaxtyping import Array, ArrayLike, Float

from rankone._blocks import checkpoint_path, join_rows, run_blocks
from rankone._checks import (
    Numbers,
    array,
    brief,
    enabled,
    instance,
    integer,
    numbers,
    readable,
    renamed,
    vectors,
)
from rankone._fingerprint import fingerprint
from rankone._mesh import Placement, automatic, placement_on
from rankone._module import Module, assembled
from rankone.residual.search import ExactSearch, Neighbours, valid_rows
from rankone.residual.storage import (
    Residuals,
    checked_onehot_residuals,
    dense,
    from_arrays,
    full,
    largest,
    positive_number,
    positive_scalar,
    probabilities,
    split,
    valid_classes,
    valid_probabilities,
)
from rankone.writes import BatchStep, KernelMemory, NearestNeighbours

__all__ = ["ResMem", "Search", "soft_weights"]

_K = "a positive number of neighbours"
_SIGMA = (
    "a positive finite width, in the unit of the embeddings: start at a typical "
    "distance"
)
_SMALL = 2**20  # bytes of an array of NumPy, up to which a second copy costs little
_TEMPERATURE = "a positive finite temperature; 1 leaves the base model as it is"


@runtime_checkable
class Search(Protocol):
    """Protocol of a store of embeddings, with a search for the k rows nearest to a
    query.
    """

    def __len__(self) -> int:
        """Number of rows."""

    def search(self, queries: Numbers, k: int) -> Neighbours:
        """The k nearest rows to queries (..., D)."""


def soft_weights(distances: Numbers, sigma: Numbers) -> Float[Array, "*n k"]:
    """Normalised weights of the k nearest, proportional to exp(−‖z − zᵢ‖/σ) [S-eq2].

    The distance is not squared, so this is a Laplace kernel. The weights are computed
    from logarithms, because the exponentials themselves underflow from about 90 σ on in
    float32. A neighbour at distance ∞ has weight 0.

    Args:
        distances: (..., k), in the unit of σ.
        sigma: Width σ, positive.
    """
    distances = numbers("distances", distances)
    if distances.ndim < 1:
        raise ValueError(
            f"distances: got shape {distances.shape}; it must be of shape (..., k): "
            "one distance per neighbour."
        )
    return _soft_weights(distances, positive_number("sigma", sigma, _SIGMA))


@jax.jit
def _soft_weights(distances: Numbers, sigma: ArrayLike) -> Array:
    d = jnp.asarray(distances)
    return jax.nn.softmax(-d / sigma, axis=-1, where=~jnp.isposinf(d))


@dataclass(frozen=True)
class _Examples:
    """One block of examples: its embeddings, probabilities or logits, and labels."""

    embeddings: Any
    base: Any
    labels: Any

    def __len__(self) -> int:
        return len(self.embeddings)

    def __getitem__(self, rows: slice) -> "_Examples":
        return _Examples(self.embeddings[rows], self.base[rows], self.labels[rows])


class _Progress(NamedTuple):
    """Blocks fitted so far: for each, its embeddings and the arrays of its residuals,
    which have length L.
    """

    L: int
    blocks: list[tuple[Any, ...]]

    def rows(self) -> int:
        """Number of rows."""
        return sum(len(block[0]) for block in self.blocks)


class ResMem(Module):
    r"""Soft k-nearest-neighbour regression of a base model's residuals [S-eq3].

    The scores of x are softmax(f(x)/T) + Σᵢ w̄ᵢ rᵢ, where f are the base model's logits
    and the sum is over the k stored embeddings zᵢ nearest to the embedding z of x. The
    residuals are rᵢ = onehot(yᵢ) − softmax(f(xᵢ)/T) [S-res], and the weights w̄ᵢ are
    proportional to exp(−‖z − zᵢ‖/σ) [S-eq2]. Exactly k neighbours are used. In a tie,
    where the paper's indicator would admit more, the earlier rows are taken. Scores sum
    to 1 and lie in (−1, 2); `rankone.residual.scores` converts them to probabilities.

    >>> import numpy as np, rankone as ro
    >>> embeddings, labels = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    >>> unsure = np.full((3, 2), 0.5)
    >>> memory = ro.ResMem(k=1).fit(embeddings, unsure, labels)
    >>> memory.predict(np.array([[0.1], [1.9]]), unsure[:2]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    Args:
        k: Number of neighbours, at most the number stored.
        sigma: Width σ of the weights in the unit of the embeddings; positive.
        temperature: T, by which `logits` are divided; probabilities that you give are
            taken as they are.
        keep: Number of entries stored per residual, the largest in size; all if None.
            It is for large vocabularies. The residuals then no longer sum to 0, nor the
            scores to 1 [S-appC-top128].
        search: Class or function that makes a searchable store of the embeddings:
            `ExactSearch`, `ShardedSearch`, `FaissSearch`, or your own. The store has a
            length and a method `search(queries, k) -> Neighbours`.
        residuals: The stored residuals; `fit` makes them.
        store: The searchable store of the embeddings; `fit` makes it.

    Raises:
        ValueError: If k, sigma, temperature or keep is not positive.
    """

    k: int = eqx.field(static=True)
    sigma: Float[Array, ""]
    temperature: Float[Array, ""]
    keep: int | None = eqx.field(static=True)
    search: Callable[[Any], Search] = eqx.field(static=True)
    residuals: Residuals | None
    store: Search | None

    def __init__(
        self,
        k: int = 50,
        sigma: Numbers = 1.0,
        temperature: Numbers = 1.0,
        *,
        keep: int | None = None,
        search: Callable[[Any], Search] = ExactSearch,
        residuals: Residuals | None = None,
        store: Search | None = None,
    ) -> None:
        if not callable(search):
            raise ValueError(
                f"search: got {brief(search)}; it must be a class or function of the "
                "embeddings, such as ExactSearch."
            )
        if residuals is not None and not isinstance(residuals, Residuals):
            raise ValueError(
                f"residuals: got {brief(residuals)}; it must be left out: fit sets it."
            )
        if store is not None and not hasattr(store, "search"):
            raise ValueError(
                f"store: got {brief(store)}; it must be left out: fit sets it."
            )
        self.k = integer("k", k, _K)
        self.sigma = positive_scalar("sigma", sigma, _SIGMA)
        self.temperature = positive_scalar("temperature", temperature, _TEMPERATURE)
        self.keep = (
            None
            if keep is None
            else integer("keep", keep, "a positive number of entries")
        )
        self.search = search
        self.residuals = residuals
        self.store = store

    def fit(
        self,
        embeddings: Numbers | Iterator[Numbers] | None,
        probs: Numbers | Iterator[Numbers] | None = None,
        labels: Numbers | Iterator[Numbers] | None = None,
        *,
        logits: Numbers | Iterator[Numbers] | None = None,
        progress: bool | None = None,
        checkpoint: Path | str | None = None,
    ) -> "ResMem":
        """New memory of the residuals of the base model; this object stays as it is.

        Args:
            embeddings: Array (n, D) in which neighbours are searched, or anything else
                that `search` takes. Or an iterator of blocks (m, D); then `labels`, and
                `probs` or `logits`, are iterators of the same blocks, and all are read
                in parallel. Only the stored rows and one block are in memory, so with
                `keep` the residuals of a vocabulary are never in memory in full.
            probs: The base model's probabilities (n, L) at the embeddings; or give
                `logits` instead.
            labels: Classes 0 … L − 1, (n,).
            logits: The base model's logits (n, L), which are divided by the
                temperature; instead of `probs`.
            progress: True to show a bar while blocks are stored, None to show it after
                two seconds.
            checkpoint: File (.npz) for a fit from blocks. The stored rows are saved to
                it every 20 seconds and at the end, and less often if a save takes
                longer than a second. An interrupted run resumes from it if it is given
                the same rows in the same order.

        Raises:
            ValueError: If the store is empty or has fewer than k rows, shapes differ,
                or entries are not finite; if the checkpoint is of another run, or arrays
                are given with a checkpoint.
        """
        path = checkpoint_path(checkpoint, progress)
        if labels is None:
            raise ValueError(
                f"labels: got {brief(labels)}; "
                "it must be the classes of the embeddings, (n,)."
            )
        assert labels is not None
        base = logits if probs is None else probs
        sources = (embeddings, base, labels)
        if any(isinstance(source, Iterator) for source in sources):
            return self._fit_blocks(
                embeddings, base, labels, probs is None, progress, path
            )
        if path is not None:
            raise ValueError(
                f"checkpoint: got {str(path)!r}; it must be None unless embeddings, "
                "labels, and probs or logits are iterators of blocks."
            )
        return self._fit_arrays(embeddings, probs, labels, logits)

    def _fit_arrays(
        self, embeddings: Any, probs: Any, labels: Any, logits: Any
    ) -> "ResMem":
        """`fit` with arrays."""
        fitted = self._fit_small(embeddings, probs, labels, logits)
        if fitted is not None:
            return fitted
        residuals = self._kept(self._residuals(probs, labels, logits))
        return self._storing(embeddings, residuals, "labels")

    def _fit_small(
        self, embeddings: Any, probs: Any, labels: Any, logits: Any
    ) -> "ResMem | None":
        """`fit` by one program, which also checks the values: for small arrays it takes
        a quarter of the time of the separate steps. None if an array needs another
        check or a conversion, or if a value is refused; then the steps of `fit` say
        which.
        """
        base = logits if probs is None else probs
        is_usual = (
            self.search is ExactSearch
            and (probs is None or logits is None)
            and _is_ready(embeddings, "f")
            and _is_ready(base, "f")
            and _is_ready(labels, "iu")
            and self._fits(embeddings, base, labels)
        )
        if not is_usual:
            return None
        is_stored = isinstance(embeddings, jax.Array)
        residuals, store, is_valid = _fitted(
            embeddings,
            base,
            labels,
            self.temperature,
            probs is None,
            self.keep,
            is_stored,
        )
        # inside the caller's jit, the result is traced even if the arrays are known
        if isinstance(is_valid, jax.core.Tracer):
            return None
        if enabled.get() and not np.asarray(is_valid):
            return None
        if is_stored:
            store = assembled(ExactSearch, store.__dict__ | {"rows": embeddings})
        fields = {"residuals": residuals, "store": store}
        return assembled(ResMem, self.__dict__ | fields)

    def _fits(self, embeddings: Any, base: Any, labels: Any) -> bool:
        """True if the shapes fit one another, k and `keep`, and the devices are the same."""
        return (
            embeddings.ndim == base.ndim == 2
            and embeddings.size > 0
            and base.size > 0
            and (len(embeddings),) == (len(base),) == labels.shape
            and self.k <= len(embeddings)
            and (self.keep is None or self.keep <= base.shape[1])
            and _lie_together(embeddings, base, labels)
            and _is_narrow(labels, base.shape[1])
        )

    def _residuals(self, probs: Any, labels: Any, logits: Any) -> Array:
        """Residuals (n, L) of the base model."""
        with renamed(probs="logits" if probs is None else "probs"):
            return checked_onehot_residuals(self._base(probs, logits), labels)

    def _kept(self, residuals: Array) -> Residuals:
        """The entries of the checked residuals (n, L) that are stored."""
        return dense(residuals) if self.keep is None else largest(residuals, self.keep)

    def _fit_blocks(
        self,
        embeddings: Any,
        base: Any,
        labels: Any,
        logits: bool,
        progress: bool | None,
        path: Path | None,
    ) -> "ResMem":
        """`fit` with iterators of blocks, of which only residuals and embeddings stay."""
        base_name = "logits" if logits else "probs"
        iterators = {"embeddings": embeddings, base_name: base, "labels": labels}
        for name, rows in iterators.items():
            if not isinstance(rows, Iterator):
                raise ValueError(
                    f"{name}: got {brief(type(rows))}; it must be an iterator of "
                    "blocks, as the others are."
                )

        def step(state: _Progress, block: _Examples) -> _Progress:
            probs, scores = (None, block.base) if logits else (block.base, None)
            matrix = self._residuals(probs, block.labels, scores)
            rows = array(
                "embeddings",
                block.embeddings,
                "(n, D): one embedding per row",
                2,
                once=True,
            )
            residuals = self._kept(matrix)
            _check_length("labels", residuals, rows)
            if state.blocks:
                D = state.blocks[0][0].shape[1]
                _check_width("embeddings", rows.shape[1], D)
                _check_width(base_name, residuals.L, state.L)
            arrays = (rows, *jax.tree.leaves(residuals))
            state.blocks.append(tuple(map(np.asarray, arrays)))
            return _Progress(residuals.L, state.blocks)

        temperature = float(self.temperature) if path is not None and logits else 1.0
        state = run_blocks(
            _Progress(0, []),
            step,
            _examples(iterators),
            count=_Progress.rows,
            title="fit",
            progress=progress,
            checkpoint=path,
            run=fingerprint(("ResMem", self.keep, base_name, temperature)),
            restore=partial(_restore, 2 if self.keep is None else 3),
        )
        if not state.blocks:
            raise ValueError("embeddings: got no block; it must be one or more.")
        columns = [list(arrays) for arrays in zip(*state.blocks, strict=True)]
        state.blocks.clear()
        rows, *arrays = map(join_rows, columns)
        return self.fit_residuals(rows, from_arrays(tuple(arrays), state.L))

    def fit_residuals(
        self, embeddings: Numbers | None, residuals: "Numbers | Residuals"
    ) -> "ResMem":
        """New memory that stores residuals (n, L) of any kind: targets minus
        predictions of a regression, or bare labels.

        `rankone.residual.storage.sparse` makes residuals of a vocabulary that would not
        fit in memory in full.
        """
        if not isinstance(residuals, Residuals):
            matrix = array(
                "residuals", residuals, "(n, L): one residual per row", 2, once=True
            )
            residuals = self._kept(matrix)
        return self._storing(embeddings, residuals, "residuals")

    @renamed(rows="embeddings")
    def _storing(self, embeddings: Any, residuals: Residuals, name: str) -> "ResMem":
        """New memory of checked residuals, which come from the argument `name`."""
        store = self.search(embeddings)
        _check_length(name, residuals, store)
        integer(
            "k",
            self.k,
            "a number of neighbours from 1 to that of the stored embeddings",
            most=len(store),
        )
        placement = getattr(store, "placement", None)
        if placement is not None:
            residuals = split(residuals, placement)
        fields = {"residuals": residuals, "store": store}
        return assembled(ResMem, self.__dict__ | fields)

    def sharded(self, mesh: Mesh, axis: str | None = None) -> "ResMem":
        """The same memory with its embeddings and residuals split over the devices of a
        mesh. It needs an `ExactSearch`; a `ShardedSearch` is split when it is fitted.

        Args:
            mesh: Devices, such as `jax.make_mesh((8,), ("rows",))`.
            axis: Name of the axis of the mesh; by default its first.

        Raises:
            ValueError: If nothing is stored, the store cannot be split, or the number
                of devices does not divide the number of rows.

        >>> import jax, numpy as np, rankone as ro
        >>> unsure = np.full((2, 2), 0.5)
        >>> memory = ro.ResMem(k=1).fit(np.eye(2), unsure, np.array([0, 1]))
        >>> spread = memory.sharded(jax.make_mesh((1,), ("rows",)))
        >>> spread.predict(np.eye(2), unsure).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        store = self._contents()[1]
        instance("store", store, ExactSearch, "an ExactSearch, to be split")
        return self._placed(placement_on(mesh, axis))

    def _placed(self, placement: Placement) -> "ResMem":
        """`sharded`, for a placement that was made before."""
        residuals, store = self._contents()
        if isinstance(store, ExactSearch):
            store = store._placed(placement)
        fields = {
            "residuals": split(residuals, placement),
            "store": store,
            "sigma": placement.put(self.sigma),
            "temperature": placement.put(self.temperature),
        }
        return assembled(ResMem, self.__dict__ | fields)

    @property
    def placement(self) -> Placement | None:
        """Placement of the stored rows over devices; None if they are not split, or
        nothing is stored.
        """
        return getattr(self.store, "placement", None)

    @automatic
    def predict(
        self,
        embeddings: Numbers,
        probs: Numbers | None = None,
        *,
        logits: Numbers | None = None,
    ) -> Float[Array, "*n L"]:
        """Scores (..., L) at embeddings (..., D): the base model's probabilities there
        plus `correction`.
        """
        scores = self._predict_small(embeddings, probs, logits)
        if scores is not None:
            return scores
        base = self._base(probs, logits)
        correction = self.correction(embeddings)
        if base.shape != correction.shape:
            raise ValueError(
                f"{'logits' if probs is None else 'probs'}: got shape {base.shape}; it "
                f"must be one row for each embedding: {correction.shape}."
            )
        return base + correction

    def _predict_small(
        self, embeddings: Any, probs: Any, logits: Any
    ) -> Float[Array, "*n L"] | None:
        """`predict` by one program, as `_fit_small`; None where its steps are needed."""
        base = logits if probs is None else probs
        store = self.store
        is_usual = (
            type(store) is ExactSearch
            and store.placement is None
            and self.residuals is not None
            and self.k <= len(store)
            and (probs is None or logits is None)
            and _is_ready(embeddings, "f")
            and _is_ready(base, "f")
            and _is_ready(store.rows, "f")
            and base.size > 0
            and base.shape == (*embeddings.shape[:-1], self.residuals.L)
            and embeddings.shape[-1] == store.rows.shape[1]
            and _lie_together(embeddings, base, store.rows)
        )
        if not is_usual:
            return None
        scores, is_valid = _predicted(self, embeddings, base, probs is None)
        if isinstance(is_valid, jax.core.Tracer):
            return None
        # not checked on another device, because the call would wait for it
        if readable(is_valid) and not np.asarray(is_valid):
            return None
        return scores

    @automatic
    def correction(self, embeddings: Numbers) -> Float[Array, "*n L"]:
        """Weighted mean Σᵢ w̄ᵢ rᵢ of the residuals of the k nearest stored embeddings,
        at embeddings (..., D) -> (..., L) [S-eq2]; 0 if all of them are at distance ∞.
        """
        return self.read(self.neighbours(embeddings))

    @renamed(queries="embeddings")
    @automatic
    def neighbours(self, embeddings: Numbers) -> Neighbours:
        """The k nearest stored embeddings of each embedding. One search serves `read`
        with several σ or a smaller k.

        The `outcome` of the neighbours says, also inside jit, where nothing is stored
        or a distance is not finite.
        """
        return self._contents()[1].search(embeddings, self.k)

    @automatic
    def read(self, neighbours: Neighbours) -> Float[Array, "*n L"]:
        """Correction (..., L) computed from given neighbours (..., j), of which the
        nearest `k` are used.
        """
        instance(
            "neighbours",
            neighbours,
            Neighbours,
            "the Neighbours of some embeddings, as `neighbours` finds them",
        )
        return _weigh(self._contents()[0], neighbours, self.sigma, self.k)

    def using(self, *, k: int | None = None, sigma: Numbers | None = None) -> "ResMem":
        """The same stored memory read with another `k` or `sigma`."""
        fields = dict(self.__dict__)
        if k is not None:
            fields["k"] = integer("k", k, _K)
        if sigma is not None:
            fields["sigma"] = positive_scalar("sigma", sigma, _SIGMA)
        return assembled(ResMem, fields)

    def kernel_memory(self) -> KernelMemory:
        """The same memory as a `KernelMemory`, to which residuals are written in one
        step and from which they are read by a kernel.

        Its keys are the stored embeddings, its residuals are the stored ones, and its
        kernel is `NearestNeighbours(k, sigma)`. A read with `normalise=True` at the
        columns of q gives the transpose of `correction(q.T)`. The conversion computes
        the kernel of all keys with one another, so it is meant for stores of a few
        thousand rows.

        Raises:
            ValueError: If nothing is stored, or the store has no attribute `rows`.
        """
        residuals, store = self._contents()
        rows: Any = getattr(store, "rows", None)
        if rows is None:
            raise ValueError(
                f"search: got {brief(type(store).__name__)}; "
                "it must be a search that keeps its rows, such as ExactSearch."
            )
        kernel = NearestNeighbours(self.k, self.sigma)
        n = len(residuals)
        return KernelMemory.store(
            rows[:n].T, full(residuals).T, kernel, rule=BatchStep()
        )

    def _contents(self) -> tuple[Residuals, Search]:
        is_fitted = self.residuals is not None and self.store is not None
        if not is_fitted:
            raise ValueError(
                "ResMem: got nothing stored; "
                "it must be fitted first: memory = ResMem(...).fit(...)."
            )
        assert self.residuals is not None
        assert self.store is not None
        return self.residuals, self.store

    def _base(self, probs: Numbers | None, logits: Numbers | None) -> Array:
        if (probs is None) == (logits is None):
            raise ValueError(
                "probs: got both or neither of probs and logits; "
                "it must be one of the two."
            )
        if probs is not None:
            return probabilities("probs", probs)
        assert logits is not None
        return _softmax(vectors("logits", logits), self.temperature)


def _examples(iterators: dict[str, Iterator[Any]]) -> Iterator[_Examples]:
    """Blocks of examples from an iterator for each of their parts."""
    for parts in zip_longest(*iterators.values()):
        for name, part in zip(iterators, parts, strict=True):
            if part is None:
                raise ValueError(
                    f"{name}: got fewer blocks; it must be as many as the others."
                )
        yield _Examples(*parts)


def _check_length(name: str, residuals: Residuals, embeddings: Sized) -> None:
    """ValueError unless there is one residual for each embedding."""
    if len(residuals) != len(embeddings):
        raise ValueError(
            f"{name}: got {len(residuals)} rows; it must be {len(embeddings)}, as the "
            "embeddings."
        )


def _check_width(name: str, width: int, expected: int) -> None:
    """ValueError unless a block has as many columns as those before it."""
    if width != expected:
        raise ValueError(
            f"{name}: got a block with {width} columns; it must be one with "
            f"{expected}, as the blocks before it."
        )


def _restore(width: int, _: _Progress, leaves: list[np.ndarray]) -> _Progress:
    """The progress that was saved, with `width` arrays per block."""
    L, *arrays = leaves
    if L.ndim or len(arrays) % width:
        raise ValueError("leaves")
    starts = range(0, len(arrays), width)
    return _Progress(int(L), [tuple(arrays[i : i + width]) for i in starts])


def _is_ready(value: Any, kinds: str) -> bool:
    """True for an array that a program takes as it is: its dtype is of one of the
    `kinds` of NumPy, and it lies on one device, or is a small array of NumPy.
    """
    if isinstance(value, jax.core.Tracer):
        return False
    if isinstance(value, jax.Array):
        return (
            value.dtype.kind in kinds
            and value.dtype == canonicalize_dtype(value.dtype)
            and isinstance(value.sharding, SingleDeviceSharding)
        )
    return (
        type(value) is np.ndarray
        and value.dtype.kind in kinds
        and value.dtype.itemsize in (4, 8)
        and value.nbytes <= _SMALL
    )


def _lie_together(*arrays: Any) -> bool:
    """True if no two arrays lie on different devices; those of NumPy lie on none."""
    return len({a.sharding for a in arrays if isinstance(a, jax.Array)}) < 2


def _is_narrow(labels: Any, L: int) -> bool:
    """True unless labels in NumPy are outside 0 … L − 1, where the conversion to 32
    bits could bring them back.
    """
    if isinstance(labels, jax.Array):
        return True
    return bool(labels.min() >= 0 and labels.max() < L)


@partial(jax.jit, static_argnums=(4, 5, 6))
def _fitted(
    embeddings: Array,
    base: Array,
    labels: Array,
    temperature: Array,
    is_logits: bool,
    keep: int | None,
    is_stored: bool,
) -> tuple[Residuals, ExactSearch, Array]:
    """Residuals as they are stored, the search, and true if no value is refused. The
    search is without its rows if these are a JAX array already, because the program
    would copy them.
    """
    memory = ResMem(temperature=temperature, keep=keep)
    probs, logits = (None, base) if is_logits else (base, None)
    residuals = memory._kept(memory._residuals(probs, labels, logits))
    store = ExactSearch(embeddings)
    is_valid = (
        valid_rows(embeddings)
        & valid_classes(labels, base.shape[1])
        & _valid_base(base, is_logits)
    )
    if is_stored:
        store = assembled(ExactSearch, store.__dict__ | {"rows": None})
    return residuals, store, is_valid


@partial(jax.jit, static_argnums=3)
def _predicted(
    memory: ResMem, embeddings: Array, base: Array, is_logits: bool
) -> tuple[Array, Array]:
    """Scores, and true if no value is refused."""
    probs = _softmax(base, memory.temperature) if is_logits else base
    scores = probs + memory.correction(embeddings)
    is_valid = jnp.isfinite(embeddings).all() & _valid_base(base, is_logits)
    return scores, is_valid


def _valid_base(base: Array, is_logits: bool) -> Array:
    """True if no value of the probabilities or logits (..., L) is refused."""
    return jnp.isfinite(base).all() if is_logits else valid_probabilities(base)


@jax.jit
def _softmax(logits: Array, temperature: Array) -> Array:
    return jax.nn.softmax(logits / temperature, -1)


@partial(jax.jit, static_argnames="k")
def _weigh(residuals: Residuals, nearest: Neighbours, sigma: Array, k: int) -> Array:
    """Σ w̄ᵢ rᵢ, a batch of queries at a time: the residuals of all neighbours of all
    queries may not fit in memory.
    """
    distances = nearest.distances[..., :k]
    indices = nearest.indices[..., :k]
    weights = _soft_weights(distances, sigma)
    k = distances.shape[-1]
    rows = weights.reshape(-1, k), indices.reshape(-1, k)
    sums = jax.lax.map(lambda pair: residuals.weighted(*pair), rows, batch_size=256)
    return sums.reshape(*weights.shape[:-1], residuals.L)
