"""Makes small changes, one at a time, in every function that a claim names, and tests
if the claims' tests notice.

    python tools/mutation.py [SOURCE ...] [--most 6] [--minutes 30] [--processes 2] [--results FILE]

The changes are another sign, factor, power, constant, comparison, transpose or
reduction. They are made in the named function and in the private functions of its
module that it calls, but not in checks of arguments. The tests are those that the claims
of the function name, then the rest of their files, then the file of unit tests that
names the function most often. Counts and survivors go to `tests/mutation.json`, which
the page of claims shows. A function whose code computes the same as in that file is
skipped, so that an interrupted run can be continued. If a survivor need not be noticed,
a person adds the reason to its entry there (`reasons`: the change as it is printed →
the reason).
"""

import argparse
import ast
import json
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path
from queue import Queue

import pytest
from tqdm import tqdm

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "book"))

from extensions.claims.links import Code, Row, code_of, is_check, read_claims

RESULTS = ROOT / "tests" / "mutation.json"
# processes start from a server, which imports slow modules once
STARTED = multiprocessing.get_context("forkserver")
IMPORTED = [
    "jax",
    "jax.numpy",
    "jax.scipy.special",
    "pytest",
    "beartype",
    "jaxtyping",
    "numpy",
    "scipy",
    "optax",
]
# folders of tests that test more than formulas
SLOW = (
    "book",
    "browser",
    "experiments",
    "tools",
    "widgets",
)
# seconds for the tests of one change; a change whose tests do not end counts as
# noticed, and is listed as endless
LIMIT = 600
OTHERS = (
    1  # number of further files of unit tests: those that name the function most often
)
SIGNS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.Pow: ("**", "*"),
}
RELATIONS = {
    ast.Lt: ("<", ">"),
    ast.Gt: (">", "<"),
    ast.LtE: ("<=", ">"),
    ast.GtE: (">=", "<"),
    ast.Eq: ("==", "!="),
}
NAMES = {
    "sum": "mean",
    "mean": "sum",
    "max": "min",
    "min": "max",
    "maximum": "minimum",
    "minimum": "maximum",
}
NAMES |= {
    "sin": "cos",
    "cos": "sin",
    "exp": "expm1",
    "log": "log1p",
    "sqrt": "square",
    "square": "sqrt",
}
# keywords whose constants are not changed
NO_FORMULA = (
    "axis",
    "dtype",
    "key",
    "ndim",
    "keepdims",
    "static_argnames",
)


@dataclass(frozen=True)
class Change:
    """A change of a file: the text from offset `start` to `end` is replaced by
    `new`.
    """

    start: int
    end: int
    new: str

    def made_in(self, text: str) -> str:
        """The file with the change."""
        return text[: self.start] + self.new + text[self.end :]

    def said(self, text: str) -> str:
        """The changed line before and after."""
        start = text.rfind("\n", 0, self.start) + 1
        end = text.find("\n", self.end)
        after = text[start : self.start] + self.new + text[self.end : end]
        return f"{text[start:end].strip()}  →  {after.strip()}"


class Finder:
    """Every small change of the formulas in a piece of code."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines(keepends=True)
        self.text = text
        self.lines = [line.encode() for line in lines]
        self.starts = [sum(len(line) for line in lines[:i]) for i in range(len(lines))]

    def offset(self, line: int, column: int) -> int:
        """Offset in characters of a place that `ast` gives as a line and a column in
        bytes.
        """
        return self.starts[line - 1] + len(self.lines[line - 1][:column].decode())

    def ends(self, node: ast.expr) -> tuple[int, int]:
        """Offsets of an expression."""
        return self.offset(node.lineno, node.col_offset), self.offset(
            node.end_lineno or 0, node.end_col_offset or 0
        )

    def between(
        self, left: ast.expr, right: ast.expr, pair: tuple[str, str]
    ) -> Iterator[Change]:
        """The operator between two expressions, replaced."""
        first = self.ends(left)[1]
        last = self.ends(right)[0]
        at = self.text.find(pair[0], first, last)
        if at >= 0:
            yield Change(at, at + len(pair[0]), pair[1])

    def of(self, node: ast.AST) -> Iterator[Change]:
        """Changes of this node alone."""
        if (
            isinstance(node, ast.BinOp)
            and type(node.op) in SIGNS
            and not isinstance(node.left, ast.Constant | ast.List)
        ):
            yield from self.between(node.left, node.right, SIGNS[type(node.op)])
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in RELATIONS:
            yield from self.between(
                node.left, node.comparators[0], RELATIONS[type(node.ops[0])]
            )
        elif (
            isinstance(node, ast.UnaryOp)
            and isinstance(node.op, ast.USub)
            and not isinstance(node.operand, ast.Constant)
        ):
            start, _ = self.ends(node)
            yield Change(start, start + 1, "")
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, float | int)
            and not isinstance(node.value, bool)
        ):
            yield Change(
                *self.ends(node),
                repr(node.value + 1 if node.value in (0, 1) else 2 * node.value),
            )
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            yield Change(self.ends(node.value)[1], self.ends(node)[1], "")
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            end = self.ends(node)[1]
            yield Change(end - len(node.attr), end, NAMES[node.attr])

    def walk(self, node: ast.AST) -> Iterator[Change]:
        """Changes of a node and of the formulas below it, without annotations,
        messages, checks, indices and defaults.
        """
        yield from self.of(node)
        for field, value in ast.iter_fields(node):
            if field in (
                "annotation",
                "returns",
                "decorator_list",
                "args",
                "slice",
            ) and not isinstance(node, ast.Call):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _no_formula(child):
                    yield from self.walk(child)


def _no_formula(node: ast.AST) -> bool:
    if isinstance(node, ast.JoinedStr | ast.Assert):
        return True
    if isinstance(node, ast.keyword):
        return node.arg in NO_FORMULA
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or is_check(node)


@dataclass(frozen=True)
class Target:
    """A source that claims name: its code, the changes to make in it, and the tests
    that should notice.
    """

    source: str
    code: Code
    changes: tuple[Change, ...]
    tests: tuple[str, ...]


def target(source: str, rows: list[Row], most: int) -> Target:
    """Changes to make and tests to run for one source. If there are more than `most`
    changes, `most` of them are drawn at random.
    """
    code = code_of(ROOT, source)
    finder = Finder(code.text)
    changes = sorted(
        {change for node in code.nodes for change in finder.walk(node)},
        key=lambda change: change.start,
    )
    if len(changes) > most:
        changes = sorted(
            random.Random(source).sample(changes, most), key=lambda change: change.start
        )
    claim_tests = list(
        dict.fromkeys(
            row["test"] for row in rows if row["source"] == source and row["test"]
        )
    )
    files = list(dict.fromkeys(name.partition("::")[0] for name in claim_tests))
    word = re.compile(rf"\b{re.escape(public_name(source))}\b")
    unit = [
        path
        for path in sorted((ROOT / "tests").glob("*/test_*.py"))
        if path.parent.name not in SLOW
    ]
    times = {
        str(path.relative_to(ROOT)): len(word.findall(path.read_text(encoding="utf-8")))
        for path in unit
    }
    other_files = sorted(
        (path for path in times if times[path] and path not in files),
        key=lambda path: -times[path],
    )[:OTHERS]
    return Target(
        source,
        code,
        tuple(changes),
        tuple(dict.fromkeys([*claim_tests, *files, *other_files])),
    )


def public_name(source: str) -> str:
    """The name that tests use: that of a function, or the class of a method."""
    *_, owner, name = source.split(".")
    return owner if owner[0].isupper() else name


def noticed(target: Target, change: Change, copy: Path) -> bool | None:
    """True if the tests fail on a copy of `src` with the change, None if they do not
    end in time.

    Raises:
        RuntimeError: If the tests did not run.
    """
    file = copy / target.code.path.removeprefix("src/")
    run = STARTED.Process(target=run_tests, args=(str(copy), target.tests))
    try:
        forget(file)
        file.write_text(change.made_in(target.code.text), encoding="utf-8")
        run.start()
        run.join(LIMIT)
        if run.is_alive():
            run.kill()
            run.join()
            return None
    finally:
        file.write_text(target.code.text, encoding="utf-8")
        forget(file)
    if run.exitcode in (0, 1, 2):  # 2: the module cannot even be imported
        return run.exitcode != 0
    raise RuntimeError(
        f"{target.source}: pytest ended with {run.exitcode} on "
        f"{change.said(target.code.text)}"
    )


def forget(file: Path) -> None:
    """Remove the compiled versions of a file, with and without checks of
    annotations.
    """
    for path in Path(cache_from_source(str(file))).parent.glob(f"{file.stem}.*.pyc"):
        path.unlink()


def run_tests(copy: str, tests: tuple[str, ...]) -> None:
    """Run these tests on this copy of `src`, in a process of their own, which exits
    with pytest's status.
    """
    os.chdir(ROOT)
    os.environ |= {"PYTHONPATH": copy, "COMPILE_REPORT": os.devnull}
    sys.path.insert(0, copy)
    for module in [name for name in sys.modules if name.partition(".")[0] == "rankone"]:
        # reading the claims has imported the unchanged package
        del sys.modules[module]
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    os._exit(int(pytest.main([*options, *tests])))


def measure(target: Target, copies: "Queue[Path]") -> dict[str, object]:
    """Counts of a target, and the changes that survived."""
    copy = copies.get()
    try:
        fates = [
            (change.said(target.code.text), noticed(target, change, copy))
            for change in target.changes
        ]
    finally:
        copies.put(copy)
    survived, endless = (
        [line for line, fate in fates if fate is value] for value in (False, None)
    )
    result: dict[str, object] = {
        "state": target.code.state,
        "changes": len(target.changes),
        "survived": survived,
    }
    return result | ({"endless": endless} if endless else {})


def main() -> int:
    """Test the functions that are not up to date. The exit status is 1 if a change
    survived without a reason.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="dotted paths; all that claims name if none",
    )
    parser.add_argument("--most", type=int, default=6, help="changes of one function")
    parser.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help="start no function after so many",
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="file of counts and survivors"
    )
    arguments = parser.parse_args()
    rows = [
        row
        for row in read_claims(ROOT / "book" / "claims.yml")
        if row["source"] and row["test"]
    ]
    sources = list(dict.fromkeys(row["source"] for row in rows))
    results = arguments.results
    counts = (
        json.loads(results.read_text(encoding="utf-8")) if results.is_file() else {}
    )
    targets = [
        target(source, rows, arguments.most)
        for source in sources
        if source in (arguments.sources or sources)
    ]
    stale = [
        entry
        for entry in targets
        if arguments.sources
        or counts.get(entry.source, {}).get("state") != entry.code.state
    ]
    end = time.monotonic() + 60 * arguments.minutes
    STARTED.set_forkserver_preload(IMPORTED)
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(arguments.processes) as pool,
    ):
        copies: Queue[Path] = Queue()
        # programs that a change does not affect are compiled once
        os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(folder) / "compiled")
        for i in range(arguments.processes):
            copies.put(
                Path(shutil.copytree(ROOT / "src", Path(folder) / str(i) / "src"))
            )

        def run(entry: Target) -> tuple:
            return (
                entry,
                measure(entry, copies) if time.monotonic() < end else None,
            )

        jobs = [pool.submit(run, entry) for entry in stale]
        for job in tqdm(as_completed(jobs), total=len(stale), unit="function"):
            entry, result = job.result()
            if result:
                reasons = counts.get(entry.source, {}).get("reasons", {})
                valid_reasons = {
                    line: reasons[line]
                    for line in result["survived"]
                    if line in reasons
                }
                result |= {"reasons": valid_reasons} if valid_reasons else {}
                counts = {name: counts[name] for name in counts if name in sources} | {
                    entry.source: result
                }
                results.write_text(
                    json.dumps(
                        dict(sorted(counts.items())), indent=1, ensure_ascii=False
                    )
                    + "\n",
                    "utf-8",
                )
    survivors = [
        (name, line, result)
        for name, result in counts.items()
        for line in result["survived"]
    ]
    free = [
        f"{name}: {line}"
        for name, line, result in survivors
        if line not in result.get("reasons", {})
    ]
    print(*free, sep="\n")
    total = sum(result["changes"] for result in counts.values())
    print(
        f"{total - len(survivors)} of {total} changes noticed in {len(counts)} of "
        f"{len(sources)} functions; "
        f"{len(survivors) - len(free)} of the others have a reason, {len(free)} have "
        "none"
    )
    return bool(free)


if __name__ == "__main__":
    sys.exit(main())
