"""Targets of the links of `claims.yml`: files and lines of the code, labels of the
text, figures of this build.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils.nodes import make_id
from myst_nb.core.variables import format_plain_text
from sphinx.environment import BuildEnvironment

from rankone_book.claims import format_of, holds, pretty

Row = dict[str, Any]
# fields of a row whose keys are names of figures
NAMED = ("figures", "in_text", "holds")

# PyYAML's loader in C, if there is one, takes a fifth of the time
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Figure(NamedTuple):
    """A figure that a page recorded: its text on the page, and its number, or None if
    the figure is a text.
    """

    text: str
    number: float | None


def read_claims(path: Path) -> list[Row]:
    """The rows of claims.yml, in order, each figure under its whole name. They are
    cached, so do not change them.
    """
    rows, _ = _claims(path.read_text(encoding="utf-8"))
    return rows


def read_formats(path: Path) -> dict[str, str]:
    """The formats of claims.yml, as `rankone_book.claims.format_of` takes them: name of
    a figure, or a pattern of names, → its format, or "". They are cached: do not change
    them.
    """
    _, formats = _claims(path.read_text(encoding="utf-8"))
    return formats


def formats(env: BuildEnvironment) -> dict[str, str]:
    """Formats of the figures of this book."""
    return read_formats(Path(env.srcdir, env.config.claims_file))


@cache
def _claims(text: str) -> tuple[list[Row], dict[str, str]]:
    """The rows, and the formats of their figures and of figures that test no claim."""
    raw, *others = yaml.load_all(text, Loader=_LOADER)
    rows = [_with_whole_names(row) for row in raw]
    named = [row[field] for row in rows for field in ("figures", "in_text")]
    named += [
        {f"{group}.{name}": fmt for name, fmt in figures.items()}
        for groups in others
        for group, figures in groups.items()
    ]
    formats = {name: fmt or "" for figures in named for name, fmt in figures.items()}
    return rows, formats


def _with_whole_names(row: Row) -> Row:
    def whole(name: str) -> str:
        ids = tuple(f"{other}." for other in row.get("includes", []))
        return name if name.startswith(ids) else f"{row['id']}.{name}"

    return row | {
        field: {whole(name): value for name, value in row.get(field, {}).items()}
        for field in NAMED
    }


def read_yaml(path: Path) -> Any:
    """Content of a file of the book, parsed once for all pages: do not change it."""
    return _parsed(path.read_text(encoding="utf-8"))


@cache
def _parsed(text: str) -> Any:
    return yaml.load(text, Loader=_LOADER)


def labels_in(text: str) -> list[str]:
    """Labels that the source of a chapter gives to its sections, statements, equations
    and figures.
    """
    forms = (
        r"^\((\S+)\)=$",
        r"^\s*:(?:label|name): (\S+)",
        r"\$\$\s*\((\S+)\)\s*$",
        r"name: \"?([\w-]+)",
    )
    return ["".join(groups) for groups in re.findall("|".join(forms), text, re.M)]


def locate_source(root: Path, dotted: str) -> tuple[str, int]:
    """File (relative to the root) and line of a function, class or method named by its
    dotted path.

    Raises:
        LookupError: If there is no such module under src, or no such name in it.
    """
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        stem = root.joinpath("src", *parts[:n])
        file = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
        if file.is_file():
            return str(file.relative_to(root)), _line(file, parts[n:])
    raise LookupError(f"no module of {dotted!r} lies under {root / 'src'}")


class Code(NamedTuple):
    """The function, method or class that a claim names, and the private functions of
    its module that it calls.
    """

    path: str
    text: str
    nodes: list[Any]

    @property
    def state(self) -> str:
        """A digest of what the code computes, which tells if a result for it is up to
        date. Comments, docstrings, annotations, checks of arguments and the names of
        local variables do not enter.
        """
        parts = [_formula(node, _local_names(node)) for node in self.nodes]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


# functions that refuse bad arguments
CHECKS = (
    "check",
    "integer",
    "real",
    "positive",
    "array",
    "known",
    "states",
)


def is_check(node: Any) -> bool:
    """True for a call that refuses bad arguments, and for a statement that does nothing
    else.
    """
    if isinstance(node, ast.Expr):
        return is_check(node.value)
    if isinstance(node, ast.If):
        return not node.orelse and all(map(is_check, node.body))
    if isinstance(node, ast.Call):
        function = node.func
        return (getattr(function, "id", "") or getattr(function, "attr", "")) in CHECKS
    return isinstance(node, ast.Raise)


# fields of a syntax tree that do not change what is computed
_NO_FORMULA = ("annotation", "returns", "type_comment", "ctx", "kind")


def _formula(node: Any, names: Mapping[str, str]) -> Any:
    """The parts of a syntax tree that change a result, as nested lists. Empty fields
    are left out, because newer versions of Python add some.
    """
    if isinstance(node, list):
        return [_formula(child, names) for child in node if not _is_aside(child)]
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.arg):
        return names[node.arg]
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Call) and is_check(node):
        arguments = [child for child in node.args if not _is_text(child)]
        return ["Check", *(_formula(child, names) for child in arguments)]
    fields = [
        (name, _formula(value, names))
        for name, value in ast.iter_fields(node)
        if name not in _NO_FORMULA and value is not None and value != []
    ]
    return [type(node).__name__, *fields]


def _is_aside(node: Any) -> bool:
    """True for a statement that is a check or a docstring."""
    is_docstring = isinstance(node, ast.Expr) and _is_text(node.value)
    return isinstance(node, ast.stmt) and (is_check(node) or is_docstring)


def _is_text(node: Any) -> bool:
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, ast.JoinedStr)


def _local_names(node: Any) -> dict[str, str]:
    """A number for each argument and variable of a function, in the order in which they
    are bound.
    """
    bound = [
        child.arg if isinstance(child, ast.arg) else child.id
        for child in ast.walk(node)
        if isinstance(child, ast.arg)
        or (isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store))
    ]
    return {name: f"${i}" for i, name in enumerate(dict.fromkeys(bound))}


def code_of(root: Path, dotted: str) -> Code:
    """The code behind a dotted path; raises LookupError as locate_source does. For a
    module, `nodes` is empty.
    """
    path, _ = locate_source(root, dotted)
    text = (root / path).read_text(encoding="utf-8")
    module = (
        path.removeprefix("src/")
        .removesuffix(".py")
        .removesuffix("/__init__")
        .replace("/", ".")
    )
    names = [name for name in dotted.removeprefix(module).split(".") if name]
    body, top = (
        _syntax(text).body,
        {node.name: node for node in _syntax(text).body if hasattr(node, "name")},
    )
    node_of: dict[str, Any] = {}
    for name in names:
        matches = [node for node in body if getattr(node, "name", None) == name][-1:]
        node_of = {node.name: node for node in matches}
        body = matches[0].body if matches else []
    todo = list(node_of.values())
    while todo:
        for node in ast.walk(todo.pop()):
            if (
                isinstance(node, ast.Name)
                and node.id.startswith("_")
                and node.id in top
                and node.id not in node_of
            ):
                node_of[node.id] = top[node.id]
                todo.append(top[node.id])
    return Code(path, text, list(node_of.values()))


def locate_test(root: Path, test: str) -> tuple[str, int]:
    """File and line of `tests/file.py::test_name`; raises LookupError as locate_source
    does.
    """
    path, _, name = test.partition("::")
    if not name or not (root / path).is_file():
        raise LookupError(f"no such test file, or no ::name in it: {test!r}")
    return path, _line(root / path, name.split("::"))


def _line(file: Path, names: list[str]) -> int:
    body = _syntax(file.read_text(encoding="utf-8"))
    for name in names:
        matches = [node for node in body.body if name in _defines(node)]
        if not matches:
            raise LookupError(f"{file.name} does not define {'.'.join(names)}")
        body = matches[-1]
    return getattr(body, "lineno", 1)


@cache
def _syntax(source: str) -> Any:
    return ast.parse(source)


def _defines(node: ast.stmt) -> list[str]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [getattr(node, "target", None)]
    )
    return [
        getattr(node, "name", ""),
        *(t.id for t in targets if isinstance(t, ast.Name)),
    ]


def claims_page(env: BuildEnvironment, kind: str = "claims") -> str | None:
    """The page with the tables of claims, or of another kind."""
    return next(
        (
            page
            for page, metadata in env.metadata.items()
            if metadata.get("claims_page") == kind
        ),
        None,
    )


def conditions(rows: list[Row]) -> dict[str, str]:
    """The condition on each figure that has one."""
    return {key: condition for row in rows for key, condition in row["holds"].items()}


def recorded_figures(env: BuildEnvironment) -> dict[str, dict[str, Figure]]:
    """Every figure that a page of this build recorded: page -> key -> figure, in the
    order of recording.
    """
    pages: dict[str, dict[str, Figure]] = {}
    format_by_name = formats(env)
    for docname, metadata in getattr(env, "nb_metadata", {}).items():
        if docname in env.found_docs and metadata.get("glue"):
            path = Path(env.mystnb_config.output_folder, f"{docname}.glue.json")  # type: ignore[attr-defined]
            records = json.loads(path.read_text(encoding="utf-8"))
            pages[docname] = {
                key: figure_of(
                    record["data"].get("text/plain", ""),
                    record["metadata"],
                    format_by_name,
                )
                for key, record in records.items()
            }
    return pages


def figure_of(
    text: str, metadata: Mapping[str, Any], formats: Mapping[str, str]
) -> Figure:
    """A figure as a page shows it, a number in its present format.

    Args:
        text: Text that the cell recorded, quoted.
        metadata: Metadata of the record: name of the figure, and its number.
        formats: Result of `read_formats`.
    """
    record = metadata["scrapbook"]
    number = record.get("number")
    if number is None:
        return Figure(format_plain_text(text, ""), None)
    return Figure(pretty(number, format_of(record["name"], formats)), number)


def violations(
    conditions: Mapping[str, str], figures: Mapping[str, Figure]
) -> Iterator[str]:
    """Faults of the figures of a page, in the order of recording: each may be compared
    with earlier ones.
    """
    numbers: dict[str, float] = {}
    for key, figure in figures.items():
        condition = conditions.get(key, "")
        if figure.number is None:
            if condition:
                yield f"{key} is a text, {figure.text!r}: no number to be {condition}"
            continue
        numbers[key] = figure.number
        try:
            if not holds(condition, figure.number, numbers):
                yield f"{key} is {figure.number}, and should be {condition}"
        except ValueError as error:
            yield f"{key}: {error}"


def faults(env: BuildEnvironment, claims: Path) -> Iterator[str]:
    """Faults of the figures of this build."""
    condition_of = conditions(read_claims(claims))
    for page, figures in recorded_figures(env).items():
        yield from (f"{page}: {fault}" for fault in violations(condition_of, figures))


def find_label(env: BuildEnvironment, label: str) -> tuple[str, str, str] | None:
    """Page, anchor and name ("Theorem 3.2", "(1.4)", a title) of a label of any kind,
    or None.
    """
    if proof := getattr(env, "proof_list", {}).get(label):
        kind = proof["countertype"]
        page = proof["docname"]
        number = env.toc_fignumbers.get(page, {}).get(kind, {}).get(label, ())
        return (
            page,
            label,
            f"{proof['realtype'].title()} {'.'.join(map(str, number))}".strip(),
        )
    if equation := env.get_domain("math").data["objects"].get(label):
        page = equation[0]
        anchor = f"equation-{make_id(label)}"
        number = (
            env.toc_fignumbers.get(page, {})
            .get("displaymath", {})
            .get(anchor, (equation[1],))
        )
        return page, anchor, f"({'.'.join(map(str, number))})"
    standard = env.get_domain("std").data
    if label in standard["labels"]:
        page, anchor, title = standard["labels"][label]
        figure = env.toc_fignumbers.get(page, {}).get("figure", {}).get(anchor)
        return page, anchor, f"Figure {'.'.join(map(str, figure))}" if figure else title
    if label in standard["anonlabels"]:  # of a paragraph, which has no title
        page, anchor = standard["anonlabels"][label]
        return page, anchor, env.titles[page].astext() if page in env.titles else label
    return None
