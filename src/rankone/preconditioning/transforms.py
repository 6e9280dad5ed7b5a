"""Gradient transformations for optax: preconditioned descent on W that follows plain
descent on U [K-eq2].

They act on any pytree of layers, or of plain matrices (m, n) in the layout of f(x) =
Wx. If a library stores Wᵀ instead, pass `Factors(V.T, T.T)`.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, ArrayLike, Float, Int, Real

from rankone._annotated import checked
from rankone._checks import (
    boolean,
    brief,
    choice,
    integer,
    numbers,
    positive,
    real,
)
from rankone.nn import Dense
from rankone.precision import full_precision
from rankone.preconditioning.kronecker import (
    Factors,
    KroneckerPreconditioner,
    kronecker_preconditioner,
)
from rankone.preconditioning.layers import beside, between, is_layer, trainable
from rankone.preconditioning.whitening import (
    Moments,
    MovingMoments,
    TransposedMoments,
    check_decay,
    whitening_factors,
)

__all__ = [
    "EstimatedState",
    "estimated_kronecker",
    "kronecker_sgd",
    "only_U",
    "precondition",
    "transport",
]


def precondition(factors: Any) -> optax.GradientTransformation:
    """Gradient transformation that replaces each gradient G by TTᵀ G VᵀV [K-eq2].

    If it is chained before SGD, heavy ball, Nesterov's momentum or an average of
    gradients, W moves exactly as TUV does when the same method trains U. If it is
    chained before Adam, W does not [K-mom, K-adam].

    Args:
        factors: Pytree of the parameters' structure with `Factors` in the place of each
            layer or matrix, or None to leave its gradient unchanged.

    Raises:
        ValueError: If `factors` contains anything else. `init` raises it if the factors
            do not fit the parameters.
    """
    nodes = jax.tree.leaves(factors, is_leaf=lambda node: isinstance(node, Factors))
    if not all(isinstance(node, Factors) for node in nodes):
        raise ValueError(
            f"factors: got {brief(factors)}; it must be a pytree of Factors and None."
        )

    def init(params: Any) -> Any:
        beside("factors", factors, params, Factors)
        return jax.tree.map(_operator, params, factors, is_leaf=is_layer)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        return _apply(state, updates), state

    return optax.GradientTransformation(init, update)


def kronecker_sgd(
    learning_rate: optax.ScalarOrSchedule,
    factors: Any,
    *,
    momentum: float | None = None,
    nesterov: bool = False,
) -> optax.GradientTransformation:
    """SGD on W that takes the same path as SGD on U, W = TUV, with the same rate and
    momentum [K-eqvec, K-mom].

    Args:
        learning_rate: Step size or schedule.
        factors: As in `precondition`.
        momentum: Decay of the heavy ball's velocity; None for none.
        nesterov: True if the momentum is Nesterov's.
    """
    if not callable(learning_rate):
        positive("learning_rate", learning_rate)
    if momentum is not None:
        real("momentum", momentum, "a number, or None")
    return optax.chain(
        precondition(factors),
        optax.sgd(learning_rate, momentum, boolean("nesterov", nesterov)),
    )


@checked
def only_U(optimizer: optax.GradientTransformation) -> optax.GradientTransformation:
    """The given optimiser, applied to the U of each reparameterised layer and to all of
    each dense layer. T, V and W0 of the layers W = W0 + TUV stay fixed [K-eqU].
    """

    def frozen_mask(network: Any) -> Any:
        return jax.tree.map(lambda free: not free, trainable(network))

    return optax.chain(
        optax.masked(optimizer, trainable),
        optax.masked(optax.set_to_zero(), frozen_mask),
    )


class EstimatedState(NamedTuple):  # a tuple, as the states of optax are
    """State of `estimated_kronecker`: the number of updates, the moving averages of the
    moments, and the preconditioners in use.

    Attributes:
        steps: Updates made so far.
        moments: Moving averages, one for each layer or array in the order of the
            leaves; None for one that is not preconditioned.
        operators: The preconditioners in use, in the same order.
    """

    steps: Int[Array, ""]
    moments: tuple[Any, ...]
    operators: tuple[Any, ...]


def estimated_kronecker(
    *,
    decay: float = 0.95,
    damping: float = 1e-3,
    every: int = 1,
    sides: str = "both",
    largest: int = 10_000,
) -> optax.GradientTransformationExtraArgs:
    """Gradient transformation that preconditions with factors estimated from data:
    damped moving averages of second moments, refreshed every `every` steps [K-FAC].

    `update(grads, state, params, moments=...)` takes the batch's `layer_moments`. With
    `sides="both"` this is K-FAC's block-diagonal natural gradient; with `sides="input"`
    it is the whitening of PRONG.

    The parameters are layers of this package, or any pytree of arrays, such as an
    equinox module filtered by `eqx.is_array` or the parameters of a flax module. A
    matrix, in either layout, is preconditioned on the sides that `sides` names. A
    vector, such as a bias, is the weight of a layer with the constant input 1. It is
    preconditioned by the inverse of its moment D, or nearly unchanged with
    `sides="input"`. The gradient of an array is unchanged if the array has another
    number of axes, if an axis is longer than `largest`, or if `layer_moments` marked
    the array as `Skipped`. `optax.partition` can give such arrays their own learning
    rate.

    Args:
        decay: Decay of the moving averages, in [0, 1).
        damping: λ, positive, as in `whitening_factors`. Its unit is that of the
            curvature A ⊗ D if `sides` is "both", else that of the moment of the one
            side.
        every: Number of updates between two refreshes of the preconditioners.
        sides: "both", "input" or "output".
        largest: Longest axis of an array that is preconditioned; an axis of length n
            needs a matrix (n, n).

    Raises:
        ValueError: If an option is out of range, or `update` gets no moments.
    """
    check_decay(decay)
    positive("damping", damping)
    choice("sides", sides, _MIRRORED)
    every = integer("every", every)
    largest = integer("largest", largest)

    def init(params: Any) -> EstimatedState:
        def start(node: Any) -> MovingMoments | None:
            W = _matrix(node)
            fits = W.ndim == 2 and max(W.shape) <= largest
            return MovingMoments.start(W.shape, W.dtype, decay=decay) if fits else None

        nodes = jax.tree.leaves(params, is_leaf=is_layer)
        averages = tuple(map(start, nodes))
        operators = tuple(
            average and _identity(node)
            for node, average in zip(nodes, averages, strict=True)
        )
        return EstimatedState(jnp.zeros((), jnp.int32), averages, operators)

    def operator_of(average: MovingMoments, new: Moments) -> KroneckerPreconditioner:
        side = _MIRRORED[sides] if isinstance(new, TransposedMoments) else sides
        return kronecker_preconditioner(
            *whitening_factors(average.value, damping=damping, sides=side)
        )

    def update(
        updates: Any,
        state: EstimatedState,
        params: Any = None,
        *,
        moments: Any = None,
        **_: Any,
    ) -> tuple:
        if moments is None:
            raise ValueError(
                f"moments: got {brief(moments)}; it must be the batch's layer_moments: "
                "update(grads, state, moments=...)."
            )
        structure: Any = jax.tree.structure(updates, is_leaf=is_layer)
        # an entry is None for an array without an average, or without moments here
        batch: list[Any] = []
        averages: list[Any] = []
        for average, new in zip(
            state.moments, structure.flatten_up_to(moments), strict=True
        ):
            counts = average is not None and isinstance(new, Moments)
            batch.append(new if counts else None)
            averages.append(average.update(_oriented(new)) if counts else average)

        def new_operators() -> tuple:
            return tuple(
                operator if new is None else operator_of(average, new)
                for operator, average, new in zip(
                    state.operators, averages, batch, strict=True
                )
            )

        operators = jax.lax.cond(
            state.steps % every == 0, new_operators, lambda: state.operators
        )
        preconditioned = _apply(jax.tree.unflatten(structure, operators), updates)
        return preconditioned, EstimatedState(
            state.steps + 1, tuple(averages), operators
        )

    return optax.GradientTransformationExtraArgs(init, update)


_MIRRORED = {"both": "both", "input": "output", "output": "input"}


def _oriented(moments: Moments) -> Moments:
    """Moments for the rows and for the columns of an array as it is stored."""
    return (
        Moments(moments.outputs, moments.inputs)
        if isinstance(moments, TransposedMoments)
        else moments
    )


@checked
def transport(
    momentum: Real[ArrayLike, "p q"],
    old: Factors,
    new: Factors,
    *,
    invertible: bool = False,
) -> Float[Array, "r s"]:
    """Momentum of U after a change of T and V to T' and V': m_U' = T'ᵀ m_W V'ᵀ
    [K-transport].

    The momentum m_W of the gradient of W is recovered from m_U = Tᵀ m_W Vᵀ, which needs
    T of full row rank and V of full column rank. U itself becomes T'⁺WV'⁺
    (`Reparameterized.from_weight`), so that W does not jump.

    Args:
        momentum: m_U (p, q), the momentum of the old U.
        old: Factors T and V before the change.
        new: Factors T' and V' after the change.
        invertible: True if the old factors are square and invertible. m_W then comes
            from linear solves, which are many times cheaper than pseudoinverses.
    """
    shapes = [(len(pair.T), pair.V.shape[1]) for pair in (old, new)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"new: got factors of a matrix {shapes[1]}; "
            f"it must be factors of a matrix {shapes[0]}."
        )
    momentum = numbers("momentum", momentum)
    shape = (old.T.shape[1], old.V.shape[0])
    if momentum.shape != shape:
        raise ValueError(
            f"momentum: got shape {momentum.shape}; "
            f"it must be of shape {shape}, as the old U is."
        )
    return _transported(momentum, old, new, invertible)


@partial(jax.jit, static_argnames="invertible")
@full_precision()
def _transported(
    momentum: Array, old: Factors, new: Factors, invertible: bool
) -> Array:
    raw = between(momentum, old.T.T, old.V.T, invertible=invertible)
    return new.T.T @ raw @ new.V.T


def _matrix(node: Any) -> Array:
    """The matrix that a layer applies, or the array itself; a vector (m,) as (m, 1),
    the weights of a constant input 1.
    """
    if is_layer(node):
        return node.augmented
    array = numbers("updates", node)
    return array[:, None] if array.ndim == 1 else array


def _operator(node: Any, pair: Factors | None) -> KroneckerPreconditioner | None:
    if pair is None:
        return None
    operator = kronecker_preconditioner(*pair)
    shape = jnp.shape(_matrix(node))
    fitting_shape = operator.left.shape[0], operator.right.shape[0]
    if shape != fitting_shape:
        raise ValueError(
            f"factors: got T {jnp.shape(pair.T)} and V {jnp.shape(pair.V)}; "
            f"it must be for a matrix of {shape}."
        )
    return operator


def _identity(node: Any) -> KroneckerPreconditioner:
    W = _matrix(node)
    return KroneckerPreconditioner(
        *(jax.device_put(np.eye(size, dtype=W.dtype)) for size in W.shape)
    )


def _apply(operators: Any, updates: Any) -> Any:
    def product(update: Any, operator: KroneckerPreconditioner | None) -> Any:
        if operator is None:
            return update
        out = operator.apply(_matrix(update))
        if not is_layer(update):
            return out.reshape(update.shape)
        return Dense.from_augmented(out, bias=update.b is not None)

    return jax.tree.map(product, updates, operators, is_leaf=is_layer)
