"""CPU seconds that the cells of each page take in a first build: importing, tracing,
compiling, drawing, and the rest.

`python tools/chapter_costs.py` measures all pages with cells. `... retrieval maml`
measures the named pages, cell by cell with the largest programs. Each page runs in its
own process, with the flags of `make html`, in the order of the build. The processes
share a cache of compiled programs, which is empty at first. They run one after another,
because all times grow if several run at once.
"""

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("import", "trace", "compile", "draw", "rest")
# The other events that jax times are parts of one of these.
EVENTS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "trace",
    "/jax/core/compile/backend_compile_duration": "compile",
}
SETTINGS = {
    "RANKONE_BUILD": "1",
    "TQDM_DISABLE": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",  # as in a kernel
    "OPENBLAS_NUM_THREADS": "1",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


class Costs:
    """Spans of CPU time in the order in which they end. A span inside another counts
    only for its own kind.
    """

    def __init__(self) -> None:
        """Count nothing yet."""
        self.seconds: dict[str, float] = defaultdict(float)
        # seconds of compilation of each program, by its name
        self.compiled: dict[str, float] = defaultdict(float)
        self.programs = 0
        self._spans: list[tuple[float, float]] = []

    def add(self, kind: str, seconds: float) -> None:
        """Add a span that ends now."""
        end = process_time()
        start = end - seconds
        net = seconds
        while self._spans and self._spans[-1][0] >= start:
            first, last = self._spans.pop()
            net -= last - first
        self._spans.append((start, end))
        self.seconds[kind] += net

    def timed(self, kind: str, function: Callable) -> Callable:
        """Function whose calls are spans of this kind."""

        def call(*args: Any, **options: Any) -> Any:
            start = process_time()
            try:
                return function(*args, **options)
            finally:
                self.add(kind, process_time() - start)

        return call

    def note(self, event: str, duration_secs: float, **about: str | int) -> None:
        """Add an event that jax has timed."""
        if event in EVENTS:
            self.add(EVENTS[event], duration_secs)
        if EVENTS.get(event) == "compile":
            self.programs += 1
            self.compiled[str(about.get("fun_name"))] += duration_secs


def cells(page: Path) -> Iterator[str]:
    """Source of each cell of a page, without its options."""
    text = page.read_text("utf-8")
    yield from re.findall(
        r"^```\{code-cell\}[^\n]*\n(?:---\n.*?\n---\n|(?::[^\n]*\n)*)(.*?)^```",
        text,
        re.M | re.S,
    )


def watched() -> Costs:
    """The costs of this process from now on, with the import of jax, which every page
    needs.
    """
    import builtins
    import importlib

    start = process_time()
    costs = Costs()
    import jax
    from jax._src import dispatch
    from matplotlib.backend_bases import FigureCanvasBase

    costs.seconds["import"] = process_time() - start
    # otherwise the time of a program would count for the code after it
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    clock = type("Clock", (), {"time": staticmethod(process_time)})
    dispatch.time = clock  # type: ignore[assignment]
    jax.monitoring.register_event_duration_secs_listener(costs.note)
    for kind, owner, name in (
        ("draw", FigureCanvasBase, "print_figure"),
        ("import", builtins, "__import__"),
        ("import", importlib, "import_module"),
    ):
        setattr(owner, name, costs.timed(kind, getattr(owner, name)))
    return costs


def execute(page: Path) -> list[dict[str, Any]]:
    """Cost of each cell of a page in this process. The first row is the cost before all
    cells.
    """
    import ipykernel.ipkernel  # noqa: F401  a kernel has it already
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    sys.path.insert(0, str(ROOT / "book"))
    from extensions.execution.kernels import COLLECTIONS

    gc.set_threshold(*COLLECTIONS)
    shell: Any = InteractiveShell.instance(display_pub_class=CapturingDisplayPublisher)
    costs = watched()
    rows = list[dict[str, Any]]()
    os.chdir(page.parent)
    total = costs.seconds["import"]
    for cell in ["", *cells(page)]:
        start = process_time()
        shell.run_cell(cell).raise_error()
        total += process_time() - start
        row: dict[str, Any] = {
            **costs.seconds,
            "total": total,
            "programs": costs.programs,
        }
        row["rest"] = total - sum(costs.seconds.values())
        row["cell"] = next((line for line in cell.splitlines() if line), "import jax")
        row["largest"] = sorted(costs.compiled.items(), key=lambda item: -item[1])[:4]
        rows.append(row)
        costs.seconds.clear()
        costs.compiled.clear()
        costs.programs = 0
        total = 0.0
    return rows


def measured(page: Path, folder: Path) -> list[dict[str, Any]]:
    """Result of `execute`, from a new process; its programs are cached in the
    folder.
    """
    quick = re.search(
        r"^XLA_QUICK = (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M
    )
    assert quick, "the Makefile sets no XLA_QUICK"
    environment = (
        os.environ
        | SETTINGS
        | {"XLA_FLAGS": quick[1], "JAX_COMPILATION_CACHE_DIR": str(folder / "cache")}
    )
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    rows = folder / "rows.json"
    command = [sys.executable, __file__, "--execute", str(page), str(rows)]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return json.loads(rows.read_text("utf-8"))


def line(name: str, row: dict[str, Any]) -> str:
    """One row of the table."""
    seconds = "".join(f"{row.get(kind, 0):8.1f}" for kind in ("total", *KINDS))
    return f"{seconds}{row['programs']:9}  {name}"


def main(names: list[str]) -> None:
    """Print the table."""
    pages = [
        page
        for page in (ROOT / "book").rglob("*.md")
        if "\nkernelspec:" in page.read_text("utf-8")[:400]
    ]
    pages.sort(key=lambda page: page.stat().st_size, reverse=True)
    print("".join(f"{kind:>8}" for kind in ("total", *KINDS)) + " programs")
    every: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            if names and page.stem not in names:
                continue
            rows = measured(page, Path(folder))
            for row in rows if names else ():
                largest = ", ".join(
                    f"{name} {seconds:.1f}" for name, seconds in row["largest"]
                )
                print(line(f"{row['cell']}  [{largest}]", row))
            costs = Counter(
                {
                    key: sum(row.get(key, 0) for row in rows)
                    for key in ("total", *KINDS, "programs")
                }
            )
            print(line(page.stem, costs), flush=True)
            every.update(costs)
    print(line("all", every))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--execute"]:
        Path(sys.argv[3]).write_text(json.dumps(execute(Path(sys.argv[2]))), "utf-8")
    else:
        main(sys.argv[1:])
