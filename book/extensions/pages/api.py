"""The reference of the package, made by autodoc from its docstrings.

Autodoc and napoleon do the work. Five rules are particular to this package. Types are
shown as the source writes them, with their shapes. The id of a claim links to its row.
A name in backticks links to its entry, if it has one. Functions under jit are
documented as functions. An object that the first page shows in full is only named on
the page of its part.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.ext.autodoc import FunctionDocumenter, ModuleDocumenter, PropertyDocumenter
from sphinx.util.docutils import SphinxRole

import rankone
from extensions.claims.links import read_claims
from extensions.claims.table import pending_target

# spans with markup: roles, code
SPANS = re.compile(r"(:\w+:`[^`]*`|``[^`]*``|`[^`]*`)")
# doctest examples, each up to an empty line
EXAMPLE = re.compile(r"(^[ ]*>>> .*(?:\n[ ]*\S.*)*)", re.MULTILINE)
ID = re.compile(r"(?<![\w-])[A-Z]-\w+(?:-\w+)*")
KINDS = {"class", "function", "exception"}
# private names of types that a public signature uses
ALIASES = {"_Function": "str | Callable"}


class JittedDocumenter(FunctionDocumenter):
    """Documents a function under `jax.jit`, or with a custom derivative, as a
    function.
    """

    objtype = "jitted"
    directivetype = "function"
    priority = FunctionDocumenter.priority + 1

    @classmethod
    def can_document_member(
        cls, member: Any, membername: str, isattr: bool, parent: Any
    ) -> bool:
        """True if it wraps a function that belongs to a module."""
        wraps = (
            callable(member)
            and not inspect.isclass(member)
            and hasattr(member, "__wrapped__")
        )
        return wraps and isinstance(parent, ModuleDocumenter)


class AsWritten(PropertyDocumenter):
    """Documents a property with its type as the source writes it."""

    priority = PropertyDocumenter.priority + 1

    def add_line(self, line: str, source: str, *lineno: int) -> None:
        """Add a line; the line with the type is replaced."""
        if line.strip().startswith(":type: "):
            line = f"   :type: {dict(_annotations(self.object.fget))['return']}"
        super().add_line(line, source, *lineno)


class Claim(SphinxRole):
    """The id of a claim, as a link to its row."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The link, whose text is the id. An id that another row includes leads to that
        row.
        """
        claim = _claims(Path(self.env.srcdir, self.config.claims_file))[self.text]
        return [
            pending_target("", nodes.Text(self.text), kind="claims", claim=claim)
        ], []


@cache
def _claims(path: Path) -> dict[str, str]:
    """Id of each claim -> id of the row of claims.yml that contains it."""
    return {
        name: row["id"]
        for row in read_claims(path)
        for name in [row["id"], *row.get("includes", [])]
    }


def keep(
    app: Sphinx, kind: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Save the docstring of a property from napoleon, which takes all text before a
    colon for its type.
    """
    app.env.temp_data["as_it_was"] = (
        [*lines] if kind in ("attribute", "data", "property") else None
    )


def to_markup(
    app: Sphinx, _kind: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Make reST of a docstring, which is plain text with code in backticks: stars and
    bars are literal.
    """
    lines[:] = app.env.temp_data["as_it_was"] or lines
    claims = _claims(Path(app.srcdir, app.config.claims_file))
    parts = EXAMPLE.split("\n".join(lines))
    parts[::2] = [_marked_up(part, claims) for part in parts[::2]]
    lines[:] = "".join(parts).split("\n")


def _marked_up(text: str, claims: dict[str, str]) -> str:
    """Markup for the prose of a docstring between examples."""
    parts = SPANS.split(re.sub(r"\$([^$`]+)\$", r":math:`\1`", text))

    def linked(match: re.Match[str]) -> str:
        return f":claim-id:`{match[0]}`" if match[0] in claims else match[0]

    parts[::2] = [ID.sub(linked, _plain(part)) for part in parts[::2]]
    return "".join(parts)


def _plain(text: str) -> str:
    return re.sub(r"(?<!\.\.)([*|]|(?<=\w)_(?!\w))", r"\\\1", text)


def as_written(
    app: Sphinx,
    _kind: str,
    name: str,
    obj: Any,
    _options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """Give autodoc the annotations of a signature as in the source, and a default
    function or class as its name.
    """
    app.env.temp_data.setdefault("annotations", {})[name] = dict(_annotations(obj))
    plain = r"<function (\w+)>|<class '(?:\w+\.)*(\w+)'>"
    return signature and re.sub(plain, r"\1\2", signature), returns


def _annotations(obj: Any) -> Iterator[tuple[str, str]]:
    # of a dataclass: its fields, the inherited ones first
    if inspect.isclass(obj) and "__init__" not in vars(obj):
        for base in reversed(obj.__mro__):
            yield from (
                _fields(base)
                if base.__module__.startswith(("rankone.", "rankone_book."))
                else ()
            )
        return
    function = inspect.unwrap(obj.__init__ if inspect.isclass(obj) else obj)
    if not inspect.isfunction(function) or not isinstance(
        definition := _syntax(function), ast.FunctionDef
    ):
        return
    for argument in (
        *definition.args.posonlyargs,
        *definition.args.args,
        *definition.args.kwonlyargs,
    ):
        if argument.annotation:
            yield argument.arg, _source_of(argument.annotation)
    if definition.returns and definition.name != "__init__":
        yield "return", _source_of(definition.returns)


def _fields(cls: type) -> Iterator[tuple[str, str]]:
    for node in getattr(_syntax(cls), "body", []):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, _source_of(node.annotation)


def _source_of(annotation: ast.expr) -> str:
    text = str(
        annotation.value
        if isinstance(annotation, ast.Constant)
        else ast.unparse(annotation)
    ).replace("'", '"')
    for private, public in ALIASES.items():
        text = text.replace(private, public)
    # the space before a single axis is only for linters
    return text.replace(', " ', ', "')


def _syntax(thing: Callable | type) -> ast.stmt | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    except OSError:  # generated at run time
        return None


def shown_elsewhere(
    app: Sphinx, kind: str, name: str, obj: Any, _skip: bool, _options: Any
) -> bool | None:
    """Leave out objects that the first page or the page of another part shows, the
    fields of a tuple, and functions that are the default of a field.
    """
    if kind == "module":
        home = getattr(obj, "__module__", None) or ""
        module = app.env.temp_data.get("autodoc:module") or ""
        public = any(
            obj is getattr(rankone, exported)
            for exported in rankone.__all__
            if exported == getattr(obj, "__name__", "")
        )
        borrowed = home.startswith("rankone.") and not f"{home}.".startswith(
            f"{module}."
        )
        return True if public or borrowed else None
    of_tuple = (getattr(obj, "__doc__", "") or "").startswith("Alias for field number")
    default = inspect.isfunction(obj) and obj.__name__ != name
    return True if of_tuple or default else None


def resolve(
    app: Sphinx, env: Any, node: nodes.Element, contnode: nodes.Element
) -> nodes.Node | None:
    """Link a name of the package to its entry, however it is imported. A name without
    an entry stays plain text.
    """
    if node.get("refdomain") != "py":
        return None
    domain = env.get_domain("py")
    last = node["reftarget"].rpartition(".")[2]
    names = (
        name
        for name, entry in domain.objects.items()
        if entry.objtype in KINDS and not entry.aliased
    )
    matches = [name for name in names if name.endswith(f".{last}")]
    if last.isidentifier() and len(matches) == 1:
        return domain.resolve_xref(
            env, node["refdoc"], app.builder, "obj", matches[0], node, contnode
        )
    return contnode


def style(
    app: Sphinx,
    pagename: str,
    _template: str,
    _context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Add the style sheet of signatures to the pages that show some."""
    if doctree is not None and next(doctree.findall(addnodes.desc), None) is not None:
        app.add_css_file("api.css")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run after napoleon and after autodoc's own handling of
    types.
    """
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.setup_extension("extensions.claims.table")
    app.add_autodocumenter(JittedDocumenter)
    app.add_autodocumenter(AsWritten, override=True)
    app.add_role("claim-id", Claim())
    app.connect("autodoc-process-docstring", keep, priority=100)
    app.connect("autodoc-process-docstring", to_markup, priority=900)
    app.connect("autodoc-process-signature", as_written, priority=900)
    app.connect("autodoc-skip-member", shown_elsewhere)
    app.connect("missing-reference", resolve)
    app.connect("html-page-context", style)
    next(
        field for field in PyObject.doc_field_types if field.name == "variable"
    ).label = "Attributes"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
