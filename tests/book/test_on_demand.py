"""Bytes that few readers ask for leave the page, and wait in a script that it can find."""

import base64
import json
import re
from pathlib import Path

from on_demand import HELD, STATE, moved


def page(data: str) -> str:
    buffers = [{"path": ["pictures"], "data": "AAAA"}, {"path": ["finer"], "encoding": "base64", "data": data}]
    state = {"state": {"one": {"state": {"_esm": "</script>"}, "buffers": buffers}, "two": {"state": {}}}}
    text = json.dumps(state).replace("</", "<\\/")
    return f'<p>Text.</p><script type="{STATE}">{text}</script><p>More.</p>'


def test_they_are_in_a_script_beside_the_site_and_the_rest_stays(tmp_path: Path) -> None:
    data = base64.b64encode(bytes(range(200))).decode()
    place = tmp_path / "book" / "chapters" / "retrieval.html"
    place.parent.mkdir(parents=True)
    made = moved(page(data), tmp_path, place)
    assert data not in made
    assert made.startswith("<p>Text.</p>")
    assert made.endswith("</script><p>More.</p>")
    found = HELD.search(made)
    assert found is not None
    first, finer = json.loads(found[2])["state"]["one"]["buffers"]
    assert first == {"path": ["pictures"], "data": "AAAA"}
    script = (place.parent / finer["script"]).read_text()
    assert re.fullmatch(rf'.*\["{finer["name"]}"\] = "{re.escape(data)}";\n', script)
    assert moved(made, tmp_path, place) == made  # a page that was not built anew


def test_what_is_empty_stays(tmp_path: Path) -> None:
    assert '"script"' not in moved(page(""), tmp_path, tmp_path / "book" / "intro.html")
    assert not list(tmp_path.iterdir())
