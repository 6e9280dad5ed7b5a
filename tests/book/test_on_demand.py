"""What widgets are made of leaves the page, and waits in scripts that it can find."""

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
    """Where a chapter of a site is written."""
    made = tmp_path / "book" / "chapters" / "retrieval.html"
    made.parent.mkdir(parents=True)
    return made


def parts(made: str) -> dict[str, dict[str, Any]]:
    found = HELD.search(made)
    assert found is not None
    widget = json.loads(found[2])["state"]["one"]
    assert widget["state"] == {"n": 1}
    return {part["path"][0]: part for part in widget["buffers"]}


def kept(place: Path, part: dict[str, Any]) -> str:
    assert not Path(part["script"]).is_absolute()  # a site is read from any address
    script = (place.parent / part["script"]).read_text()
    found = re.fullmatch(
        rf'\(globalThis\.rankoneBytes \?\?= {{}}\)\["{part["name"]}"\] = (".*");\n',
        script,
    )
    assert found is not None
    return json.loads(found[1])


def test_it_is_in_scripts_beside_the_site_and_the_rest_stays(
    tmp_path: Path, place: Path
) -> None:
    made = moved(page(), tmp_path, place)
    assert FINER not in made
    assert made.startswith("<p>Text.</p>")
    assert made.endswith("</script><p>More.</p>")
    found = parts(made)
    assert found["pictures"] == {"path": ["pictures"], "data": "AAAA"}
    assert kept(place, found["finer"]) == FINER
    assert kept(place, found["_esm"]) == CODE
    assert found["_esm"]["encoding"] == "utf-8"
    assert found["finer"]["encoding"] == "base64"
    assert found["_esm"]["name"] == mark(CODE)  # by which a still knows its bundle
    assert moved(made, tmp_path, place) == made  # a page that was not built anew


def test_a_page_loads_what_its_widgets_start_with(tmp_path: Path, place: Path) -> None:
    pictures = "A" * (LONG + 1)
    made = moved(page(pictures=pictures), tmp_path, place)
    found = parts(made)
    assert kept(place, found["pictures"]) == pictures
    asked = re.findall(r'<script defer src="([^"]*)"></script>', made)
    assert sorted(asked) == sorted(
        found[name]["script"] for name in ("pictures", "_esm")
    )


@pytest.mark.parametrize("name", ["finer", "tiles", "others"])
def test_what_waits_is_loaded_by_no_page(
    name: str, tmp_path: Path, place: Path
) -> None:
    made = moved(page().replace("finer", name), tmp_path, place)
    waiting = parts(made)[name]
    assert kept(place, waiting) == FINER
    asked = re.findall(r'<script defer src="([^"]*)"></script>', made)
    assert waiting["script"] not in asked
    assert len(asked) == 1  # the code


def test_what_is_empty_stays(tmp_path: Path, place: Path) -> None:
    assert "script" not in parts(moved(page(finer=""), tmp_path, place))["finer"]


def test_what_two_widgets_share_is_loaded_once_and_a_state_may_hold_any_text(
    tmp_path: Path, place: Path
) -> None:
    made = moved(page(), tmp_path, place)
    found = HELD.search(made)
    assert found is not None
    states = json.loads(found[2])["state"]
    assert states["two"] == {"state": {"html": "<b>no</b><script></script>"}}
    assert states["three"]["buffers"] == [
        part for part in states["one"]["buffers"] if part["path"] == ["_esm"]
    ]
    assert made.count("<script defer") == 1


def test_chapters_are_lightened_in_every_folder_once_a_book_is_built(
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
