"""Shampoo and SOAP as transformations for optax, for matrices alone. optax 0.2.8 and
its contrib do not have them.

Both methods keep moving averages of GGᵀ and GᵀG. Shampoo multiplies by inverse roots of
these averages. SOAP is Adam in the basis of their eigenvectors. The roots and the
eigenvectors are renewed every few steps.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

__all__ = ["shampoo", "soap"]

TINY = 1e-12  # added to the smallest eigenvalue allowed, so that a root stays finite


class State(NamedTuple):
    """State of one matrix: the averages of GGᵀ and GᵀG, the root or eigenvectors last
    computed from each, and the first and second moments of G.
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
    """Shampoo: L^(-1/4) M R^(-1/4), where M is the average gradient. L and R are
    averages in place of sums.
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
    """SOAP: Adam in the eigenvectors of L and R. The first moment is stored in the
    matrix's own coordinates.

    As in the published code, the first step changes nothing: in the eigenvectors of the
    first gradient alone, every entry off the diagonal is noise.
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
