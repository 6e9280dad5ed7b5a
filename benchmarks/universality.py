"""One gradient step of a deep, narrow ReLU network: a scan and rank-one gradients,
against an unrolled list.
"""

import time
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.timing import Job, Machine, Work, compare
from rankone.nn import Dense
from rankone.universality import Network
from rankone.universality.network import loss
from rankone.universality.rank_one import gradient_into, step

__all__ = ["SEED", "run"]

SEED = 0
STEP = 0.1
# layers, width
RUN = (256, 256)
QUICK_RUN = (6, 16)
COMPILE = {"scan": 1024, "unrolled": 256}
QUICK_COMPILE = {"scan": 12, "unrolled": 6}


def run(*, quick: bool, repetitions: int) -> tuple[Machine, list[dict[str, Any]]]:
    """Time one gradient of every parameter, one prediction after the step, and the
    compilation of the gradient.
    """
    machine = Machine.of(quick)
    (N, width) = QUICK_RUN if quick else RUN
    network = deep_network(N, width)
    x = jnp.array([0.3])
    y = jnp.array([0.5])
    layers = unrolled(network)
    read = 4 * N * width**2
    forms: dict[str, tuple[Job, Work]] = {
        "autodiff": (lambda: by_autodiff(network, x, y), Work(3 * read, 1.5 * read)),
        "rank one": (lambda: by_rank_one(network, x, y), Work(3 * read, 1.5 * read)),
        "rank one, again": (again(network, x, y), Work(3 * read, 1.5 * read)),
    }
    case = {"task": "gradient", "D": width, "N": N}
    rows = compare(
        machine, case, forms, {"unrolled": lambda: by_list(layers, x, y)}, repetitions
    )
    unapplied: tuple[Job, Work] = (
        lambda: learnt_by_terms(network, x, y),
        Work(3 * read, 1.5 * read),
    )
    peer = {"unrolled": lambda: learnt_by_list(layers, x, y)}
    rows += compare(
        machine,
        case | {"task": "step and predict"},
        {"not applied": unapplied},
        peer,
        repetitions,
    )
    for row in rows:  # limits use the best rates of the whole run
        row["limit_ms"] = 1e3 * machine.limit(Work(row["bytes"], row["flops"]))
    return machine, rows + compile_times(QUICK_COMPILE if quick else COMPILE, width)


def deep_network(N: int, width: int) -> Network:
    """Random weights scaled as He et al. do, so that an activation keeps its length
    through any depth, on average.
    """
    keys = jax.random.split(jax.random.key(SEED), 4)
    first = Dense(jax.random.normal(keys[0], (width, 2)), jnp.zeros(width))
    stack = Dense(jax.random.normal(keys[1], (N, width, width)) * (2 / width) ** 0.5)
    last = Dense(jax.random.normal(keys[2], (1, width)) / width**0.5, jnp.zeros(1))
    return Network(jnp.zeros(1), (first, stack, last), 0.1)


def unrolled(network: Network) -> list[tuple[jax.Array, jax.Array | None]]:
    """The same layers as a plain list."""
    first, stack, last = network.layers
    return [(first.W, first.b), *((W, None) for W in stack.W), (last.W, last.b)]


def forward(layers: Any, x: jax.Array, switch: jax.Array) -> jax.Array:
    """A Python loop over the layers."""
    h = jnp.stack([x[0], switch])
    for n, (W, b) in enumerate(layers):
        h = jnp.matmul(W, h, precision="highest") + (0 if b is None else b)
        h = jax.nn.relu(h) if n < len(layers) - 1 else h
    return h


def half_square(
    layers: Any, switch: jax.Array, x: jax.Array, y: jax.Array
) -> jax.Array:
    return 0.5 * (forward(layers, x, switch)[0] - y[0]) ** 2


@jax.jit
def by_list(layers: Any, x: jax.Array, y: jax.Array) -> Any:
    """The peer's gradient: that of the loop."""
    return jax.grad(half_square, (0, 1))(layers, jnp.float32(0), x, y)


@jax.jit
def learnt_by_list(layers: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """The peer's output after a step on all of its parameters, at 1 − x."""
    start = layers, jnp.float32(0)
    gradient = jax.grad(half_square, (0, 1))(*start, x, y)
    after, switch = jax.tree.map(lambda p, g: p - STEP * g, start, gradient)
    return forward(after, 1 - x, switch)


by_autodiff = jax.jit(jax.grad(loss))


@jax.jit
def by_rank_one(network: Network, x: jax.Array, y: jax.Array) -> Network:
    """The same gradient from one outer product per layer."""
    return step(network, x, y, jnp.float32(STEP)).gradient()


def again(network: Network, x: jax.Array, y: jax.Array) -> Job:
    """The same gradient again, written into the memory of the previous one, as in a
    loop that stores no gradients.
    """
    gradients = [by_rank_one(network, x, y)]

    def job() -> Network:
        gradients[0] = gradient_into(gradients[0], network, x, y)
        return gradients[0]

    return job


@jax.jit
def learnt_by_terms(network: Network, x: jax.Array, y: jax.Array) -> jax.Array:
    """The same output from two vectors per layer, without writing the step into the
    weights.
    """
    return step(network, x, y, jnp.float32(STEP)).output(1 - x)


def compile_times(depths: dict[str, int], width: int) -> list[dict[str, Any]]:
    """Seconds to trace and compile each formulation, at its own depth."""
    x = jnp.array([0.3])
    y = jnp.array([0.5])
    rows = []
    jobs = [
        ("rank one", by_rank_one, depths["scan"]),
        ("autodiff", by_autodiff, depths["scan"]),
    ]
    for form, function, N in [*jobs, ("unrolled", by_list, depths["unrolled"])]:
        # the program has the same operations at every width
        network = deep_network(N, min(width, 32))
        argument = unrolled(network) if form == "unrolled" else network
        began = time.perf_counter()
        function.lower(argument, x, y).compile()
        rows.append(
            {
                "task": "compile",
                "form": form,
                "N": N,
                "seconds": time.perf_counter() - began,
            }
        )
        print(
            f"compile        N={N:<22} {form:<12} {rows[-1]['seconds']:.2f} s",
            flush=True,
        )
    return rows
