"""Hat functions for one-hot cells: the table becomes its bilinear interpolant, with no
bands between cells [M-S7].
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from rankone._annotated import checked
from rankone._checks import floating, integer
from rankone.universality.constants import Constants, target_values
from rankone.universality.network import Network
from rankone.universality.selectors import cell_selector, telescope
from rankone.universality.tables import Grid, assemble, front

__all__ = ["hat_network"]

# knot of the read-out, in units of Δ; it exceeds the slots' values before the step
_ACTIVE = 1e-8


@checked
def hat_network(
    g: Callable[[Any, Any], Any], nodes: int, *, dtype: Any = None
) -> Network:
    """A network that learns y·g(x, x*), y in [1, 2], as the bilinear interpolant of g
    on nodes² points [M-S7].

    The features are the hat functions of equidistant nodes, made of ramps as wide as a
    cell. After the step the slot (j, l) contains Δ·hatⱼ(x)·hatₗ(x*) with the error Δ,
    and the read-out is linear in it. A reference slot cancels ε.

    >>> network = hat_network(lambda x, x_star: x * x_star, 2)
    >>> len(network.layers)
    5
    """
    constants = Constants(linear=1e-4, offset=1e-12, epsilon=0.1)
    J = integer("nodes", nodes, "two or more", least=2)
    dtype = floating("dtype", jnp.result_type(float) if dtype is None else dtype)
    spacing = 1 / (J - 1)
    selector = cell_selector(J, constants.epsilon, printed=False, reference=True)
    S = selector.A.shape[1]
    write_scale = constants.alpha * constants.linear
    stack = telescope(selector, epsilon=constants.epsilon, damping=constants.damping)
    rows = np.zeros((J * J, 2 * J + S + 1))
    rows[:, 2 * J : -1] = selector.decode / write_scale
    q = np.concatenate([np.zeros(2 * J), np.ones(S + 1)])
    reader = np.vstack([q, rows]), np.concatenate([[0.0], np.full(J * J, -_ACTIVE)])
    x = np.linspace(0, 1, J)
    values = target_values(
        lambda x, y, xs: g(x, xs), np.tile(x, J), 1.0, np.repeat(x, J)
    )
    # The prediction before the step is 0, so Δ = y. The linear path and the output bias
    # add αΔ(1 + w²·total).
    total = 1 + S * constants.epsilon + 1 + 1 + 3
    o = values - constants.alpha * (1 + constants.linear**2 * total)
    output = np.concatenate([[constants.linear], o])[None], np.array([0.0])
    grid = Grid(spacing * np.arange(0.0, J - 1), spacing)
    return assemble(
        [*front(grid, S, constants), (stack, None), reader, output],
        constants,
        (2 * J, S, 1),
        (1.0, 2.0),
        dtype,
    )
