"""Keys, which are the inputs of a matrix inside a running model, and their second
moments, summed one batch at a time.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path as PathOfFile
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, ArrayLike, Bool, Float, Int, Real

from rankone._annotated import checked
from rankone._blocks import checkpoint_path, is_blocks, run_blocks
from rankone._checks import (
    brief,
    choice,
    integer,
    mask,
    readable,
    states,
)
from rankone._fingerprint import fingerprint
from rankone._mesh import Placement, placement_of, placement_on, refuse_explicit
from rankone._module import Module
from rankone._uses import Uses
from rankone.editing.trees import Path, find_weight
from rankone.precision import canonical, full_precision

__all__ = ["SecondMoments", "capture_keys"]


@checked
def capture_keys(
    fn: Callable[..., Any], model: Any, path: Path, *args: Any, layout: str
) -> Float[Array, "N D"]:
    """Keys that the matrix at a path multiplies while fn(model, *args) runs, one per
    row.

    Rows come in the order of the leading axes of the layer's input. If the matrix is
    used several times, the rows of one use follow those of the use before.
    `SecondMoments` takes these rows; `KeyGeometry.from_keys` takes one key per column,
    their transpose.

    Args:
        fn: Function that runs the model on a batch: `lambda m, x: jax.vmap(m)(x)` for
            equinox, `module.apply` for linen, `lambda m, x: m(x)` for nnx. It must use
            the model that is passed to it, not a model in its closure.
        model: A pytree of weights.
        path: As in `weight_at`.
        args: Further arguments of `fn`.
        layout: As in `weight_at`.

    Raises:
        ValueError: If there is no such path, or no product with the matrix can be
            captured. Products inside a loop (`jax.lax.scan`), or with the result of
            arithmetic on the matrix, cannot be captured.
    """
    choice("layout", layout, ("out_in", "in_out"))
    place, index = find_weight("model", model, path)
    if index:
        raise ValueError(
            f"path: got {brief(path)}; "
            "it must be the path of a single matrix: one in a stack is not captured."
        )
    leaves, structure = jax.tree.flatten((model, args))  # the model's come first
    dynamic = [
        i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array | np.ndarray)
    ]
    position = dynamic.index(place)
    inputs = 1 if layout == "out_in" else 0

    def outputs(values: list[Array]) -> list[Array]:
        arrays = dict(zip(dynamic, values, strict=True))
        tree, arguments = jax.tree.unflatten(
            structure, [arrays.get(i, leaf) for i, leaf in enumerate(leaves)]
        )
        return [
            leaf
            for leaf in jax.tree.leaves(fn(tree, *arguments))
            if isinstance(leaf, jax.Array)
        ]

    def keys(values: list[Array]) -> Array:
        uses = Uses()
        uses.run(jax.make_jaxpr(outputs)(values), values, followed=[position])
        blocks = [
            use.inputs
            for use in uses.entries
            if use.inputs is not None and use.axis == inputs
        ]
        reason = uses.reasons.get(
            position,
            "multiplied in the other layout" if uses.entries else "which is not read",
        )
        if len(blocks) == 0:
            raise ValueError(
                f"path: got {path!r}, {reason}; "
                "it must be the path of a matrix that fn multiplies outside of loops."
            )
        return jnp.concatenate([rows.reshape(-1, rows.shape[-1]) for rows in blocks])

    return jax.jit(keys)([leaves[i] for i in dynamic])


class SecondMoments(Module):
    """Sum Σ kkᵀ over all keys so far, and the number of keys. The order and the
    grouping of the batches do not matter, up to rounding.

    Attributes:
        total: The sum Σ kkᵀ (D, D).
        count: Number of keys, below 2³¹. It is an integer, because a large float32
            would not change when a small batch is added.
    """

    total: Float[Array, "D D"]
    count: Int[Array, ""]

    @classmethod
    def empty(cls, D: int, *, dtype: Any = None) -> "SecondMoments":
        """Moments before any key: their sum and count are 0. Prefer float64, because
        the condition number of C is the square of that of the matrix of keys, and
        float32 has half the digits.

        Args:
            D: Length of a key.
            dtype: Dtype of the sums, a floating type; by default JAX's default.

        Raises:
            ValueError: If `dtype` is float64 where JAX is set to float32, or is not a
                floating type.
        """
        D = integer("D", D, "a positive length")
        kind = None
        with suppress(TypeError, ValueError):
            kind = jnp.result_type(float) if dtype is None else jnp.dtype(dtype)
        floating = kind is not None and jnp.issubdtype(kind, jnp.floating)
        if not floating or jax.dtypes.canonicalize_dtype(kind) != kind:
            raise ValueError(
                f"dtype: got {brief(dtype) if kind is None else kind}; it must be a "
                "floating type; float64 only inside `with "
                "rankone.precision.double_precision():`."
            )
        return cls(jnp.zeros((D, D), kind), jnp.int32(0))

    def sharded(self, mesh: Mesh, axis: str | None = None) -> "SecondMoments":
        """The same sums with the rows of `total` split over the devices of a mesh.

        Each device receives all keys of a batch, and sums its own rows of C. If C has
        more than 16,384 rows, an edit factors it on these devices without gathering it.
        To make empty moments that never lie on a single device, make them inside jit:
        `jax.jit(lambda: SecondMoments.empty(D).sharded(mesh))()`.

        Args:
            mesh: Devices, such as `jax.make_mesh((8,), ("rows",))`.
            axis: Name of the axis of the mesh; by default its first.

        Raises:
            ValueError: If the number of devices does not divide D.

        >>> import jax, numpy as np, rankone as ro
        >>> moments = ro.editing.SecondMoments.empty(3)
        >>> spread = moments.sharded(jax.make_mesh((1,), ("rows",)))
        >>> int(spread.update(np.eye(3)).count)
        3
        """
        placement = placement_on(mesh, axis)
        D = len(self.total)
        if D % placement.parts:
            raise ValueError(
                f"mesh: got {placement.parts} devices for {D} rows of C; it must be a "
                "number of devices that divides the number of rows."
            )
        return placement.placed(self, "total")

    def update(
        self,
        keys: Real[ArrayLike, "... D"] | Iterator[Any],
        *,
        where: Bool[ArrayLike, "..."] | None = None,
        progress: bool | None = None,
        checkpoint: PathOfFile | str | None = None,
    ) -> "SecondMoments":
        """Moments with one more batch of keys.

        The keys need not fit in memory: give an iterator of blocks (n, D), or a NumPy
        array, such as a memory map. A large array is read in slices.

        Args:
            keys: (..., D), or an iterator of blocks (n, D).
            where: Mask (...), True for the keys to include; not with blocks.
            progress: True to show a bar while blocks are summed, False for none; by
                default the bar appears after two seconds.
            checkpoint: File (.npz) in which the moments are saved every 20 seconds and
                at the end. An interrupted run resumes from it, if it is started with
                the same moments and the same keys in the same order.

        Raises:
            ValueError: If the keys do not fit, their number exceeds 2³¹ − 1, or the
                checkpoint is of another run.
        """
        path = checkpoint_path(checkpoint, progress)
        if where is None and (is_blocks(keys) or path is not None):
            return self._sum_blocks(keys, progress, path)
        if path is not None or is_blocks(keys):
            raise ValueError("where: got a mask; it must be None with blocks.")
        return self._with(keys, where)

    def _with(self, keys: Any, where: Any = None) -> "SecondMoments":
        """The moments with one batch more."""
        keys = states("keys", keys, len(self.total))
        where = (
            np.ones(keys.shape[:-1], bool) if where is None else mask("where", where)
        )
        if where.shape != keys.shape[:-1]:
            raise ValueError(
                f"where: got shape {where.shape}; "
                f"it must be of shape {keys.shape[:-1]}."
            )
        self._room(where.size)
        moments = canonical(self)
        placement = placement_of(moments.total)
        refuse_explicit(placement, "moments whose rows are split")
        return _update(moments, keys, where, placement)

    def _room(self, n: int) -> None:
        """ValueError if n more keys are too many to be counted."""
        most = np.iinfo(np.int32).max
        if readable(self.count) and int(np.asarray(self.count)) + n > most:
            raise ValueError(
                f"keys: got {n} after {int(np.asarray(self.count))}; it must be at most "
                f"{most:,} keys together: begin new moments, and add the totals."
            )

    def _sum_blocks(
        self, keys: Any, progress: bool | None, path: PathOfFile | None
    ) -> "SecondMoments":
        """The moments after all blocks."""
        if not isinstance(keys, np.ndarray | Iterator):
            raise ValueError(
                f"keys: got {brief(type(keys))}; it must be an iterator of blocks or "
                "an array of NumPy, for a checkpoint."
            )
        initial = canonical(self)
        start = (initial.total, initial.count)
        return run_blocks(
            initial,
            lambda moments, block: moments._with(block),
            keys if isinstance(keys, Iterator) else keys.reshape(-1, keys.shape[-1]),
            count=lambda moments: int(moments.count),
            title="moments",
            progress=progress,
            checkpoint=path,
            run="" if path is None else fingerprint(tuple(map(np.asarray, start))),
        )

    @property
    def mean(self) -> Float[Array, "D D"]:
        """Mean second moment Σ kkᵀ / n, the C of an edit. Add a ridge to this mean and
        not to the sum, because the mean does not grow with the corpus.
        """
        if readable(self.count) and not int(np.asarray(self.count)) > 0:
            raise ValueError(
                "count: got no key yet; "
                "it must be positive: update with a batch of keys first."
            )
        moments = canonical(self)
        return moments.total / moments.count.astype(moments.total.dtype)


@partial(jax.jit, static_argnames="placement")
@full_precision()
def _update(
    moments: SecondMoments,
    keys: Array,
    where: ArrayLike,
    placement: Placement | None,
) -> SecondMoments:
    rows = (
        jnp.where(jnp.expand_dims(where, -1), keys, 0)
        .astype(moments.total.dtype)
        .reshape(-1, len(moments.total))
    )
    if placement is not None:
        # all keys on every device, which then sums only its own rows of C
        rows = placement.put(rows)
    total = moments.total + rows.T @ rows
    return SecondMoments(
        total if placement is None else placement.put(total, placement.axis),
        moments.count + jnp.sum(where, dtype=jnp.int32),
    )
