"""A memory as a layer: a step of training, forwards and backwards through a
retrieval.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import rankone as ro
from benchmarks import peers
from benchmarks.memory import BETA, SEED, STEPS, Case, unit_rows
from benchmarks.timing import Machine, Work, compare

__all__ = ["SEED", "run"]

# (K, D)
SIZES = [(20_000, 64), (4_000, 256)]
QUICK_SIZES = [(500, 32)]
QUERIES = 64


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Run all cases; returns the machine with its best rates, and one row for each pair
    compared.
    """
    machine = Machine.of(quick)
    rows = list[dict[str, Any]]()
    if not peers.has_torch():
        print(
            "PyTorch is not installed: the Hopfield layer is left out (pip install "
            "torch==2.13.0 to include it)."
        )
        return machine, rows
    for size in QUICK_SIZES if quick else SIZES:
        for case in cases(*size):
            rows += compare(machine, *case, repetitions)
    for row in rows:  # limits use the best rates of the whole run
        row["limit_ms"] = 1e3 * machine.limit(Work(row["bytes"], row["flops"]))
    return machine, rows


@partial(jax.jit, static_argnames=("steps", "gradient"))
def train(
    Xi: jax.Array, x: jax.Array, targets: jax.Array, *, steps: int, gradient: str
) -> Any:
    """The loss of a memory as a layer, with the first half of each query held fixed,
    and the gradient with respect to the patterns.
    """

    def loss(Xi: jax.Array) -> jax.Array:
        clamp = jnp.arange(x.shape[1]) < x.shape[1] // 2
        options = {
            "step_size": 1.0,
            "max_steps": steps,
            "tol": 0.0,
            "clamp": clamp,
            "gradient": gradient,
        }
        return (
            ((ro.retrieve(ro.MrDAM(Xi, BETA), x, **options).x - targets) ** 2)
            .sum(-1)
            .mean()
        )

    return jax.value_and_grad(loss)(Xi)


def inputs(K: int, D: int, N: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Patterns, queries that have the noisy first half of a pattern, and these patterns
    as targets.
    """
    k_Xi, k_x = jax.random.split(jax.random.key(SEED))
    Xi = unit_rows(k_Xi, K, D)
    noisy = Xi[:N] + 0.1 * unit_rows(k_x, N, D)
    return Xi, jnp.where(jnp.arange(D) < D // 2, noisy, 0), Xi[:N]


def cases(K: int, D: int) -> Iterator[Case]:
    """A step of training against a Hopfield layer in PyTorch.

    With the step size 1, a step of our retrieval is an update of the Hopfield layer.
    Our gradient is implicit or goes back through the steps; autograd differentiates the
    Hopfield layer.
    """
    Xi, x, targets = inputs(K, D, QUERIES)
    numbers = (np.asarray(Xi), BETA, np.asarray(x), np.asarray(targets))
    peer = peers.torch_training(*numbers, known=D // 2, steps=STEPS)
    # A reading has two products, and going back through it costs twice as much. The
    # implicit gradient goes back through at least one reading, the unrolled one through
    # all steps.
    readings = {"implicit": STEPS + 2, "unrolled": 3 * STEPS}
    ours = {
        form: (
            partial(train, Xi, x, targets, steps=STEPS, gradient=form),
            Work(4 * K * D * count, 4 * QUERIES * K * D * count),
        )
        for form, count in readings.items()
    }
    yield (
        {"task": "training step", "K": K, "D": D, "N": QUERIES},
        ours,
        {"trained Hopfield layer": peer},
    )
