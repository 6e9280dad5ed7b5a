"""Networks of constant depth whose last hidden layer is fitted by least squares
[M-S4, M-S5].

The step stores two numbers that determine x and y, and x* is an input. ReLU units of
these three numbers approximate any continuous f. They are inactive during the step, so
the step does not change them. Their output weights are fitted to the activations that
the network has after real steps.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray
from scipy.special import ndtri

from rankone.nn import Dense
from rankone.universality.constants import Constants, Target, target_values
from rankone.universality.network import Network
from rankone.universality.rank_one import step
from rankone.universality.selectors import Selector, amplifiers, telescope, unipotent
from rankone.universality.tables import assemble

__all__ = ["constant_network", "fit", "planes", "quasirandom", "shallow_network"]

Matrix = NDArray[np.float64]
Row = NDArray[Any]  # one number per task; complex for derivatives by a complex step
Range = tuple[float, float]

_AT_ONCE = 256  # tasks whose activations are computed together
_BLOCK = 2**30  # bytes of the activations that are held together


def quasirandom(n: int, dimensions: int) -> Float[np.ndarray, "{n} {dimensions}"]:
    """The first n points of the additive sequence whose steps are powers of a
    generalised golden ratio: (n, d).
    """
    g = 2.0
    for _ in range(60):
        g = (1 + g) ** (1 / (dimensions + 1))
    return (
        0.5 + np.arange(1, n + 1)[:, None] * g ** -np.arange(1.0, dimensions + 1)
    ) % 1


def constant_network(
    target: Target,
    *,
    units: int,
    y_range: Range = (-1.0, 1.0),
    constants: Constants | None = None,
    dtype: Any = None,
) -> Network:
    """Network with four bias-free layers between φ and the fitted net, for any
    accuracy. These layers write Δ and Δx [M-S4].
    """
    constants = constants or Constants.over(y_range)
    dtype = dtype or jnp.result_type(float)
    low = y_range[0] - constants.margin
    write_scale = constants.alpha * constants.linear
    # s rises while θ_b changes by 0.1 to 0.5 of its least change
    low_tau = 0.25
    gain = 2.5 / (write_scale * constants.margin)
    first = (
        np.array([[1, 0], [0, gain], [0, gain], [0, 1.0]]),
        np.array([0, -low_tau, -low_tau - 1, 0]),
    )
    s = np.array([0, 1.0, -1, 0])
    e = np.eye(4)
    rows = [e[0] - s, -s, e[0] + s, s, 0 * s, 0 * s, e[3]]
    second = (
        np.stack(rows),
        np.array([0, 1, -1, 0, constants.offset, constants.offset, 0]),
    )
    # the features are (x, 1), the kernels 1 and x
    U = [
        np.array([[0.0, 0.0], [0.0, 1.0]]),
        np.array([[0.0, 1.0], [0.0, 0.0]]),
    ]
    selector = Selector(
        np.stack([unipotent(u) for u in U]),
        amplifiers(2, 2, constants.epsilon),
        np.eye(2),
    )
    stack = telescope(selector, epsilon=constants.epsilon, damping=constants.damping)

    def rows_of(a: Matrix, c: Matrix) -> tuple[Matrix, Matrix]:
        W = np.zeros((len(a), 7))
        W[:, 4:6] = a[:, :2] / write_scale
        W[:, 2] = a[:, 2]
        W[:, 3] = c + constants.clearance
        return W, np.full(len(a), -constants.clearance)

    layers = [first, second, (stack, None)]
    q = np.array([0, 0, 0, 0, 1.0, 1, 1])
    body = _hidden(layers, q, rows_of, _two_writes, units, constants, y_range)
    network = assemble(
        [*body, _blank(units, constants, low)], constants, (4, 2, 1), y_range, dtype
    )
    return fit(network, target, units, y_range)


def shallow_network(
    target: Target,
    *,
    units: int,
    y_range: Range = (-1.0, 1.0),
    constants: Constants | None = None,
    dtype: Any = None,
) -> Network:
    """Network with four hidden layers and no θ_b, which is an ordinary network of the
    input x alone [M-S5, M-concl].

    The kernels of the first two layers are κ₁ = 1 + x x* and κ₂ = 1 + x x*/4 + (1 −
    x/2)(1 − x*/2). The step writes Δκ₂ and Δκ₁, where Δ is the error; their ratio is
    strictly monotone in x.
    """
    constants = constants or Constants.over(y_range)
    dtype = dtype or jnp.result_type(float)
    low = y_range[0] - constants.margin
    write_scale = constants.alpha * constants.linear
    m = constants.margin
    d = constants.offset
    first = np.array([[0.5], [-0.5], [0.0]]), np.array([0.0, 1.0, d])
    second = np.array([[1.0, 0, 0], [0, 0, 1], [0, 0, 0]]), np.array([0, 0, d])
    g = 2.5 / m  # the gate opens while Δκ₂ rises from 0.1 m to 0.5 m
    third = np.array([[0, 0, 1 / write_scale], [0, 1 / write_scale, -1 / write_scale], [2, 0, 0],
                      [0, 0, g / write_scale], [0, 0, g / write_scale], [0, 1, 1]])  # fmt: skip
    shut = g * d / write_scale + 0.25
    bias = np.array([-d / write_scale, 0, 0, -shut, -shut - 1, 0])

    def rows_of(a: Matrix, c: Matrix) -> tuple[Matrix, Matrix]:
        # the closed gate keeps the unit inactive for every x*
        gate = np.maximum(c + np.maximum(a[:, 2], 0), 0) + constants.clearance
        W = np.zeros((len(a), 6))
        W[:, :3] = a
        W[:, 3] = gate
        W[:, 4] = -gate
        return W, c - gate

    body = _hidden(
        [first, second, (third, bias)],
        np.eye(6)[5],
        rows_of,
        _two_kernels,
        units,
        constants,
        y_range,
    )
    network = assemble(
        [*body, _blank(units, constants, low)], constants, (0, 0, 0), y_range, dtype
    )
    return fit(
        replace(network, switch=network.switch[:0], channels=None),
        target,
        units,
        y_range,
    )


def _two_writes(x: Row, u: Row, xs: Row) -> tuple[Row, Row, Row]:
    """(Δ, Δx, x*) for the tasks (x, Δ, x*)."""
    return u, u * x, xs


def _two_kernels(x: Row, u: Row, xs: Row) -> tuple[Row, Row, Row]:
    """(Δκ₂, Δκ₁, x*) for the tasks (x, Δ, x*)."""
    return u * (1 + x * xs / 4 + (1 - x / 2) * (1 - xs / 2)), u * (1 + x * xs), xs


def _hidden(
    layers: list,
    q: Matrix,
    rows_of: Callable,
    coordinates: Callable,
    units: int,
    constants: Constants,
    y_range: Range,
) -> list:
    """The layers, and one more: the linear path q, and units whose kinks lie evenly
    among the tasks.
    """
    W, b = rows_of(*planes(coordinates, units, constants, y_range))
    return [*layers, (np.vstack([q, W]), np.concatenate([[0.0], b]))]


def planes(
    coordinates: Callable, n: int, constants: Constants, y_range: Range
) -> tuple[Matrix, Matrix]:
    """Planes a·v + c = 0 through n tasks: unit normals a (n, 3) and offsets c (n,), in
    the space of the coordinates v.

    Each plane goes through one task. Its direction is drawn evenly in the space of
    tasks (x, y, x*), and moved to the space of the coordinates by their Jacobian at
    that task.
    """
    points = quasirandom(n, 6)
    # columns x, Δ, x*
    tasks = points[:, :3] * [1, y_range[1] - y_range[0], 1] + [
        0,
        constants.margin,
        0,
    ]
    widths = np.array([1, y_range[1] - y_range[0], 1])
    anchors, a = _moved(coordinates, tasks, points[:, 3:], widths)
    return a, -(a * anchors).sum(1)


def _moved(
    coordinates: Callable,
    tasks: Float[np.ndarray, "n 3"],
    quantiles: Float[np.ndarray, "n 3"],
    widths: Float[np.ndarray, " 3"],
) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n 3"]]:
    """Tasks in the space of the coordinates, and unit normals of planes through them:
    the normals are uniform in the space of tasks.
    """
    anchors = np.stack(coordinates(*tasks.T), 1)
    # The coordinates are polynomials, so a complex step this small gives their
    # derivatives to the last digit. NumPy computes them, because JAX would compile a
    # program for each number of units.
    step = 1e-20
    columns = [
        np.stack(coordinates(*(tasks + 1j * step * axis).T), 1).imag / step
        for axis in np.eye(3)
    ]
    slopes = np.stack(columns, -1)  # (n, coordinate, entry of the task)
    directions = ndtri(quantiles) / widths
    normals = np.linalg.solve(slopes.swapaxes(1, 2), directions[..., None])[..., 0]
    return anchors, normals / np.linalg.norm(normals, axis=1, keepdims=True)


def _blank(units: int, constants: Constants, low: float) -> tuple[Matrix, Matrix]:
    return np.concatenate([[constants.linear], np.zeros(units)])[None], np.array([low])


def fit(
    network: Network,
    target: Target,
    units: int,
    y_range: Range,
    *,
    ridge: float = 1e-10,
) -> Network:
    """Network whose last `units` units have output weights fitted by least squares, to
    the activations after real steps on evenly spread tasks.
    """
    x, y, x_star = quasirandom(4 * units, 3).T
    y = y_range[0] + y * (y_range[1] - y_range[0])
    targets = target_values(target, x, y, x_star)
    tasks = [a.astype(network.dtype) for a in (x, y, x_star)]
    # In blocks, because the activations of all tasks together are four times as large
    # as their Gram matrix.
    gram = np.zeros((units, units))
    moments = np.zeros(units)
    rows = max(_AT_ONCE, _BLOCK // (8 * units))
    for start in range(0, 4 * units, rows):
        block = slice(start, start + rows)
        hidden, output = _after_steps(network, *(a[block] for a in tasks))
        H = np.asarray(hidden, float)[:, -units:]
        gram += H.T @ H
        moments += H.T @ (targets[block] - np.asarray(output, float))
    gram[np.diag_indices(units)] += ridge * np.trace(gram)
    o = np.linalg.solve(gram, moments)
    output_layer = network.layers[-1]
    W = np.array(output_layer.W)
    W[0, -units:] = o
    return replace(
        network,
        layers=(
            *network.layers[:-1],
            Dense(jnp.asarray(W, network.dtype), output_layer.b),
        ),
    )


def _after_steps(
    network: Network, *tasks: Float[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, "n units"], Float[np.ndarray, " n"]]:
    """Last hidden layer and output after one step on each task (x, y), at its x*."""
    n = len(tasks[0])
    rounds = -(-n // _AT_ONCE)
    # Rounds have one size, because the tasks left over would compile a second program.
    wrapped = np.arange(rounds * -(-n // rounds)) % n
    # Both arrays are fetched at once, because jaxlib 0.10.2 aborts if NumPy reads an
    # array that is not yet computed.
    hidden, output = jax.device_get(
        _in_rounds(network, *(task[wrapped].reshape(rounds, -1) for task in tasks))
    )
    return hidden.reshape(-1, hidden.shape[-1])[:n], output.reshape(-1)[:n]


@jax.jit
def _in_rounds(
    network: Network, *tasks: Float[Array, "rounds n"]
) -> tuple[Float[Array, "rounds n units"], Float[Array, "rounds n"]]:
    alpha = jnp.asarray(network.alpha, network.dtype)

    def after(task: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        stepped = step(network, task[0][None], task[1][None], alpha)
        hidden = stepped.last_hidden(task[2])
        return hidden, stepped._read(hidden)

    return jax.lax.map(jax.vmap(after), tasks)
