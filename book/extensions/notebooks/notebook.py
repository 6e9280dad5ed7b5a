"""A Colab notebook of each chapter, written when the pages are, and the links to it
under each chapter's title.

It has the outputs of the executed notebook, and the text of the resolved page (see
`plain_markdown`), so that every number and reference in it is that of the page. The
converter sphinx-tojupyter would not do: it runs a second build, strips the outputs, and
garbles theorem anchors, exercise headings and inline mathematics. The first code cell
sets the chapter up (see `setup_cell`).
"""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

from extensions.claims.links import (
    conditions,
    formats,
    read_claims,
    recorded_figures,
)
from extensions.execution.runs import Cost, cost
from extensions.notebooks.cited_works import links_to_works, references, with_references
from extensions.notebooks.kept_outputs import FOLDED, kept_cell
from extensions.notebooks.package_wheel import Wheels, publish
from extensions.notebooks.plain_markdown import Block, PlainMarkdown
from extensions.notebooks.setup_cell import set_up
from extensions.pages.repository import colab, repository, site
from extensions.pages.stills import STATE, shown_in
from rankone_book.claims import format_of

FIGURES = """\
# @title The figures of the page, what must hold of them, and their formats: `measured` shows yours beside them
from rankone_book import claims

claims.compare_with_page({{
{figures}
}})
"""
_logger = logging.getLogger(__name__)
# name of a page → its doctree as this build wrote it
_resolved: dict[str, nodes.document] = {}


def chapters(app: Sphinx) -> list[str]:
    """Pages with a notebook: those with a kernel, in a folder named chapters."""
    return [
        d
        for d in sorted(app.env.found_docs)
        if "/chapters/" in f"/{d}" and "kernelspec" in app.env.metadata[d]
    ]


def notebook_uri(docname: str) -> str:
    """Path of a chapter's notebook from the root of the site."""
    return f"notebooks/{Path(docname).name}.ipynb"


def executed_notebook(
    app: Sphinx, docname: str
) -> tuple[nbformat.NotebookNode, Cost | None]:
    """The chapter's notebook with its outputs, and the cost of its execution.

    MyST-NB writes the outputs beside it unless they came from the cache.
    """
    config = app.env.mystnb_config  # type: ignore[attr-defined]
    notebook = nbformat.read(
        Path(config.output_folder, f"{docname}.ipynb"), as_version=4
    )
    took = cost(config.execution_cache_path, notebook)
    if all(
        cell.execution_count is None
        for cell in notebook.cells
        if cell.cell_type == "code"
    ):
        _, notebook = get_cache(config.execution_cache_path).merge_match_into_notebook(
            notebook
        )
    return notebook, took


def notebook_of(app: Sphinx, docname: str, wheels: Wheels) -> nbformat.NotebookNode:
    """The notebook of a chapter: a title cell, the set-up, then the page's text and the
    executed cells.
    """
    executed, took = executed_notebook(app, docname)
    doctree = _resolved.pop(docname, None) or app.env.get_and_resolve_doctree(
        docname, app.builder
    )
    text = PlainMarkdown(
        app, docname, doctree, site(app), links_to_works(app, site(app))
    )
    blocks = with_references(text.blocks(doctree), references(app, docname))
    for index in text.folded:
        executed.cells[index].metadata.setdefault("tags", []).append("hide-input")
    page = urljoin(site(app), app.builder.get_target_uri(docname))
    title = (
        f"{blocks[0]}\n\nA chapter of *{app.config.html_title}*, [as a page]({page}) "
        "with widgets that need no kernel."
    )
    code = [cell.source for cell in executed.cells if cell.cell_type == "code"]
    explorers = shown_in(executed.metadata.get("widgets", {}).get(STATE, {}))
    cells = [
        nbformat.v4.new_markdown_cell(title),
        nbformat.v4.new_code_cell(
            set_up(Path(app.srcdir), code, wheels, page, took), metadata=FOLDED
        ),
        *figures_cell(app, docname),
        *_cells(
            blocks[1:],
            [
                kept_cell(cell, n, text, explorers)
                for n, cell in enumerate(executed.cells)
            ],
        ),
    ]
    for n, cell in enumerate(cells):
        cell["id"] = f"{Path(docname).name}-{n}"
    metadata = {
        key: executed.metadata[key]
        for key in ("kernelspec", "language_info")
        if key in executed.metadata
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def figures_cell(app: Sphinx, docname: str) -> list[Any]:
    """A folded cell with the page's figures, the conditions on them and their formats,
    with which `measured` compares those of the notebook.
    """
    condition_of = conditions(read_claims(Path(app.srcdir, app.config.claims_file)))
    figures = recorded_figures(app.env).get(docname, {})
    if not figures:
        return []
    format_by_name = formats(app.env)
    rows = {
        key: [figure.text, condition_of.get(key, ""), format_of(key, format_by_name)]
        for key, figure in figures.items()
    }
    lines = (
        f"    {json.dumps(key)}: {json.dumps(row, ensure_ascii=False)},"
        for key, row in rows.items()
    )
    return [
        nbformat.v4.new_code_cell(
            FIGURES.format(figures="\n".join(lines)), metadata=dict(FOLDED)
        )
    ]


def _cells(blocks: list[Block], executed: list[Any]) -> list[Any]:
    """Cells of text between the cells of code. Cells that the page does not show at all
    keep their places.
    """
    cells: list[Any] = []
    text: list[str] = []
    position = 0

    def flush() -> None:
        if text:
            cells.append(nbformat.v4.new_markdown_cell("\n\n".join(text)))
            text.clear()

    for block in [*blocks, len(executed)]:
        if isinstance(block, int):
            flush()
            cells += [
                cell
                for cell in executed[position : block + 1]
                if cell.cell_type == "code"
            ]
            position = block + 1
        else:
            if re.match(r"(<a id.*\n\n)?#+ ", block):
                flush()
            text.append(block)
    return cells


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html" or not repository(app)[0]:
        return
    wheels = publish(Path(app.srcdir), Path(app.outdir), site(app))
    for docname in chapters(app):
        path = Path(app.outdir, notebook_uri(docname))
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook_of(app, docname, wheels), path)


def _remember(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if docname in chapters(app):
        _resolved[docname] = doctree


def _links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if (
        app.builder.name != "html"
        or docname not in chapters(app)
        or not repository(app)[0]
    ):
        return
    file = relative_uri(app.builder.get_target_uri(docname), notebook_uri(docname))
    html = (
        f'<p class="notebook-links"><a href="{colab(app, notebook_uri(docname))}">Open in Colab</a> '
        f'<a href="{file}" download>Download the notebook</a></p>'
    )
    title = next(doctree.findall(nodes.title))
    title.parent.insert(1, nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Link to each chapter's notebook, and write it when the pages are written."""
    app.add_css_file("notebooks.css")
    app.connect("doctree-resolved", _links)
    app.connect("doctree-resolved", _remember, priority=900)  # after the others
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
