"""Access to one weight matrix of a model by its path in any pytree: the matrix can be
read and edited.

A model of flax or equinox, a dictionary of parameters and the tensors of a checkpoint
are all pytrees.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone._annotated import checked
from rankone._checks import brief, choice
from rankone.writes import Write

__all__ = ["edit_at", "find_weight", "weight_at"]

_AXES = {"out_in": ("H", "D"), "in_out": ("D", "H")}
Path = str | Sequence[Any]


@checked
def weight_at(tree: Any, path: Path, *, layout: str) -> Float[Array, "H D"]:
    """Weight matrix W at a path, in the layout (outputs, inputs) that `rank_one_edit`
    and `batch_edit` take.

    Args:
        tree: A pytree of weights: a model, its parameters or its state.
        path: Path of the matrix, as in "layers[2].weight" or "params.Dense_0.kernel",
            or the path as JAX gives it, a tuple such as (DictKey("params"), ...). A
            further number at the end selects one matrix of a stack.
        layout: "out_in" if the model computes Wx (equinox, most models of Hugging
            Face), "in_out" if it computes xW (flax's kernels). There is no default,
            because a square matrix fits both.

    Raises:
        ValueError: If there is no such path (the message lists the nearest ones), or
            the leaf at this path is not a matrix.
    """
    choice("layout", layout, _AXES)
    leaves, _ = jax.tree.flatten(tree)
    place, index = find_weight("tree", tree, path)
    W = jnp.asarray(leaves[place][index])
    return W if layout == "out_in" else W.T


@checked
def edit_at(
    tree: Any, path: Path, edit: Write, *, layout: str, undo: bool = False
) -> Any:
    """Pytree with the matrix at a path edited; the given pytree stays as it is.

    Args:
        tree: A pytree of weights.
        path: As in `weight_at`.
        edit: The change, made for that matrix in the layout (outputs, inputs).
        layout: As in `weight_at`.
        undo: True to subtract the edit instead. This restores the weights up to
            rounding; keep the unedited tree to have them exactly.

    Raises:
        ValueError: As for `weight_at`, or if the edit is for a matrix of another shape.
    """
    choice("layout", layout, _AXES)
    # A second flattening is cheap: `find_weight`, which names every leaf, takes a
    # hundred times as long.
    leaves, structure = jax.tree.flatten(tree)
    place, index = find_weight("tree", tree, path)
    matrix = jnp.asarray(leaves[place])
    W = matrix[index] if layout == "out_in" else matrix[index].T
    H = edit.left.shape[0]
    D = edit.right.shape[0]
    other_layout = "in_out" if layout == "out_in" else "out_in"
    transposed = W.shape == (D, H) and H != D
    if transposed:
        raise ValueError(
            f"layout: got {layout!r} for a matrix that is then {W.shape}; "
            f"it must be {other_layout!r} for a {(H, D)} edit."
        )
    if W.shape != (H, D):
        raise ValueError(
            f"edit: got one of a {(H, D)} matrix; "
            f"it must be of shape {W.shape}, as the matrix at this path is."
        )
    weight = edit.undo(W) if undo else edit.apply(W)
    weight = weight if layout == "out_in" else weight.T
    leaves[place] = matrix.at[index].set(weight) if index else weight
    return jax.tree.unflatten(structure, leaves)


def find_weight(name: str, tree: Any, path: Path) -> tuple[int, tuple[int, ...]]:
    """Index of the leaf that contains the matrix at a path, and the position of the
    matrix in a stack of matrices. Errors call the tree `name`.
    """
    words = _words(path)
    paths, _ = jax.tree_util.tree_flatten_with_path(tree)
    matches = []
    candidates = {}
    for place, (keys, leaf) in enumerate(paths):
        location = _words(keys)
        kind = getattr(leaf, "dtype", object)
        # flax stores the array of a variable under "value"
        location = location[:-1] if location[-1:] == ("value",) else location
        suffix = words[len(location) :]
        if words[: len(location)] == location and all(
            word.isdecimal() for word in suffix
        ):
            matches.append((place, tuple(map(int, suffix)), getattr(leaf, "shape", ())))
        if getattr(leaf, "ndim", 0) >= 2 and (
            jnp.issubdtype(kind, jnp.floating) or jnp.issubdtype(kind, jnp.integer)
        ):
            candidates[".".join(location)] = (
                f"{jax.tree_util.keystr(keys).removesuffix('.value').lstrip('.')} "
                f"{leaf.shape}"
            )
    suggestions = [
        candidates[name]
        for name in get_close_matches(".".join(words), candidates, n=3, cutoff=0)
    ]
    if len(candidates) == 0:
        raise ValueError(
            f"{name}: got {brief(tree)}; it must be a pytree with a matrix of weights."
        )
    if len(matches) == 0:
        raise ValueError(
            f"path: got {brief(path)}; "
            f"it must be that of a matrix, such as {'; '.join(suggestions)}."
        )
    if len(matches) != 1:
        raise ValueError(
            f"path: got {brief(path)}; "
            "it must be a tuple of JAX's keys: several leaves have this path."
        )
    place, index, shape = matches[0]
    is_matrix = len(shape) - len(index) == 2 and all(
        i < n for i, n in zip(index, shape, strict=False)
    )
    if not is_matrix:
        raise ValueError(
            f"path: got {path!r} of shape {shape}; "
            "it must be that of a matrix, or of one in a stack: add its number."
        )
    return place, index


def _words(path: Path) -> tuple[str, ...]:
    """A path as words, written as "layers[2].weight", as "['h']['kernel']", or as JAX's
    own keys.
    """
    if isinstance(path, str):
        return tuple(re.findall(r"[^.\[\]'\"/]+", path))
    words: list[str] = []
    for key in path:
        names = [
            getattr(key, name) for name in ("key", "name", "idx") if hasattr(key, name)
        ]
        words += _words(str(names[0] if names else key))
    return tuple(words)
