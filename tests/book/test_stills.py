"""Every explorer of the built pages has a still, drawn with the bundle of the page."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from extensions.pages.stills import (
    FOLDER,
    HEIGHTS,
    STATE,
    VIEW,
    Shown,
    due,
    rows,
    shown_in,
    stale,
)

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
MOST = 32_000  # bytes


def states(page: str) -> list[dict[str, Any]]:
    return [
        json.loads(text)
        for text in re.findall(
            rf'<script type="{re.escape(STATE)}">(.*?)</script>', page, re.S
        )
    ]


def pages() -> dict[Path, str]:
    """Built pages that show an explorer."""
    read = {
        path: path.read_text(encoding="utf-8")
        for path in sorted((HTML / "book").rglob("*.html"))
    }
    return {path: text for path, text in read.items() if STATE in text}


def all_shown() -> list[Shown]:
    return [
        explorer
        for text in pages().values()
        for state in states(text)
        for explorer in shown_in(state).values()
    ]


def test_every_explorer_has_an_up_to_date_still_picture() -> None:
    assert len(all_shown()) > 5
    assert stale(ROOT, all_shown()) == [], "draw them anew: make stills"


def model(**traits: Any) -> dict[str, Any]:
    own = {
        "_anywidget_id": "rankone_book.widgets.editing_explorer.EditingExplorer",
        "_esm": "code",
        "settings": {},
    }
    return {
        "state": {
            "model": {"state": own | traits},
            "layout": {"state": {"_model_name": "LayoutModel"}},
        }
    }


def test_explorers_with_equal_states_have_the_same_key() -> None:
    (plain,) = shown_in(model()).values()
    (other,) = shown_in(model(settings={"ridge": 1, "beta": 2})).values()
    (same,) = shown_in(
        model(settings={"beta": 2, "ridge": 1, "keys": list(range(99))})
    ).values()
    assert plain.name == plain.key == "editing"
    assert other.key == same.key != plain.key
    assert other.key.startswith("editing-")
    assert plain.address == "#r1:editing?"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one still, of an explorer with the bundle "b"."""
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    folder.joinpath("stills.json").write_text(json.dumps({"editing": {"bundle": "b"}}))
    return tmp_path


def test_what_is_stale_is_named(repository: Path) -> None:
    assert stale(repository, [Shown("editing", {}, "b")]) == []
    assert stale(repository, [Shown("editing", {}, "c")]) == [
        "editing was drawn with another bundle"
    ]
    assert stale(repository, []) == ["editing is on no page"]
    assert stale(repository, [Shown("editing", {}, "b"), Shown("other", {}, "b")]) == [
        "other has no still"
    ]


def test_only_missing_stills_and_those_of_another_bundle_are_redrawn(
    repository: Path,
) -> None:
    table = rows(repository)
    assert due(table, [Shown("editing", {}, "b")]) == set()
    changed = [Shown("editing", {}, "c"), Shown("other", {}, "b")]
    assert due(table, changed) == {"editing", "other"}


def test_a_still_is_light_and_has_a_text() -> None:
    for key, row in rows(ROOT).items():
        picture = (ROOT / FOLDER / f"{key}.webp").read_bytes()
        assert picture[8:12] == b"WEBP"
        assert len(picture) <= MOST, key
        assert len(row["alt"]) > 60, key
        assert set(row["heights"]) == set(HEIGHTS), key
    assert {path.stem for path in (ROOT / FOLDER).glob("*.webp")} == set(rows(ROOT))


def test_each_still_stands_before_its_explorer() -> None:
    for path, text in pages().items():
        for state in states(text):
            for name, explorer in shown_in(state).items():
                before = text.partition(
                    f'<script type="{VIEW}">{{"model_id": "{name}"'
                )[0]
                figure = before.rpartition('<figure class="r1-still"')[2]
                assert before.endswith("</figure>\n"), path
                assert f"_static/stills/{explorer.key}.webp" in figure, path
                assert (
                    f"{path.relative_to(HTML).as_posix()}{explorer.address}" in figure
                ), path
