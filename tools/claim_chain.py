"""The chain behind every claim of the book: row, code, test, labelled statement,
figures of its chapter, errata.

python tools/claim_chain.py [ID ...]      # what is missing, claim by claim

It only reads the files, and takes seconds. A build of the book would run all chapters
first.
"""

import ast
import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "book"))

from chapter_costs import cells

from extensions.claims.links import (
    Row,
    labels_in,
    locate_source,
    locate_test,
    read_claims,
)
from extensions.claims.measured_lines import Line, measured_lines
from rankone_book.claims import figures_in, holds, pretty

STATUSES = {
    "holds",
    "corrected",
    "loose",
    "slip",
    "sharper",
    "stand-in",
    "not reproduced here",
}
KINDS = {"false", "gap", "loose", "slip"}
UNNUMBERED = {"gap", "slip"}  # kinds of errata that need no number


@dataclass(frozen=True)
class Book:
    """Pages of a repository, read as text: their labels, and the figures that they
    record.
    """

    root: Path

    @cached_property
    def chapters(self) -> dict[str, str]:
        """Source of each chapter."""
        return {
            path.stem: path.read_text(encoding="utf-8")
            for path in self.root.glob("book/chapters/*.md")
        }

    @cached_property
    def labels(self) -> dict[str, str]:
        """Label -> the chapter of its target."""
        return {
            label: chapter
            for chapter, text in self.chapters.items()
            for label in labels_in(text)
        }

    @cached_property
    def recorded(self) -> dict[str, list[Line]]:
        """Page -> the figures that its cells record."""
        return {
            path.stem: [
                line
                for cell in cells(path)
                for line in measured_lines(re.sub(r"^%.*", "", cell, flags=re.M))
            ]
            for path in self.root.glob("book/**/*.md")
        }

    def records(self, page: str, key: str) -> bool:
        """True if a cell of the page records a figure of this name, or figures of this
        pattern of names.
        """
        return any(line.records(key) for line in self.recorded[page])


def answers_for(row: Row) -> list[str]:
    """Ids of the claims in a row: its own, and those it includes. A range (D-eq19-21)
    is not a claim.
    """
    return [
        *([] if _is_range(row["id"]) else [row["id"]]),
        *row.get("includes", []),
    ]


# --- one checker per link of the chain; each yields the faults


def status(row: Row, _book: Book) -> Iterator[str]:
    """The status is known, and the statement's dollars are in pairs."""
    if row["status"] not in STATUSES:
        yield f"no such status: {row['status']!r}"
    if not row["statement"] or row["statement"].count("$") % 2:
        yield "no statement, or a dollar too many in it"


def source(row: Row, book: Book) -> Iterator[str]:
    """The code exists, and its docstring, or that of its class or module, names the
    claim.
    """
    if row["source"]:
        try:
            path, _ = locate_source(book.root, row["source"])
            documents = _docstrings(row["source"], path)
        except (LookupError, ImportError, AttributeError) as error:
            yield f"source: {error}"
            return
        if not any(
            re.search(rf"{re.escape(name)}(?!\w)", documents)
            for name in [row["id"], *row.get("includes", [])]
        ):
            yield f"no docstring of {row['source']} names the claim"


def _docstrings(dotted: str, path: str) -> str:
    module = importlib.import_module(
        path.removeprefix("src/")
        .removesuffix(".py")
        .removesuffix("/__init__")
        .replace("/", ".")
    )
    texts = [module.__doc__]
    thing = module
    for name in dotted.removeprefix(module.__name__).strip(".").split("."):
        thing = getattr(thing, name) if name else thing
        texts.append(thing.__doc__)
    return "\n".join(filter(None, texts))


def test(row: Row, book: Book) -> Iterator[str]:
    """The test exists."""
    if row["test"]:
        try:
            locate_test(book.root, row["test"])
        except LookupError as error:
            yield f"test: {error}"
        if not re.match(r"tests/.*::(.*::)?test_", row["test"]):
            yield f"not the name of a test: {row['test']}"


def chapter(row: Row, book: Book) -> Iterator[str]:
    """The label of the statement is a target in a chapter."""
    if row["chapter"] and row["chapter"] not in book.labels:
        yield f"no chapter has the label {row['chapter']!r}"


def figures(row: Row, book: Book) -> Iterator[str]:
    """Each figure bears the claim's id, and a cell of its chapter records it."""
    home = book.labels.get(row["chapter"])
    for key in row["figures"]:
        if key.rpartition(".")[0] not in [row["id"], *row.get("includes", [])]:
            yield f"the figure {key!r} bears another claim's id"
        if home and not book.records(home, key):
            yield f"no cell of {home} records {key!r}"
    for key in row.get("in_text", {}):
        if key in row["figures"]:
            yield f"{key!r} is promised, and listed again as of the text alone"
        if not any(book.records(page, key) for page in book.recorded):
            yield f"no cell records {key!r}, which has a format"
    for key, fmt in {**row["figures"], **row.get("in_text", {})}.items():
        if fault := format_fault(fmt or ""):
            yield f"{key}: {fault}"


def format_fault(fmt: str) -> str:
    """Fault of a format, or ""."""
    try:
        pretty(1, fmt)
    except ValueError as error:
        return f"{fmt!r} is no format of a number: {error}"
    return ""


def conditions(row: Row, book: Book) -> Iterator[str]:
    """Each condition is well formed, is on a figure of the claim, and compares it with
    figures of its chapter.
    """
    home = book.labels.get(row["chapter"])
    for key, condition in row.get("holds", {}).items():
        zeros = dict.fromkeys(figures_in(condition), 0.0)
        if key not in row["figures"]:
            yield f"a condition on {key!r}, which is not among the claim's figures"
        yield from (
            f"no cell of {home} records {figure!r}"
            for figure in zeros
            if home and not book.records(home, figure)
        )
        try:
            holds(condition, 0.0, dict.fromkeys(zeros, 0.0))
        except ValueError as error:
            yield f"{key}: {error}"


def widget(row: Row, _book: Book) -> Iterator[str]:
    """The package has the widget."""
    if "widget" in row and not hasattr(
        importlib.import_module("rankone_book.widgets"), row["widget"]
    ):
        yield f"rankone_book.widgets has no {row['widget']!r}"


def errata(row: Row, _book: Book) -> Iterator[str]:
    """A claim that is corrected, loose or a slip has an erratum, with the figure that
    shows it.
    """
    entry = row.get("errata")
    if (row["status"] in {"corrected", "loose", "slip"}) != bool(entry):
        yield "errata belong to corrected, loose and slipped claims, and to all of them"
    if entry:
        kind = entry.get("kind")
        if row["status"] != (kind if kind in {"loose", "slip"} else "corrected"):
            yield (
                f"an erratum of the kind {kind!r} does not fit the status "
                f"{row['status']!r}"
            )
        if entry.get("kind") not in KINDS:
            yield f"no such kind of erratum: {entry.get('kind')!r}"
        needs_figure = (
            entry.get("kind") not in UNNUMBERED
            or {"refuted_by", "number"} & entry.keys()
        )
        number = ["refuted_by", "number"] if needs_figure else []
        yield from (
            f"errata without {field}"
            for field in ["where", "printed", "why", "repair", *number]
            if not entry.get(field)
        )
        if number and entry.get("refuted_by") not in row["figures"]:
            yield "the figure that refutes it is not among the claim's figures"


def records(row: Row, book: Book) -> Iterator[str]:
    """Each record of an experiment exists."""
    for name in row.get("records", []):
        if not (book.root / "experiments" / "results" / f"{name}.json").is_file():
            yield f"no such record: {name!r}"


def coverage(row: Row, _book: Book) -> Iterator[str]:
    """A missing link has a reason."""
    missing = [
        field for field in ("source", "test", "chapter", "figures") if not row[field]
    ]
    reason = row.get("uncovered") or ""
    if missing and len(reason) < 20:
        yield f"no {', '.join(missing)}, and no reason why"
    if reason and not missing:
        yield "a reason for a gap that is none"


CHECKERS: list[Callable[[Row, Book], Iterator[str]]] = [
    status, source, test, chapter, figures, conditions, widget, errata, records, coverage
]  # fmt: skip


def named_in_docstrings(root: Path) -> set[str]:
    """Ids of claims that stand in brackets in a docstring of the packages, such as
    [W-rule] or [D-eq8, D-eq9].
    """
    texts = [
        ast.get_docstring(node) or ""
        for path in root.glob("src/rankone*/**/*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    names = [
        name
        for text in texts
        for listed in re.findall(r"\[([^\[\]]+)\]", text)
        for name in re.split(r",\s+", listed)
    ]
    return {
        name
        for name in names
        if re.fullmatch(r"[A-Z]-(?!\d+$)[\w().*-]+", name) and not _is_range(name)
    }


def _is_range(name: str) -> bool:
    return bool(re.search(r"\d-\d", name))


def miscounted(rows: list[Row], expected: list[str]) -> dict[str, int]:
    """Claims that are not listed exactly once → the number of times that they are."""
    counts = Counter(name for row in rows for name in answers_for(row))
    return {
        name: counts[name]
        for name in {*expected, *counts}
        if counts[name] != 1 or name not in expected
    }


def main(names: list[str]) -> int:
    """Print what is missing; the exit status is 1 if a claim has a fault."""
    rows = read_claims(ROOT / "book" / "claims.yml")
    book = Book(ROOT)
    status = 0
    for row in rows:
        faults = [fault for check in CHECKERS for fault in check(row, book)]
        if faults and (not names or row["id"] in names):
            status = 1
            print(row["id"], *faults, sep="\n    ")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
