"""The first code cell of each notebook installs this build, reinstalls nothing, and
reports what fails.
"""

import ast
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from jupyter_cache import get_cache
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from extensions.execution.runs import Executor, cost, peak_megabytes
from extensions.notebooks.package_wheel import PACKAGES, Wheels, commit, fingerprint
from extensions.notebooks.setup_cell import needed, set_up
from extensions.pages.repository import colab, read_environment, repository, site

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
CHAPTERS = sorted(
    p.stem
    for p in (ROOT / "book" / "chapters").glob("*.md")
    if "kernelspec" in p.read_text("utf-8")
)
PAGE = "https://example.org/book/page.html"
# port of the discard service, on which nothing listens
CLOSED = "http://127.0.0.1:9/rankone-0.1.0-py3-none-any.whl"


def written(chapter: str) -> str:
    """The set-up cell of a chapter's notebook."""
    notebook = nbformat.read(HTML / "notebooks" / f"{chapter}.ipynb", as_version=4)
    return next(cell.source for cell in notebook.cells if cell.cell_type == "code")


def constant(cell: str, name: str) -> Any:
    return ast.literal_eval(re.search(rf"^{name} = ([^#\n]*)", cell, re.M)[1])  # type: ignore[index]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_set_up_cell_never_installs_jax(chapter: str) -> None:
    packages = constant(written(chapter), "NEEDED")
    assert not {"jax", "jaxlib", "numpy", "rankone", "rankone_book", "rankone-book"} & {
        *packages,
        *packages.values(),
    }


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_set_up_cell_installs_the_wheels_of_this_build(chapter: str) -> None:
    cell = written(chapter)
    files = sorted((HTML / "wheels").glob("*/*.whl"))
    assert [file.name.partition("-")[0] for file in files] == [*PACKAGES]
    for address, file in zip(constant(cell, "WHEELS"), files, strict=True):
        assert re.fullmatch(
            r"https://.+/wheels/([\d.]+)-[\w-]+/\w+-\1-py3-none-any\.whl", address
        )
        assert address.endswith(
            f"/wheels/{file.relative_to(HTML / 'wheels').as_posix()}"
        )
    assert constant(cell, "FILES") == fingerprint(*files)
    assert "git+" not in cell


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_set_up_cell_contains_the_seconds_that_the_chapter_took(
    chapter: str,
) -> None:
    line = written(chapter).splitlines()[-1]
    assert float(re.search(r"seconds=([\d.]+)", line)[1]) > 0  # type: ignore[index]
    if (megabytes := re.search(r"megabytes=([\d.]+)", line)) is not None:
        assert 100 < float(megabytes[1]) < 10_000


@pytest.mark.skipif(
    sys.platform != "linux", reason="Linux alone tells the peak of a process"
)
def test_the_set_up_cells_contain_the_memory_that_chapters_used() -> None:
    """One chapter may lack the number: a chapter that ran into its time limit, which
    MyST-NB then executes itself.
    """
    assert (
        sum("megabytes=None" not in written(chapter) for chapter in CHAPTERS)
        >= len(CHAPTERS) - 1
    )


def test_what_a_chapter_needs_is_found_through_the_package(tmp_path: Path) -> None:
    (tmp_path / "src" / "rankone").mkdir(parents=True)
    (tmp_path / "src" / "rankone" / "__init__.py").write_text("import jax\n")
    (tmp_path / "src" / "rankone" / "figures.py").write_text(
        "import cycler, matplotlib\n\ndef f(): import plotly\n"
    )
    (tmp_path / "src" / "rankone" / "shown.py").write_text(
        "from rankone import figures\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["jax>=0.10", "tqdm>=4"]\n'
    )
    assert set(needed(tmp_path, ["import rankone as ro\nimport re"])) == {"tqdm"}
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import otter\n"
    (tmp_path / "src" / "rankone" / "__init__.py").write_text(typed)
    assert set(needed(tmp_path, ["import rankone as ro\nimport re"])) == {"tqdm"}
    assert set(needed(tmp_path, ["from rankone.figures import f"])) == {
        "tqdm",
        "matplotlib",
        "plotly",
    }
    # matplotlib depends on cycler, which is therefore not listed
    assert set(needed(tmp_path, ["from rankone.shown import g"])) == {
        "tqdm",
        "matplotlib",
    }
    assert (
        needed(tmp_path, ["def g():\n    import sklearn"])["sklearn"] == "scikit-learn"
    )


def book(url: str, base: str = "") -> Any:
    options = {"repository_url": url, "repository_branch": "main"}
    return SimpleNamespace(
        config=SimpleNamespace(html_theme_options=options, html_baseurl=base)
    )


def test_a_forks_addresses_follow_from_its_repository_in_the_configuration() -> None:
    fork = book("https://github.com/Someone/their-book/")
    assert repository(fork) == ("https://github.com/Someone/their-book", "main")
    assert site(fork) == "https://someone.github.io/their-book/"
    assert colab(fork, "a.ipynb").endswith(
        "/github/Someone/their-book/blob/gh-pages/a.ipynb"
    )
    assert (
        site(book("https://github.com/Someone/someone.github.io"))
        == "https://someone.github.io/"
    )
    assert (
        site(book("https://github.com/a/b", base="https://book.org"))
        == "https://book.org/"
    )


def test_a_fork_built_on_github_needs_no_change_of_the_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fork = book("https://github.com/rank/one")
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    read_environment(fork, fork.config)
    assert repository(fork)[0] == "https://github.com/rank/one"
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/their-book")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    read_environment(fork, fork.config)
    assert repository(fork)[0] == "https://github.com/someone/their-book"
    assert site(fork) == "https://someone.github.io/their-book/"


def test_the_name_of_the_wheels_folder_has_the_commit_and_marks_uncommitted_changes(
    tmp_path: Path,
) -> None:
    assert commit(tmp_path) == "no-commit"
    git = [
        "git",
        "-C",
        str(tmp_path),
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
    ]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run(
        [*git, "commit", "--quiet", "--allow-empty", "--message", "one"], check=True
    )
    assert re.fullmatch("[0-9a-f]{7,}", commit(tmp_path))
    (tmp_path / "new").touch()
    assert re.fullmatch("[0-9a-f]{7,}-changed", commit(tmp_path))


@pytest.mark.skipif(
    sys.platform != "linux", reason="Linux alone tells the peak of a process"
)
def test_the_peak_memory_of_a_chapter_is_in_the_cache_and_not_in_its_key(
    tmp_path: Path,
) -> None:
    cell = nbformat.v4.new_code_cell("held = bytearray(300_000_000)\ndel held")
    notebook = nbformat.v4.new_notebook(
        cells=[cell], metadata={"kernelspec": {"name": "python3", "display_name": ""}}
    )
    nbformat.write(notebook, tmp_path / "one.ipynb")
    cache = get_cache(str(tmp_path / "cache"))
    cache.add_nb_to_project(str(tmp_path / "one.ipynb"))
    assert cost(str(tmp_path / "cache"), notebook) is None
    Executor(cache).run_and_cache(timeout=60)
    took = cost(str(tmp_path / "cache"), notebook)
    assert took is not None
    assert took.seconds > 0
    assert took.megabytes is not None
    assert 300 < took.megabytes < 700
    assert peak_megabytes(None) is None


# The cell as a reader runs it: in a kernel with jax and without rankone, with a server
# that has this build's wheels.


def wheel_of(
    folder: Path,
    files: dict[str, str],
    name: str = "rankone",
    version: str = "0.1.0",
    needs: str = "",
) -> Path:
    """A wheel with these files."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + needs
    files = files | {
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
    }
    digests = {
        path: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
        for path, text in files.items()
    }
    record = [
        f"{path},sha256={digest.decode().rstrip('=')},"
        for path, digest in digests.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in (
            files | {f"{info}/RECORD": "\n".join([*record, f"{info}/RECORD,,"])}
        ).items():
            archive.writestr(path, text)
    return wheel


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A site with this build's wheels, and the requests it has received."""
    folder = tmp_path_factory.mktemp("site")
    requests = list[str]()
    published = sorted((HTML / "wheels").glob("*/*.whl"))
    for file in published:
        shutil.copy(file, folder)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, text: str, *values: Any) -> None:
            requests.append(text % values)

    served = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Handler, directory=str(folder))
    )
    Thread(target=served.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{served.server_port}/"
    wheels = [address + file.name for file in published]
    yield SimpleNamespace(
        folder=folder,
        requests=requests,
        address=address,
        wheels=wheels,
        files=published,
    )
    served.shutdown()
    served.server_close()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A kernel with the packages of this environment, but no rankone; `run` returns the
    output of a cell, or its error.
    """
    folder = tmp_path_factory.mktemp("reader")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = Path(
        subprocess.run(
            [python, "-c", ask], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    # The packages of this environment are found by their path. The .pth files among
    # them, such as rankone's, have no effect there.
    (own / "shared.pth").write_text(sysconfig.get_path("purelib"))
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (folder / "reader").mkdir()
    (folder / "reader" / "kernel.json").write_text(
        json.dumps({"argv": command, "language": "python"})
    )
    manager = KernelManager(
        kernel_name="reader",
        kernel_spec_manager=KernelSpecManager(
            kernel_dirs=[str(folder)], ensure_native_kernel=False
        ),
    )
    notebook = nbformat.v4.new_notebook()
    client = NotebookClient(notebook, km=manager, timeout=120)
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "PIP_"))
    }

    def run(source: str) -> SimpleNamespace:
        cell = nbformat.v4.new_code_cell(source)
        notebook.cells.append(cell)
        with suppress(CellExecutionError):
            client.execute_cell(cell, len(notebook.cells) - 1)
        errors = [
            output.traceback for output in cell.outputs if output.output_type == "error"
        ]
        return SimpleNamespace(
            text="".join(o.get("text", "") for o in cell.outputs),
            error=errors and errors[0],
        )

    with client.setup_kernel(env=environment, cleanup_kc=True):
        yield SimpleNamespace(run=run, python=python, own=own)


@pytest.fixture
def bare(reader: SimpleNamespace) -> Callable[[str], SimpleNamespace]:
    """The kernel's `run`, after the packages that an earlier test installed are
    removed.
    """
    for folder in [
        *reader.own.glob("rankone*"),
        *reader.own.glob("greedy*"),
        *reader.own.glob("jax*"),
    ]:
        shutil.rmtree(folder)
    reader.run(FORGET)
    return reader.run


FORGET = "import importlib, sys\nfor name in [n for n in sys.modules if n[:7] == 'rankone']: del sys.modules[name]\n"
FORGET += "importlib.invalidate_caches()"
OLD = {
    "rankone": {"rankone/__init__.py": "old = True"},
    "rankone_book": {
        "rankone_book/__init__.py": "",
        "rankone_book/notebook.py": "def report(*a, **k): print('the old one', a)",
    },
}


def cell(
    addresses: list[str],
    files: Sequence[Path] = (),
    needed: dict[str, str] | None = None,
) -> str:
    wheels = Wheels(
        addresses, "0.1.0-abcdef0", fingerprint(*files) if files else "0" * 12
    )
    source = set_up(ROOT, [], wheels, PAGE, None)
    return re.sub("^NEEDED = .*", f"NEEDED = {needed or {}}", source, flags=re.M)


def install(reader: SimpleNamespace, wheel: Path) -> None:
    subprocess.run(
        [reader.python, "-m", "pip", "install", "--quiet", "--no-deps", wheel],
        check=True,
    )


def test_the_cell_installs_the_wheels_once_and_says_on_what_it_runs(
    bare: Callable[[str], SimpleNamespace], server: SimpleNamespace
) -> None:
    first = bare(cell(server.wheels, server.files))
    assert not first.error
    assert re.search(
        r"1 × cpu · Python 3\.\d+\.\d+ · jax [\d.]+ \(tested: [\d.]+ to [\d.]+\) · rankone 0.1.0-abcdef0\n",
        first.text,
    )
    count = len(server.requests)
    assert count
    again = bare(FORGET) and bare(cell(server.wheels, server.files))
    assert again.text == first.text
    assert len(server.requests) == count


def test_a_wheel_that_does_not_exist_gives_one_sentence(
    bare: Callable[[str], SimpleNamespace], server: SimpleNamespace
) -> None:
    dead_address = server.address + "gone/rankone-0.1.0-py3-none-any.whl"
    assert bare(cell([dead_address])).error == [
        f"{dead_address} is not there (any more): take this notebook anew from {PAGE}."
    ]


def test_a_missing_network_gives_one_sentence(
    bare: Callable[[str], SimpleNamespace],
) -> None:
    report = bare(cell([CLOSED]))
    assert report.error == [
        f"pip could not install {CLOSED}: check the network, then run this cell again."
    ]


def test_the_cell_replaces_the_package_of_another_build_in_a_running_kernel(
    bare: Callable[[str], SimpleNamespace],
    reader: SimpleNamespace,
    server: SimpleNamespace,
    tmp_path: Path,
) -> None:
    for name, files in OLD.items():
        install(reader, wheel_of(tmp_path, files, name=name))
    assert bare("import rankone; print(rankone.old)").text == "True\n"
    report = bare(cell(server.wheels, server.files))
    assert report.text.startswith(
        "The rankone that is installed here is not of this notebook's build: "
        "replacing it.\n"
    )
    assert report.text.endswith("rankone 0.1.0-abcdef0\n")
    assert bare("import rankone; print(hasattr(rankone, 'old'))").text == "False\n"


def test_without_a_network_the_installed_package_of_another_build_is_used(
    bare: Callable[[str], SimpleNamespace], reader: SimpleNamespace, tmp_path: Path
) -> None:
    for name, files in OLD.items():
        install(reader, wheel_of(tmp_path, files, name=name))
    report = bare(cell([CLOSED]))
    assert not report.error
    assert (
        "check the network, then run this cell again. Until then the installed one is "
        "used.\n" in report.text
    )
    assert report.text.endswith("the old one ('of another build',)\n")


def test_a_development_install_is_left_alone(
    bare: Callable[[str], SimpleNamespace], reader: SimpleNamespace
) -> None:
    bare(f"sys.path.insert(0, {str(ROOT / 'src')!r})")
    report = bare(cell([CLOSED]))
    bare("sys.path.pop(0)")
    assert not report.error
    assert re.fullmatch("1 × .* rankone in development\n", report.text)


def test_a_package_that_needs_another_jax_is_not_installed_and_jax_stays(
    bare: Callable[[str], SimpleNamespace],
    reader: SimpleNamespace,
    server: SimpleNamespace,
) -> None:
    for name, needs in (("jax", ""), ("greedy", "Requires-Dist: jax>=99\n")):
        wheel_of(
            server.folder / "index",
            {f"{name}/__init__.py": ""},
            name=name,
            version="99.0",
            needs=needs,
        )
    options = f"greedy --no-index --find-links {server.folder / 'index'}"
    report = bare(cell(server.wheels, server.files, {"greedy": options}))
    assert report.error == [
        "pip could not install greedy: check the network, then run this cell again."
    ]
    assert not [*reader.own.glob("jax*")]


def test_an_older_jax_gives_one_sentence(
    bare: Callable[[str], SimpleNamespace], reader: SimpleNamespace, tmp_path: Path
) -> None:
    advice = "rankone needs a newer jax."
    refusing = wheel_of(
        tmp_path, {"rankone/__init__.py": f"raise ImportError({advice!r})"}
    )
    install(reader, refusing)
    assert bare(cell([CLOSED], [refusing])).error == [advice]


def test_the_cell_asks_for_jax_where_there_is_none(reader: SimpleNamespace) -> None:
    # -S: without the folders of packages
    alone = [
        reader.python,
        "-S",
        "-c",
        cell([CLOSED]),
    ]
    done = subprocess.run(alone, capture_output=True, text=True)
    assert "Advice: This notebook needs jax: install it as docs.jax.dev" in done.stderr
