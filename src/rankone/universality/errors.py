"""Distance of a network that has learned in one step from its target, on random
one-shot tasks.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import integer, random_key
from rankone._module import Module
from rankone.universality.constants import Target, lookup_table, target_values
from rankone.universality.network import Network
from rankone.universality.rank_one import learn

__all__ = ["LearningErrors", "learning_errors", "random_tasks"]

_EDGE = 0.01  # in cells: a point nearer to an edge than this counts as on a ramp


class LearningErrors(Module):
    """Root-mean-square and largest errors over the tasks, in the unit of y.

    Attributes:
        rms: Root mean square of network minus target.
        worst: Largest absolute value of network minus target.
        table_rms: Root mean square of the exact lookup table minus target. Without
            `cells` this and the following attributes are NaN.
        table_worst: Largest absolute value of lookup table minus target.
        deviation_rms: Root mean square of network minus lookup table, outside the ramps
            between cells.
        deviation_worst: Largest absolute value of network minus lookup table, outside
            the ramps.
    """

    rms: float
    worst: float
    table_rms: float = np.nan
    table_worst: float = np.nan
    deviation_rms: float = np.nan
    deviation_worst: float = np.nan


def random_tasks(
    key: Array, *, tasks: int = 24, points: int = 101
) -> tuple[
    Float[Array, " tasks"], Float[Array, " tasks"], Float[Array, "tasks points"]
]:
    """Random tasks: x (n,) and x* (n, m) uniform in [0, 1], and y (n,) uniform in [−1,
    1]. The numbers are the same in every dtype.
    """
    random_key("key", key)
    return _random_tasks(key, integer("tasks", tasks), integer("points", points))


@partial(jax.jit, static_argnames=("tasks", "points"))
def _random_tasks(key: Array, tasks: int, points: int) -> tuple[Array, Array, Array]:
    u = jax.random.uniform(key, (tasks, points + 2), jnp.float32)
    return u[:, 0], 2 * u[:, 1] - 1, u[:, 2:]


def learning_errors(
    network: Network,
    target: Target,
    *,
    key: Array,
    cells: int | None = None,
    alpha: ArrayLike | None = None,
    tasks: int = 24,
    points: int = 101,
) -> LearningErrors:
    """Errors of a network's predictions after one step on each of several random tasks,
    with respect to the target and to its table [M-univ].

    Args:
        network: Network to measure.
        target: Function that the network was built for.
        key: JAX random key of the tasks.
        cells: Cells of the table to compare with; None for networks without one.
        alpha: Step size; by default the network's own.
        tasks: Number of pairs (x, y).
        points: Number of x* per task.
    """
    task_arrays = [np.asarray(a) for a in random_tasks(key, tasks=tasks, points=points)]
    predictions = np.asarray(learn(network, *task_arrays, alpha=alpha), float)
    x = task_arrays[0][:, None].astype(float)
    y = task_arrays[1][:, None].astype(float)
    x_star = task_arrays[2].astype(float)
    truth = target_values(target, x, y, x_star)
    if cells is None:
        return LearningErrors(*_errors(predictions - truth))
    table = lookup_table(target, cells)(x, y, x_star)
    edge_masks = [np.abs(a * cells - np.round(a * cells)) < _EDGE for a in (x, x_star)]
    plateau = ~np.broadcast_to(edge_masks[0], table.shape) & ~edge_masks[1]
    return LearningErrors(
        *_errors(predictions - truth),
        *_errors(table - truth),
        *_errors((predictions - table)[plateau]),
    )


def _errors(difference: Any) -> tuple[float, float]:
    return float(np.sqrt(np.mean(difference**2))), float(np.abs(difference).max())
