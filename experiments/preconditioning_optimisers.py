"""Shampoo and SOAP as transformations for optax, for matrices alone: what optax 0.2.8
and its contrib lack.

Both keep averages of GGᵀ and GᵀG. Shampoo multiplies by their roots, SOAP is Adam along
their eigenvectors; both renew what they take from them every few steps.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

__all__ = ["shampoo", "soap"]

TINY = (
    1e-12  # added to an average of squares, in shares of its mean where it is a matrix
)


class State(NamedTuple):
    """Of one matrix: averages of GGᵀ and GᵀG, what was last taken from each, and first
    and second moments of G.
    """

    L: jax.Array
    R: jax.Array
    left: jax.Array
    right: jax.Array
    first: jax.Array
    second: jax.Array


def shampoo(
    every: int, decay: float = 0.95, momentum: float = 0.9
) -> optax.GradientTransformation:
    """L^(-1/4) M R^(-1/4), where M is the average gradient, and L and R are averages in
    place of sums.
    """

    def root(moment: jax.Array) -> jax.Array:
        values, vectors = jnp.linalg.eigh(moment)
        return (
            vectors * jnp.maximum(values, 1e-6 * values[-1] + TINY) ** -0.25
        ) @ vectors.T

    def step(state: State, G: jax.Array, steps: Any) -> tuple[jax.Array, State]:
        first = momentum * state.first + (1 - momentum) * G
        update = state.left @ (first / (1 - momentum**steps)) @ state.right
        return update, state._replace(first=first)

    return _renewed(root, step, every, decay)


def soap(
    every: int, decay: float = 0.95, b1: float = 0.95, b2: float = 0.95
) -> optax.GradientTransformation:
    """Adam in the eigenvectors of L and R; the first moment is kept in the matrix's own
    coordinates.

    As in the published code nothing is moved at the first step, along whose own vectors
    all but the diagonal is noise.
    """

    def step(state: State, G: jax.Array, steps: Any) -> tuple[jax.Array, State]:
        def turn(M):
            return state.left.T @ M @ state.right

        first = b1 * state.first + (1 - b1) * G
        second = b2 * state.second + (1 - b2) * turn(G) ** 2
        later = jnp.maximum(steps - 1, 1)
        scaled = (
            turn(first) / (1 - b1**later) / (jnp.sqrt(second / (1 - b2**later)) + 1e-8)
        )
        moved = steps > 1
        state = state._replace(
            first=jnp.where(moved, first, 0), second=jnp.where(moved, second, 0)
        )
        return jnp.where(moved, state.left @ scaled @ state.right.T, 0), state

    return _renewed(lambda moment: jnp.linalg.eigh(moment)[1], step, every, decay)


def _renewed(
    take: Any, step: Any, every: int, decay: float
) -> optax.GradientTransformation:
    def init(params: Any) -> Any:
        def one(W: jax.Array) -> State:
            (m, n) = W.shape
            zero = jnp.zeros_like(W)
            return State(
                jnp.zeros((m, m)), jnp.zeros((n, n)), jnp.eye(m), jnp.eye(n), zero, zero
            )

        return jnp.zeros((), jnp.int32), [one(W) for W in jax.tree.leaves(params)]

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        (steps, states) = state
        (leaves, structure) = jax.tree.flatten(updates)
        pairs = zip(states, leaves, strict=True)

        def mix(old, new):
            return decay * old + (1 - decay) * new

        states = [
            s._replace(L=mix(s.L, G @ G.T), R=mix(s.R, G.T @ G)) for s, G in pairs
        ]
        corrected = 1 - decay ** (steps + 1)

        def fresh() -> list[State]:
            return [
                s._replace(left=take(s.L / corrected), right=take(s.R / corrected))
                for s in states
            ]

        states = jax.lax.cond(steps % every == 0, fresh, lambda: states)
        done = [step(s, G, steps + 1) for s, G in zip(states, leaves, strict=True)]
        return jax.tree.unflatten(structure, [u for u, _ in done]), (
            steps + 1,
            [s for _, s in done],
        )

    return optax.GradientTransformation(init, update)
