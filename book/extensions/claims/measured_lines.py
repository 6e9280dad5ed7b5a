"""Each computed number of the text knows the line that computed it: a link to the cell
of its page.

`` {glue:text}`D-eq2.below` `` pastes the figure that a cell of the page recorded with
`measured("D-eq2.below", value)`. Here the paste becomes a link to that cell, and the
page remembers the line. A key in an f-string, as in
`measured(f"D-eq3.unstable_n{n}", …)`, stands for all keys of its form. In a notebook
and in print the number stands alone. The page shows a cell without the statements that
only record: they are in the notebook and on the cards.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole
from sphinx.application import Sphinx
from sphinx.util import logging

_logger = logging.getLogger(__name__)
# What stands over a folded cell: (closed, open)
SETUP = ("Set-up", "Hide the set-up")
# of a cell that shows nothing
NUMBERS = (
    "How these numbers are computed",
    "Hide how these numbers are computed",
)
PICTURE = ("Code of the figure", "Hide the code of the figure")
CODE = ("Show the code", "Hide the code")


class number(nodes.Inline, nodes.TextElement):
    """A computed number, by the `key` under which it was recorded, and the id of the
    `cell` that recorded it.
    """


class Line(NamedTuple):
    """A call of `measured`: the pattern of its keys, and its code."""

    keys: str
    code: str

    def records(self, key: str) -> bool:
        """True if it records the figure of this key."""
        return re.fullmatch(self.keys, key) is not None


class PasteNumber(PasteTextRole):
    """A pasted text that keeps its key."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Text that MyST-NB pastes, in a node of its own."""
        pasted, messages = super().run()
        return [
            number("", "", *pasted, key=self.text.partition(":")[0])
        ] if pasted else [], messages


def measured_lines(source: str) -> Iterator[Line]:
    """The calls of `measured` in a cell, those of one key first."""
    calls = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and _is_measured(node)
    ]
    for call in sorted(calls, key=lambda call: isinstance(call.args[0], ast.JoinedStr)):
        code = ast.get_source_segment(source, call) or ""
        yield Line(
            _pattern(call.args[0]), re.sub(rf"\n {{0,{call.col_offset}}}", "\n", code)
        )


def _is_measured(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Name)
        and call.func.id == "measured"
        and bool(call.args)
    )


def _pattern(key: ast.expr) -> str:
    if isinstance(key, ast.Constant):
        return re.escape(str(key.value))
    parts = key.values if isinstance(key, ast.JoinedStr) else [key]
    return "".join(
        re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+"
        for part in parts
    )


def without_bookkeeping(source: str) -> str:
    """A cell without the statements that only record figures: what a reader would
    write.
    """
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a line for IPython
        return source
    if all(map(_is_bookkeeping, body)):
        return ""
    lines = dict(enumerate(source.splitlines(), 1))
    for node in ast.walk(ast.Module(body, [])):
        for block in (getattr(node, name, None) for name in ("body", "orelse")):
            if isinstance(block, list) and not all(map(_is_bookkeeping, block)):
                dropped = {
                    n
                    for statement in block
                    if _is_bookkeeping(statement)
                    for n in _lines(statement)
                }
                for n in dropped - {
                    n
                    for statement in block
                    if not _is_bookkeeping(statement)
                    for n in _lines(statement)
                }:
                    lines.pop(n, None)
    return "\n".join(lines.values()).strip("\n")


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_bookkeeping(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return [name.name for name in node.names] == ["measured"]
    if isinstance(node, ast.For | ast.With):
        return all(map(_is_bookkeeping, node.body))
    if isinstance(node, ast.Expr):
        return _is_bookkeeping(node.value)
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(_is_bookkeeping, node.elts))
    return isinstance(node, ast.Call) and _is_measured(node)


def _tidy(cell: nodes.container, source: nodes.literal_block) -> None:
    """Show a cell without its bookkeeping, or fold it away where it is nothing else;
    the fold says what is in it.
    """
    if cell.get("hide_mode", "input") != "input":
        return
    code = without_bookkeeping(source.astext())
    if "hide_mode" not in cell and sets_up(source.astext()) and _is_silent(cell):
        cell["hide_mode"] = "input"
        cell["prompt_show"], cell["prompt_hide"] = SETUP
    elif "hide_mode" in cell or not code:
        cell["hide_mode"], cell["prompt_show"], cell["prompt_hide"] = (
            "input",
            *_prompt(cell),
        )
        if cell["prompt_show"] == NUMBERS[0]:
            cell["classes"].append("bookkeeping")
    else:
        source.rawsource = code
        source.clear()
        source += nodes.Text(code)


def sets_up(source: str) -> bool:
    """True if a cell imports from three places or more, and else only configures, and
    defines what takes one line.
    """
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a line for IPython
        return False
    imports = [
        statement
        for statement in body
        if isinstance(statement, ast.Import | ast.ImportFrom)
    ]
    short = [
        statement
        for statement in body
        if isinstance(statement, ast.Assign | ast.Expr)
        or (isinstance(statement, ast.FunctionDef) and len(statement.body) == 1)
    ]
    return 3 <= len(imports) == len(body) - len(short)


def _is_silent(cell: nodes.container) -> bool:
    return all("cell_output" not in part["classes"] for part in cell)


def _prompt(cell: nodes.container) -> tuple[str, str]:
    """Title of the fold of a cell, by what the cell shows when it is closed."""
    shows = [
        node
        for part in cell
        if "cell_output" in part["classes"]
        for node in part.findall(nodes.Element)
    ]
    if any(isinstance(node, nodes.image) for node in shows):
        return PICTURE
    return (
        CODE
        if any(not isinstance(node, nodes.container) for node in shows)
        else NUMBERS
    )


def place(app: Sphinx, doctree: nodes.document) -> None:
    """Name the cells that record figures, let each number link to its cell, and
    remember the lines.
    """
    lines: list[tuple[str, Line]] = []
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and (
            source := next(cell.findall(nodes.literal_block), None)
        ):
            records = (
                list(measured_lines(source.astext()))
                if "measured(" in source.astext()
                else []
            )
            if records:
                cell["ids"].append(f"cell-{cell['cell_index']}")
                lines += [(cell["ids"][-1], line) for line in records]
            _tidy(cell, source)
    lines.sort(key=lambda placed: ".+" in placed[1].keys)
    cells = app.env.metadata[app.env.docname].setdefault("measured", {})
    for pasted in doctree.findall(number):
        cell_and_line = next(
            (entry for entry in lines if entry[1].records(pasted["key"])), None
        )
        if cell_and_line is None:
            _logger.warning(
                "no cell of this page records %r",
                pasted["key"],
                type="measured",
                location=pasted,
            )
            continue
        pasted["cell"] = cell_and_line[0]
        cells[pasted["key"]] = (cell_and_line[0], cell_and_line[1].code)


def _visit(self: Any, node: number) -> None:
    linked = "cell" in node and not any(
        isinstance(ancestor, nodes.reference | nodes.title) for ancestor in _above(node)
    )
    link = {"href": f"#{node['cell']}", "data-figure": node["key"]} if linked else {}
    node["tag"] = "a" if linked else "span"
    self.body.append(self.starttag(node, node["tag"], "", CLASS="number", **link))


def _depart(self: Any, node: number) -> None:
    self.body.append(f"</{node['tag']}>")


def _above(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, in the place of MyST-NB's own role."""
    app.setup_extension("myst_nb")
    app.add_node(number, html=(_visit, _depart))
    app.add_role_to_domain("glue", "text", PasteNumber(), override=True)
    app.connect("doctree-read", place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
