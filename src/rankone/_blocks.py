"""Loops over more rows than fit in memory. A loop reads one block of rows at a time,
shows a progress bar and saves a checkpoint, from which an interrupted run resumes.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from rankone._checks import aligned, boolean, brief, release
from rankone._files import locked, read_arrays, save_arrays
from rankone._progress import PATIENCE, progress_bar

__all__ = ["checkpoint_path", "is_blocks", "join_rows", "row_blocks", "run_blocks"]

S = TypeVar("S")
BLOCK_BYTES = 2**24  # size of a slice of an array
_AT_ONCE = 2**26  # bytes of the largest array that is read in one piece
# between two saves; multiplied by the seconds that the last save took, if more than 1
_SAVE_SECONDS = 20.0


def is_blocks(rows: Any) -> bool:
    """True for an iterator of blocks of rows, and for a NumPy array so large that it is
    read in slices.
    """
    if isinstance(rows, np.ndarray):
        return rows.ndim > 1 and rows.nbytes > _AT_ONCE
    return isinstance(rows, Iterator)


def row_blocks(rows: Any, skip: int = 0) -> Iterable[Any]:
    """Blocks of an iterator, or slices of an array, after the first `skip` rows."""
    if isinstance(rows, np.ndarray):
        size = max(1, BLOCK_BYTES // max(1, rows[:1].nbytes))
        # a multiple of 16, the number of patterns that a CPU encodes at a time
        size = max(16, size // 16 * 16)
        for start in range(skip, len(rows), size):
            yield rows[start : start + size]
            release(rows)
        return
    for block in rows:
        length = len(block)
        if skip >= length:
            skip -= length
            continue
        yield block[skip:] if skip else block
        skip = 0
    if skip:
        raise ValueError(
            f"checkpoint: got a file of {skip} rows more than the blocks have; it must "
            "be the file of a run over these rows."
        )


def run_blocks(
    state: S,
    step: Callable[[S, Any], S],
    rows: Any,
    *,
    count: Callable[[S], int],
    title: str,
    progress: bool | None,
    checkpoint: Path | None,
    run: str,
    restore: Callable[[S, list[np.ndarray]], S] | None = None,
) -> S:
    """Final state, after `step` has been applied to every block. The state and the row
    count are saved together in one checkpoint file, every 20 seconds and at the end, so
    that no row is skipped or counted twice. If a save takes longer than a second, saves
    are less frequent.

    Args:
        state: Initial state, a pytree.
        step: (state, block) ↦ state.
        rows: Iterator of blocks, or array, that `is_blocks` accepts.
        count: state ↦ the exact number of rows that it includes.
        title: Title of the bar.
        progress: True to show a bar, None to show it after two seconds.
        checkpoint: File that is written, and from which the run resumes if it exists.
        run: Fingerprint of everything that the state depends on, except the rows.
        restore: (initial state, leaves of the saved state) ↦ the saved state. It raises
            ValueError if the leaves are of another run. By default the leaves must have
            the shapes of the initial state, and are put on its devices.
    """
    first = count(state)
    with ExitStack() as stack:
        if checkpoint is not None:
            _refuse_several_processes(checkpoint, state)
            stack.enter_context(_lock(checkpoint))
            state = _load(checkpoint, state, run, restore or _on_same_devices)
        done = count(state) - first
        bar = stack.enter_context(
            progress_bar(
                total=len(rows) if hasattr(rows, "__len__") else None,
                initial=done,
                desc=title,
                unit="row",
                disable=progress is False,
                delay=0 if progress else PATIENCE,
            )
        )
        saved = time.monotonic()
        pause = _SAVE_SECONDS
        for block in row_blocks(rows, done):
            # Wait for each block: blocks queued for the device would fill the memory.
            state = jax.block_until_ready(step(state, block))
            bar.update(len(block))
            start = time.monotonic()
            if checkpoint is not None and start - saved >= pause:
                _save(checkpoint, state, run)
                saved = time.monotonic()
                pause = _SAVE_SECONDS * max(1.0, saved - start)
        if checkpoint is not None:
            _save(checkpoint, state, run)
    return state


def join_rows(parts: list[np.ndarray]) -> jax.Array:
    """One array of the rows of all blocks. The list is emptied during the copy, so that
    memory never contains two copies of all rows.
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
        raise ValueError(
            f"checkpoint: got {brief(checkpoint)}; it must be a path, or None."
        )
    return Path(checkpoint)


def _refuse_several_processes(path: Path, state: Any) -> None:
    """ValueError if a part of the state lies in another process."""
    for leaf in jax.tree.leaves(state):
        if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
            raise ValueError(
                f"checkpoint: got {str(path)!r}; it must be None where arrays are "
                "split over several processes: save the result with Orbax."
            )


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Context manager with an exclusive lock on the checkpoint; ValueError if another
    process has the lock.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(path, wait=False))
        except BlockingIOError as error:
            raise ValueError(
                f"checkpoint: got {str(path)!r}, which another process writes; it must "
                "be a file of one run at a time."
            ) from error
        except OSError as error:
            raise _unwritable(path, error) from error
        yield


def _save(path: Path, state: Any, run: str) -> None:
    """Write the state to the file; after an error the file is the earlier one."""
    leaves = {f"leaf{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
    try:
        save_arrays(path, leaves | {"run": run})
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> ValueError:
    """The refusal of a checkpoint that the system does not let us write."""
    return ValueError(
        f"checkpoint: got {str(path)!r}, which could not be written "
        f"({error.strerror or error}); it must be a file in a folder with room for it: "
        "make room or name another file, and run again, to go on from the rows that "
        "were saved before."
    )


def _load(
    path: Path, state: S, run: str, restore: Callable[[S, list[np.ndarray]], S]
) -> S:
    """The saved state; or `state` if there is no file."""
    if not path.exists():
        return state
    requirement = "of this run; name another file, or delete it"
    try:
        saved = read_arrays(path)
        name = str(saved.pop("run"))
        leaves = [saved[f"leaf{i}"] for i in range(len(saved))]
    except (ValueError, KeyError, IsADirectoryError) as error:
        raise ValueError(
            f"checkpoint: got {str(path)!r}, which cannot be read; it must be "
            f"{requirement}."
        ) from error
    try:
        if name != run:
            raise ValueError("run")
        return restore(state, leaves)
    except ValueError as error:
        raise ValueError(
            f"checkpoint: got {str(path)!r} of another run; it must be {requirement}."
        ) from error


def _on_same_devices(state: S, leaves: list[np.ndarray]) -> S:
    """The saved state, each array on the devices of the same array of the first state."""
    first, structure = jax.tree.flatten(state)
    if [leaf.shape for leaf in leaves] != [np.shape(leaf) for leaf in first]:
        raise ValueError("shapes")
    placed = [
        jax.device_put(new.astype(old.dtype), old.sharding)
        for new, old in zip(leaves, first, strict=True)
    ]
    return jax.tree.unflatten(structure, placed)
