"""Every widget on a built page is an explorer, whose script the page has."""

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "_build" / "html" / "book").rglob("*.html"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_page_has_a_widget_that_cannot_start(page: Path) -> None:
    models = re.findall(r'"model_name": "(\w+)"', page.read_text(encoding="utf-8"))
    # a progress bar would be an HBoxModel
    assert set(models) <= {"AnyModel", "LayoutModel"}
