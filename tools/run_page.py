"""Runs the cells of one page without building the book:
`python tools/run_page.py maml`.

It prints each figure that the page measures. It fails if a cell does, if a figure does
not meet its condition in `claims.yml`, or if `claims.yml` promises a figure that no cell
measures.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from chapter_costs import cells

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book"))

from extensions.claims.links import conditions, labels_in, read_claims, read_formats
from rankone_book import claims


def faults(
    page: Path, rows: Iterable[dict[str, Any]], formats: Mapping[str, str]
) -> list[str]:
    """Run the cells of a page, print its figures, and return their faults.

    Args:
        page: The page's file.
        rows: Rows of `claims.yml`.
        formats: Formats of `claims.yml`, by name of a figure or pattern of names.
    """
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    text = page.read_text("utf-8")
    labels = {*labels_in(text)}
    rows = list(rows)
    promised = {
        key for row in rows if row["chapter"] in labels for key in row["figures"]
    }
    condition_of = conditions(rows)
    heard: dict[str, str] = {}
    line = claims.line

    def heard_line(name: str, text: str, page: str = "", violated: str = "") -> str:
        heard[name] = violated
        return line(name, text, page, violated)

    shell: Any = InteractiveShell.instance(display_pub_class=CapturingDisplayPublisher)
    before = Path.cwd()
    claims.compare_with_page(
        {
            key: ("", condition_of.get(key, ""), formats.get(key, ""))
            for key in {**formats, **condition_of}
        }
    )
    claims.line = heard_line
    os.chdir(page.parent)
    try:
        for n, cell in enumerate(cells(page), 1):
            if not (result := shell.run_cell(cell)).success:
                error = result.error_before_exec or result.error_in_exec
                return [f"cell {n}: {type(error).__name__}: {error}"]
    finally:
        os.chdir(before)
        claims.line = line
    return [
        *(f"{key}: it should be {said}" for key, said in heard.items() if said),
        *(f"{key}: no cell measured it" for key in promised - heard.keys()),
    ]


def main(name: str) -> int:
    """Run one page; the exit status is 1 if there is a fault."""
    page = ROOT / "book" / "chapters" / f"{name.removesuffix('.md')}.md"
    if not page.is_file():
        print(f"There is no {page.relative_to(ROOT)}.")
        return 1
    os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
    path = ROOT / "book" / "claims.yml"
    problems = faults(page, read_claims(path), read_formats(path))
    print(
        *(problems or [f"{page.name}: every cell runs, and every condition holds."]),
        sep="\n",
    )
    return bool(problems)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
