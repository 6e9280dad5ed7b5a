"""Second moments of the inputs of a network's layers and of the gradients at their
outputs, whatever library the network is written in.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import brief
from rankone._module import Module
from rankone._uses import Use, Uses
from rankone.precision import full_precision
from rankone.preconditioning.layers import Layer, is_layer
from rankone.preconditioning.whitening import Moments, TransposedMoments

__all__ = ["Skipped", "layer_moments", "skipped"]

Losses = Callable[[Any], Float[ArrayLike, " N"]]


class Skipped(Module):
    """Placeholder for the moments of an array that has none, with the reason."""

    reason: str = eqx.field(static=True)


@dataclass(frozen=True)  # exists while one loss is traced
class _Tap:
    """A layer that records its input and adds `nudge` to its output, so that the
    gradient with respect to `nudge` is the gradient at the output.
    """

    layer: Layer
    nudge: Array | None
    calls: list

    def __call__(self, x: ArrayLike) -> Array:
        if self.calls:
            raise ValueError(
                "network: got a layer called twice; "
                "it must be one in which each layer is called once."
            )
        y = self.layer(x)
        self.calls.append((self.layer.features(x), jnp.zeros_like(y)))
        return y if self.nudge is None else y + self.nudge


def layer_moments(losses: Losses, network: Any) -> Any:
    r"""Second moments of every layer's inputs and output gradients over a batch
    [K-FAC].

    The network consists of layers of this package (`Dense`, `Reparameterized`), or is
    any other pytree with arrays: an equinox module, a flax module or its parameters, a
    plain pytree. For arrays, the function searches the jaxpr of `losses`, vmapped and
    jitted parts included, for products with a matrix and additions of a vector.

    A matrix (m, n) gets A = E[x xᵀ] of its inputs x and D = E[δ δᵀ] of the gradients δ
    at its outputs, as `TransposedMoments` if it is stored as (n, m). A vector that is
    added, such as a bias, gets the moments of a layer with the constant input 1, A =
    [[1]]. Weight and bias are thus two blocks. Any other array gets a `Skipped` with
    the reason, and `skipped` lists these reasons. Such arrays are embeddings,
    convolutions, scales, and arrays that are used twice, or inside a scan or a loop.

    Gradients are per example, provided that no example's loss depends on another
    example. If a layer gets several rows per example, as for a sequence, each row
    counts as one example. If the losses are negative log-likelihoods, A ⊗ D
    approximates the layer's block of a Fisher matrix: of the true one with targets
    drawn from the model's own distribution, and of the empirical one with the targets
    of the data.

    Args:
        losses: Function that takes a network and returns the losses of N examples (N,).
            It calls each layer of this package once, outside of scan and vmap, on a
            batch (N, n), or (N, ..., n) with several rows per example.
        network: Pytree of layers, or of arrays; other leaves, such as functions, are
            ignored.

    Returns:
        The same pytree with `Moments` in the place of each layer or array; None in the
        place of other leaves.

    Raises:
        ValueError: If a layer of this package is called twice or never, no array has
            moments, or the losses are not one number per example.
    """
    if not callable(losses):
        raise ValueError(
            f"losses: got {brief(losses)}; it must be a function of a network."
        )
    layers, structure = jax.tree.flatten(network, is_leaf=is_layer)
    if not layers or not all(map(is_layer, layers)):
        return _of_arrays(losses, network)

    def tapped(nudges: list) -> tuple[Array, list]:
        call_lists: list[list] = [[] for _ in layers]
        taps = [_Tap(*parts) for parts in zip(layers, nudges, call_lists, strict=True)]
        values = _one_an_example(losses(jax.tree.unflatten(structure, taps)))
        if not all(call_lists):
            raise ValueError(
                "network: got a layer that is never called; "
                "it must be one in which each layer is called once."
            )
        return values.sum(), [calls[0] for calls in call_lists]

    zeros = [zero for _, zero in tapped([None] * len(layers))[1]]
    deltas, records = jax.grad(tapped, has_aux=True)(zeros)
    moments = [
        Moments(_second(x), _second(delta))
        for (x, _), delta in zip(records, deltas, strict=True)
    ]
    return jax.tree.unflatten(structure, moments)


def skipped(moments: Any) -> dict[str, str]:
    """Dictionary of the arrays without moments in the result of `layer_moments`, from
    the path of each array to the reason.
    """
    entries = jax.tree.leaves(
        moments, is_leaf=lambda node: isinstance(node, Moments | Skipped)
    )
    if not all(isinstance(node, Moments | Skipped) for node in entries):
        raise ValueError(
            f"moments: got {brief(moments)}; it must be the result of layer_moments."
        )
    nodes, _ = jax.tree_util.tree_flatten_with_path(
        moments, is_leaf=lambda node: isinstance(node, Skipped)
    )
    return {
        jax.tree_util.keystr(path): node.reason
        for path, node in nodes
        if isinstance(node, Skipped)
    }


def _of_arrays(losses: Losses, network: Any) -> Any:
    leaves, structure = jax.tree.flatten(network)
    positions = [i for i, leaf in enumerate(leaves) if _is_parameter(leaf)]
    if len(positions) == 0:
        raise ValueError(
            f"network: got {brief(network)}; "
            "it must be a pytree of layers, or of floating arrays."
        )
    values = [leaves[i] for i in positions]

    def program(values: list) -> Array:
        arguments = dict(enumerate(leaves)) | dict(zip(positions, values, strict=True))
        return _one_an_example(
            losses(jax.tree.unflatten(structure, arguments.values()))
        )

    jaxpr = jax.make_jaxpr(program)(values)
    first_pass = Uses()
    shapes = jax.eval_shape(
        lambda: (
            first_pass.run(jaxpr, values)
            and [use.outputs for use in first_pass.entries]
        )
    )
    reasons = _reasons(first_pass, len(values))
    if len(reasons) >= len(values):
        problems = ", ".join(sorted(set(reasons.values()))) or "empty"
        raise ValueError(
            "network: got no array that has moments; it must be a network with products "
            f"of a matrix and inputs: {problems}."
        )

    def tapped(nudges: list) -> tuple[Array, list]:
        uses = Uses(nudges)
        return uses.run(jaxpr, values)[0].sum(), [use.inputs for use in uses.entries]

    deltas, inputs = jax.grad(tapped, has_aux=True)(
        [jnp.zeros(s.shape, s.dtype) for s in shapes]
    )
    moments: dict[int, Any] = {
        positions[i]: Skipped(reason) for i, reason in reasons.items()
    }
    for use, x, delta in zip(first_pass.entries, inputs, deltas, strict=True):
        moments.setdefault(positions[use.argument], _of_use(use, x, delta))
    return jax.tree.unflatten(structure, [moments.get(i) for i in range(len(leaves))])


def _is_parameter(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray) and bool(
        jnp.issubdtype(leaf.dtype, jnp.floating)
    )


def _reasons(uses: Uses, count: int) -> dict[int, str]:
    """Why each of the arguments that have no moments has none."""
    times = Counter(use.argument for use in uses.entries)
    reasons = {i: "not used by the losses" for i in range(count) if not times[i]}
    reasons |= {i: f"used {n} times" for i, n in times.items() if n > 1}
    return reasons | uses.reasons


def _of_use(use: Use, x: Array | None, delta: Array) -> Moments:
    D = _second(jnp.moveaxis(delta, use.features, -1))
    if x is None:
        return Moments(jnp.ones((1, 1), D.dtype), D)
    return (Moments if use.axis == 1 else TransposedMoments)(_second(x), D)


def _one_an_example(losses: Any) -> Array:
    values = jnp.asarray(losses)
    if values.ndim != 1:
        raise ValueError(
            f"losses: got shape {values.shape}; it must be (N,): one loss per example."
        )
    return values


@jax.jit
@full_precision()
def _second(rows: Array) -> Array:
    rows = rows.reshape(-1, rows.shape[-1])
    return rows.T @ rows / len(rows)
