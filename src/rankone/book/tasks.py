"""The family of tasks that the chapter on preconditioning meta-learns factors for [K-meta]."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone.preconditioning.meta import Task

__all__ = ["halves", "hidden_direction"]


def hidden_direction(key: Array) -> tuple[Float[Array, "20 3"], Float[Array, " 20"]]:
    """A task (x, y), y = Wx, of a family whose W differ along one input direction, where inputs are ten times smaller.

    Args:
        key: JAX random key.
    """
    k_x, k_w = jax.random.split(key)
    x = jax.random.normal(k_x, (20, 3)) * jnp.array([1.0, 1.0, 0.1])
    W = jnp.array([1.0, -1.0, 0.0]) + jnp.array([0.0, 0.0, 10.0]) * jax.random.normal(k_w)
    return x, x @ W


def halves(loss: Callable[[Any, ArrayLike, ArrayLike], Float[Array, ""]]) -> tuple[Task, Task]:
    """A support and a query loss for tasks (x, y): `loss(network, x, y)` on the first and the second half of the rows.

    Args:
        loss: Of a network on examples x (N, n), y (N, ...).
    """
    cut = lambda rows: (rows[: len(rows) // 2], rows[len(rows) // 2 :])  # noqa: E731
    part = lambda i: lambda network, task: loss(network, *(cut(rows)[i] for rows in task))  # noqa: E731
    return part(0), part(1)
