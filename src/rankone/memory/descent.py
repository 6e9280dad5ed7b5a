"""Retrieval: gradient descent on the energy, from a query to a point of rest [D-eq5]."""

import time
import warnings
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike

from rankone._checks import (
    Numbers,
    boolean,
    brief,
    choice,
    enabled,
    host,
    integer,
    is_traced,
    positive,
    real,
    renamed,
    states,
)
from rankone._mesh import automatic
from rankone._module import assembled
from rankone._progress import PATIENCE, bars_are_off, progress_bar
from rankone.checks import Outcome, outcome
from rankone.memory.implicit import at_rest
from rankone.memory.protocol import (
    EnergyMemory,
    Memory,
    Reader,
    Retrieval,
    check_memory,
    reader_of,
)
from rankone.precision import at_least_single, wider

__all__ = ["Retrieval", "retrieve"]

_CHUNK = 25  # steps between two looks at the clock
_CALL_STEPS = 250  # steps of one call, if nobody looks at the clock


@renamed(x="x0")
@automatic
def retrieve(
    memory: Memory,
    x0: Numbers,
    *,
    step_size: ArrayLike = 0.1,
    max_steps: int = 1000,
    tol: ArrayLike = 1e-6,
    clamp: Numbers | None = None,
    gradient: str = "implicit",
    progress: bool | None = None,
) -> Retrieval:
    """Gradient descent x ← x − η∇E(x) on the free entries of each query [D-eq5,
    D-thm1].

    It rests when no free entry moves by more than `tol` in a step; a frozen query's
    energy rests as well [D-unn4]. On the exact memory every step in (0, 2] lowers the
    energy [D-sharp1].

    Differentiable forwards and backwards, by the memory's arrays and by the clamped
    entries of the queries. With `gradient="implicit"` that is the derivative of the
    resting point, dx_f = −H_ff⁻¹ d(∇E)_f with the Hessian's rows and columns of the
    free entries f [D-implicit], whatever the way there; memory does not grow with the
    steps. `x` and the last energy have a derivative, energies on the way have none. A
    query that stopped on the way gets the same formula, which is off by about its
    distance from rest: look at `converged`. `gradient="unrolled"` differentiates the
    steps themselves, exactly; it then makes all `max_steps` and keeps each state, N·D
    numbers a step.

    Args:
        memory: `MrDAM`, `DrDAM`, or a pytree of your own with `D` and
            `energy_and_gradient(x)`: (N, D) -> (N,), (N, D).
        x0: Queries (..., D), in the unit of the patterns.
        step_size: η, positive.
        max_steps: Most steps taken, at least 1.
        tol: Largest move of a free entry at rest, in the unit of the patterns; 0 to
            take every step.
        clamp: Boolean mask (D,) or like x0: True where the query's entry is known and
            kept.
        gradient: What derivatives are of: "implicit", the point of rest, or "unrolled",
            the steps taken.
        progress: Show a progress bar; by default once a job outside jit has taken two
            seconds.

    Raises:
        ValueError: If a shape does not fit, or a number is out of range.

    Warns:
        RuntimeWarning: If a query became NaN or infinite. Inside jit there is no
            warning: look at `outcome`.

    >>> import numpy as np, rankone as ro
    >>> memory = ro.MrDAM(np.eye(3), beta=20.0)
    >>> np.asarray(ro.retrieve(memory, [0.9, 0.2, 0.0], step_size=0.5).x).round(2).tolist()
    [1.0, 0.0, 0.0]
    """
    check_memory(memory)
    x0 = at_least_single(states("x0", x0, memory.D))
    positive(
        "step_size",
        step_size,
        "a positive step size; every value up to 2 lowers an exact memory's energy",
    )
    max_steps = integer(
        "max_steps", max_steps, "an integer of at least 1", most=2**31 - 2 * _CALL_STEPS
    )
    if not (real("tol", tol, "zero or positive") or 0) >= 0:
        raise ValueError(f"tol: got {brief(tol)}; it must be zero or positive.")
    choice("gradient", gradient, ("implicit", "unrolled"))
    progress = progress if progress is None else boolean("progress", progress)
    clamp = None if clamp is None else _mask(clamp, x0)
    if bars_are_off():  # however slow the call is
        progress = False
    origin = getattr(memory, "origin", 0.0)
    length = _CALL_STEPS if progress is False else _CHUNK
    run, options = _start(origin, x0, step_size, tol, clamp, length)
    # The operations of a call inside someone else's jit are traced, also on known arrays.
    if not is_traced(memory, run, options):
        run, parts = _run_in_chunks(memory, run, options, max_steps, progress)
        retrieval, divergences = _record(memory, run, options, x0)
        # all that is fetched in one call, which waits once
        parts, energy, reads, count = jax.device_get(
            (parts, run["energy"], run["t"], divergences)
        )
        _warn_of_divergence(int(count), len(energy))
        energies = _join_energies(parts, energy, int(reads), max_steps, x0.shape[:-1])
        return assembled(Retrieval, retrieval.__dict__ | {"energies": energies})
    run, options = _start(origin, x0, step_size, tol, clamp, max_steps + 1)
    if gradient == "unrolled":
        end = _unroll(memory, run, *options, max_steps)
        return _record(memory, end, options, x0)[0]
    end, _ = _steps(
        *jax.lax.stop_gradient((memory, run, *options)), 0, max_steps + 1, max_steps
    )
    retrieval, _ = _record(memory, end, options, x0)
    rows = run["x"].shape
    x = at_rest(
        memory, x0.reshape(rows), retrieval.x.reshape(rows), options[-1]
    ).reshape(x0.shape)
    last = memory.energy_and_gradient(x)[0].astype(x.dtype)[..., None]
    tail = jnp.arange(max_steps + 1, dtype=jnp.int32) >= end["t"] - 1
    tail = jnp.broadcast_to(tail, retrieval.energies.shape)
    return replace(retrieval, x=x, energies=jnp.where(tail, last, retrieval.energies))


def _warn_of_divergence(divergences: int, N: int) -> None:
    if enabled.get() and divergences:
        advice = (
            "try a smaller step_size, or the 'sincos' basis, whose features are bounded"
        )
        warnings.warn(
            f"{divergences} of {N} queries became NaN or infinite: {advice}.",
            RuntimeWarning,
            stacklevel=5,
        )


def _mask(clamp: Numbers, x0: Array) -> Array | np.ndarray:
    mask = host("clamp", clamp)
    if mask.dtype != bool:
        raise ValueError(
            f"clamp: got {brief(mask.dtype)}; "
            "it must be a boolean mask: True where an entry is kept."
        )
    if mask.shape not in (x0.shape, x0.shape[-1:]):
        raise ValueError(
            f"clamp: got shape {mask.shape}; "
            f"it must be of shape {x0.shape[-1:]} or {x0.shape}."
        )
    return mask


def _shift(x: Array, offset: ArrayLike) -> Array:
    """States moved by a constant, in the wider type of both, and then in their own."""
    offset = jax.lax.stop_gradient(jnp.asarray(offset))
    dtype = wider(x, offset)
    return (x.astype(dtype) + jnp.broadcast_to(offset.astype(dtype), x.shape)).astype(
        x.dtype
    )


_Run = dict[str, Array]
_Options = tuple[Array, Array, Array]  # step_size, tol, and which entries are free


@partial(jax.jit, static_argnames="length")
def _start(
    origin: ArrayLike,
    x0: Array,
    step_size: ArrayLike,
    tol: ArrayLike,
    clamp: Array | None,
    length: int,
) -> tuple[_Run, _Options]:
    """A run before its first step, with states less the origin and room for `length`
    energies, and the options of `_steps`; one row per query.
    """
    x = _shift(x0, -jnp.asarray(origin)).reshape(-1, x0.shape[-1])
    N = len(x)
    free = (
        jnp.ones(x0.shape, bool)
        if clamp is None
        else ~jnp.broadcast_to(clamp, x0.shape)
    )
    run = {
        "t": jnp.zeros((), jnp.int32),
        "done": jnp.zeros((), bool),
        "x": x,
        "energy": jnp.zeros(N, x.dtype),
        "energies": jnp.zeros((length, N), x.dtype),
        "steps": jnp.zeros(N, jnp.int32),
        "resting": jnp.zeros(N, bool),
        "floored": jnp.zeros(N, jnp.int32),
    }
    return run, (
        jnp.asarray(step_size, x.dtype),
        jnp.asarray(tol, x.dtype),
        free.reshape(x.shape),
    )


def _step(
    reader: Reader,
    run: _Run,
    step_size: Array,
    tol: Array,
    free: Array,
    max_steps: ArrayLike,
) -> _Run:
    """The run after one step of each query that does not rest. After the last step, and
    at rest, only the energy is read.
    """
    x = run["x"]
    rest_mask = run["resting"]
    energy, gradient, floored = reader(x)
    stop = rest_mask.all() | (run["t"] == max_steps)
    move_mask = ~(rest_mask | stop)
    change = jnp.where(
        free & move_mask[:, None], step_size.astype(gradient.dtype) * gradient, 0
    ).astype(x.dtype)
    return run | {
        "t": run["t"] + 1,
        "done": stop,
        "x": x - change,
        "energy": energy.astype(x.dtype),
        "steps": run["steps"] + move_mask.astype(run["steps"].dtype),
        "resting": rest_mask | move_mask & (jnp.abs(change).max(-1) <= tol) & (tol > 0),
        "floored": run["floored"] + (floored & move_mask).astype(run["floored"].dtype),
    }


@jax.jit
def _steps(
    memory: Memory,
    run: _Run,
    step_size: Array,
    tol: Array,
    free: Array,
    start: ArrayLike,
    end: ArrayLike,
    max_steps: ArrayLike,
) -> tuple[_Run, Array]:
    """The run after steps until every query rests or `end` states were read; and the
    number of states that were read, with 1 if every query rests. Energies are recorded
    from the state number `start` on.
    """
    reader = reader_of(memory)

    def step(run: _Run) -> _Run:
        next_run = _step(reader, run, step_size, tol, free, max_steps)
        return next_run | {
            "energies": run["energies"].at[run["t"] - start].set(next_run["energy"])
        }

    run = jax.lax.while_loop(lambda run: (run["t"] < end) & ~run["done"], step, run)
    return run, jnp.stack([run["t"], run["done"].astype(run["t"].dtype)])


@partial(jax.jit, static_argnames="max_steps")
def _unroll(
    memory: Memory, run: _Run, step_size: Array, tol: Array, free: Array, max_steps: int
) -> _Run:
    """The run after all steps, of which a query at rest makes none. The derivative
    computes each step again, from the state at its start.
    """
    # a carry would be kept at each step
    run = {name: value for name, value in run.items() if name != "energies"}
    reader = reader_of(memory)

    @jax.checkpoint
    def step(run: _Run, _: None) -> tuple[_Run, Array]:
        next_run = _step(reader, run, step_size, tol, free, max_steps)
        return next_run, next_run["energy"]

    run, energies = jax.lax.scan(step, run, length=max_steps + 1)
    return run | {"energies": energies}


def _run_in_chunks(
    memory: Memory, run: _Run, options: _Options, max_steps: int, progress: bool | None
) -> tuple[_Run, list[Array]]:
    """The run after chunks of steps, with a look at the clock between chunks, and the
    energies of each chunk. No program depends on `max_steps`. Two flags are all that is
    fetched.
    """
    chunk = len(run["energies"])
    bar = None
    start_time = time.monotonic()
    parts = []
    for end in range(chunk, max_steps + 1 + chunk, chunk):
        run, flags = _steps(memory, run, *options, end - chunk, end, max_steps)
        parts.append(run["energies"])
        if end > max_steps and bar is None and not progress:
            break  # these were the last steps, and no bar shows them
        reads, stop = np.asarray(flags).tolist()
        timeout = progress is None and time.monotonic() - start_time > PATIENCE
        if bar is None and (progress or timeout):
            bar = progress_bar(total=max_steps, desc="retrieve", unit="step")
        if bar is not None:
            bar.update(min(reads, max_steps) - bar.n)
        if stop:
            break
    if bar is not None:
        bar.close()
    return run, parts


def _join_energies(
    parts: list[np.ndarray],
    last: np.ndarray,
    reads: int,
    max_steps: int,
    shape: tuple[int, ...],
) -> Array:
    """Energies (*shape, max_steps + 1) of all states read, and of those at rest; put
    together on the host, where a new length compiles nothing.
    """
    energies = np.empty((len(last), max_steps + 1), last.dtype)
    energies[:] = last[:, None]
    path = np.concatenate(parts)[: max(reads - 1, 0)]
    energies[:, : len(path)] = path.T
    return jax.device_put(energies.reshape(*shape, max_steps + 1))


@jax.jit
def _record(
    memory: Memory, run: _Run, options: _Options, x0: Array
) -> tuple[Retrieval, Array]:
    """Record of a descent: the states, and the number of queries that became NaN or
    infinite.
    """
    _, tol, free = options
    rows = jnp.arange(len(run["energies"]), dtype=jnp.int32)[:, None]
    y = run["x"]
    shape = x0.shape[:-1]
    energies = jnp.where(rows >= run["t"] - 1, run["energy"][None], run["energies"])
    x = _shift(y, getattr(memory, "origin", 0.0)).astype(x0.dtype)
    divergence = ~jnp.isfinite(y).all(-1)
    # a step of tol is not rounded off
    resolution = (tol == 0) | (jnp.finfo(y.dtype).eps / 2 * jnp.abs(y).max(-1) <= tol)
    certified = getattr(memory, "certified", EnergyMemory().certified)(
        jax.lax.stop_gradient(y)
    )
    empty = jnp.broadcast_to(getattr(memory, "empty", False), divergence.shape)
    retrieval = Retrieval(
        x=jnp.where(
            free.reshape(x0.shape), x.reshape(x0.shape), x0
        ),  # what is clamped comes back to the last bit
        energies=energies.T.reshape(*shape, len(energies)),
        steps=run["steps"].reshape(shape),
        converged=run["resting"].reshape(shape),
        floored=(run["floored"] / jnp.maximum(run["steps"], 1))
        .astype(y.dtype)
        .reshape(shape),
        outcome=outcome(
            (divergence, Outcome.NOT_FINITE), (empty, Outcome.EMPTY)
        ).reshape(shape),
        certified=(certified & resolution & ~divergence).reshape(shape),
    )
    return retrieval, divergence.sum()
