"""A chapter's executed cell as its notebook keeps it: with outputs that say something
also where nothing runs.

Figures that the build recorded become the lines that `measured` prints in a notebook; a
picture carries its text for those who cannot see it, and an explorer is its still until
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
# in JupyterLab and in Colab
FOLDED = {
    "jupyter": {"source_hidden": True},
    "cellView": "form",
}


def kept_cell(
    cell: Any, index: int, page: PlainMarkdown, explorers: Mapping[str, Shown]
) -> Any:
    """The cell of this index on its page, for the notebook; `explorers` are those it
    shows, by their models.
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
    """Give pictures their texts: in `metadata`, as IPython and nbconvert have it, and
    as plain text, for VS Code.
    """
    for output, text in zip(pictures, alternatives, strict=True):
        if text:
            output.data["text/plain"] = text
            for key in output.data:
                if key.startswith(PICTURES):
                    output.metadata.setdefault(key, {})["alt"] = text


def _still(root: Path, explorer: Shown, address: str) -> dict[str, str]:
    """Output that a front end shows of an explorer that was not run: no widget, of
    which each makes something else.
    """
    words = f'<p>Interactive figure: run this cell, or <a href="{escape(address)}">open it live</a>.</p>'
    return {
        "text/plain": f"Interactive figure: run this cell, or open it live at {address}",
        "text/html": in_notebook(root, explorer, address) or words,
    }
