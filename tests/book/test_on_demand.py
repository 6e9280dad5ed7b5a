"""The code and data of widgets move from the page to scripts, which the page can
load.
"""

import base64
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from extensions.delivery import on_demand
from extensions.delivery.on_demand import HELD, LONG, STATE, moved
from extensions.pages.stills import mark

FINER = base64.b64encode(bytes(range(200))).decode()
CODE = "'</script>' is no end of it: é"


def page(finer: str = FINER, pictures: str = "AAAA") -> str:
    buffers = [
        {"path": ["pictures"], "data": pictures},
        {"path": ["finer"], "encoding": "base64", "data": finer},
    ]
    first = {"state": {"_esm": CODE, "n": 1}, "buffers": buffers}
    others = {
        "two": {"state": {"html": "<b>no</b><script></script>"}},
        "three": {"state": {"_esm": CODE}},
    }
    text = json.dumps({"state": {"one": first} | others}, indent=1).replace(
        "</", "<\\/"
    )
    return f'<p>Text.</p><script type="{STATE}">{text}</script><p>More.</p>'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Path at which a chapter of a site is written."""
    path = tmp_path / "book" / "chapters" / "retrieval.html"
    path.parent.mkdir(parents=True)
    return path


def parts(text: str) -> dict[str, dict[str, Any]]:
    match = HELD.search(text)
    assert match is not None
    widget = json.loads(match[2])["state"]["one"]
    assert widget["state"] == {"n": 1}
    return {part["path"][0]: part for part in widget["buffers"]}


def stored_text(place: Path, part: dict[str, Any]) -> str:
    assert not Path(part["script"]).is_absolute()  # a site must work at any address
    script = (place.parent / part["script"]).read_text()
    match = re.fullmatch(
        rf'\(globalThis\.rankoneBytes \?\?= {{}}\)\["{part["name"]}"\] = (".*");\n',
        script,
    )
    assert match is not None
    return json.loads(match[1])


def test_code_and_large_data_move_to_scripts_and_the_page_is_otherwise_unchanged(
    tmp_path: Path, place: Path
) -> None:
    moved_page = moved(page(), tmp_path, place)
    assert FINER not in moved_page
    assert moved_page.startswith("<p>Text.</p>")
    assert moved_page.endswith("</script><p>More.</p>")
    buffers = parts(moved_page)
    assert buffers["pictures"] == {"path": ["pictures"], "data": "AAAA"}
    assert stored_text(place, buffers["finer"]) == FINER
    assert stored_text(place, buffers["_esm"]) == CODE
    assert buffers["_esm"]["encoding"] == "utf-8"
    assert buffers["finer"]["encoding"] == "base64"
    # The mark by which a still is matched with its bundle.
    assert buffers["_esm"]["name"] == mark(CODE)
    # a page that was not rebuilt
    assert moved(moved_page, tmp_path, place) == moved_page


def test_a_page_loads_what_its_widgets_start_with(tmp_path: Path, place: Path) -> None:
    pictures = "A" * (LONG + 1)
    moved_page = moved(page(pictures=pictures), tmp_path, place)
    buffers = parts(moved_page)
    assert stored_text(place, buffers["pictures"]) == pictures
    scripts = re.findall(r'<script defer src="([^"]*)"></script>', moved_page)
    assert sorted(scripts) == sorted(
        buffers[name]["script"] for name in ("pictures", "_esm")
    )


@pytest.mark.parametrize("name", ["finer", "tiles", "others"])
def test_data_that_a_widget_requests_later_is_not_loaded_with_the_page(
    name: str, tmp_path: Path, place: Path
) -> None:
    moved_page = moved(page().replace("finer", name), tmp_path, place)
    waiting = parts(moved_page)[name]
    assert stored_text(place, waiting) == FINER
    scripts = re.findall(r'<script defer src="([^"]*)"></script>', moved_page)
    assert waiting["script"] not in scripts
    assert len(scripts) == 1  # the widget's code


def test_empty_data_stays_in_the_page(tmp_path: Path, place: Path) -> None:
    assert "script" not in parts(moved(page(finer=""), tmp_path, place))["finer"]


def test_code_shared_by_widgets_is_loaded_once_and_other_states_are_unchanged(
    tmp_path: Path, place: Path
) -> None:
    moved_page = moved(page(), tmp_path, place)
    match = HELD.search(moved_page)
    assert match is not None
    states = json.loads(match[2])["state"]
    assert states["two"] == {"state": {"html": "<b>no</b><script></script>"}}
    assert states["three"]["buffers"] == [
        part for part in states["one"]["buffers"] if part["path"] == ["_esm"]
    ]
    assert moved_page.count("<script defer") == 1


def test_widget_data_is_moved_only_after_a_successful_html_build(
    tmp_path: Path, place: Path
) -> None:
    app: Any = SimpleNamespace(
        connect=lambda event, act: setattr(app, event.replace("-", "_"), act),
        outdir=tmp_path,
    )
    on_demand.setup(app)
    for form, exception in (("html", ValueError()), ("latex", None), ("html", None)):
        place.write_text(page())
        app.builder = SimpleNamespace(format=form)
        app.build_finished(app, exception)
        assert (FINER in place.read_text()) == (form != "html" or exception is not None)
    assert parts(place.read_text())["finer"]["name"] == mark(FINER)
