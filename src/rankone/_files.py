"""Files that a run writes. Each file is written by one process at a time, and either in
full or not at all; a damaged file raises an error when it is read.
"""

import os
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

__all__ = ["locked", "read_arrays", "replaced", "save_arrays"]

_UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    BadZipFile,
    zlib.error,
    NotImplementedError,
)


@contextmanager
def replaced(path: Path | str) -> Iterator[IO[bytes]]:
    """Context manager that gives a temporary file to write to. At the end of the block
    the file replaces `path`; after an error `path` is unchanged.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # each writer has its own temporary file
    handle, name = tempfile.mkstemp(
        prefix=f".{path.name}.", suffix=".part", dir=path.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path | str, *, wait: bool = True) -> Iterator[None]:
    """A block with an exclusive lock on `path`: no other process can enter a block with
    the same path. A process that is killed leaves no lock.

    Args:
        path: File to be written.
        wait: True to wait for the other process, False to raise.

    Raises:
        BlockingIOError: If another process is in such a block, and `wait` is False.
    """
    lock = Path(f"{path}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    while True:
        file = lock.open("ab")
        try:
            _seize(file, wait)
            if _is_at_path(file, lock):
                break
        except BaseException:
            file.close()
            raise
        file.close()
    try:
        yield
    finally:
        if os.name == "posix":
            lock.unlink(missing_ok=True)
        file.close()


def save_arrays(path: Path | str, arrays: Mapping[str, Any]) -> None:
    """Write arrays to an .npz file, in full or not at all; also of types that numpy has
    no name for, such as bfloat16.
    """
    entries = {name: np.asarray(value) for name, value in arrays.items()}
    foreign_types = {
        name: value.dtype.name
        for name, value in entries.items()
        if value.dtype.kind == "V"
    }
    contents: dict[str, Any] = {
        name: entries[name].astype(np.float32)
        if name in foreign_types
        else entries[name]
        for name in entries
    }
    contents |= {f"{name}.dtype": dtype for name, dtype in foreign_types.items()}
    with replaced(path) as file:
        np.savez(file, **contents)


def read_arrays(path: Path | str) -> dict[str, np.ndarray]:
    """The arrays of an .npz file.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file is damaged, or is not an .npz file.
    """
    try:
        # opened here, because np.load would leave a damaged file open
        with (
            Path(path).open("rb") as file,
            np.load(file, allow_pickle=False) as archive,
        ):
            entries = {name: archive[name] for name in archive.files}
        types = {
            name[: -len(".dtype")]: str(entries.pop(name))
            for name in list(entries)
            if name.endswith(".dtype")
        }
        return {
            name: value.astype(_dtype(types[name])) if name in types else value
            for name, value in entries.items()
        }
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        raise ValueError(f"it cannot be read ({error})") from error
    except (AttributeError, TypeError) as error:  # a file of a single array
        raise ValueError("it holds no archive") from error


def _dtype(name: str) -> Any:
    import ml_dtypes  # comes with jax

    return getattr(ml_dtypes, name)


def _is_at_path(file: IO[bytes], path: Path) -> bool:
    """True if the open file is still the one at its path: the last holder of a lock
    may have removed the file since it was opened.
    """
    status = os.fstat(file.fileno())
    try:
        return os.path.samestat(status, path.stat())
    except FileNotFoundError:
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _seize(file: IO[bytes], wait: bool) -> None:
    if os.name == "posix":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        return
    import msvcrt

    file.seek(0)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError as error:
        raise BlockingIOError(str(error)) from error
