"""A notebook that was handed in, run in a process that can be lost without losing the
grade.

A cell or a function is given up if it ends the process, hangs, or answers with anything
but plain data. Then a new process starts, the other cells run again, and grading goes
on.
"""

import contextlib
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankone_book.exercises import plain_data
from rankone_book.exercises.answers import NoAnswer, NotAnswered, NotRun
from rankone_book.exercises.cell_errors import defines

__all__ = ["CannotStart", "Lost", "Submission", "cells"]


class CannotStart(RuntimeError):
    """No student's code can run on this machine; the message says what is needed."""


START_SECONDS = 120


class Lost(NoAnswer):
    """The student's process has ended, or was ended; the message says why."""


class Failed(NoAnswer):
    """The student's function raised an error, which is the message."""

    def __str__(self) -> str:
        return f"your function raised {self.args[0]}"


def cells(notebook: Path) -> dict[int, str]:
    """Number -> source of the code cells of a notebook, without the set-up, because the
    grader's environment is set up already.

    All code cells are counted, from 1, so that a student can find a cell by its number.

    Raises:
        ValueError: If the file is no notebook.
    """
    try:
        all_cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in all_cells if cell["cell_type"] == "code"]
        tags = [cell.get("metadata", {}).get("tags", []) for cell in code]
        sources = [
            "" if "setup" in tag else "".join(cell["source"])
            for cell, tag in zip(code, tags, strict=True)
        ]
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"notebook: {notebook.name} cannot be read as a notebook; save it again in "
            "Jupyter."
        ) from error
    return {
        number: source for number, source in enumerate(sources, 1) if source.strip()
    }


class Submission:
    """The functions that a notebook defines, each a call into the student's process.

    Args:
        sources: Number -> source of each code cell.
        user: Name of the account that runs them; None for this process's own.
        cell_seconds: Time limit of one cell.
        call_seconds: Time limit of one call of a function.
        total_seconds: Time limit for the whole notebook; later answers count as not
            answered.
        memory: Bytes that the student's process may use.
    """

    def __init__(
        self,
        sources: Mapping[int, str],
        *,
        user: str | None = None,
        cell_seconds: float = 60,
        call_seconds: float = 20,
        total_seconds: float = 480,
        memory: int = 4 * 2**30,
    ):
        self.user = user
        self.cell_seconds = cell_seconds
        self.call_seconds = call_seconds
        self.memory = memory
        self.end = time.monotonic() + total_seconds
        self.sources = dict(sources)
        self.remaining = dict(sources)
        self.notes: dict[int, str] = {}
        self.given_up: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.connection: socket.socket | None = None

    def __enter__(self) -> "Submission":
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop()

    def function(self, name: str) -> Callable[..., Any]:
        """The student's function of that name."""

        def call(*arguments: Any) -> Any:
            return self._call(name, arguments)

        call.__name__ = name
        return call

    def run(self) -> None:
        """Run all cells in a new process, unless one is running. If a cell loses the
        process, it is left out, and all others run again.
        """
        while self.process is None:
            if time.monotonic() > self.end:
                raise Lost("the time for the whole notebook is over")
            self._start()
            for number, source in list(self.remaining.items()):
                try:
                    reply = self._request({"cell": source}, self.cell_seconds)
                except Lost as lost:
                    self.notes[number] = f"was left out: it {lost}"
                    del self.remaining[number]
                    break
                if "error" in reply:
                    self.notes[number] = f"raised {reply['error']}"[:300]

    def _call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name in self.given_up:
            raise Lost(self.given_up[name])
        self.run()
        try:
            reply = self._request(
                {"call": name, "arguments": [plain_data.encode(a) for a in arguments]},
                self.call_seconds,
            )
        except Lost as lost:
            self.given_up[name] = f"{name} {lost}, and is not called again"
            raise Lost(self.given_up[name]) from None
        if "missing" in reply:
            self._raise_if_not_run(name)
            raise NotAnswered(f"{name} is not defined")
        if "answer" not in reply:
            raise Failed(str(reply.get("error"))[:300])
        answer = plain_data.decode(reply["answer"])
        if answer is None or answer is ...:
            self._raise_if_not_run(name)
        return answer

    def _raise_if_not_run(self, name: str) -> None:
        """Raise NotRun if the last cell that defines the function raised an error or was
        left out.
        """
        number = max(
            (n for n, source in self.sources.items() if defines(source, name)),
            default=None,
        )
        if number in self.notes:
            raise NotRun(
                f"Code cell {number}, which defines {name}, {self.notes[number]}"
            )

    def _request(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        seconds = min(seconds, self.end - time.monotonic())
        try:
            if seconds <= 0:
                raise TimeoutError
            assert self.connection is not None
            self.connection.settimeout(seconds)
            plain_data.send(self.connection, message)
            reply = plain_data.receive(self.connection, seconds)
            if not isinstance(reply, dict):
                raise ValueError("no reply of the form asked for")
        except Exception as error:
            self._stop()
            raise Lost(_reason(error, seconds)) from None
        return reply

    def _start(self) -> None:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        account: dict[str, Any] = {}
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(self.folder.name, entry.pw_uid, entry.pw_gid)
            account = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        self.connection, theirs = socket.socketpair()
        environment = {
            "PATH": os.defpath,
            "HOME": self.folder.name,
            "IPYTHONDIR": self.folder.name,
        }
        environment |= {"LANG": "C.UTF-8", "JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg"}
        environment |= {
            name: os.environ[name]
            for name in ("XLA_FLAGS", "PYTHONPATH")
            if name in os.environ
        }
        command = [sys.executable, "-I", str(Path(__file__).with_name("confined.py"))]
        try:
            self._launch(command, theirs, environment, account)
            plain_data.receive(self.connection, START_SECONDS)
        except (OSError, EOFError) as error:
            self._stop()
            late = isinstance(error, TimeoutError)
            raise CannotStart(_remedy(None if late else self.user, late)) from error

    def _launch(
        self,
        command: list[str],
        theirs: socket.socket,
        environment: dict[str, str],
        account: dict[str, Any],
    ) -> None:
        with theirs:
            self.process = subprocess.Popen(
                [*command, str(theirs.fileno()), str(self.memory)],
                cwd=self.folder.name,
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                **account,
            )

    def _stop(self) -> None:
        if self.process is not None:
            # Its child, the first process of a namespace, may have left the group. When
            # the child ends, so do all processes that it has started.
            for pid in _children(self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
            self.process = None
        if self.connection is not None:
            self.connection.close()
            self.connection = None
            self.folder.cleanup()


def _children(pid: int) -> list[int]:
    """The processes that a process has started and not yet waited for; empty if the
    kernel does not list them.
    """
    try:
        return [
            int(child)
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []


def _remedy(user: str | None, late: bool) -> str:
    """Remedy if a student's process does not start."""
    if late:
        return (
            f"{sys.executable} did not start within {START_SECONDS} s: grade again when "
            "the machine is less busy."
        )
    if user is None:
        return (
            f"{sys.executable} cannot run the student's half of the grader: are rankone "
            "and ipython installed there?"
        )
    return (
        f"Grading as root hands the student's code to the account {user}, which cannot "
        f"run {sys.executable}: grade with a Python that lies, with its packages, in "
        "folders that every account may read and enter (not under /root), or grade as "
        "an ordinary user."
    )


def _reason(error: Exception, seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"took longer than {max(seconds, 0):.0f} s"
    if isinstance(error, EOFError | ConnectionError):
        return "ended the process"
    return "answered with what cannot be read"
