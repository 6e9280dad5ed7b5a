"""A chapter's executed cell in the form of its notebook, with outputs that can be read
without a kernel.

Figures that the build recorded become the lines that `measured` prints in a notebook. A
picture has its text for readers who cannot see it. An explorer is a still picture until
the cell is run.
"""

from collections.abc import Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import nbformat

from extensions.claims.links import figure_of, formats
from extensions.notebooks.plain_markdown import PlainMarkdown
from extensions.pages.stills import VIEW, Shown, in_notebook
from rankone_book.claims import line
from rankone_book.figures import PHONE

RECORD = "application/papermill.record/"
PICTURES = ("image/", "application/vnd.plotly")
# metadata that folds a cell in JupyterLab and in Colab
FOLDED = {
    "jupyter": {"source_hidden": True},
    "cellView": "form",
}


def kept_cell(
    cell: Any, index: int, page: PlainMarkdown, explorers: Mapping[str, Shown]
) -> Any:
    """The cell with this index on its page, for the notebook. `explorers` are those
    that the page shows, by the ids of their models.
    """
    if cell.cell_type != "code":
        return cell
    tags = cell.metadata.get("tags", [])
    metadata = ({"tags": tags} if tags else {}) | (
        FOLDED if {"hide-input", "hide-cell"} & set(tags) else {}
    )
    outputs: list[Any] = []
    format_by_name = formats(page.app.env)
    for recorded, run in groupby(cell.outputs, _is_record):
        together = list(run)
        outputs += [_printed(together, format_by_name)] if recorded else together
    _describe(
        [output for output in outputs if _is_picture(output)],
        page.alternatives.get(index, []),
    )
    for output in outputs:
        output.get("data", {}).pop(PHONE, None)
        if explorer := explorers.get(
            output.get("data", {}).get(VIEW, {}).get("model_id")
        ):
            output.data = _still(
                Path(page.app.srcdir), explorer, page.page + explorer.address
            )
    return nbformat.v4.new_code_cell(
        cell.source,
        outputs=outputs,
        execution_count=cell.execution_count,
        metadata=metadata,
    )


def _is_record(output: Any) -> bool:
    return bool(output.get("data")) and all(
        key.startswith(RECORD) for key in output["data"]
    )


def _printed(records: list[Any], formats: Mapping[str, str]) -> Any:
    lines = (
        line(
            record.metadata["scrapbook"]["name"],
            figure_of(
                record.data[RECORD + "text/plain"], record.metadata, formats
            ).text,
        )
        for record in records
    )
    return nbformat.v4.new_output(
        "stream", name="stdout", text="".join(f"{text}\n" for text in lines)
    )


def _is_picture(output: Any) -> bool:
    return any(key.startswith(PICTURES) for key in output.get("data", {}))


def _describe(pictures: list[Any], alternatives: list[str]) -> None:
    """Give pictures their texts: in `metadata`, where IPython and nbconvert look for
    them, and as plain text, for VS Code.
    """
    for output, text in zip(pictures, alternatives, strict=True):
        if text:
            output.data["text/plain"] = text
            for key in output.data:
                if key.startswith(PICTURES):
                    output.metadata.setdefault(key, {})["alt"] = text


def _still(root: Path, explorer: Shown, address: str) -> dict[str, str]:
    """Output in place of an explorer that was not run. It is no widget, because every
    front end shows a widget without a kernel differently.
    """
    words = f'<p>Interactive figure: run this cell, or <a href="{escape(address)}">open it live</a>.</p>'
    return {
        "text/plain": f"Interactive figure: run this cell, or open it live at {address}",
        "text/html": in_notebook(root, explorer, address) or words,
    }
