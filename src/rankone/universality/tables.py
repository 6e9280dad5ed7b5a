"""Networks that write into one slot per cell, or per bit, and look up the answer in a
table, as in the construction "seed" [M-univ, M-S3].
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import floating, integer
from rankone._module import Module
from rankone.nn import Dense
from rankone.universality.constants import Constants, Target, interval, tabulate
from rankone.universality.network import Network
from rankone.universality.selectors import Selector, telescope

__all__ = ["Grid", "assemble", "cells_grid", "front", "table_network"]

Matrix = NDArray[np.float64]


class Grid(Module):
    """Ramps that turn x into J features: feature j rises over [tⱼ, tⱼ + ω] and falls
    over [tⱼ₊₁, tⱼ₊₁ + ω] [M-disc].

    Attributes:
        t: Starts of the J − 1 ramps.
        ramp: ω, width of a ramp.
        threshold: η. A feature d is read as (1 + η)d − η, so the units stay inactive at
            rounding errors in d below η/(1 + η).
    """

    t: Matrix
    ramp: float
    threshold: float = 0.0

    @property
    def centres(self) -> Matrix:
        """A point in the middle of each cell."""
        edges = np.concatenate([[0.0], self.t + self.ramp / 2, [1.0]])
        return (edges[:-1] + edges[1:]) / 2


def cells_grid(J: int, ramp: float) -> Grid:
    """J equal cells with narrow ramps between them, which end half a ramp beyond j/J
    [M-disc].

    Every t is a multiple of ω. If ω is a power of two, x − t is therefore exact in
    float32. The difference of two such terms, divided by ω, can still be off by 2⁻²³/ω
    where x − t is large. The units stay inactive at such an error.
    """
    return Grid(
        ramp * np.round(np.arange(1, J) / (J * ramp) - 0.5), ramp, threshold=1.0
    )


def front(grid: Grid, S: int, constants: Constants) -> list[tuple[Matrix, Matrix]]:
    """The two layers of φ: weights and biases [M-appC-phi, M-appA-in].

    φ = [(d − s)₊; (d + s − 1)₊] with the switch s = clip((θ_b − τ₁)/(τ₂ − τ₁), 0, 1):
    the first half is active before the step, the second half after it. Then come δ in
    every slot and θ_b itself.
    """
    n = len(grid.t)
    J = len(grid.t) + 1
    gain = 1 + grid.threshold
    # the least change of θ_b
    shift = constants.alpha * constants.margin * constants.linear
    tau = np.array([0.1, 0.5]) * shift
    first = np.zeros((2 * n + 3, 2))
    first[: 2 * n, 0] = 1
    first[2 * n : 2 * n + 2, 1] = 1 / (tau[1] - tau[0])
    first[-1, 1] = 1
    low = tau[0] / (tau[1] - tau[0])
    bias = np.concatenate([-grid.t, -grid.t - grid.ramp, [-low, -low - 1, 0]])
    step = np.zeros((J + 1, 2 * n + 3))  # step 0 is 1 (a bias), step J is 0
    step[1:J, :n] = np.eye(n) / grid.ramp
    step[1:J, n : 2 * n] = -np.eye(n) / grid.ramp
    d = step[:-1] - step[1:]
    switch = np.zeros(2 * n + 3)
    switch[2 * n : 2 * n + 2] = 1, -1
    last = np.eye(2 * n + 3)[-1:]
    second = np.concatenate(
        [gain * (d - switch), gain * (d + switch), np.zeros((S, 2 * n + 3)), last]
    )
    e0 = gain * np.eye(J)[0] - grid.threshold
    return [
        (first, bias),
        (second, np.concatenate([e0, e0 - gain, np.full(S, constants.offset), [0.0]])),
    ]


def front_kernel(grid: Grid) -> Matrix:
    """Contribution of θ_b's path through φ to ž at the centres of the cells, in units
    αwΔ: (J²,). The channel of θ_b is ž.
    """
    x = grid.centres
    h = np.maximum(x[:, None] - np.concatenate([grid.t, grid.t + grid.ramp]), 0)
    return (2 + np.outer(x, x) + h @ h.T).ravel()


def assemble(
    layers: list[tuple[Matrix, Matrix | None]],
    constants: Constants,
    channels: tuple[int, int, int],
    y_range: tuple[float, float],
    dtype: Any,
) -> Network:
    """Network of the given weights and biases, which are converted to `dtype` once, at
    the end. All computation before is in float64.
    """

    # Converted on the host, because JAX would compile a conversion for each shape.
    def array(a: Any) -> Array:
        return jnp.asarray(np.asarray(a, dtype), dtype)

    arrays = tuple(Dense(array(W), None if b is None else array(b)) for W, b in layers)
    bias = layers[-1][1]
    start = 0.0 if bias is None else float(bias[0])
    return Network(
        array([constants.switch]), arrays, constants.alpha, channels, start, y_range
    )


@checked
def table_network(
    target: Target,
    selector: Selector,
    *,
    y_range: tuple[float, float] = (-1.0, 1.0),
    levels: int | None = None,
    constants: Constants | None = None,
    biases: bool = False,
    dtype: Any = None,
) -> Network:
    """Complete network: φ, the stack, and a read-out by units that are inactive during
    the step [M-eq4, M-eq5].

    The output is b_o + w q + Σ_{c,k} o_ck (β_c decode_c·z − t_k)₊ with the slots z, the
    linear path q = (1ᵀz + θ_b's channel)₊, and knots t_k > 0. Before the step only q is
    active, so only q carries gradient. The error that returns to the slots is −wΔ, for
    every y [M-appB].

    Args:
        target: f(x, y, x_star).
        selector: From `cell_selector` or `bit_selector`.
        y_range: Smallest and largest y.
        levels: Knots of the interpolation in y; by default 2 where the target is affine
            in y, else 16.
        constants: `Constants`; by default scaled to the range of y.
        biases: True to give the stack biases, which are zero and trainable. The
            selector then needs a reference slot.
        dtype: Dtype of the parameters; by default JAX's current default.
    """
    y_range = interval(y_range)
    if levels is not None:
        levels = integer("levels", levels, "an integer of at least 2", least=2)
    constants = constants or Constants.over(y_range)
    dtype = floating("dtype", jnp.result_type(float) if dtype is None else dtype)
    J = selector.J
    S = selector.A.shape[1]
    low = y_range[0] - constants.margin
    stack = telescope(selector, epsilon=constants.epsilon, damping=constants.damping)
    kernels = selector.kernels() + biases
    # slots of each cell's own tasks, in units αwΔ
    slots = kernels @ selector.A + biases * (1 + constants.epsilon)
    grid = cells_grid(J, constants.width(J, dtype))
    values = interpolation(target, J, y_range, levels)
    # After the step the linear path adds αw²Δ·total. The terms are the slots, the
    # layers of ž (the channel of θ_b), θ_b and φ, and the bias of q.
    total = slots.sum(1) + kernels.sum(1) + 2 * biases + 1 + front_kernel(grid) + 1
    # the 1 is the change of b_o by αΔ
    gain = constants.alpha * (1 + constants.linear**2 * total)
    u = np.linspace(*y_range, values.shape[1]) - low
    knots, o = inactive_units(u, values - low - gain[:, None] * u)
    beta = 1 / (
        constants.alpha
        * constants.linear
        * np.einsum("cs,cs->c", selector.decode, slots)
    )
    reader = _read_out(beta[:, None] * selector.decode, knots)
    output = np.concatenate([[constants.linear], o.ravel()])[None], np.array([low])
    middle = stack, np.zeros(stack.shape[:2]) if biases else None
    return assemble(
        [*front(grid, S, constants), middle, reader, output],
        constants,
        (2 * J, S, 1),
        y_range,
        dtype,
    )


def _read_out(rows: Matrix, knots: Matrix) -> tuple[Matrix, Matrix]:
    """The layer that reads the slots: q, then one unit per knot for each row of weights
    (J², S).
    """
    half_width = 2 * round(len(rows) ** 0.5)
    S = rows.shape[1]
    q = np.concatenate([np.zeros(half_width), np.ones(S + 1)])
    windows = np.pad(rows, ((0, 0), (half_width, 1)))
    return np.vstack([q, np.repeat(windows, len(knots), 0)]), np.concatenate(
        [[0.0], np.tile(-knots, len(rows))]
    )


def interpolation(
    target: Target, J: int, y_range: tuple[float, float], levels: int | None
) -> Matrix:
    """Values of the cells at equidistant y: (J², levels)."""
    values = tabulate(target, J, np.linspace(*y_range, levels or 16))
    if levels is not None:
        return values
    line = np.linspace(values[:, 0], values[:, -1], values.shape[1], axis=1)
    affine = np.abs(values - line).max() <= 1e-6 * (1 + np.abs(values).max())
    return values[:, [0, -1]] if affine else values


def inactive_units(u: Matrix, values: Matrix) -> tuple[Matrix, Matrix]:
    """Knots t > 0 and weights o of Σ o (u − t)_+ through the values (cells, len(u)) at
    u [M-eq4].

    The function is 0 up to u₀/2, where the units are inactive, and constant beyond the
    last u.

    Returns:
        (len(u) + 1,) and (cells, len(u) + 1).
    """
    knots = np.concatenate([[u[0] / 2], u])
    values = np.hstack([np.zeros((len(values), 1)), values])
    slopes = np.hstack([np.diff(values) / np.diff(knots), np.zeros((len(values), 1))])
    return knots, np.diff(slopes, prepend=0)
