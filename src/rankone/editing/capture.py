"""Keys: what a matrix inside a model reads while the model runs, whatever framework the model is written in.

The run is traced, as for a gradient, and looked through for the products with that matrix: so no layer has to be
wrapped, and flax, equinox and plain functions are read alike.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun
from jaxtyping import Array, Float

from rankone._checks import check, choice
from rankone.editing.trees import Path, find_weight

__all__ = ["capture_keys"]

_CALLS = {"jit", "pjit", "closed_call", "core_call", "checkpoint", "remat", "remat2"}
_CALLS |= {"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"}
_SAME = {"convert_element_type", "copy", "copy_p", "sharding_constraint", "reduce_precision"}
_Seen = tuple[Any, int | None]  # a value, and which of its axes is the matrix's inputs, if it is the matrix


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
    inputs = 1 if layout == "out_in" else 0

    def outputs(values: list[Array]) -> list[Array]:
        given = dict(zip(dynamic, values, strict=True))
        tree, others = jax.tree.unflatten(structure, [given.get(i, leaf) for i, leaf in enumerate(leaves)])
        return [leaf for leaf in jax.tree.leaves(fn(tree, *others)) if isinstance(leaf, jax.Array)]

    def keys(values: list[Array]) -> Array:
        traced = jax.make_jaxpr(outputs)(values)
        found: list[Array] = []
        lost: list[str] = []
        seen = [(value, inputs if i == place else None) for i, value in zip(dynamic, values, strict=True)]
        _follow(traced.jaxpr, traced.consts, seen, found, lost)
        by = f"{path!r}, read by {', '.join(lost)}" if lost else f"{path!r}, which is not read"
        check(len(found) > 0, "path", by, "that of a matrix that fn multiplies by, outside loops and unchanged")
        return jnp.concatenate(found)

    return jax.jit(keys)([leaves[i] for i in dynamic])


def _follow(jaxpr: Jaxpr, consts: Any, args: list[_Seen], found: list[Array], lost: list[str]) -> list[_Seen]:
    """Run a traced function, with an eye on where the matrix goes; what it is multiplied by is `found`."""
    held: dict[Any, _Seen] = dict(zip(jaxpr.constvars, [(value, None) for value in consts], strict=True))
    held |= zip(jaxpr.invars, args, strict=True)

    def read(atom: Any) -> _Seen:
        return (atom.val, None) if isinstance(atom, Literal) else held[atom]

    for eqn in jaxpr.eqns:
        seen = [read(atom) for atom in eqn.invars]
        if eqn.primitive.name in _CALLS:
            body = next(eqn.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in eqn.params)
            results = _follow(getattr(body, "jaxpr", body), getattr(body, "consts", ()), seen, found, lost)
        else:
            made = _evaluate(jaxpr, eqn, [value for value, _ in seen])
            results = [(value, None) for value in made]
            if any(axis is not None for _, axis in seen):
                results = _track(eqn, seen, made, found, lost)
        held |= zip(eqn.outvars, results, strict=True)
    return [read(atom) for atom in jaxpr.outvars]


def _evaluate(jaxpr: Jaxpr, eqn: Any, values: list[Any]) -> list[Any]:
    """One step, run as a function of its own: JAX has no other public way that all its versions share."""
    given = {atom: v for atom, v in zip(eqn.invars, values, strict=True) if not isinstance(atom, Literal)}
    alone = jaxpr.replace(constvars=[], invars=list(given), outvars=eqn.outvars, eqns=[eqn])
    return jaxpr_as_fun(ClosedJaxpr(alone, ()))(*given.values())


def _track(eqn: Any, seen: list[_Seen], made: list[Any], found: list[Array], lost: list[str]) -> list[_Seen]:
    """What became of the matrix in one step: still itself, turned, multiplied, or lost from sight."""
    name, axis = eqn.primitive.name, seen[0][1]
    if name == "dot_general":
        found += _keys(eqn.params["dimension_numbers"], seen)
    elif name in _SAME:
        return [(made[0], axis)]
    elif name == "transpose" and axis is not None:
        return [(made[0], eqn.params["permutation"].index(axis))]
    else:
        lost.append(name)
    return [(value, None) for value in made]


def _keys(dimensions: Any, seen: list[_Seen]) -> list[Array]:
    contracted, batched = dimensions
    keys = []
    for side, (_, axis) in enumerate(seen):
        other = seen[1 - side][0]
        if axis is not None and tuple(contracted[side]) == (axis,) and not batched[side]:
            rows = jnp.moveaxis(other, contracted[1 - side][0], -1)
            keys.append(rows.reshape(-1, rows.shape[-1]))
    return keys
