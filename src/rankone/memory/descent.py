"""Retrieval: descend the energy from a query until it rests [D-eq5]."""

import time
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int
from tqdm.auto import tqdm

from rankone._checks import as_array, check, choice, integer, is_traced, positive, real, states
from rankone.memory.exact import MrDAM
from rankone.memory.implicit import at_rest

__all__ = ["Retrieval", "retrieve"]

_CHUNK = 25  # steps between two looks at the clock
_PATIENCE = 2.0  # seconds before a progress bar appears


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["x", "energies", "steps", "converged", "floored"],
    meta_fields=[],
)
@dataclass(frozen=True)
class Retrieval:
    """What `retrieve` found, and how it got there.

    Attributes:
        x: Final states (..., D).
        energies: Energy before each step and at the end (..., max_steps + 1); constant once converged.
        steps: Steps taken (...).
        converged: Whether the last step moved no free entry by more than tol (...).
        floored: Fraction of the visited states whose energy was the floor's tangent line; 0 for an exact memory (...).
    """

    x: Float[Array, "... D"]
    energies: Float[Array, "... steps"]
    steps: Int[Array, "..."]
    converged: Bool[Array, "..."]
    floored: Float[Array, "..."]


def retrieve(
    memory: Any,
    x0: ArrayLike,
    *,
    step_size: ArrayLike = 0.1,
    max_steps: int = 1000,
    tol: float = 1e-6,
    clamp: ArrayLike | None = None,
    gradient: str = "implicit",
    progress: bool | None = None,
) -> Retrieval:
    r"""Gradient descent $x\leftarrow x-\eta\nabla E(x)$ on the free entries of each query [D-eq5, D-thm1].

    It rests when no free entry moves by more than `tol` in a step. (A small change of *energy* would not do: it is
    also what a clipped, frozen query shows [D-unn4].) On the exact memory every step size in (0, 2] lowers the
    energy at every step, whatever β and K [D-sharp1].

    Differentiable forwards and backwards, by the memory's arrays and by the clamped entries of the queries. With
    `gradient="implicit"` that is the derivative of the resting point, $dx_f=-H_{ff}^{-1}\,d(\nabla E)_f$ with the
    Hessian's rows and columns of the free entries f [D-implicit], whatever the way there: where a query started and
    the step size do not matter, and memory does not grow with the steps. `x` and the last energy have a derivative,
    energies on the way have none. A query that stopped on the way gets the same formula where it stopped, which is
    off by about its distance from rest: look at `converged`. `gradient="unrolled"` differentiates the steps
    themselves, exactly, by everything; under a transformation it makes all `max_steps` and keeps each state, N·D
    numbers a step.

    Args:
        memory: `MrDAM`, `DrDAM`, or a pytree of your own with `D` and `energy_and_gradient(x)`: (N, D) -> (N,), (N, D).
        x0: Queries (..., D), in the unit of the patterns.
        step_size: η, positive.
        max_steps: Most steps taken, at least 1.
        tol: Largest move of a free entry at rest, in the unit of the patterns; 0 to take every step.
        clamp: Boolean mask (D,) or like x0: True where the query's entry is known and held fixed.
        gradient: What derivatives are of: "implicit", the point of rest, or "unrolled", the steps taken.
        progress: Show a progress bar; by default once a job outside jit has taken two seconds.

    Returns:
        A `Retrieval`.

    Raises:
        ValueError: If a shape does not fit, or a number is out of range.

    Warns:
        RuntimeWarning: If a query left the finite numbers, as it does under "exp" features of long patterns, whose
            variance grows like exp(4β‖x‖²) and whose estimate of the partition sum underflows.
    """
    _check_memory(memory)
    x0 = states("x0", x0, memory.D)
    positive("step_size", step_size, "a positive step size; every value up to 2 lowers an exact memory's energy")
    max_steps = integer("max_steps", max_steps, "an integer of at least 1")
    least = real("tol", tol, "zero or positive")
    check(least is None or least >= 0, "tol", tol, "zero or positive")
    choice("gradient", gradient, ("implicit", "unrolled"))
    clamp = None if clamp is None else _mask(clamp, x0)
    memory = memory.prepared() if isinstance(memory, MrDAM) else memory
    walk, options = _start(x0, step_size, tol, clamp, max_steps)
    traced = is_traced(memory, walk, options)
    if traced and gradient == "unrolled":
        walk = _unrolled(memory, walk, *options)
    elif traced:
        fixed = jax.lax.stop_gradient((memory, walk, *options))
        end = _steps(*fixed, max_steps, max_steps)
        walk = end | {"x": at_rest(memory, walk["x"], end["x"], options[-1])}
    else:
        walk = _with_progress(memory, walk, options, max_steps, progress)
    found, lost = _record(memory, walk, x0.shape)
    if not traced:
        _warn_of_lost(int(lost), len(walk["x"]))
    return found


def _check_memory(memory: Any) -> None:
    able = hasattr(memory, "D") and hasattr(memory, "energy_and_gradient")
    check(able, "memory", type(memory), "a MrDAM, a DrDAM, or your own class with D and energy_and_gradient")
    opaque = jax.tree_util.all_leaves([memory])
    check(not opaque, "memory", type(memory), "a pytree: register the class with jax.tree_util.register_dataclass")


def _warn_of_lost(lost: int, N: int) -> None:
    if lost:
        warnings.warn(
            f"{lost} of {N} queries left the finite numbers: try a smaller step_size, or the 'sincos' basis, "
            "whose features are bounded.",
            RuntimeWarning,
            stacklevel=3,
        )


def _mask(clamp: ArrayLike, x0: Array) -> Array:
    mask = as_array(clamp)
    check(mask.dtype == bool, "clamp", mask.dtype, "a boolean mask: True where an entry is held fixed")
    fits = mask.shape in (x0.shape, x0.shape[-1:])
    check(fits, "clamp", f"shape {mask.shape}", f"of shape {x0.shape[-1:]} or {x0.shape}")
    return mask


def _read(memory: Any, x: Array) -> tuple[Array, Array, Array]:
    """Energy, gradient and whether the state is floored; a memory of the caller's own need not know of floors."""
    if hasattr(memory, "read"):
        return memory.read(x)
    return *memory.energy_and_gradient(x), jnp.zeros(x.shape[:-1], bool)


@partial(jax.jit, static_argnames="max_steps")
def _start(
    x0: Array, step_size: ArrayLike, tol: ArrayLike, clamp: Array | None, max_steps: int
) -> tuple[dict[str, Array], tuple[Array, ...]]:
    """Nothing walked yet, and the options of `_steps`, with one row a query."""
    x = x0.reshape(-1, x0.shape[-1])
    N = len(x)
    free = jnp.ones(x0.shape, bool) if clamp is None else ~jnp.broadcast_to(clamp, x0.shape)
    walk = {
        "t": jnp.zeros((), jnp.int32),
        "x": x,
        "energies": jnp.zeros((max_steps + 1, N), x.dtype),
        "steps": jnp.zeros(N, jnp.int32),
        "resting": jnp.zeros(N, bool),
        "floored": jnp.zeros(N, jnp.int32),
    }
    return walk, (jnp.asarray(step_size, x.dtype), jnp.asarray(tol, x.dtype), free.reshape(x.shape))


def _step(
    memory: Any, walk: dict[str, Array], step_size: Array, tol: Array, free: Array
) -> tuple[dict[str, Array], Array]:
    """One step of all queries that are not at rest; also the energies before it."""
    x, resting = walk["x"], walk["resting"]
    energy, gradient, floored = _read(memory, x)
    move = jnp.where(free & ~resting[:, None], step_size * gradient, 0).astype(x.dtype)
    changes = {
        "t": walk["t"] + 1,
        "x": x - move,
        "steps": walk["steps"] + ~resting,
        "resting": resting | (jnp.abs(move).max(-1) <= tol) & (tol > 0),
        "floored": walk["floored"] + (floored & ~resting),
    }
    return walk | changes, energy.astype(x.dtype)


@partial(jax.jit, static_argnames="max_steps")
def _steps(
    memory: Any, walk: dict[str, Array], step_size: Array, tol: Array, free: Array, until: int, max_steps: int
) -> dict[str, Array]:
    """Step until step number `until`, or until all queries rest."""

    def step(walk: dict[str, Array]) -> dict[str, Array]:
        after, energy = _step(memory, walk, step_size, tol, free)
        return after | {"energies": walk["energies"].at[walk["t"]].set(energy)}

    unfinished = lambda walk: (walk["t"] < jnp.minimum(until, max_steps)) & ~walk["resting"].all()  # noqa: E731
    return jax.lax.while_loop(unfinished, step, walk)


@jax.jit
def _unrolled(memory: Any, walk: dict[str, Array], step_size: Array, tol: Array, free: Array) -> dict[str, Array]:
    """All steps, of which a query at rest makes none; the way back makes each again, from the state it began at."""
    energies = walk["energies"]
    walk = {name: value for name, value in walk.items() if name != "energies"}  # a carry would be kept at each step
    again = jax.checkpoint(lambda walk, _: _step(memory, walk, step_size, tol, free))
    walk, before = jax.lax.scan(again, walk, length=len(energies) - 1)
    return walk | {"energies": energies.at[:-1].set(before)}


def _with_progress(
    memory: Any, walk: dict[str, Array], options: tuple[Array, ...], max_steps: int, progress: bool | None
) -> dict[str, Array]:
    bar, began = None, time.monotonic()
    for until in range(_CHUNK, max_steps + _CHUNK, _CHUNK):
        walk = _steps(memory, walk, *options, until, max_steps)
        done = int(walk["t"])
        late = progress is None and time.monotonic() - began > _PATIENCE
        if bar is None and (progress or late):
            bar = tqdm(total=max_steps, desc="retrieve", unit="step")
        if bar is not None:
            bar.update(done - bar.n)
        if np.asarray(walk["resting"]).all():
            break
    if bar is not None:
        bar.close()
    return walk


@partial(jax.jit, static_argnames="shape")
def _record(memory: Any, walk: dict[str, Array], shape: tuple[int, ...]) -> tuple[Retrieval, Array]:
    """What was found, and how many queries left the finite numbers."""
    last = memory.energy_and_gradient(walk["x"])[0].astype(walk["x"].dtype)
    rows = jnp.arange(len(walk["energies"]))[:, None]
    energies = jnp.where(rows >= walk["t"], last, walk["energies"])
    found = Retrieval(
        x=walk["x"].reshape(shape),
        energies=energies.T.reshape(*shape[:-1], len(energies)),
        steps=walk["steps"].reshape(shape[:-1]),
        converged=walk["resting"].reshape(shape[:-1]),
        floored=(walk["floored"] / jnp.maximum(walk["steps"], 1)).astype(last.dtype).reshape(shape[:-1]),
    )
    return found, (~jnp.isfinite(walk["x"])).any(-1).sum()
