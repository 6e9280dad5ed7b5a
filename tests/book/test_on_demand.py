"""What widgets are made of leaves the page, and waits in scripts that it can find."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from on_demand import HELD, LONG, STATE, moved
from stills import mark

FINER = base64.b64encode(bytes(range(200))).decode()
CODE = "'</script>' is no end of it: é"


def page(finer: str = FINER, pictures: str = "AAAA") -> str:
    buffers = [{"path": ["pictures"], "data": pictures}, {"path": ["finer"], "encoding": "base64", "data": finer}]
    state = {"state": {"one": {"state": {"_esm": CODE, "n": 1}, "buffers": buffers}, "two": {"state": {}}}}
    text = json.dumps(state).replace("</", "<\\/")
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
    script = (place.parent / part["script"]).read_text()
    found = re.fullmatch(rf'.*\["{part["name"]}"\] = (".*");\n', script)
    assert found is not None
    return json.loads(found[1])


def test_it_is_in_scripts_beside_the_site_and_the_rest_stays(tmp_path: Path, place: Path) -> None:
    made = moved(page(), tmp_path, place)
    assert FINER not in made
    assert made.startswith("<p>Text.</p>")
    assert made.endswith("</script><p>More.</p>")
    found = parts(made)
    assert found["pictures"] == {"path": ["pictures"], "data": "AAAA"}
    assert kept(place, found["finer"]) == FINER
    assert kept(place, found["_esm"]) == CODE
    assert found["_esm"]["name"] == mark(CODE)  # by which a still knows its bundle
    assert moved(made, tmp_path, place) == made  # a page that was not built anew


def test_a_page_loads_what_its_widgets_start_with(tmp_path: Path, place: Path) -> None:
    pictures = "A" * (LONG + 1)
    made = moved(page(pictures=pictures), tmp_path, place)
    found = parts(made)
    assert kept(place, found["pictures"]) == pictures
    asked = re.findall(r'<script defer src="([^"]*)"></script>', made)
    assert sorted(asked) == sorted(found[name]["script"] for name in ("pictures", "_esm"))


def test_what_is_empty_stays(tmp_path: Path, place: Path) -> None:
    assert "script" not in parts(moved(page(finer=""), tmp_path, place))["finer"]
