"""Starts the kernels of the chapters as forks of one process, which has imported the
chapters' modules.

A kernel that starts as usual needs three seconds of CPU time for its imports, a fork a
tenth of a second. The process is this file, run as a script. It reads one order per
line from its input, forks, and answers with the number of the new process. It ends when
its input is closed, which also happens if the build is killed. The kernels end after
it, because each of them watches its parent.

A fork has only the thread that forked. Therefore kernels start as usual if an import
has started a thread, and on systems other than Linux, whose own libraries start
threads.
"""

import gc
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

from jupyter_client.manager import AsyncKernelManager

THREADS = Path("/proc/self/task")  # the threads of a process, on Linux
# A chapter ends within half a minute. Garbage collection at the usual rate would take a
# twentieth of that time; collecting less often costs little memory.
COLLECTIONS = (50_000, 20, 20)
LIBRARIES = [
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "jax.numpy",
    "matplotlib.pyplot",
    "scipy.optimize",
]
OURS = [
    "rankone",
    *(
        f"rankone_book.{name}"
        for name in ("claims", "exercises", "figures", "records", "widgets")
    ),
]


class Forks:
    """The process whose forks are kernels; it starts with the first kernel."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._lock = Lock()

    def start(
        self, command: list[str], folder: str, environment: dict[str, str]
    ) -> "Fork | None":
        """A new kernel, or None if it has to be started as usual.

        Args:
            command: The command that would start it: Python, its options, `-m`, a
                module and that module's arguments.
            folder: Its working folder.
            environment: Its variables.
        """
        if not THREADS.is_dir():
            return None
        order = json.dumps([command[command.index("-m") + 1 :], folder, environment])
        with self._lock:
            if self._server is None:
                self._server = self._started()
            assert self._server.stdin is not None
            assert self._server.stdout is not None
            with suppress(BrokenPipeError):  # if it has ended, its answer is empty
                print(order, file=self._server.stdin, flush=True)
            pid = json.loads(self._server.stdout.readline() or "null")
        return Fork(pid) if pid else None

    def close(self) -> None:
        """End the process, and with it its remaining kernels. It starts again with the
        next kernel.
        """
        with self._lock:
            if self._server:
                self._server.communicate()
            self._server = None

    @staticmethod
    def _started() -> subprocess.Popen[str]:
        pipes: dict[str, Any] = {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "text": True,
        }
        # matplotlib reads it when it is imported
        variables = os.environ | {
            "MPLBACKEND": "module://matplotlib_inline.backend_inline"
        }
        # It has its own session, so that Ctrl-C reaches only the build, which then
        # closes this process.
        return subprocess.Popen(
            [sys.executable, __file__], env=variables, start_new_session=True, **pipes
        )


class Fork:
    """A kernel that is not a child of this process, with the methods of
    `subprocess.Popen` that its manager calls.
    """

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """None while the kernel runs, else 0; only its parent knows the exit status."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll  # the manager waits by polling

    def send_signal(self, number: int) -> None:
        """Send the kernel a signal."""
        os.kill(self.pid, number)


forks = Forks()


class Kernel(AsyncKernelManager):
    """The manager of a kernel that is forked where that is safe."""

    transport_encryption = (
        "required"  # else every kernel warns that others on this machine may listen
    )

    async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
        fork = forks.start(kernel_cmd, str(options["cwd"]), options["env"])
        if fork is None:
            await super()._async_launch_kernel(kernel_cmd, **options)
            return
        place: Any = self.provisioner
        place.process = fork
        place.pid = fork.pid
        place.pgid = fork.pid
        self._reconcile_connection_info(place.connection_info)


def serve() -> None:
    """Import what chapters import, then fork a kernel for each order."""
    # if an import fails, so does the cell that needs it, and its page says why
    with suppress(Exception):
        for name in [*LIBRARIES, *OURS]:
            module = import_module(name)
            for public in getattr(module, "__all__", ()) if name in OURS else ():
                getattr(module, public)  # loads what is imported on demand
    gc.collect()
    gc.freeze()  # forks do not scan existing objects, which would copy their memory
    gc.set_threshold(*COLLECTIONS)
    signal.signal(signal.SIGCHLD, forget)
    safe = len([*THREADS.iterdir()]) == 1
    for order in sys.stdin:
        pid = os.fork() if safe else None
        if pid == 0:
            become(*json.loads(order))
        print(json.dumps(pid), flush=True)


def forget(*_: object) -> None:
    """Release the kernels that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def become(arguments: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Run a kernel in this process, and end with it."""
    from ipykernel import kernelapp

    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # standard output has the answers to the build
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # the kernel ends when this parent does
    sys.argv = [
        *arguments,
        f"--IPKernelApp.parent_handle={os.getppid()}",
    ]
    status = 1
    try:
        kernelapp.launch_new_instance()
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, whose modules are not for chapters
    serve()
