"""Two hidden layers suffice, because ReLU' is a step function: the backward pass cuts x
into cells [M-S8].

The first layer is x and two constant units. The step changes one of these units by the
error, and the other by the error times the number of thresholds below x. This second
change comes back through the units of the second layer whose threshold is below x. All
other units of the second layer are inactive during the step. After the step they read
both numbers.
"""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import floating, integer
from rankone.universality.constants import Constants, Target, interval
from rankone.universality.fitted import Row, fit, planes
from rankone.universality.network import Network
from rankone.universality.tables import assemble

__all__ = ["MARGIN", "two_layer_network"]

# in half-widths of the range of y; x is read more evenly if Δ varies less
MARGIN = 4.0

Matrix = NDArray[np.float64]
Range = tuple[float, float]


@checked
def two_layer_network(
    target: Target,
    *,
    units: int,
    cells: int | None = None,
    y_range: Range = (-1.0, 1.0),
    constants: Constants | None = None,
    dtype: Any = None,
) -> Network:
    """Network with two hidden layers, of 3 units and of cells + units [M-S8, M-concl].

    The step writes v₀ = Δ(1 + xx*) and v₁ = v₀·#{j: j/J < x}/J.

    Args:
        target: f(x, y, x_star).
        units: Number of units that are inactive during the step and then read (v₀, v₁,
            x*).
        cells: J, number of cells into which the backward pass divides x; by default a
            quarter of the units.
        y_range: Smallest and largest y.
        constants: `Constants`, of which only α, w, m, δ and σ are used; by default
            scaled to the range of y, with `MARGIN`.
        dtype: Dtype of the parameters; by default JAX's current default.
    """
    y_range = interval(y_range)
    units = integer("units", units)
    constants = constants or Constants.over(y_range, MARGIN)
    dtype = floating("dtype", jnp.result_type(float) if dtype is None else dtype)
    J = max(2, units // 4) if cells is None else integer("cells", cells)
    d = constants.offset
    low = y_range[0] - constants.margin
    first = np.array([[1.0], [0], [0]]), np.array([0, d, d])  # x, u₀ and u₁
    # Input and output weight of a path unit; the signals of all of them add up to
    # ⌊xJ⌋/J.
    scale = J**-0.5
    t = np.arange(1, J) / J
    path = (
        np.vstack([[0, 1, 0], np.tile([d, 0, scale], (J - 1, 1))]),
        np.concatenate([[0], -d * (t + scale)]),
    )
    readers = _readers(units, constants, y_range)
    second = np.vstack([path[0], readers[0]]), np.concatenate([path[1], readers[1]])
    out = (
        np.concatenate([[1], np.full(J - 1, scale), np.zeros(units)]) * constants.linear
    )
    network = assemble(
        [first, second, (out[None], np.array([low]))],
        constants,
        (0, 0, 0),
        y_range,
        dtype,
    )
    return fit(
        replace(network, switch=network.switch[:0], channels=None),
        target,
        units,
        y_range,
    )


def _readers(units: int, constants: Constants, y_range: Range) -> tuple[Matrix, Matrix]:
    """Weights on (x, u₀, u₁) and biases of units that are inactive at v = 0 for every
    x*, with their kinks spread evenly among the tasks.
    """
    a, c = planes(_slots, 4 * units, constants, y_range)

    # the largest pre-activation at v = 0, over x* in [0, 1]
    def margin(a: np.ndarray, c: np.ndarray) -> np.ndarray:
        return c + np.maximum(a[:, 2], 0)

    side = np.where(margin(a, c) < margin(-a, -c), 1, -1)
    a = a * side[:, None]
    c = c * side
    inactive = np.flatnonzero(margin(a, c) < -constants.clearance)[:units]
    a = a[inactive]
    c = c[inactive]
    beta = 1 / (constants.alpha * constants.linear)
    return np.stack(
        [a[:, 2], beta * a[:, 0], beta * a[:, 1]], 1
    ), c - beta * constants.offset * (a[:, 0] + a[:, 1])


def _slots(x: Row, u: Row, xs: Row) -> tuple[Row, Row, Row]:
    """(v₀, v₁, x*) for the tasks (x, Δ, x*), in the limit of infinitely many cells."""
    return u * (1 + x * xs), u * (1 + x * xs) * x, xs
