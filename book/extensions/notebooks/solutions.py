"""An instructor's build: `make html SOLUTIONS=no` leaves every solution out of the
pages and of all files made from them.

Solutions are removed from the sources as they are read, before cells are executed, so
that neither the search index nor the notebooks nor the cells' outputs contain one.
Sphinx copies the sources beside the pages from the disk, so these copies are cut when
the build has finished. The wheel beside the pages still contains the package, whose
checks compute right answers.
"""

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

SOLUTION = re.compile(
    r"^```\{solution-start\}.*?^```\{solution-end\}\n```\n+", re.MULTILINE | re.DOTALL
)
PROMISE = re.compile(r"\s+and\s+folded\s+solutions\b")


def without_solutions(text: str) -> str:
    """A page's source without its solutions, and without the words that promise them.

    Raises:
        ValueError: If a solution is not of the form that is recognised. No partly cut
            text is returned.
    """
    cut = PROMISE.sub("", SOLUTION.sub("", text))
    if "{solution" in cut:
        raise ValueError(
            "text: got a solution that cannot be cut; each must stand between "
            "```{solution-start} and ```{solution-end}."
        )
    return cut


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = without_solutions(source[0])


def _cut_copies(app: Sphinx, exception: Exception | None) -> None:
    for path in () if exception else Path(app.outdir, "_sources").rglob("*.md*"):
        path.write_text(
            without_solutions(path.read_text(encoding="utf-8")), encoding="utf-8"
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Cut the solutions if the environment says SOLUTIONS=no."""
    if os.environ.get("SOLUTIONS") == "no":
        app.connect("source-read", _read)
        app.connect("build-finished", _cut_copies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
