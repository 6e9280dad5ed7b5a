"""Takes out of the built pages what few readers ask for: bytes of a widget that it fetches when it needs them.

Each goes into a script of its own, which a page in a folder may load too; the notebooks keep theirs.
"""

import hashlib
import json
import re
from os.path import relpath
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from stills import STATE

FINER = ["finer"]  # the trait, as a state names it
FOLDER = Path("_static", "bytes")
HELD = re.compile(rf'(<script type="{re.escape(STATE)}">)(.*?)(</script>)', re.S)


def moved(page: str, site: Path, place: Path) -> str:
    """A page at that place of the site without those bytes, which are in scripts of the site now."""

    def lighter(found: re.Match[str]) -> str:
        state = json.loads(found[2])
        buffers = [each for entry in state["state"].values() for each in entry.get("buffers", [])]
        for buffer in buffers:
            if buffer["path"] == FINER and buffer.get("data"):
                _move(buffer, site, place)
        return found[1] + json.dumps(state).replace("</", "<\\/") + found[3]

    return HELD.sub(lighter, page)


def _move(buffer: dict[str, Any], site: Path, place: Path) -> None:
    data = buffer.pop("data")
    name = hashlib.sha256(data.encode()).hexdigest()[:16]
    script = site / FOLDER / f"{name}.js"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f'(globalThis.rankoneBytes ??= {{}})["{name}"] = "{data}";\n', encoding="ascii")
    buffer |= {"name": name, "script": Path(relpath(script, place.parent)).as_posix()}


def _move_built(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for path in (site / "book").rglob("*.html"):
        before = path.read_text(encoding="utf-8")
        if '"finer"' in before and (after := moved(before, site, path)) != before:
            path.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", _move_built)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
