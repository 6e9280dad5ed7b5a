"""The Colab notebooks say what the pages say, in plain Markdown, and run where only jax, numpy and the package are."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from pathlib import Path
from threading import Lock

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
CHAPTERS = sorted(p.stem for p in (ROOT / "book" / "chapters").glob("*.md") if "kernelspec" in p.read_text("utf-8"))
RAW = [
    "{eq}",
    "{prf:",
    "{ref}",
    "{numref}",
    "{doc}",
    "{glue",
    "{cite",
    "{code-cell}",
    ":::",
    "```{",
    ".md)",
    "<cite",
    "??",
]

# Variables without what would lead a Python elsewhere; taken once, as pytest changes its own while notebooks run.
# Modules are compiled when they are imported, not all of a package when it is installed.
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "JUPYTER"))}
CLEAN["PIP_NO_COMPILE"] = "1"


def read(chapter: str) -> nbformat.NotebookNode:
    return nbformat.read(HTML / "notebooks" / f"{chapter}.ipynb", as_version=4)


def prose(chapter: str) -> str:
    return "\n\n".join(cell.source for cell in read(chapter).cells if cell.cell_type == "markdown")


def page(chapter: str) -> str:
    return html.unescape((HTML / "book" / "chapters" / f"{chapter}.html").read_text(encoding="utf-8"))


def unresolved(text: str) -> list[str]:
    """Marks of MyST that a notebook would show as they are."""
    return [mark for mark in RAW if mark in text]


def dangling(text: str) -> set[str]:
    """Links within a notebook that lead nowhere."""
    return set(re.findall(r"\]\(#([^)]+)\)", text)) - set(re.findall(r'<a name="([^"]+)">', text))


def test_every_chapter_has_a_notebook() -> None:
    assert CHAPTERS
    assert sorted(path.stem for path in (HTML / "notebooks").glob("*.ipynb")) == CHAPTERS


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_is_valid_and_plain_markdown(chapter: str) -> None:
    nbformat.validate(read(chapter))
    assert unresolved(prose(chapter)) == []
    assert dangling(prose(chapter)) == set()


@pytest.mark.parametrize("mark", RAW)
def test_unresolved_myst_would_be_seen(mark: str) -> None:
    assert mark in unresolved(f"See {mark} here.")


def test_a_dangling_link_would_be_seen() -> None:
    assert dangling('[a](#x) [b](#y) <a name="x"></a>') == {"y"}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_numbers_what_the_page_numbers(chapter: str) -> None:
    tags = re.findall(r"\\tag\{([\d.]+)\}", prose(chapter))
    assert tags == re.findall(r'<span class="eqno">\(([\d.]+)\)', page(chapter))
    named = re.findall(r'<span class="caption-number">([A-Z][a-z]+ [\d.]+\d) *</span>', page(chapter))
    assert [name for name in named if f"**{name}**" not in prose(chapter)] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_outputs_are_kept(chapter: str) -> None:
    code = [cell for cell in read(chapter).cells if cell.cell_type == "code"][1:]
    assert all(cell.execution_count for cell in code)
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)
    pictures = [o for cell in code for o in cell.outputs if "image/png" in o.get("data", {})]
    shown = re.findall(r'<img[^>]+src="\.\./\.\./_images/[0-9a-f]{64}\.png"', page(chapter))
    assert len(pictures) == len(shown)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_page_links_to_its_notebook(chapter: str) -> None:
    links = re.search(r'<p class="notebook-links">(.*?)</p>', page(chapter), re.S)
    assert links
    assert re.search(
        rf"https://colab\.research\.google\.com/github/[\w.-]+/[\w.-]+/blob/gh-pages/notebooks/{chapter}\.ipynb",
        links[1],
    )
    assert f'href="../../notebooks/{chapter}.ipynb" download' in links[1]


@pytest.fixture(scope="module")
def clean_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with jax, numpy, a kernel, and the package as a wheel with no dependencies."""
    folder, uv = tmp_path_factory.mktemp("clean"), shutil.which("uv")
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT])
    run(
        [uv, "venv", "--quiet", "--seed", "--python", sys.executable, folder / "environment"]
        if uv
        else [sys.executable, "-m", "venv", folder / "environment"]
    )
    python = folder / "environment" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    run([*install, "--quiet", *pins("jax", "jaxlib", "numpy"), "ipykernel"])
    run([*install, "--quiet", "--no-deps", next(folder.glob("rankone-*.whl"))])
    return python


def pins(*names: str) -> list[str]:
    """The lines of requirements.txt for some packages."""
    return re.findall(rf"^(?:{'|'.join(names)})==[^\s;]+", (ROOT / "requirements.txt").read_text("utf-8"), re.M)


def run(command: list[object]) -> str:
    done = subprocess.run([*map(str, command)], cwd=ROOT, env=CLEAN, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def kernels(clean_python: Path, tmp_path_factory: pytest.TempPathFactory) -> KernelSpecManager:
    """Where to find the kernel of the clean environment, as `clean`."""
    folder = tmp_path_factory.mktemp("kernels")
    command = [str(clean_python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "clean").mkdir()
    (folder / "clean" / "kernel.json").write_text(json.dumps({"argv": command, "language": "python"}))
    return KernelSpecManager(kernel_dirs=[str(folder)])


@pytest.fixture(scope="module")
def executions(
    kernels: KernelSpecManager, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[nbformat.NotebookNode]]]:
    """The notebooks, executed two at a time: one after the other they would outlast all other tests."""
    installing = Lock()  # set-up cells install what they miss, one at a time

    def execute(chapter: str) -> nbformat.NotebookNode:
        notebook, folder = read(chapter), tmp_path_factory.mktemp(chapter)
        for cell in notebook.cells:
            cell.pop("execution_count", None)
        manager = KernelManager(kernel_name="clean", kernel_spec_manager=kernels)
        client = NotebookClient(notebook, km=manager, timeout=300, resources={"metadata": {"path": str(folder)}})
        setup = next(number for number, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        with (folder / "log").open("wb") as log:
            options = {"env": CLEAN, "stdout": log, "stderr": log, "cleanup_kc": True}
            with client.setup_kernel(**options):
                for number, cell in enumerate(notebook.cells):
                    with installing if number == setup else nullcontext():
                        client.execute_cell(cell, number)
        return notebook

    pool = ThreadPoolExecutor(2)
    yield {chapter: pool.submit(execute, chapter) for chapter in CHAPTERS}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_runs_from_top_to_bottom_in_a_clean_environment(
    chapter: str, executions: dict[str, Future[nbformat.NotebookNode]]
) -> None:
    ran = executions[chapter].result()
    assert all(cell.get("execution_count") for cell in ran.cells if cell.cell_type == "code")


def test_the_notebooks_leave_jax_as_it_is(clean_python: Path, executions: dict[str, Future]) -> None:
    wait(executions.values())
    ask = "import importlib.metadata as m; print(*(f'{name}=={m.version(name)}' for name in ('jax', 'jaxlib')))"
    assert run([clean_python, "-c", ask]).split() == pins("jax", "jaxlib")
