"""Where the links of `claims.yml` lead: files and lines of the code, labels of the text, figures of this build."""

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from docutils.nodes import make_id
from myst_nb.core.variables import format_plain_text
from sphinx.environment import BuildEnvironment

Row = dict[str, Any]


def read_claims(path: Path) -> list[Row]:
    """The rows of claims.yml, in order."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def locate_source(root: Path, dotted: str) -> tuple[str, int]:
    """File (relative to the root) and line of a function, class or method named by its dotted path.

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


def locate_test(root: Path, test: str) -> tuple[str, int]:
    """File and line of `tests/file.py::test_name`; raises LookupError as locate_source does."""
    path, _, name = test.partition("::")
    if not name or not (root / path).is_file():
        raise LookupError(f"no such test file, or no ::name in it: {test!r}")
    return path, _line(root / path, name.split("::"))


def _line(file: Path, names: list[str]) -> int:
    body = _syntax(file.read_text(encoding="utf-8"))
    for name in names:
        found = [node for node in body.body if name in _defines(node)]
        if not found:
            raise LookupError(f"{file.name} does not define {'.'.join(names)}")
        body = found[-1]
    return getattr(body, "lineno", 1)


@cache
def _syntax(source: str) -> Any:
    return ast.parse(source)


def _defines(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [getattr(node, "name", ""), *(t.id for t in targets if isinstance(t, ast.Name))]


def recorded_figures(env: BuildEnvironment) -> dict[str, str]:
    """Every figure that a page of this build recorded: key -> text."""
    figures = {}
    for docname, metadata in getattr(env, "nb_metadata", {}).items():
        if docname in env.found_docs and metadata.get("glue"):
            path = Path(env.mystnb_config.output_folder, f"{docname}.glue.json")  # type: ignore[attr-defined]
            for key, output in json.loads(path.read_text(encoding="utf-8")).items():
                figures[key] = format_plain_text(output["data"].get("text/plain", ""), "")
    return figures


def find_label(env: BuildEnvironment, label: str) -> tuple[str, str, str] | None:
    """Page, anchor and name ("Theorem 3.2", "(1.4)", a title) of a label of any kind, or None."""
    if proof := getattr(env, "proof_list", {}).get(label):
        kind, page = proof["countertype"], proof["docname"]
        number = env.toc_fignumbers.get(page, {}).get(kind, {}).get(label, ())
        return page, label, f"{proof['realtype'].title()} {'.'.join(map(str, number))}".strip()
    if equation := env.get_domain("math").data["objects"].get(label):
        page, anchor = equation[0], f"equation-{make_id(label)}"
        number = env.toc_fignumbers.get(page, {}).get("displaymath", {}).get(anchor, (equation[1],))
        return page, anchor, f"({'.'.join(map(str, number))})"
    standard = env.get_domain("std").data
    if label in standard["labels"]:
        page, anchor, title = standard["labels"][label]
        figure = env.toc_fignumbers.get(page, {}).get("figure", {}).get(anchor)
        return page, anchor, f"Figure {'.'.join(map(str, figure))}" if figure else title
    return (*standard["anonlabels"][label], label) if label in standard["anonlabels"] else None
