"""Every widget on a built page is an explorer, whose script the page has."""

import json
import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "_build" / "html" / "book").rglob("*.html"))
STATE = re.compile(
    r'<script type="application/vnd.jupyter.widget-state\+json">(.*?)</script>', re.S
)
BOOK = {"AnyModel", "LayoutModel"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_page_has_a_widget_that_cannot_start(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    models = [
        model["model_name"]
        for state in STATE.findall(text)
        for model in json.loads(state)["state"].values()
    ]
    assert set(models) <= BOOK, "such as the progress bar of a cell"
