"""What a change leads to: the tests of its part, or of all parts where all share it."""

from pathlib import Path

import pytest
from changed import QUICK, WITH_BOOK, selected

PARTS = {path.parent.name for path in (Path(__file__).parents[1]).glob("*/test_*.py")} - WITH_BOOK


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ([], set()),
        (["src/rankone/editing/closed_form.py", "src/rankone/editing/keys.py"], {"tests/editing"}),
        (["src/rankone/theory/capacity.py"], {"tests/theory/test_capacity.py"}),
        (["src/rankone/theory/capacity.py", "src/rankone/theory/drift.py"], {"tests/theory"}),
        (["tests/memory/test_descent.py", "tests/memory/test_gone.py"], {"tests/memory/test_descent.py"}),
        (["src/rankone/_checks.py"], {f"tests/{part}" for part in PARTS}),
        (["tests/conftest.py"], {f"tests/{part}" for part in PARTS}),
        (["book/intro.md", "README.md", "tests/browser/test_pages.py", "src/rankone_book/claims.py"], set()),
    ],
)
def test_a_change_leads_to_the_selected_its_part(files: list[str], chosen: set[str]) -> None:
    assert set(selected(files)) == (chosen - ({"tests/checks"} & chosen)) | set(QUICK)
