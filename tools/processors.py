"""Runs the tests, or the book's notebooks, as on an older processor.

`python tools/processors.py` runs the core of the tests, which `tools/compat.py` lists,
and the examples of the docstrings. With arguments it runs the named tests.
`--notebooks` runs every notebook of the built book instead, or the named ones, and
lists the figures whose digits differ from the page's.

XLA compiles for the instruction set `--isa`, and OpenBLAS multiplies as on the
processor `--blas`. numpy uses only the instructions that every processor of this
architecture has. JAX's key of a compiled program does not contain the instruction set,
so each instruction set has its own cache.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import numpy as np
from compat import TESTS
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "_build" / "html" / "notebooks"
# a line of rankone_book.claims.line: name, text, text on the page, violated condition
LINE = re.compile(r"^(\S+) +(.+?) +\(page (.+?)\)(?:  ← (no longer holds.*))?$")


def environment(isa: str, blas: str) -> dict[str, str]:
    """This process's variables, with those that emulate a processor."""
    return os.environ | {
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa={isa}",
        "OPENBLAS_CORETYPE": blas,
        "NPY_DISABLE_CPU_FEATURES": " ".join(
            np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
        ),
        "JAX_COMPILATION_CACHE_DIR": str(ROOT / "_build" / "processors" / isa),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


def figures(notebook: nbformat.NotebookNode) -> list[tuple[str, str, str, str]]:
    """Name, text, text on the page, and violated condition or "" of each figure that a
    notebook prints.
    """
    texts = [
        output.get("text", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    ]
    matches = [LINE.match(line) for line in "".join(texts).splitlines()]
    return [
        (match[1], match[2], match[3], match[4] or "") for match in matches if match
    ]


def failures(notebook: nbformat.NotebookNode) -> list[str]:
    """Reports of the exercises whose solution does not pass. The solution is the cell
    that is graded last.
    """
    reports: dict[str, str] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and (
            check := re.search(r'grader\.check\("(q\d+)"\)', cell.source)
        ):
            reports[check[1]] = cell.outputs[-1].data["text/plain"]
    return [
        report
        for report in reports.values()
        if not report.endswith("all checks passed.")
    ]


def executed(path: Path, variables: dict[str, str]) -> nbformat.NotebookNode:
    """A notebook, run from top to bottom with these environment variables."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources=resources
        )
        return client.execute(env=variables)


def compared(names: list[str], variables: dict[str, str]) -> str:
    """Runs notebooks, prints the figures that differ from the page or violate their
    condition, and returns the counts.
    """
    paths = [NOTEBOOKS / f"{name}.ipynb" for name in names] or sorted(
        NOTEBOOKS.glob("*.ipynb")
    )
    total = different = failed = 0
    for path in paths:
        notebook = executed(path, variables)
        rows = figures(notebook)
        unsolved = failures(notebook)
        print(f"{path.stem}: {len(rows)} figures", flush=True)
        for name, text, page, violated in rows:
            if text != page or violated:
                print(f"  {name}: {text} (page {page}) {violated}".rstrip(), flush=True)
        print("".join(f"  {report}\n" for report in unsolved), end="", flush=True)
        total += len(rows)
        different += sum(text != page for _, text, page, _ in rows)
        failed += sum(bool(violated) for *_, violated in rows) + len(unsolved)
    return f"{total} figures, {different} with other digits, {failed} no longer hold"


def main() -> None:
    """Run the tests or notebooks that the arguments name, and fail if a test or a
    condition fails.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tests", nargs="*", help="arguments of pytest, or names of notebooks"
    )
    parser.add_argument(
        "--isa", default="SSE4_2", help="SSE4_2, AVX, AVX2 or AVX512 (default: SSE4_2)"
    )
    parser.add_argument(
        "--blas",
        default="Nehalem",
        help="such as Nehalem, Haswell, Zen (default: Nehalem)",
    )
    parser.add_argument(
        "--notebooks", action="store_true", help="run notebooks, not tests"
    )
    options = parser.parse_args()
    variables = environment(options.isa, options.blas)
    if options.notebooks:
        summary = compared(options.tests, variables)
        failed = not summary.endswith(" 0 no longer hold")
    else:
        core = [f"tests/{test}" for test in TESTS] + ["tests/test_examples.py"]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            *(options.tests or core),
        ]
        process = subprocess.run(
            command,
            cwd=ROOT,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        print(process.stdout + process.stderr)
        summary = (process.stdout.strip().splitlines() or ["nothing ran"])[-1]
        failed = process.returncode != 0
    print(f"compat: {options.isa} and {options.blas}: {summary}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
