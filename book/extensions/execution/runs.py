"""Executes the chapters in parallel, and gives each state of the package and of the
records its own cache, because the cache's keys do not include them.
"""

import hashlib
import logging
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_cache import get_cache
from jupyter_cache.executors.basic import (
    ExecutionWorkerLocalSerial,
    JupyterExecutorLocalSerial,
)
from jupyter_cache.executors.utils import single_nb_execution
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.display import status_iterator

from extensions.course.contents import contents
from extensions.execution.kernels import Kernel, forks

CACHE = Path("_build/.jupyter_cache")
# folders that chapters read: the modules that they import, and the records that they
# draw
READ = (
    "src",
    "experiments/results",
    "benchmarks/results",
)

# A kernel that is killed, or a full disk, can leave half a program in the cache of
# compiled programs. JAX then compiles the program again in every build, and warns. The
# warning would fail the page until someone removes the cache.
BROKEN = [
    f"ignore:Error {verb} persistent compilation cache"
    for verb in ("reading", "writing")
]


class Cost(NamedTuple):
    """Cost of a chapter when it was executed. The memory is None if the system does not
    report the peak of a process.
    """

    seconds: float
    megabytes: float | None


def cost(cache_path: str, notebook: NotebookNode) -> Cost | None:
    """Cost of the execution of a chapter in the cache, None if it is not there."""
    cache = get_cache(cache_path)
    try:
        record = cache.match_cache_notebook(notebook)
    except KeyError:
        return None
    metadata = cache.get_cache_bundle(record.pk).nb.metadata
    return Cost(record.data["execution_seconds"], metadata.get("peak_megabytes"))


class Worker(ExecutionWorkerLocalSerial):
    """Executes a chapter and stores the peak memory of its kernel in the notebook's
    metadata, which are not part of the cache's key.
    """

    @staticmethod
    def execute(project_nb: Any, data: Any) -> Any:
        """Run the notebook of a chapter in its own folder."""

        class Measured(Kernel):
            async def shutdown_kernel(self, *args: Any, **kwargs: Any) -> None:  # type: ignore[override]
                project_nb.nb.metadata["peak_megabytes"] = peak_megabytes(
                    getattr(self.provisioner, "pid", None)
                )
                await super().shutdown_kernel(*args, **kwargs)

        folder = str(Path(project_nb.uri).parent)
        options = {
            "timeout": data.timeout,
            "allow_errors": data.allow_errors,
            "kernel_manager_class": Measured,
        }
        return single_nb_execution(project_nb.nb, cwd=folder, **options)


class Executor(JupyterExecutorLocalSerial):
    """Executes chapters one by one with `Worker`."""

    _EXECUTION_WORKER = Worker


def peak_megabytes(pid: int | None) -> float | None:
    """Peak memory of a running process so far; None on systems other than Linux."""
    status = Path(f"/proc/{pid}/status")
    match = (
        re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        if status.is_file()
        else None
    )
    return int(match[1]) / 1000 if match else None


def sources_hash(root: Path) -> str:
    """Hash of the names and contents of all files that chapters read beside their own
    text, without the caches of Python and of linters.
    """
    digest = hashlib.sha256()
    for path in sorted(path for folder in READ for path in (root / folder).rglob("*")):
        name = path.relative_to(root)
        private = any(part[0] == "." or part == "__pycache__" for part in name.parts)
        if path.is_file() and not private:
            digest.update(name.as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def choose_cache(app: Sphinx, config: Config) -> None:
    """Give the present state of the files that chapters read its own cache. Pages that
    were read with another cache are read again.
    """
    root = Path(app.srcdir)
    cache = root / CACHE / sources_hash(root)
    for old in (root / CACHE).glob("*"):
        if old != cache:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    config.nb_execution_cache_path = str(cache)


def execute_ahead(app: Sphinx) -> None:
    """Execute the chapters that are not in the cache, one per core. MyST-NB then finds
    them there, or reports their failure.
    """
    paths = [
        Path(app.srcdir) / f"{page.document}.md" for page in contents(Path(app.srcdir))
    ]
    cache = get_cache(app.config.nb_execution_cache_path)
    for path in paths:
        if "kernelspec:" in path.read_text(encoding="utf-8")[:400]:
            cache.add_nb_to_project(
                str(path), read_data={"name": "myst_nb_md", "type": "plugin"}
            )
    stale = [Path(record.uri) for record in cache.list_unexecuted()]
    # long chapters first, so that no core is idle at the end
    stale.sort(key=lambda path: path.stat().st_size, reverse=True)

    silent = logging.getLogger(__name__)
    silent.setLevel(logging.CRITICAL)  # MyST-NB reports a chapter that fails

    def execute(path: Path) -> str:
        Executor(cache, silent).run_and_cache(
            filter_uris=[str(path)], timeout=app.config.nb_execution_timeout
        )
        return path.stem

    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        names = (
            job.result()
            for job in as_completed([pool.submit(execute, path) for path in stale])
        )
        for _ in status_iterator(
            names, "executing... ", "darkgreen", len(stale), app.verbosity
        ):
            pass
    finally:  # also after an interrupt: start no chapter, and end the kernels
        pool.shutdown(wait=False, cancel_futures=True)
        forks.close()
        pool.shutdown()


def forget_complaints(app: Sphinx, _: Exception | None) -> None:
    """Remove from the cache the chapters that wrote to stderr. Such a chapter fails the
    build, and the next build executes it again.
    """
    cache = get_cache(app.config.nb_execution_cache_path)
    for record in cache.list_cache_records():
        if complains(cache.get_cache_bundle(record.pk).nb):
            cache.remove_cache(record.pk)


def complains(notebook: NotebookNode) -> bool:
    """True if a cell of an executed chapter wrote to stderr."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return any(output.get("name") == "stderr" for output in outputs)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run before MyST-NB. RANKONE_BUILD makes kernels record
    their figures.
    """
    # tqdm shows its bar only if a loop is slow, and the bar would stay in the page
    os.environ |= {
        "RANKONE_BUILD": "1",
        "TQDM_DISABLE": "1",
    }
    os.environ["PYTHONWARNINGS"] = ",".join(
        filter(None, [os.environ.get("PYTHONWARNINGS"), *BROKEN])
    )
    app.connect("config-inited", choose_cache, priority=100)
    app.connect("builder-inited", execute_ahead)
    app.connect("build-finished", forget_complaints)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
