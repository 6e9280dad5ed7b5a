"""Builds the book, as `make html` does: `python tools/build.py _build/html/.ready`.

Besides running jupyter-book, the script waits for another build of the same checkout,
which uses the same caches. If the machine lacks disk space or the folder is not
writable, it prints one sentence instead of a traceback.
"""

import errno
import fcntl
import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "_build"
ROOM = 300  # megabytes: twice what a first build writes
FULL = (
    f"The disk is full: a build needs {ROOM} MB. Make room, then run `make html` again; "
    "it goes on from here."
)
CLOSED = (
    "The book cannot be built here, because {} cannot be written: copy the book to a "
    "folder of your own."
)
STOPPED = "Stopped. `make html` goes on from here."


def sentence(error: BaseException | None) -> str | None:
    """The sentence for an error that this machine caused, directly or through an
    earlier error; None for any other error.
    """
    while error is not None:
        number = getattr(error, "errno", None)
        if number in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in str(error):
            return FULL
        if number in (
            errno.EROFS,
            errno.EACCES,
            errno.EPERM,
        ) or "readonly database" in str(error):
            return CLOSED.format(getattr(error, "filename", None) or FOLDER)
        if isinstance(error, KeyboardInterrupt):
            return STOPPED
        error = getattr(error, "orig_exc", None) or error.__cause__ or error.__context__
    return None


@contextmanager
def alone() -> Iterator[bool]:
    """Context in which no other build of this checkout runs. Its value is True if it
    had to wait for another build.

    The system removes the lock when the process ends, even if it is killed.
    """
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        waited = False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                "Another build is running in this folder: waiting for it to end.",
                flush=True,
            )
            fcntl.flock(lock, fcntl.LOCK_EX)
            waited = True
        yield waited


def build(output: Path) -> None:
    """Build with jupyter-book; pages with a warning fail.

    Raises:
        RuntimeError: If a page fails. jupyter-book has printed why.
    """
    import jupyter_book.sphinx
    from jupyter_book.cli.main import main

    # Garbage collection among millions of nodes, nearly all of which are in use, would
    # take a third of Sphinx's time: 20 s of 58. Without it the build needs 0.9 GB more
    # memory.
    gc.disable()
    report = jupyter_book.sphinx.handle_exception

    def explained(app: Any, args: Any, error: BaseException, stream: Any) -> None:
        if message := sentence(error):
            sys.exit(message)
        report(app, args, error, stream)

    jupyter_book.sphinx.handle_exception = explained
    main(
        [
            "build",
            str(ROOT),
            "--path-output",
            str(output),
            "--all",
            "-W",
            "-n",
            "--keep-going",
        ],
        standalone_mode=False,
    )


def current(stamp: Path) -> bool:
    """True if make finds no file newer than a stamp."""
    command = [
        "make",
        "--question",
        "--no-print-directory",
        str(stamp.relative_to(ROOT)),
    ]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def run(stamp: Path) -> None:
    """Build the pages beside a stamp, unless a build that this one waited for has done
    so.
    """
    with alone() as waited:
        if waited and current(stamp):
            return
        began = time.time()
        if shutil.disk_usage(FOLDER).free < ROOM * 1e6:
            sys.exit(FULL)
        build(stamp.parents[2])
        stamp.touch()
        os.utime(stamp, (began, began))  # make sees later changes


def main(stamp: str) -> None:
    """Build, and end with a sentence if it explains the error."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run(ROOT / stamp)
    except (OSError, KeyboardInterrupt, RuntimeError) as error:
        if not (message := sentence(error)) and not isinstance(error, RuntimeError):
            raise
        sys.exit(message or str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
