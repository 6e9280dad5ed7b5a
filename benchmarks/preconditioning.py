"""The step on W = TUV against the explicit operator, the matrix P itself, the products
it needs, and kfac-jax.

kfac-jax needs a JAX of its own: name an interpreter that has both in
RANKONE_KFAC_PYTHON, or it is left out. Its step computes the gradient, moving moments
at every step and, every 50 steps, the inverses.
"""

import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax

from benchmarks.timing import Job, Machine, Work, compare
from rankone import nn
from rankone import preconditioning as pc

__all__ = ["SEED", "run"]

SEED = 0
SIZE = 1024
SMALL = 64
BATCH = 256
EVERY = 50
QUICK = {"size": 64, "small": 8, "batch": 16}
Case = tuple[dict[str, Any], dict[str, tuple[Job, Work]], dict[str, Job]]


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Run all cases; returns the machine with its best rates, and one row for each pair
    compared.
    """
    size, small, batch = QUICK.values() if quick else (SIZE, SMALL, BATCH)
    machine = Machine.of(quick)
    rows = list[dict[str, Any]]()
    for case, ours, against in (
        *update_cases(size),
        dense_case(small),
        forward_case(size, batch),
    ):
        rows += compare(machine, case, ours, against, repetitions)
    with Kfac(size, batch) as peer:
        if peer.step:
            case, ours = training_case(size, batch)
            rows += compare(machine, case, ours, {"kfac-jax": peer.step}, repetitions)
    for row in rows:  # limits use the best rates of the whole run
        row["limit_ms"] = 1e3 * machine.limit(Work(row["bytes"], row["flops"]))
    return machine, rows


def matrices(size: int, count: int) -> list[jax.Array]:
    """Random square matrices of about unit norm."""
    keys = jax.random.split(jax.random.key(SEED), count)
    return [jax.random.normal(k, (size, size), jnp.float32) / size**0.5 for k in keys]


apply = jax.jit(lambda P, G: P.apply(G))
operator = jax.jit(lambda P, g: P @ g)
dense = jax.jit(jnp.matmul)
two_products = jax.jit(lambda L, G, R: L @ G @ R)
step_on_U = jax.jit(lambda T, U, V, G: T @ (U - T.T @ G @ V.T) @ V)


def update_cases(size: int) -> Iterator[Case]:
    """P applied to a gradient, against its two products, the same through a vec, and a
    step on U with W rebuilt.
    """
    T, U, V, G = matrices(size, 4)
    P = pc.kronecker_preconditioner(T, V)
    g = pc.vec(G)
    ours = {"implicit": (lambda: apply(P, G), Work(16 * size**2, 4 * size**3))}
    peers: dict[str, Job] = {
        "two products": lambda: two_products(P.left, G, P.right),
        "operator on vecs": lambda: operator(P, g),
        "step on U, W rebuilt": lambda: step_on_U(T, U, V, G),
    }
    yield {"task": "update", "D": size, "N": 1}, ours, peers


def dense_case(size: int) -> Case:
    """The same at a size where P itself fits into memory."""
    T, V, G = matrices(size, 3)
    P = pc.kronecker_preconditioner(T, V)
    g = pc.vec(G)
    full = P.to_dense()
    ours = {"implicit": (lambda: apply(P, G), Work(16 * size**2, 4 * size**3))}
    return (
        {"task": "update", "D": size, "N": 1},
        ours,
        {"P in memory": lambda: dense(full, g)},
    )


def forward_case(size: int, batch: int) -> Case:
    """The factored layer, against computing W = TUV first."""
    layer = pc.Reparameterized(*matrices(size, 3))
    x = jax.random.normal(jax.random.key(SEED + 1), (batch, size), jnp.float32)
    factored = jax.jit(lambda layer, x: layer(x))
    rebuilt = jax.jit(lambda layer, x: x @ layer.W.T)
    work = Work(12 * size**2, 6 * batch * size**2)
    return (
        {"task": "forward", "D": size, "N": batch},
        {"factored": (lambda: factored(layer, x), work)},
        {"through W": lambda: rebuilt(layer, x)},
    )


def training_case(
    size: int, batch: int
) -> tuple[dict[str, Any], dict[str, tuple[Job, Work]]]:
    """One step of training a layer, in three forms that differ in what they compute.

    "W = TUV" is plain SGD on U: three thin products forward, and as few back as U
    needs. "fixed factors" takes the same step on W: a gradient, its two products, an
    update. "moving moments" adds the batch's second moments to moving averages, as
    kfac-jax does at every step; inverses are renewed at other steps, in both.
    """
    T, V, U = matrices(size, 3)
    x, y = (
        jax.random.normal(jax.random.key(s), (batch, size), jnp.float32) for s in (1, 2)
    )
    data = x, y
    layer = pc.Reparameterized(T, U, V)
    dense = nn.Dense(T @ U @ V)
    on_U = pc.only_U(optax.sgd(1e-3))
    on_W = pc.kronecker_sgd(1e-3, pc.Factors(T, V))
    moving = optax.chain(
        pc.estimated_kronecker(damping=1e-2, every=EVERY), optax.sgd(1e-3)
    )
    # the first step computes the factors
    _, begun = step_with_moments(moving, dense, moving.init(dense), data)
    start_U = on_U.init(layer)
    start_W = on_W.init(dense)
    thin = batch * size**2
    whole = size**3
    return {"task": "training step", "D": size, "N": batch}, {
        "W = TUV": (
            lambda: step(on_U, layer, start_U, data),
            Work(12 * size**2, 10 * thin),
        ),
        "fixed factors": (
            lambda: step(on_W, dense, start_W, data),
            Work(16 * size**2, 4 * thin + 4 * whole),
        ),
        "moving moments": (
            lambda: step_with_moments(moving, dense, begun, data),
            Work(24 * size**2, 8 * thin + 4 * whole),
        ),
    }


def losses(network: Any, data: Any) -> jax.Array:
    """Half the squared error of each example."""
    x, y = data
    return 0.5 * ((network(x) - y) ** 2).sum(-1)


@partial(jax.jit, static_argnums=0)
def step(optimizer: Any, network: Any, state: Any, data: Any) -> tuple[Any, Any]:
    """A training step by any transformation of optax."""
    gradient = jax.grad(lambda net: losses(net, data).mean())(network)
    updates, state = optimizer.update(gradient, state, network)
    return optax.apply_updates(network, updates), state


@partial(jax.jit, static_argnums=0)
def step_with_moments(
    optimizer: Any, network: Any, state: Any, data: Any
) -> tuple[Any, Any]:
    """The same, for a transformation that takes the batch's second moments."""
    gradient = jax.grad(lambda net: losses(net, data).mean())(network)
    moments = pc.layer_moments(lambda net: losses(net, data), network)
    updates, state = optimizer.update(gradient, state, network, moments=moments)
    return optax.apply_updates(network, updates), state


class Kfac:
    """kfac-jax in its own interpreter, asked for one step at a time so that it can be
    interleaved with ours.
    """

    def __init__(self, size: int, batch: int):
        python = os.environ.get("RANKONE_KFAC_PYTHON")
        worker = Path(__file__).with_name("kfac_worker.py")
        self.step: Job | None = None
        self.process = None
        if not python:
            print("RANKONE_KFAC_PYTHON names no interpreter: kfac-jax is left out.")
            return
        words = [python, str(worker), str(size), str(batch), str(EVERY)]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.step = self._step

    def _step(self) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("step\n")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            raise RuntimeError("kfac-jax stopped; see what it printed above")

    def __enter__(self) -> "Kfac":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process and self.process.stdin:
            self.process.stdin.close()
            self.process.wait(timeout=60)
