"""A notebook that was handed in, run in a process that can be lost without losing the grade.

A cell or a function that ends the process, hangs, or answers with what is not plain data is given up: the process is
started anew, the other cells run again, and grading goes on.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankone_book.exercises import plain_data
from rankone_book.exercises.answers import NoAnswer, NotAnswered

__all__ = ["Lost", "Submission", "cells"]


class Lost(NoAnswer):
    """The student's process has ended, or was ended; the message says why."""


class Failed(NoAnswer):
    """The student's function raised; the message is what."""

    def __str__(self) -> str:
        return f"your function raised {self.args[0]}"


def cells(notebook: Path) -> list[str]:
    """Sources of the code cells of a notebook, but for the set-up, whose work the archive has done.

    Raises:
        ValueError: If the file is no notebook.
    """
    try:
        found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in found if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in code if "setup" not in cell.get("metadata", {}).get("tags", [])]
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"notebook: {notebook.name} cannot be read as a notebook; save it again in Jupyter."
        ) from error
    return [source for source in sources if source.strip()]


class Submission:
    """The functions that a notebook defines, each a call into the student's process.

    Args:
        sources: Source of each code cell.
        user: Name of the account that runs them; None for this process's own.
        cell_seconds: Time limit of one cell.
        call_seconds: Time limit of one call of a function.
        total_seconds: Time limit of everything; what is not answered by then counts as not answered.
    """

    def __init__(
        self,
        sources: list[str],
        *,
        user: str | None = None,
        cell_seconds: float = 60,
        call_seconds: float = 20,
        total_seconds: float = 480,
    ):
        self.user, self.cell_seconds, self.call_seconds = user, cell_seconds, call_seconds
        self.end = time.monotonic() + total_seconds
        self.left = dict(enumerate(sources, 1))
        self.notes: dict[int, str] = {}
        self.given_up: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None

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
        """Run all cells in a new process; one that loses the process is left out, and all others run again."""
        while self.process is None:
            if time.monotonic() > self.end:
                raise Lost("the time for the whole notebook is over")
            self._start()
            for number, source in list(self.left.items()):
                try:
                    reply = self._request({"cell": source}, self.cell_seconds)
                except Lost as lost:
                    self.notes[number] = f"was left out: it {lost}"
                    del self.left[number]
                    break
                if "error" in reply:
                    self.notes[number] = f"raised {reply['error']}"[:300]

    def _call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name in self.given_up:
            raise Lost(self.given_up[name])
        self.run()
        try:
            reply = self._request(
                {"call": name, "arguments": [plain_data.encode(a) for a in arguments]}, self.call_seconds
            )
        except Lost as lost:
            self.given_up[name] = f"{name} {lost}, and is not called again"
            raise Lost(self.given_up[name]) from None
        if "missing" in reply:
            raise NotAnswered(f"{name} is not defined")
        if "answer" not in reply:
            raise Failed(str(reply.get("error"))[:300])
        return plain_data.decode(reply["answer"])

    def _request(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        seconds = min(seconds, self.end - time.monotonic())
        try:
            if seconds <= 0:
                raise TimeoutError
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
            found = pwd.getpwnam(self.user)
            os.chown(self.folder.name, found.pw_uid, found.pw_gid)
            account = {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
        self.connection, theirs = socket.socketpair()
        environment = {"PATH": os.defpath, "HOME": self.folder.name, "IPYTHONDIR": self.folder.name}
        environment |= {"LANG": "C.UTF-8", "JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg"}
        environment |= {name: os.environ[name] for name in ("XLA_FLAGS", "PYTHONPATH") if name in os.environ}
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rankone_book.exercises.student", str(theirs.fileno())],
                cwd=self.folder.name,
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                **account,
            )
        plain_data.receive(self.connection, 120)

    def _stop(self) -> None:
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None
        self.connection.close()
        self.folder.cleanup()


def _reason(error: Exception, seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"took longer than {max(seconds, 0):.0f} s"
    if isinstance(error, EOFError | ConnectionError):
        return "ended the process"
    return "answered with what cannot be read"
