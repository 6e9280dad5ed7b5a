"""The notebooks run from top to bottom on Colab as last recorded: its Python, jax,
numpy, IPython and ipywidgets.

The package is there as a wheel without its dependencies. A notebook's set-up cell
installs whatever else the notebook needs, as on Colab. The CPU build of jaxlib stands
in for Colab's GPU build.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from pathlib import Path
from threading import Lock

import colab_freeze
import nbformat
import pytest
from environments import CLEAN, python, run, uv
from exercise_pages import COUNTS
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from refusals import refused

import rankone_book.widgets

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
CHAPTERS = sorted(
    p.stem
    for p in (ROOT / "book" / "chapters").glob("*.md")
    if "kernelspec" in p.read_text("utf-8")
)
EXERCISES = [chapter for chapter in CHAPTERS if chapter.endswith("_exercises")]
UNTOUCHED = ["jax", "jaxlib", "numpy"]
FREEZE = colab_freeze.recorded()
WIDGETS = rankone_book.widgets.__all__
VIEW = "application/vnd.jupyter.widget-view+json"

Execute = Callable[[nbformat.NotebookNode, Path], nbformat.NotebookNode]


def notebook_of(chapter: str) -> nbformat.NotebookNode:
    return nbformat.read(HTML / "notebooks" / f"{chapter}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment like Colab's, with the wheel that this build
    published.
    """
    folder = tmp_path_factory.mktemp("colab") / "environment"
    uv(
        "venv",
        "--quiet",
        "--seed",
        "--python",
        python(FREEZE.python) or sys.executable,
        folder,
    )
    interpreter = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    wheels = sorted((HTML / "wheels").rglob("*.whl"))
    uv(
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--python",
        interpreter,
        "--requirements",
        colab_freeze.RECORDED,
        *wheels,
    )
    return interpreter


@pytest.fixture(scope="module")
def manager(
    colab: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], KernelManager]:
    """Makes a manager of a kernel in that environment."""
    folder = tmp_path_factory.mktemp("kernels")
    command = [str(colab), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "colab").mkdir()
    (folder / "colab" / "kernel.json").write_text(
        json.dumps({"argv": command, "language": "python"})
    )
    kernels = KernelSpecManager(kernel_dirs=[str(folder)])
    return lambda: KernelManager(kernel_name="colab", kernel_spec_manager=kernels)


@pytest.fixture(scope="module")
def execute(manager: Callable[[], KernelManager]) -> Execute:
    """Runs a notebook in a folder, from top to bottom. Set-up cells install missing
    packages, so only one of them runs at a time.
    """
    installing = Lock()

    def executed(
        notebook: nbformat.NotebookNode, folder: Path
    ) -> nbformat.NotebookNode:
        for cell in notebook.cells:
            cell.pop("execution_count", None)
        client = NotebookClient(
            notebook,
            km=manager(),
            timeout=300,
            resources={"metadata": {"path": str(folder)}},
        )
        setup = next(
            number
            for number, cell in enumerate(notebook.cells)
            if cell.cell_type == "code"
        )
        with (
            (folder / "log").open("wb") as log,
            client.setup_kernel(env=CLEAN, stdout=log, stderr=log, cleanup_kc=True),
        ):
            for number, cell in enumerate(notebook.cells):
                with installing if number == setup else nullcontext():
                    client.execute_cell(cell, number)
        client.set_widgets_metadata()
        return notebook

    return executed


@pytest.fixture(scope="module")
def executions(
    execute: Execute, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[nbformat.NotebookNode]]]:
    """The notebooks, executed two at a time, because one after another they would take
    longer than all other tests.
    """
    pool = ThreadPoolExecutor(2)
    yield {
        chapter: pool.submit(
            execute, notebook_of(chapter), tmp_path_factory.mktemp(chapter)
        )
        for chapter in CHAPTERS
    }
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_runs_from_top_to_bottom_on_colab(
    chapter: str, executions: dict[str, Future[nbformat.NotebookNode]]
) -> None:
    ran = executions[chapter].result()
    assert all(
        cell.get("execution_count") for cell in ran.cells if cell.cell_type == "code"
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_claim_that_a_chapter_measures_holds_on_colab(
    chapter: str, executions: dict[str, Future[nbformat.NotebookNode]]
) -> None:
    cells = [
        cell for cell in executions[chapter].result().cells if cell.cell_type == "code"
    ]
    printed = "".join(
        output.get("text", "") for cell in cells for output in cell.outputs
    )
    assert ("(page " in printed) == any("measured(" in cell.source for cell in cells)
    assert [line for line in printed.splitlines() if "no longer holds" in line] == []


@pytest.mark.parametrize("chapter", EXERCISES)
def test_every_solution_is_graded_right_on_colab(
    chapter: str, executions: dict[str, Future[nbformat.NotebookNode]]
) -> None:
    reports: dict[str, str] = {}
    for cell in executions[chapter].result().cells:
        if cell.cell_type == "code" and (
            call := re.search(r'grader\.check\("(q\d+)"\)', cell.source)
        ):
            # the report on the stub, then that on the solution
            reports[call[1]] = cell.outputs[-1].data["text/plain"]
    names = [f"q{n}" for n in range(1, COUNTS[chapter.removesuffix("_exercises")] + 1)]
    assert reports == {name: f"{name}: all checks passed." for name in names}


def test_the_notebooks_leave_jax_and_numpy_as_they_are(
    colab: Path, executions: dict[str, Future[nbformat.NotebookNode]]
) -> None:
    wait(executions.values())
    ask = f"import importlib.metadata as m; print(*map(m.version, {UNTOUCHED}))"
    assert run([colab, "-c", ask]).split() == [FREEZE.pins[name] for name in UNTOUCHED]


def test_a_notebook_that_crashes_raises_an_error(
    execute: Execute, tmp_path: Path
) -> None:
    cells = ["import jax", "jax.no_such_name"]
    broken = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells]
    )
    with refused(CellExecutionError, match="no_such_name"):
        execute(broken, tmp_path)


@pytest.fixture(scope="module")
def widgets(manager: Callable[[], KernelManager]) -> Iterator[NotebookClient]:
    """A kernel after a chapter's set-up cell, and after one cell for each widget, which
    showed it.
    """
    setup = next(
        cell.source for cell in notebook_of("editing").cells if cell.cell_type == "code"
    )
    sources = [
        f"from rankone_book.widgets import {name}\n{name.lower()} = {name}()\n{name.lower()}"
        for name in WIDGETS
    ]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in [setup, *sources]]
    )
    client = NotebookClient(notebook, km=manager(), timeout=300)
    with client.setup_kernel(env=CLEAN, cleanup_kc=True):
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number)
        yield client


@pytest.mark.parametrize("name", WIDGETS)
def test_widgets_on_colab_get_a_view_and_synchronise_traits_in_both_directions(
    name: str, widgets: NotebookClient
) -> None:
    cell = widgets.nb.cells[1 + WIDGETS.index(name)]
    model = cell.outputs[-1].data[VIEW]["model_id"]
    state = widgets.widget_state[model]
    assert state["_model_module"] == state["_view_module"] == "anywidget"
    assert len(state["_esm"]) > 10_000

    def ask(source: str) -> nbformat.NotebookNode:
        widgets.nb.cells.append(nbformat.v4.new_code_cell(source))
        return widgets.execute_cell(widgets.nb.cells[-1], len(widgets.nb.cells) - 1)

    ask(f"{name.lower()}.settings = {{'from': 'kernel'}}")
    assert widgets.widget_state[model]["settings"] == {"from": "kernel"}
    update = {
        "method": "update",
        "state": {"settings": {"from": "page"}},
        "buffer_paths": [],
    }
    message = widgets.kc.session.msg("comm_msg", {"comm_id": model, "data": update})
    widgets.kc.shell_channel.send(message)
    assert (
        ask(f"print({name.lower()}.settings)").outputs[0].text.strip()
        == "{'from': 'page'}"
    )
