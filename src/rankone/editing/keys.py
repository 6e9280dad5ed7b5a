"""Keys: what a matrix inside a model reads while the model runs, whatever framework the model is written in."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from rankone._checks import check, choice
from rankone._uses import Uses
from rankone.editing.trees import Path, find_weight

__all__ = ["capture_keys"]


def capture_keys(fn: Callable[..., Any], model: Any, path: Path, *args: Any, layout: str) -> Float[Array, "N D"]:
    """What the matrix at a path multiplies while fn(model, *args) runs: one key a row.

    Rows come in the order of the leading axes of the layer's input; several uses of the matrix follow one another.
    `SecondMoments` or `KeyGeometry.from_keys` make C of them.

    Args:
        fn: Runs the model on a batch: `jax.vmap(model)` of equinox as `lambda m, x: jax.vmap(m)(x)`, linen's
            `module.apply`, nnx's `lambda m, x: m(x)`. It is to use the model that it is given.
        model: A pytree of weights.
        path: As in `weight_at`.
        args: What else `fn` takes.
        layout: As in `weight_at`.

    Raises:
        ValueError: If there is no such path, or no product in sight reads the matrix: not inside a loop
            (`jax.lax.scan`), and not after arithmetic with it.
    """
    choice("layout", layout, ("out_in", "in_out"))
    place, index = find_weight(model, path)
    check(not index, "path", path, "that of a matrix of its own: one of a stack is out of sight")
    leaves, structure = jax.tree.flatten((model, args))  # the model's come first
    dynamic = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array | np.ndarray)]
    position, inputs = dynamic.index(place), 1 if layout == "out_in" else 0

    def outputs(values: list[Array]) -> list[Array]:
        given = dict(zip(dynamic, values, strict=True))
        tree, others = jax.tree.unflatten(structure, [given.get(i, leaf) for i, leaf in enumerate(leaves)])
        return [leaf for leaf in jax.tree.leaves(fn(tree, *others)) if isinstance(leaf, jax.Array)]

    def keys(values: list[Array]) -> Array:
        uses = Uses()
        uses.run(jax.make_jaxpr(outputs)(values), values, followed=[position])
        read = [use.inputs for use in uses.found if use.inputs is not None and use.axis == inputs]
        why = uses.reasons.get(position, "multiplied in the other layout" if uses.found else "which is not read")
        check(len(read) > 0, "path", f"{path!r}, {why}", "that of a matrix that fn multiplies outside loops")
        return jnp.concatenate([rows.reshape(-1, rows.shape[-1]) for rows in read])

    return jax.jit(keys)([leaves[i] for i in dynamic])
