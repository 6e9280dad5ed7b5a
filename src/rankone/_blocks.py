"""Sums over more rows than memory holds: a block at a time, with a bar, and a file from
which a run that was broken off goes on.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from rankone._checks import ArgumentError, aligned, boolean, brief, release
from rankone._files import locked, read_arrays, save_arrays
from rankone._progress import progress_bar

__all__ = ["checkpoint_path", "is_blocks", "joined", "row_blocks", "summed"]

S = TypeVar("S")
BLOCK_BYTES = 2**24  # of a slice of an array
_AT_ONCE = 2**26  # bytes of an array that is taken whole
_SAVE_SECONDS = 20.0
_PATIENCE = 2.0  # seconds before a bar appears by itself


def is_blocks(rows: Any) -> bool:
    """True for an iterator of blocks, and for an array on the host that is taken in
    slices because a copy of it may be more than memory holds.
    """
    if isinstance(rows, np.ndarray):
        return rows.ndim > 1 and rows.nbytes > _AT_ONCE
    return isinstance(rows, Iterator)


def row_blocks(rows: Any, skip: int = 0) -> Iterable[Any]:
    """Blocks of an iterator, or slices of an array, after the first `skip` rows."""
    if isinstance(rows, np.ndarray):
        size = max(1, BLOCK_BYTES // max(1, rows[:1].nbytes))
        # multiples of what is encoded at a time
        size = max(16, size // 16 * 16)
        for start in range(skip, len(rows), size):
            yield rows[start : start + size]
            release(rows)
        return
    for block in rows:
        length = np.shape(block)[0]
        if skip >= length:
            skip -= length
            continue
        yield block[skip:] if skip else block
        skip = 0
    if skip:
        raise ArgumentError(
            "checkpoint",
            f"got one with {skip} rows more than there are; it must be of these rows.",
        )


def summed(
    state: S,
    step: Callable[[S, Any], S],
    rows: Any,
    *,
    counted: Callable[[S], int],
    title: str,
    progress: bool | None,
    checkpoint: Path | None,
    run: str,
) -> S:
    """The state after a step with each block. State and count are saved in one file,
    every 20 seconds and at the end, so that no row is lost or counted twice.

    Args:
        state: State to begin with: a pytree.
        step: (state, block) ↦ state.
        rows: Iterator of blocks, or array, that `is_blocks` accepts.
        counted: Exact number of rows in a state.
        title: Title of the bar.
        progress: True to show a bar, None to show it after two seconds.
        checkpoint: File to go on from if it is there.
        run: Name of all that the sums depend on but the rows.
    """
    first = counted(state)
    with ExitStack() as stack:
        if checkpoint is not None:
            _refuse_several_processes(checkpoint, state)
            stack.enter_context(_alone(checkpoint))
            state = _load(checkpoint, state, run)
        done = counted(state) - first
        bar = stack.enter_context(
            progress_bar(
                total=len(rows) if hasattr(rows, "__len__") else None,
                initial=done,
                desc=title,
                unit="row",
                disable=progress is False,
                delay=0 if progress else _PATIENCE,
            )
        )
        saved = time.monotonic()
        for block in row_blocks(rows, done):
            # One block at a time: those that wait for the device would fill the memory.
            state = jax.block_until_ready(step(state, block))
            bar.update(len(block))
            if checkpoint is not None and time.monotonic() - saved >= _SAVE_SECONDS:
                _save(checkpoint, state, run)
                saved = time.monotonic()
        if checkpoint is not None:
            _save(checkpoint, state, run)
    return state


def joined(parts: list[np.ndarray]) -> jax.Array:
    """Blocks of rows as one array. The list is emptied on the way, so that memory never
    has all rows twice.
    """
    rows = sum(map(len, parts))
    out = aligned((rows, *parts[0].shape[1:]), parts[0].dtype)
    parts.reverse()
    start = 0
    while parts:
        block = parts.pop()
        out[start : start + len(block)] = block
        start += len(block)
    return jax.device_put(out)


def checkpoint_path(checkpoint: Any, progress: Any = None) -> Path | None:
    """`checkpoint` as a path, or None. Anything else is refused, and so is a `progress`
    other than True, False and None.
    """
    if progress is not None:
        boolean("progress", progress)
    if checkpoint is None:
        return None
    if not isinstance(checkpoint, str | Path):
        raise ArgumentError(
            "checkpoint", f"got {brief(checkpoint)}; it must be a path, or None."
        )
    return Path(checkpoint)


def _refuse_several_processes(path: Path, state: Any) -> None:
    """Raise if a part of the state lies in another process."""
    for leaf in jax.tree.leaves(state):
        if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
            raise ArgumentError(
                "checkpoint",
                f"got {str(path)!r}; it must be None where arrays are split over "
                "several processes: save what is stored by Orbax.",
            )


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """A block with an exclusive lock on the checkpoint, which is refused while another
    process has it.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(path, wait=False))
        except BlockingIOError as error:
            raise ArgumentError(
                "checkpoint",
                f"got {str(path)!r}, which another process writes; it must be a file "
                "of one run at a time.",
            ) from error
        yield


def _save(path: Path, state: Any, run: str) -> None:
    leaves = {f"leaf{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
    save_arrays(path, leaves | {"run": run})


def _load(path: Path, state: S, run: str) -> S:
    """The saved state, on the devices of `state`; or `state` if there is no file."""
    if not path.exists():
        return state
    leaves, tree = jax.tree.flatten(state)
    requirement = "of this run; name another file, or delete it"
    try:
        saved = read_arrays(path)
        arrays = [saved[f"leaf{i}"] for i in range(len(leaves))]
        name = str(saved["run"])
    except (ValueError, KeyError, IsADirectoryError) as error:
        raise ArgumentError(
            "checkpoint",
            f"got {str(path)!r}, which cannot be read; it must be {requirement}.",
        ) from error
    if name != run or [a.shape for a in arrays] != [np.shape(b) for b in leaves]:
        raise ArgumentError(
            "checkpoint", f"got {str(path)!r} of another run; it must be {requirement}."
        )
    placed = [
        jax.device_put(new.astype(old.dtype), old.sharding)
        for new, old in zip(arrays, leaves, strict=True)
    ]
    return jax.tree.unflatten(tree, placed)
