"""A Colab notebook of each chapter, written when the pages are, and the links to it under each chapter's title.

The notebook is the executed one, outputs kept, its text taken from the resolved page (see `plain_markdown`), so that
every number and reference in it is the page's own. The converter sphinx-tojupyter was weighed and left: it runs a
second build, strips the outputs, and garbles theorem anchors, exercise headings and inline mathematics.

The first code cell sets the chapter up: it installs the book's package with no dependencies, then only what is
missing, and never jax, whose GPU build a fresh install would replace. The repository is the one of `_config.yml`.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from plain_markdown import Block, PlainMarkdown
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

PROVIDED = {"jax", "jaxlib", "numpy", "rankone"}  # never installed by a notebook, or installed on its own
SETUP = """\
# Set-up. Installs the book's package if it is missing, then only what else is; jax stays as it is, with its GPU.
import importlib.util, subprocess, sys

def install(*packages):
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", *packages])

if importlib.util.find_spec("rankone") is None:
    install("--no-deps", "rankone @ git+{repository}@{branch}")
needed = {needed}
missing = [package for module, package in needed.items() if importlib.util.find_spec(module) is None]
if missing:
    install(*missing)
if "google.colab" in sys.modules:
    from google.colab import output
    output.enable_custom_widget_manager()
"""
_logger = logging.getLogger(__name__)


def chapters(app: Sphinx) -> list[str]:
    """Pages with a notebook: those with a kernel, in a folder named chapters."""
    return [d for d in sorted(app.env.found_docs) if "/chapters/" in f"/{d}" and "kernelspec" in app.env.metadata[d]]


def notebook_uri(docname: str) -> str:
    """Where the notebook of a chapter lies, from the root of the site."""
    return f"notebooks/{Path(docname).name}.ipynb"


def repository(app: Sphinx) -> tuple[str, str]:
    """The repository's address and branch, from _config.yml."""
    options = app.config.html_theme_options
    return (options.get("repository_url") or "").rstrip("/"), options.get("repository_branch") or "main"


def site(app: Sphinx) -> str:
    """Address of the published book: html_baseurl, or GitHub's address for the repository's pages."""
    if app.config.html_baseurl:
        return app.config.html_baseurl.rstrip("/") + "/"
    owner, name = urlsplit(repository(app)[0]).path.strip("/").split("/")
    return f"https://{owner}.github.io/{name}/"


def colab(app: Sphinx, docname: str) -> str:
    """Address that opens the published notebook in Colab."""
    path = urlsplit(repository(app)[0]).path.strip("/")
    return f"https://colab.research.google.com/github/{path}/blob/gh-pages/{notebook_uri(docname)}"


def imported(source: str, everywhere: bool = True) -> set[str]:
    """Modules that a source imports: anywhere, or only where importing it runs them."""
    tree = ast.parse(re.sub(r"^[%!].*", "", source, flags=re.MULTILINE))
    found: set[str] = set()
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {".".join(parts[:n]) for name in found for parts in [name.split(".")] for n in range(1, len(parts) + 1)}


def needed(root: Path, sources: list[str]) -> dict[str, str]:
    """Modules that a chapter needs beyond what Colab and jax bring, with the package that holds each.

    Args:
        root: Root of the repository, with its pyproject.toml; the book's package lies under src.
        sources: The chapter's code cells.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = {re.split(r"[^\w.]", requirement)[0] for requirement in project["dependencies"]}
    named = base.union(*map(imported, sources))
    waiting, seen = set(named), set[str]()
    while waiting:
        seen.add(module := waiting.pop())
        stem = root.joinpath("src", *module.split("."))
        for file in (stem.with_suffix(".py"), stem / "__init__.py"):
            if module.startswith("rankone") and file.is_file():
                # what a cell names it may call, functions that import included; what lies below is only loaded
                waiting |= imported(file.read_text(encoding="utf-8"), everywhere=module in named) - seen
    tops = {module.partition(".")[0] for module in seen} - PROVIDED - set(sys.stdlib_module_names)
    packages = _packages()
    return {module: packages[module][0] for module in sorted(tops & set(packages))}


@cache
def _packages() -> Mapping[str, list[str]]:
    """Top-level modules of this environment, with the packages that hold them: every file of each is looked at."""
    return packages_distributions()


def executed_notebook(app: Sphinx, docname: str) -> nbformat.NotebookNode:
    """The chapter's notebook with its outputs: MyST-NB writes them beside it unless they came from the cache."""
    config = app.env.mystnb_config  # type: ignore[attr-defined]
    notebook = nbformat.read(Path(config.output_folder, f"{docname}.ipynb"), as_version=4)
    if all(cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code"):
        _, notebook = get_cache(config.execution_cache_path).merge_match_into_notebook(notebook)
    return notebook


def notebook_of(app: Sphinx, docname: str) -> nbformat.NotebookNode:
    """The notebook of a chapter: a title cell, the set-up, then the page's text and the executed cells."""
    executed = executed_notebook(app, docname)
    doctree = app.env.get_and_resolve_doctree(docname, app.builder)
    text = PlainMarkdown(app, docname, doctree, site(app))
    blocks = text.blocks(doctree) + references(app, docname)
    for index in text.folded:
        executed.cells[index].metadata.setdefault("tags", []).append("hide-input")
    page = urljoin(site(app), app.builder.get_target_uri(docname))
    title = (
        f"{blocks[0]}\n\nA chapter of *{app.config.html_title}*, [as a page]({page}) with widgets that need no kernel."
    )
    code = [cell.source for cell in executed.cells if cell.cell_type == "code"]
    address, branch = repository(app)
    setup = SETUP.format(repository=address, branch=branch, needed=json.dumps(needed(Path(app.srcdir), code)))
    cells = [
        nbformat.v4.new_markdown_cell(title),
        nbformat.v4.new_code_cell(setup),
        *_cells(blocks[1:], executed.cells),
    ]
    for n, cell in enumerate(cells):
        cell["id"] = f"{Path(docname).name}-{n}"
    metadata = {
        key: executed.metadata[key] for key in ("kernelspec", "language_info", "widgets") if key in executed.metadata
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def _cells(blocks: list[Block], executed: list[Any]) -> list[Any]:
    """Text in cells of its own between the code; code that the page hides altogether keeps its place."""
    made: list[Any] = []
    text: list[str] = []
    done = 0

    def flush() -> None:
        if text:
            made.append(nbformat.v4.new_markdown_cell("\n\n".join(text)))
            text.clear()

    for block in [*blocks, len(executed)]:
        if isinstance(block, int):
            flush()
            made += [_code_cell(cell) for cell in executed[done : block + 1] if cell.cell_type == "code"]
            done = block + 1
        else:
            if re.match(r"(<a name.*\n\n)?#+ ", block):
                flush()
            text.append(block)
    return made


def _code_cell(cell: Any) -> Any:
    outputs = [o for o in cell.outputs if not _only_a_record(o)]
    tags = cell.metadata.get("tags", [])
    hidden = {"jupyter": {"source_hidden": True}, "cellView": "form"} if {"hide-input", "hide-cell"} & set(tags) else {}
    metadata = {"tags": tags, **hidden} if tags else {}
    return nbformat.v4.new_code_cell(
        cell.source, outputs=outputs, execution_count=cell.execution_count, metadata=metadata
    )


def _only_a_record(output: Any) -> bool:
    return bool(output.get("data")) and all(key.startswith("application/papermill.record/") for key in output["data"])


def references(app: Sphinx, docname: str) -> list[Block]:
    """The works that the chapter cites."""
    from pybtex.backends.markdown import Backend

    domain: Any = app.env.get_domain("cite")
    keys = {target.key for ref in domain.citation_refs if ref.docname == docname for target in ref.targets}
    entries = {c.key: c.formatted_entry.text.render(Backend()) for c in domain.citations if c.key in keys}
    links = {c.key: c.citation_id for c in domain.citations}
    lines = [f'- <a name="{links[key]}"></a>{" ".join(text.split())}' for key, text in sorted(entries.items())]
    return ["## References", "\n".join(lines)] if lines else []


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html" or not repository(app)[0]:
        return
    for docname in chapters(app):
        path = Path(app.outdir, notebook_uri(docname))
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook_of(app, docname), path)


def _links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if app.builder.name != "html" or docname not in chapters(app) or not repository(app)[0]:
        return
    file = relative_uri(app.builder.get_target_uri(docname), notebook_uri(docname))
    html = (
        f'<p class="notebook-links"><a href="{colab(app, docname)}">Open in Colab</a> '
        f'<a href="{file}" download>Download the notebook</a></p>'
    )
    title = next(doctree.findall(nodes.title))
    title.parent.insert(1, nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Link to each chapter's notebook, and write it when the pages are written."""
    app.add_css_file("notebooks.css")
    app.connect("doctree-resolved", _links)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
