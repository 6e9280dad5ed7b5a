"""Kernels are forks of one process: each has its imports, and none sees the changes of
another.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from extensions.execution import kernels
from extensions.execution import runs as execution
from extensions.execution.kernels import Forks, Kernel

pytestmark = pytest.mark.skipif(
    not kernels.THREADS.is_dir(), reason="only Linux forks kernels"
)
CELL = """\
import os, sys
print(os.getppid(), os.getcwd(), "jax" in sys.modules, os.environ["OF_THIS_KERNEL"])
import jax
print(jax.config.jax_enable_x64, jax.numpy.ones(3).sum())
jax.config.update("jax_enable_x64", True)
"""


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forks]:
    """The forks of a process that starts with the first fork, and that has no threads
    for products.
    """
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    instance = Forks()
    monkeypatch.setattr(kernels, "forks", instance)
    yield instance
    instance.close()


def printed(folder: Path, value: str) -> list[str]:
    """Words that the cell prints in a new kernel."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    client = NotebookClient(
        notebook, kernel_name="python3", kernel_manager_class=Kernel, timeout=300
    )
    client.execute(cwd=str(folder), env=os.environ | {"OF_THIS_KERNEL": value})
    return "".join(output.text for output in notebook.cells[0].outputs).split()


def test_two_kernels_share_imports_and_nothing_else(
    forks: Forks, tmp_path: Path
) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    first.mkdir()
    second.mkdir()
    parent, *rest = printed(first, "one")
    assert rest == [str(first), "True", "one", "False", "3.0"]
    assert printed(second, "two") == [
        parent,
        str(second),
        "True",
        "two",
        "False",
        "3.0",
    ]


def test_a_kernel_ends_with_the_process_that_it_is_a_fork_of(
    forks: Forks, tmp_path: Path
) -> None:
    """This happens when the build is interrupted or killed."""
    command = [
        sys.executable,
        "-m",
        "ipykernel_launcher",
        "-f",
        str(tmp_path / "connection.json"),
    ]
    kernel = forks.start(command, str(tmp_path), dict(os.environ))
    assert kernel is not None
    assert kernel.poll() is None
    forks.close()
    # The kernel looks for its parent every second. If it never ends, pytest's time
    # limit stops this test.
    while kernel.poll() is None:
        time.sleep(0.1)


def test_a_process_that_has_ended_starts_no_kernel(
    forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build then starts kernels as usual."""
    ended = [sys.executable, "-c", ""]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    monkeypatch.setattr(
        Forks, "_started", staticmethod(lambda: subprocess.Popen(ended, **pipes))
    )
    assert forks.start(["python", "-m", "x"], ".", {}) is None
    monkeypatch.setattr(kernels, "THREADS", Path("/nowhere"))
    assert forks.start(["python", "-m", "x"], ".", {}) is None


def test_a_truncated_program_in_the_compilation_cache_causes_no_warning(
    tmp_path: Path,
) -> None:
    """A kernel compiles the program again. A warning about it would fail the page in
    every build.
    """
    script = "import jax, sys; jax.jit(lambda x: x * 3 + 1)(2.0); print(2)"
    cached = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }

    def stderr(**variables: str) -> str:
        command = [sys.executable, "-c", script]
        return subprocess.run(
            command, env=os.environ | cached | variables, capture_output=True, text=True
        ).stderr

    assert stderr() == ""
    for program in tmp_path.glob("*-cache"):
        os.truncate(program, program.stat().st_size // 2)
    assert "Error reading persistent compilation cache" in stderr(PYTHONWARNINGS="")
    assert stderr(PYTHONWARNINGS=",".join(execution.BROKEN)) == ""
