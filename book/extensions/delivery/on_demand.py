"""Moves the code and the data of widgets out of the built pages, so that the text of a
page arrives and is drawn first.

Code and pictures go into scripts, which pages share, and which a page that is opened
from a folder may load too. Notebooks keep their widgets whole. A page loads the scripts
with which its explorers start. An explorer loads the others when a reader asks for
them.
"""

import json
import re
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from extensions.pages.stills import CODE, STATE, mark

# traits that are loaded on demand, as a widget's state names them
LATER = (["finer"], ["tiles"], ["others"])
LONG = 1000  # fewest characters that are moved into a script
FOLDER = Path("_static", "bytes")
HELD = re.compile(rf'(<script type="{re.escape(STATE)}">)(.*?)(</script>)', re.S)


def moved(page: str, site: Path, place: Path) -> str:
    """The page at `place` of the site, with the code and data of its widgets moved into
    scripts.
    """

    def lighter(match: re.Match[str]) -> str:
        state = json.loads(match[2])
        scripts = [
            script
            for entry in state["state"].values()
            for script in _moved(entry, site, place)
        ]
        tags = "".join(
            f'<script defer src="{script}"></script>\n'
            for script in dict.fromkeys(scripts)
        )
        return tags + match[1] + json.dumps(state).replace("</", "<\\/") + match[3]

    return HELD.sub(lighter, page)


def _moved(entry: dict[str, Any], site: Path, place: Path) -> Iterator[str]:
    """Move the long parts of a widget into scripts, and yield those with which it
    starts.
    """
    if code := entry["state"].pop(CODE[0], None):
        entry.setdefault("buffers", []).append(
            {"encoding": "utf-8", "path": CODE, "data": code}
        )
    for part in entry.get("buffers", []):
        if len(part.get("data", "")) > (0 if part["path"] in (CODE, *LATER) else LONG):
            _move(part, site, place)
            if part["path"] not in LATER:
                yield part["script"]


def _move(part: dict[str, Any], site: Path, place: Path) -> None:
    data = part.pop("data")
    name = mark(data)
    script = site / FOLDER / f"{name}.js"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(
        f'(globalThis.rankoneBytes ??= {{}})["{name}"] = {json.dumps(data)};\n',
        encoding="ascii",
    )
    part |= {"name": name, "script": Path(relpath(script, place.parent)).as_posix()}


def _move_built(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for path in (site / "book").rglob("*.html"):
        before = path.read_text(encoding="utf-8")
        if (after := moved(before, site, path)) != before:
            path.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", _move_built)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
