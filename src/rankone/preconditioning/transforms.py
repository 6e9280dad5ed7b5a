r"""Gradient transformations for optax: preconditioned descent on W that follows plain descent on U [K-eq2].

They act on any pytree of layers, or of plain matrices (m, n) in the layout of $f(x)=Wx$. Where a library keeps
$W^\top$ instead, hand it `Factors(V.T, T.T)`.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Int

from rankone._checks import check, positive
from rankone.preconditioning.kronecker import Factors, KroneckerPreconditioner, kronecker_preconditioner
from rankone.preconditioning.layers import Dense, between, is_layer, trainable
from rankone.preconditioning.moments import MovingMoments, whitening_factors

__all__ = ["EstimatedState", "estimated_kronecker", "kronecker_sgd", "only_U", "precondition", "transport"]


def precondition(factors: Any) -> optax.GradientTransformation:
    r"""Replace each gradient G by $TT^\top G\,V^\top V$ [K-eq2].

    Chained before SGD, heavy ball, Nesterov's momentum or an average, W moves exactly as TUV does when the same method
    trains U; chained before Adam it does not [K-mom, K-adam].

    Args:
        factors: The parameters' pytree with `Factors`, or None to leave a gradient alone, in the place of each layer
            or matrix.

    Raises:
        ValueError: From `init`, if the factors of a matrix do not fit its shape.
    """

    def init(params: Any) -> Any:
        return jax.tree.map(_operator, params, factors, is_leaf=is_layer)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        return _apply(state, updates), state

    return optax.GradientTransformation(init, update)


def kronecker_sgd(
    learning_rate: optax.ScalarOrSchedule, factors: Any, *, momentum: float | None = None, nesterov: bool = False
) -> optax.GradientTransformation:
    """SGD on W that takes the same path as SGD on U, W = TUV, with the same rate and momentum [K-eqvec, K-mom].

    Args:
        learning_rate: Step size or schedule.
        factors: As in `precondition`.
        momentum: Decay of the heavy ball's velocity; None for none.
        nesterov: Whether the momentum is Nesterov's.
    """
    return optax.chain(precondition(factors), optax.sgd(learning_rate, momentum, nesterov))


def only_U(optimizer: optax.GradientTransformation) -> optax.GradientTransformation:
    """The same optimiser on a network with reparameterised layers, with T, V and W0 held fixed [K-eqU]."""
    fixed = lambda network: jax.tree.map(lambda free: not free, trainable(network))  # noqa: E731
    return optax.chain(optax.masked(optimizer, trainable), optax.masked(optax.set_to_zero(), fixed))


class EstimatedState(NamedTuple):
    """State of `estimated_kronecker`.

    Attributes:
        steps: Updates made so far.
        moments: Moving averages, one in the place of each layer.
        operators: The preconditioner in use, one in the place of each layer.
    """

    steps: Int[Array, ""]
    moments: Any
    operators: Any


def estimated_kronecker(
    *, decay: float = 0.95, damping: float = 1e-3, every: int = 1, sides: str = "both"
) -> optax.GradientTransformationExtraArgs:
    """Precondition with factors that follow the data: moving second moments, damped, refreshed now and then [K-FAC].

    `update(grads, state, params, moments=...)` takes the batch's `layer_moments`. With `sides="both"` this is K-FAC's
    block-diagonal natural gradient; with "input" the whitening of PRONG.

    Args:
        decay: Of the moving averages, in [0, 1).
        damping: Added to the two factors so that their product has about this much added, in units of the curvature.
        every: Refresh the operators at every so many updates.
        sides: "both", "input" or "output".

    Raises:
        ValueError: If an option is out of range, or `update` gets no moments.
    """
    positive("damping", damping)
    check(isinstance(every, int) and every >= 1, "every", every, "a positive integer")

    def init(params: Any) -> EstimatedState:
        moments = jax.tree.map(
            lambda p: MovingMoments.start(_matrix(p).shape, _matrix(p).dtype, decay=decay), params, is_leaf=is_layer
        )
        return EstimatedState(jnp.zeros((), jnp.int32), moments, jax.tree.map(_identity, params, is_leaf=is_layer))

    def refresh(moments: Any) -> Any:
        def one(moving: MovingMoments) -> KroneckerPreconditioner:
            return kronecker_preconditioner(*whitening_factors(moving.value, damping=damping, sides=sides))

        return jax.tree.map(one, moments, is_leaf=lambda node: isinstance(node, MovingMoments))

    def update(updates: Any, state: EstimatedState, params: Any = None, *, moments: Any = None, **_: Any) -> tuple:
        check(moments is not None, "moments", moments, "the batch's layer_moments: update(grads, state, moments=...)")
        moving = jax.tree.map(
            MovingMoments.update, state.moments, moments, is_leaf=lambda node: isinstance(node, MovingMoments)
        )
        due = state.steps % every == 0
        operators = jax.lax.cond(due, lambda: refresh(moving), lambda: state.operators)
        return _apply(operators, updates), EstimatedState(state.steps + 1, moving, operators)

    return optax.GradientTransformationExtraArgs(init, update)


def transport(momentum: Array, old: Factors, new: Factors, *, invertible: bool = False) -> Array:
    r"""Momentum of U after a change of T and V, $m_U'=T'^\top m_W V'^\top$ [K-transport].

    The momentum of the raw gradient is recovered from $m_U=T^\top m_WV^\top$, which needs T of full row rank and V of
    full column rank. U itself becomes $T'^+WV'^+$ (`Reparameterized.from_weight`), so that W does not jump.

    Args:
        momentum: m_U (p, q), of the old U.
        old: Factors before.
        new: Factors after.
        invertible: The old factors are square and invertible: solve with them, which is many times cheaper.
    """
    return _transported(momentum, old, new, invertible)


@partial(jax.jit, static_argnames="invertible")
def _transported(momentum: Array, old: Factors, new: Factors, invertible: bool) -> Array:
    raw = between(momentum, old.T.T, old.V.T, invertible=invertible)
    return new.T.T @ raw @ new.V.T


def _matrix(node: Any) -> Array:
    return node.W if is_layer(node) else node


def _operator(node: Any, pair: Factors | None) -> KroneckerPreconditioner | None:
    if pair is None:
        return None
    operator, shape = kronecker_preconditioner(*pair), jnp.shape(_matrix(node))
    wanted = (len(operator.left), len(operator.right))
    check(shape == wanted, "factors", f"T {jnp.shape(pair[0])} and V {jnp.shape(pair[1])}", f"for a matrix of {shape}")
    return operator


def _identity(node: Any) -> KroneckerPreconditioner:
    W = _matrix(node)
    m, n = W.shape
    return KroneckerPreconditioner(_eye(m, W.dtype), _eye(n, W.dtype))


@partial(jax.jit, static_argnames=("size", "dtype"))
def _eye(size: int, dtype: Any) -> Array:
    return jnp.eye(size, dtype=dtype)


def _apply(operators: Any, updates: Any) -> Any:
    def one(update: Any, operator: KroneckerPreconditioner | None) -> Any:
        if operator is None:
            return update
        return Dense(operator.apply(update.W), update.bias) if is_layer(update) else operator.apply(update)

    return jax.tree.map(one, updates, operators, is_leaf=is_layer)
