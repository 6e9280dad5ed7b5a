"""Training runs of the chapter on preconditioning: its recorded runs, method by method,
and the tasks it draws live.

The rate is chosen on the runs of one seed, and the curves are drawn from the other
seeds.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int
from numpy.typing import NDArray

from rankone._checks import brief
from rankone._module import Module
from rankone.preconditioning.meta import Task
from rankone_book.figures import COLOURS, figure
from rankone_book.records import select

__all__ = [
    "Curves",
    "chosen_rate",
    "draw_training",
    "halves",
    "hidden_direction",
    "overtaken",
    "training_curves",
]


class Curves(Module):
    """One method's training, from several seeds.

    Attributes:
        steps: Steps made when each point was measured (k,).
        seconds: Seconds of training, and of renewing the preconditioner, at each point
            (k,). The same work is done between any two points, so each interval is set
            to the median over intervals and seeds.
        loss: Measured losses, one row per seed (seeds, k).
    """

    steps: Int[NDArray, " k"]
    seconds: Float[NDArray, " k"]
    loss: Float[NDArray, "seeds k"]


def chosen_rate(record: dict[str, Any], method: str) -> float:
    """The rate with the lowest final loss on seed 0, among the rates at which no
    recorded curve diverged and broke off.

    Args:
        record: The record of `preconditioning_regression` or `preconditioning_fashion`,
            from `rankone_book.records.load_record`.
        method: One of the record's methods.

    Raises:
        ValueError: If there is no such rate.
    """
    points = 1 + record["full"]["steps"] // record["full"]["every"]
    broken = {
        c["parameters"]["rate"]
        for c in select(record, method=method)
        if len(c["results"]["loss"]) < points
    }
    cells = [
        c
        for c in select(record, method=method, seed=0)
        if c["parameters"]["rate"] not in broken
    ]
    if not cells:
        raise ValueError(
            f"method: got {brief(method)}; "
            "it must be one with a complete curve on seed 0."
        )
    return min(cells, key=lambda cell: cell["results"]["loss"][-1])["parameters"][
        "rate"
    ]


def training_curves(record: dict[str, Any]) -> dict[str, Curves]:
    """Each method at its chosen rate, on the seeds that had no part in choosing it.

    Args:
        record: As in `chosen_rate`.
    """
    every = record["full"]["every"]
    curves = {}
    for method in record["full"]["method"]:
        cells = select(record, method=method, rate=chosen_rate(record, method))
        results = [cell["results"] for cell in cells if cell["parameters"]["seed"] != 0]
        loss = np.array([result["loss"] for result in results])
        interval = np.median(np.diff([result["seconds"] for result in results]))
        points = np.arange(loss.shape[1])
        curves[method] = Curves(every * points, interval * points, loss)
    return curves


def overtaken(ours: Curves, theirs: Curves) -> tuple[int, float]:
    """Steps and seconds after which the mean loss of `ours` is first below the final
    mean loss of `theirs`.

    Args:
        ours: Curves of one method.
        theirs: Curves of another method on the same problem.

    Raises:
        ValueError: If `ours` never falls below that loss.
    """
    below = ours.loss.mean(0) < theirs.loss[:, -1].mean()
    if not below.any():
        raise ValueError(
            f"ours: got {brief(float(ours.loss[:, -1].mean()))}; "
            "it must be a curve that ends below the other's."
        )
    return int(ours.steps[below][0]), float(ours.seconds[below][0])


def draw_training(
    problems: dict[str, dict[str, Curves]], colours: Sequence[str] = COLOURS
) -> Any:
    """Each problem's curves in a row of two panels, per step and in seconds, from the
    first measured point after the start.

    Args:
        problems: Label of the loss → the result of `training_curves`.
        colours: Colours of the methods, in their order.

    Returns:
        (figure, axes): geometric means over the seeds, with bands of their range.
    """
    rows = len(problems)
    fig, axes = figure(
        rows, 2, height=2.8 * rows, width=7.4, squeeze=False, on_phone=(2 * rows, 1)
    )
    for row, (label, methods) in zip(axes, problems.items(), strict=True):
        for (method, curves), colour in zip(methods.items(), colours, strict=False):
            for ax, x in zip(row, (curves.steps[1:], curves.seconds[1:]), strict=True):
                loss = curves.loss[:, 1:]
                dashes = "--" if method in ("reparameterised", "$W=TUV$") else "-"
                ax.semilogy(
                    x,
                    np.exp(np.log(loss).mean(0)),
                    ls=dashes,
                    color=colour,
                    label=method,
                )
                ax.fill_between(
                    x, loss.min(0), loss.max(0), color=colour, alpha=0.2, lw=0
                )
        row[0].set(xlabel="step", ylabel=label)
        row[1].set(xlabel="seconds", xscale="log", ylabel=label)
    entries = axes[-1, 0].get_legend_handles_labels()
    fig.legend(*entries, loc="outside upper center", ncols=3, fontsize=9)
    return fig, axes


def hidden_direction(key: Array) -> tuple[Float[Array, "20 3"], Float[Array, " 20"]]:
    """A task (x, y), y = Wx, of a family whose W differ along one input direction,
    where inputs are ten times smaller.

    Args:
        key: JAX random key.
    """
    k_x, k_w = jax.random.split(key)
    x = jax.random.normal(k_x, (20, 3)) * jnp.array([[1.0, 1.0, 0.1]])
    W = jnp.array([1.0, -1.0, 0.0]) + jnp.array([0.0, 0.0, 10.0]) * jax.random.normal(
        k_w
    )
    return x, x @ W


def halves(
    loss: Callable[[Any, ArrayLike, ArrayLike], Float[Array, ""]],
) -> tuple[Task, Task]:
    """A support and a query loss for tasks (x, y): `loss(network, x, y)` on the first
    and the second half of the rows.

    Args:
        loss: Function of a network on examples x (N, n), y (N, ...).
    """

    def cut(rows: Any) -> tuple:
        return (rows[: len(rows) // 2], rows[len(rows) // 2 :])

    def part(i: int) -> Callable[..., Any]:
        return lambda network, task: loss(network, *(cut(rows)[i] for rows in task))

    return part(0), part(1)
