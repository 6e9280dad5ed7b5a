"""Retrieval: gradient descent on the energy, from a query to a fixed point [D-eq5]."""

import math
import time
import warnings
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
    is_tracing,
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

_CHUNK = 25  # states read between two looks at the clock
_LONG_CHUNK = 250  # the same without a progress bar


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

    A query has converged, and stops, when a step moves none of its free entries by more
    than `tol`. The published criterion, a small change of the energy, does not show
    that a pattern was retrieved: with the published clip, the energy of a query far
    from all patterns is constant [D-unn4]. On the exact memory with the log-sum-exp
    energy no step with η in (0, 2] raises the energy [D-sharp1].

    The result is differentiable in forward and reverse mode, with respect to the
    memory's arrays and to the clamped entries of the queries. `gradient="implicit"`
    gives the derivative of the fixed point x with free entries f, dx_f = −H_ff⁻¹
    d(∇E)_f, where d(∇E) is the change of the gradient at x, and H_ff the Hessian's
    block of the free entries [D-implicit]. This derivative does not depend on the path,
    and the storage that it needs does not grow with the number of steps. Only `x` and
    the last energy have it; earlier energies count as constants. For a query that has
    not converged, the formula has an error of about the query's distance from the fixed
    point, so check `converged`. The derivative is NaN where the linear system could not
    be solved. `gradient="unrolled"` differentiates the steps themselves, exactly. It
    then runs all `max_steps` steps and stores each state, N·D numbers per step for N
    queries.

    Args:
        memory: `MrDAM`, `DrDAM`, or a pytree of your own with `D` and
            `energy_and_gradient(x)`: (N, D) -> (N,), (N, D).
        x0: Queries (..., D), in the unit of the patterns.
        step_size: Step size η, positive.
        max_steps: Largest number of steps, at least 1.
        tol: Largest change of a free entry in a step after which a query counts as
            converged, in the unit of the patterns; 0 switches this off, so that all
            `max_steps` steps are taken.
        clamp: Boolean mask, of shape (D,) or of the shape of x0: True where an entry of
            the query is known and does not change.
        gradient: Derivative of the result: "implicit", of the fixed point, or
            "unrolled", through the steps taken.
        progress: True to show a progress bar, False for none; by default a bar appears
            when a call outside jit has taken two seconds.

    Raises:
        ValueError: If a shape does not fit, or a number is out of range.

    Warns:
        RuntimeWarning: If a query became NaN or infinite. Inside jit there is no
            warning: check `outcome`.

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
        "max_steps", max_steps, "an integer of at least 1", most=2**31 - 2 * _LONG_CHUNK
    )
    if not (real("tol", tol, "zero or positive") or 0) >= 0:
        raise ValueError(f"tol: got {brief(tol)}; it must be zero or positive.")
    choice("gradient", gradient, ("implicit", "unrolled"))
    progress = progress if progress is None else boolean("progress", progress)
    clamp = None if clamp is None else _mask(clamp, x0)
    if bars_are_off():  # even if the call is slow
        progress = False
    # Python floats, because each other type of number would compile another program
    options = (_as_float(step_size), _as_float(tol), clamp)
    # in the caller's jit, operations on concrete arrays are traced as well
    if is_traced(memory, x0, options) or is_tracing():
        return _retrieve_traced(memory, x0, *options, max_steps, gradient)
    return _retrieve_in_chunks(memory, x0, options, max_steps, progress)


def _as_float(number: ArrayLike) -> ArrayLike:
    """A checked number as Python's float, if it can be read."""
    value = real("number", number, "a number")
    return number if value is None else value


def _warn_of_divergence(divergences: int, N: int) -> None:
    if enabled.get() and divergences:
        advice = (
            "try a smaller step_size, or the 'sincos' basis, whose features are bounded"
        )
        warnings.warn(
            f"{divergences} of {N} queries became NaN or infinite: {advice}.",
            RuntimeWarning,
            stacklevel=6,
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


_Run = dict[str, Array]  # for each query: x, steps, floored, resting
_Options = tuple[Array, Array, Array]  # step_size, tol, and which entries are free


def _retrieve_in_chunks(
    memory: Memory,
    x0: Array,
    options: tuple[ArrayLike, ArrayLike, Array | np.ndarray | None],
    max_steps: int,
    progress: bool | None,
) -> Retrieval:
    """`retrieve` outside jit: calls of one program, with a look at the clock between
    calls. A short retrieval is one call. The program does not depend on `max_steps`,
    because the energies are put together on the host.
    """
    shape = x0.shape[:-1]
    N = math.prod(shape)
    x = x0
    tally = np.zeros((3, N), np.int32)
    energies = np.empty((N, max_steps + 1), x0.dtype)
    chunk = _LONG_CHUNK if progress is False else _CHUNK
    bar = None
    reads = 0
    start_time = time.monotonic()
    while True:
        start = reads
        x, tally, path, record, counts = _chunk(
            memory, x0, *options, x, tally, start, max_steps, chunk
        )
        reads, done, divergences = np.asarray(counts).tolist()
        energies[:, start:reads] = np.asarray(path)[: reads - start].T
        if done and bar is None and not progress:
            break
        seconds = time.monotonic() - start_time
        if bar is None and (progress or (progress is None and seconds > PATIENCE)):
            bar = progress_bar(total=max_steps, desc="retrieve", unit="step")
        if bar is not None:
            bar.update(min(reads, max_steps) - bar.n)
        if done:
            break
    if bar is not None:
        bar.close()
    energies[:, reads:] = energies[:, reads - 1 : reads]
    _warn_of_divergence(divergences, N)
    record["energies"] = jax.device_put(energies.reshape(*shape, max_steps + 1))
    return assembled(Retrieval, record)


@partial(jax.jit, static_argnames="length")
def _chunk(
    memory: Memory,
    x0: Array,
    step_size: ArrayLike,
    tol: ArrayLike,
    clamp: Array | None,
    x: Array,
    tally: Array | np.ndarray,
    start: ArrayLike,
    max_steps: ArrayLike,
    length: int,
) -> tuple[Array, Array, Array, dict[str, Array], Array]:
    """A run's steps from the state number `start` on, until every query rests or
    `length` states were read. Returns the new `x` and `tally`; the energies of the
    states read here, one row per state; the record; and three counts: all states read
    so far, 1 if the run has ended, and the number of queries that diverged.

    `x` contains the states minus the memory's origin, or x0 before the first step.
    `tally` contains for each query its steps, its floored states, and 1 if it has
    converged. They are in one array, because each NumPy array that is passed takes a
    tenth of the time of a small call.
    """
    first, options = _prepared(memory, x0, step_size, tol, clamp)
    run = {
        "x": jnp.where(start == 0, first, x.reshape(first.shape)),
        "steps": tally[0],
        "floored": tally[1],
        "resting": tally[2] == 1,
    }
    reads, done, run, path = _steps(memory, run, options, start, max_steps, length)
    # only at the end of the run, because it takes as long as a step
    certified = jax.lax.cond(
        done,
        lambda: _certified(memory, run["x"], options),
        lambda: jnp.zeros_like(run["resting"]),
    )
    record = _record(memory, x0, run, options, certified)
    divergences = (~jnp.isfinite(run["x"]).all(-1)).sum(dtype=jnp.int32)
    counts = jnp.stack([reads, done.astype(jnp.int32), divergences])
    tally = jnp.stack([run["steps"], run["floored"], run["resting"].astype(jnp.int32)])
    return run["x"].reshape(x0.shape), tally, path, record, counts


@partial(jax.jit, static_argnames=("max_steps", "gradient"))
def _retrieve_traced(
    memory: Memory,
    x0: Array,
    step_size: ArrayLike,
    tol: ArrayLike,
    clamp: Array | None,
    max_steps: int,
    gradient: str,
) -> Retrieval:
    """`retrieve` inside jit, grad or vmap, with its derivatives."""
    x, options = _prepared(memory, x0, step_size, tol, clamp)
    zeros = jnp.zeros(len(x), jnp.int32)
    run = {"x": x, "steps": zeros, "floored": zeros, "resting": zeros == 1}
    if gradient == "unrolled":
        run, energies = _unroll(memory, run, options, max_steps)
        certified = _certified(memory, run["x"], options)
        record = _record(memory, x0, run, options, certified)
    else:
        fixed, run, options = jax.lax.stop_gradient((memory, run, options))
        reads, _, run, energies = _steps(
            fixed, run, options, 0, max_steps, max_steps + 1
        )
        certified = _certified(memory, run["x"], options)
        record = _record(fixed, x0, run, options, certified)
        rest = record["x"].reshape(x.shape)
        rest = at_rest(memory, x0.reshape(x.shape), rest, options[-1])
        record["x"] = rest.reshape(x0.shape)
        last = memory.energy_and_gradient(record["x"])[0].reshape(-1)
        states = jnp.arange(max_steps + 1, dtype=jnp.int32)[:, None]
        energies = jnp.where(states < reads - 1, energies, last.astype(x.dtype)[None])
    energies = energies.T.reshape(*x0.shape[:-1], max_steps + 1)
    return Retrieval(energies=energies, **record)


def _prepared(
    memory: Memory,
    x0: Array,
    step_size: ArrayLike,
    tol: ArrayLike,
    clamp: Array | None,
) -> tuple[Array, _Options]:
    """The states less the memory's origin, one row per query, and the options of
    `_step`.
    """
    x = _shift(x0, -jnp.asarray(_origin(memory))).reshape(-1, x0.shape[-1])
    free = jnp.ones(x0.shape, bool)
    if clamp is not None:
        free = ~jnp.broadcast_to(clamp, x0.shape)
    return x, (
        jnp.asarray(step_size, x.dtype),
        jnp.asarray(tol, x.dtype),
        free.reshape(x.shape),
    )


def _origin(memory: Memory) -> ArrayLike:
    return getattr(memory, "origin", 0.0)


def _step(
    reader: Reader, run: _Run, options: _Options, is_last: Array
) -> tuple[_Run, Array, Array]:
    """The run after one step of each query that does not rest; the energy before it; and
    True if the run has ended. A query at rest, or at the last state, does not move.
    """
    step_size, tol, free = options
    x = run["x"]
    rest_mask = run["resting"]
    energy, gradient, floored = reader(x)
    stop = rest_mask.all() | is_last
    move_mask = ~(rest_mask | stop)
    change = jnp.where(
        free & move_mask[:, None], step_size.astype(gradient.dtype) * gradient, 0
    ).astype(x.dtype)
    next_run = {
        "x": x - change,
        "steps": run["steps"] + move_mask.astype(jnp.int32),
        "resting": rest_mask | move_mask & (jnp.abs(change).max(-1) <= tol) & (tol > 0),
        "floored": run["floored"] + (floored & move_mask).astype(jnp.int32),
    }
    return next_run, energy.astype(x.dtype), stop


def _steps(
    memory: Memory,
    run: _Run,
    options: _Options,
    start: ArrayLike,
    max_steps: ArrayLike,
    length: int,
) -> tuple[Array, Array, _Run, Array]:
    """A run's steps from the state number `start` on, until every query rests or
    `length` states were read. Returns the number of states read so far, True if the run
    has ended, the run, and the energies of the states read, as the first rows of an
    array (length, N).
    """
    reader = reader_of(memory)
    start = jnp.asarray(start, jnp.int32)

    def step(carry: tuple) -> tuple:
        t, _, run, energies = carry
        run, energy, stop = _step(reader, run, options, t == max_steps)
        # a simpler program than `.at[t - start].set`, which drops indices out of bounds
        energies = jax.lax.dynamic_update_index_in_dim(energies, energy, t - start, 0)
        return t + 1, stop, run, energies

    energies = jnp.zeros((length, len(run["x"])), run["x"].dtype)
    return jax.lax.while_loop(
        lambda carry: (carry[0] < start + length) & ~carry[1],
        step,
        (start, jnp.zeros((), bool), run, energies),
    )


def _unroll(
    memory: Memory, run: _Run, options: _Options, max_steps: int
) -> tuple[_Run, Array]:
    """The run after all steps, of which a query at rest makes none, and the energies
    (max_steps + 1, N). The derivative computes each step again, from the state at its
    start.
    """
    reader = reader_of(memory)

    @jax.checkpoint
    def step(run: _Run, t: Array) -> tuple[_Run, Array]:
        next_run, energy, _ = _step(reader, run, options, t == max_steps)
        return next_run, energy

    return jax.lax.scan(step, run, jnp.arange(max_steps + 1, dtype=jnp.int32))


def _certified(memory: Memory, y: Array, options: _Options) -> Array:
    """True where rounding cannot have decided at which state a query ended; `y` has the
    final states less the origin.
    """
    tol = options[1]
    # True if a step of size tol is not lost to rounding
    resolution = (tol == 0) | (jnp.finfo(y.dtype).eps / 2 * jnp.abs(y).max(-1) <= tol)
    certified = getattr(memory, "certified", EnergyMemory().certified)
    return certified(jax.lax.stop_gradient(y)) & resolution & jnp.isfinite(y).all(-1)


def _record(
    memory: Memory, x0: Array, run: _Run, options: _Options, certified: Array
) -> dict[str, Array]:
    """Fields of the `Retrieval`, except the energies."""
    y = run["x"]
    divergence = ~jnp.isfinite(y).all(-1)
    empty = jnp.broadcast_to(getattr(memory, "empty", False), divergence.shape)
    record = {
        "steps": run["steps"],
        "converged": run["resting"],
        "floored": (run["floored"] / jnp.maximum(run["steps"], 1)).astype(y.dtype),
        "outcome": outcome((divergence, Outcome.NOT_FINITE), (empty, Outcome.EMPTY)),
        "certified": certified,
    }
    x = _shift(y, _origin(memory)).astype(x0.dtype).reshape(x0.shape)
    # clamped entries are copied from x0, because the shift would round them
    x = jnp.where(options[-1].reshape(x0.shape), x, x0)
    shape = x0.shape[:-1]
    return {"x": x} | {name: value.reshape(shape) for name, value in record.items()}
