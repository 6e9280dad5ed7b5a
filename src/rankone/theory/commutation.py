"""Comparison of a training method run on U with the same method run on W = TUV: do the
two paths of W agree?

The method on W preconditions its gradients by P, the `kronecker_preconditioner` of T
and V. If every update is a linear combination of the gradients so far, with numbers as
coefficients (gradient descent, heavy ball), the paths agree for every T and V. Of the
methods that are differentiable at zero, only these have this property [K-sharp3].
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import array, choice
from rankone.preconditioning.kronecker import Factors, kronecker_preconditioner
from rankone.preconditioning.layers import between
from rankone.preconditioning.powers import symmetric_power
from rankone.preconditioning.transforms import transport

__all__ = [
    "LINEAR",
    "NOT_LINEAR",
    "change_factors",
    "commuting_linear_rules",
    "descend",
    "descend_on_U",
    "gap",
    "scale_by_polar",
    "scale_by_shampoo",
]

Loss = Callable[[Float[Array, "m n"]], Float[Array, ""]]
Postprocess = Callable[[Array], Array]


@checked
def descend(
    loss: Loss,
    W0: Real[ArrayLike, "m n"],
    optimizer: optax.GradientTransformation,
    *,
    steps: int,
    before: Postprocess | None = None,
    after: Postprocess | None = None,
) -> Float[Array, "{steps}+1 m n"]:
    """Iterates of an optimiser on a matrix, the start included.

    The optimiser may apply weight decay [K-decay], the loss may contain a penalty, and
    two hooks can change the gradients and the updates.

    Args:
        loss: Function of the matrix.
        W0: Start (m, n).
        optimizer: From optax.
        steps: Number of steps.
        before: Function of a gradient, such as `P.apply`; the optimiser gets its
            result.
        after: Function of an update of the optimiser; its result is added to the
            matrix.
    """
    start = jnp.asarray(W0)
    _, path = _steps(
        loss, (start, optimizer.init(start)), optimizer, steps, before, after
    )
    return jnp.concatenate([start[None], path])


def _steps(
    loss: Loss,
    start: tuple[Array, Any],
    optimizer: optax.GradientTransformation,
    steps: int,
    before: Postprocess | None = None,
    after: Postprocess | None = None,
) -> tuple[tuple[Array, Any], Array]:
    """Last matrix and state of an optimiser, and every matrix after the start."""

    def step(carry: tuple[Array, Any], _: None) -> tuple[tuple[Array, Any], Array]:
        W, state = carry
        gradient = jax.grad(loss)(W)
        updates, state = optimizer.update(
            before(gradient) if before else gradient, state, W
        )
        W = W + (after(updates) if after else updates)
        return (W, state), W

    return jax.lax.scan(step, start, length=steps)


@checked
def descend_on_U(
    loss: Loss,
    U0: Real[ArrayLike, "p q"],
    T: Real[ArrayLike, "m p"],
    V: Real[ArrayLike, "q n"],
    optimizer: optax.GradientTransformation,
    *,
    steps: int,
) -> Float[Array, "{steps}+1 m n"]:
    """Iterates W = TUV while an optimiser trains U as a plain matrix [K-eqU]."""
    left = jnp.asarray(T)
    right = jnp.asarray(V)
    path = descend(lambda U: loss(left @ U @ right), U0, optimizer, steps=steps)
    return left @ path @ right


@checked
def gap(
    loss: Loss,
    U0: Real[ArrayLike, "p q"],
    T: Real[ArrayLike, "m p"],
    V: Real[ArrayLike, "q n"],
    optimizer: optax.GradientTransformation,
    *,
    steps: int,
    order: str = "gradient",
) -> Float[Array, ""]:
    """Largest difference of any entry of W, over all steps, between the method run on U
    and on W [K-mom, K-adam].

    Args:
        loss: Function of W (m, n).
        U0: Start (p, q).
        T: (m, p).
        V: (q, n).
        optimizer: From optax.
        steps: Number of steps.
        order: "gradient" applies P to the gradient of W, "update" to the optimiser's
            update, and "none" nowhere. P is the `kronecker_preconditioner` of T and V.

    Raises:
        ValueError: If the order is unknown.
    """
    choice("order", order, ("gradient", "update", "none"))
    U0 = array("U0", U0, "(p, q)", 2)
    T = array("T", T, "(m, p)", 2)
    V = array("V", V, "(q, n)", 2)
    return _gap(
        loss, U0, T, V, optimizer, steps, order == "gradient", order == "update"
    )


@partial(jax.jit, static_argnames=("loss", "optimizer", "steps"))
def _gap(
    loss: Loss,
    U0: Array,
    T: Array,
    V: Array,
    optimizer: optax.GradientTransformation,
    steps: int,
    before: Array,
    after: Array,
) -> Array:
    """Gap with P applied where `before` and `after` say, so that one program serves all
    three orders.
    """
    P = kronecker_preconditioner(T, V)

    def hook(where: Array) -> Callable[[Array], Array]:
        return lambda G: jnp.where(where, P.apply(G), G)

    on_W = descend(
        loss, T @ U0 @ V, optimizer, steps=steps, before=hook(before), after=hook(after)
    )
    return jnp.abs(descend_on_U(loss, U0, T, V, optimizer, steps=steps) - on_W).max()


@checked
@partial(jax.jit, static_argnames=("loss", "steps"))
def change_factors(
    loss: Loss,
    U0: Float[Array, "p q"],
    old: Factors,
    new: Factors,
    *,
    rate: Real[ArrayLike, ""] = 0.1,
    momentum: Real[ArrayLike, ""] = 0.9,
    steps: int,
) -> tuple[Float[Array, "m n"], Float[Array, "m n"], Float[Array, "m n"]]:
    """Final W under heavy ball if T and V change half-way, for three ways to continue
    [K-transport].

    Args:
        loss: Function of W (m, n).
        U0: Start (p, q).
        old: Factors for the first `steps` steps.
        new: Factors for as many further steps. W at the change must have the form TUV
            with these factors.
        rate: Step size.
        momentum: Decay of the velocity.
        steps: Number of steps before the change, and again after it.

    Returns:
        Three final W (m, n). The first is from the method on W, with P applied to its
        velocity instead of its gradient: first the P of the old factors, then that of
        the new ones. The second is from the method on U, with its velocity converted by
        `transport`. The third is from the method on U, with its velocity unchanged.
    """
    shape = old.T.shape[1], old.V.shape[0]
    if U0.shape != shape:
        raise ValueError(
            f"U0: got shape {U0.shape}; "
            f"it must be of shape {shape}, as the old factors require."
        )
    # The updates of `optax.trace` are velocities: sums of gradients without a rate.
    heavy = optax.trace(momentum)
    rate = jnp.asarray(rate)

    def on_W(start: tuple[Array, Any], pair: Factors) -> tuple[Array, Any]:
        P = kronecker_preconditioner(*pair)
        return _steps(loss, start, heavy, steps, after=lambda v: -rate * P.apply(v))[0]

    def on_U(start: tuple[Array, Any], pair: Factors) -> tuple[Array, Any]:
        return _steps(
            lambda U: loss(pair.T @ U @ pair.V),
            start,
            heavy,
            steps,
            after=lambda v: -rate * v,
        )[0]

    W = old.T @ U0 @ old.V
    W, _ = on_W(on_W((W, heavy.init(W)), old), new)
    U, state = on_U((U0, heavy.init(U0)), old)
    transported = between(old.T @ U @ old.V, *new)
    states = (state._replace(trace=transport(state.trace, old, new)), state)
    with_transport, without_transport = (
        new.T @ on_U((transported, state), new)[0] @ new.V for state in states
    )
    return W, with_transport, without_transport


@checked
def commuting_linear_rules(pairs: Sequence[tuple[ArrayLike, ArrayLike]]) -> int:
    """Dimension of the space of linear maps Φ of matrices with Φ(AGB) = A Φ(G) B for
    all given pairs [K-sharp3].

    A dimension of 1 means that only the multiples of the identity have this property.
    Two pairs in general position are enough for that.

    Args:
        pairs: Square matrices A (m, m) and B (n, n).
    """
    return int(_commuting(pairs))


@jax.jit
def _commuting(pairs: Sequence[tuple[Array, Array]]) -> Array:
    dense = [jnp.kron(B.T, A) for A, B in pairs]
    eye = jnp.eye(len(dense[0]), dtype=dense[0].dtype)
    # The equations KΦ − ΦK = 0, as linear equations for vec Φ
    equations = jnp.concatenate([jnp.kron(eye, K) - jnp.kron(K.T, eye) for K in dense])
    return equations.shape[1] - jnp.linalg.matrix_rank(equations)


def scale_by_polar() -> optax.GradientTransformation:
    """Gradient transformation that replaces a matrix G = QΣRᵀ by its polar factor QRᵀ,
    which Muon approximates by an iteration [K-muon].

    The transformation is equivariant under orthogonal T and V, because the singular
    vectors rotate with the matrix. It is equivariant under no others in general.
    """

    def polar(G: Array) -> Array:
        left, _, right = jnp.linalg.svd(G, full_matrices=False)
        return left @ right

    return optax.stateless(lambda updates, params: jax.tree.map(polar, updates))


@checked
def scale_by_shampoo(damping: float = 1e-6) -> optax.GradientTransformation:
    """Full Shampoo: L^(-1/4) G R^(-1/4) with L = λI + ΣGGᵀ and R = λI + ΣGᵀG
    [K-shampoo]. The sums run over all gradients G so far.

    Args:
        damping: λ, in units of a squared gradient.
    """

    def init(params: ArrayLike) -> tuple[Array, Array]:
        (m, n) = jnp.shape(params)
        dtype = jnp.result_type(params)
        return damping * jnp.eye(m, dtype=dtype), damping * jnp.eye(n, dtype=dtype)

    def update(
        G: Array, state: tuple[Array, Array], params: Any = None
    ) -> tuple[Array, Any]:
        L = state[0] + G @ G.T
        R = state[1] + G.T @ G
        left, right = (symmetric_power(side, -0.25)[0] for side in (L, R))
        return left @ G @ right, (L, R)

    return optax.GradientTransformation(init, update)


# The rates are for a loss whose gradients are of order one.
LINEAR = {
    "sgd": optax.sgd(0.3),
    "heavy": optax.sgd(0.3, 0.9),
    "nesterov": optax.sgd(0.3, 0.9, True),
    "average": optax.chain(optax.ema(0.8), optax.sgd(0.3)),
}
NOT_LINEAR = {
    "adam": optax.adam(0.05),
    "shampoo": optax.chain(scale_by_shampoo(1e-3), optax.scale(-0.1)),
    "muon": optax.chain(optax.trace(0.9), scale_by_polar(), optax.scale(-0.02)),
}
