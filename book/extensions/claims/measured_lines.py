"""Links each computed number of the text to the cell that computed it.

`` {glue:text}`D-eq2.below` `` pastes the figure that a cell of the page recorded with
`measured("D-eq2", below=value)`, in the format of `claims.yml`. Here the pasted number
becomes a link to that cell, and the argument, `below=value`, is stored with the page. A
name in an f-string, as in `measured("D-eq3", {f"unstable_n{n}": value})`, stands for all
names of its form. In a notebook and in print the number is plain text. The page shows a
cell without the statements that only record figures: they are in the notebook and on the
cards.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from docutils import nodes
from myst_nb.ext.glue.roles import PasteTextRole
from myst_nb.ext.glue.utils import retrieve_glue_data
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from extensions.claims.links import figure_of, formats
from rankone_book.claims import format_of

_logger = logging.getLogger(__name__)
# title of a folded cell: (closed, open)
SETUP = ("Set-up", "Hide the set-up")
# title of a cell that shows nothing
NUMBERS = (
    "How these numbers are computed",
    "Hide how these numbers are computed",
)
PICTURE = ("Code of the figure", "Hide the code of the figure")
CODE = ("Show the code", "Hide the code")
ANY = ".*"  # pattern of the text that an f-string inserts into a key


class number(nodes.Inline, nodes.TextElement):
    """A computed number, by the `key` under which it was recorded, and the id of the
    `cell` that recorded it.
    """


class Line(NamedTuple):
    """An argument of `measured`: the pattern of its keys, and its code."""

    keys: str
    code: str

    @property
    def generality(self) -> tuple[bool, int]:
        """Sort key that is small for a pattern that fits few keys. Of the patterns that
        fit a key, the smallest is used.
        """
        return ANY in self.keys, -len(self.keys.replace(ANY, ""))

    def records(self, key: str) -> bool:
        """True if the argument records the figure of this key."""
        return re.fullmatch(self.keys, key) is not None


class PasteNumber(PasteTextRole):
    """A pasted figure that keeps its key."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Text that MyST-NB pastes, in the format of `claims.yml` and in its own
        node.
        """
        pasted, messages = super().run()
        if not pasted:
            return [], messages
        key = self.text.partition(":")[0]
        record = retrieve_glue_data(self.document, key)
        figure = figure_of(
            record.data["text/plain"],
            record.metadata,
            formats(self.document.settings.env),
        )
        text = nodes.inline(figure.text, figure.text, classes=["pasted-text"])
        self.set_source_info(text)
        return [number("", "", text, key=key)], messages


def measured_lines(source: str) -> list[Line]:
    """The arguments of `measured` in a cell, those for a single key first."""
    lines = [
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and _is_measured(node)
        for line in _arguments(source, node)
    ]
    return sorted(lines, key=lambda line: line.generality)


def _arguments(source: str, call: ast.Call) -> Iterator[Line]:
    """The figures of a call: pattern of the key, and the code that computes it."""
    claim = _pattern(call.args[0])
    for figures in call.args[1:]:
        if isinstance(figures, ast.Dict):
            for name, value in zip(figures.keys, figures.values, strict=True):
                if name is not None:  # not **others
                    code = _code(source, name, value)
                    yield Line(rf"{claim}\.{_pattern(name)}", code)
        else:
            names = figures.key if isinstance(figures, ast.DictComp) else figures
            yield Line(rf"{claim}\.{_pattern(names)}", _code(source, figures))
    for argument in call.keywords:
        if argument.arg:
            key = re.escape(argument.arg.replace("_", "-"))
            yield Line(rf"{claim}\.{key}", _code(source, argument))


def _code(source: str, *nodes: Any) -> str:
    """Source of an argument, or of a name and its value in a mapping."""
    code = ": ".join(ast.get_source_segment(source, node) or "" for node in nodes)
    line = source.splitlines()[nodes[0].lineno - 1]
    indent = len(line) - len(line.lstrip(" "))
    return re.sub(rf"\n {{0,{indent}}}", "\n", code)


def _is_measured(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Name)
        and call.func.id == "measured"
        and bool(call.args)
    )


def _pattern(name: ast.expr) -> str:
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    parts = name.values if isinstance(name, ast.JoinedStr) else [name]
    return "".join(
        re.escape(str(part.value)) if isinstance(part, ast.Constant) else ANY
        for part in parts
    )


def without_bookkeeping(source: str) -> str:
    """A cell without the statements that only record figures, as a reader would write
    it.
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
    """Show a cell without its bookkeeping, or fold the cell if it has nothing else. The
    title of the fold says what is in it.
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
    """True if a cell has three or more imports, and otherwise only assignments, calls
    and functions of one statement.
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
    """Name the cells that record figures, link each number to its cell, and store the
    lines with the page.
    """
    lines: list[tuple[str, Line]] = []
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and (
            source := next(cell.findall(nodes.literal_block), None)
        ):
            records = (
                measured_lines(source.astext())
                if "measured(" in source.astext()
                else []
            )
            if records:
                cell["ids"].append(f"cell-{cell['cell_index']}")
                lines += [(cell["ids"][-1], line) for line in records]
            _tidy(cell, source)
    lines.sort(key=lambda placed: placed[1].generality)
    metadata = app.env.metadata[app.env.docname]
    cells = metadata.setdefault("measured", {})
    format_by_name = formats(app.env)
    metadata["formats"] = {
        pasted["key"]: format_of(pasted["key"], format_by_name)
        for pasted in doctree.findall(number)
    }
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


def outdated(_app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    """Pages that show a figure in another format than `claims.yml` has now."""
    format_by_name = formats(env)
    return [
        docname
        for docname, metadata in env.metadata.items()
        if any(
            fmt != format_of(key, format_by_name)
            for key, fmt in metadata.get("formats", {}).items()
        )
    ]


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
    """Register with Sphinx, in place of MyST-NB's own role."""
    app.setup_extension("myst_nb")
    app.setup_extension("extensions.claims.table")  # which names the file of claims
    app.add_node(number, html=(_visit, _depart))
    app.add_role_to_domain("glue", "text", PasteNumber(), override=True)
    app.connect("doctree-read", place)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
