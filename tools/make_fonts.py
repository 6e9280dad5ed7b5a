"""Makes the pages' typeface for matplotlib: one TrueType file from two files of the
frontend's packages, with Latin and with Greek letters.

The file gets a name of its own, because the licence reserves "Source" for Adobe's
files, and a merged file is another one.

Run `make widgets`, which installs the packages, then
`.venv/bin/python tools/make_fonts.py`.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from fontTools.merge import Merger
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "frontend/node_modules/@fontsource/source-serif-4"
FONT = ROOT / "src/rankone_book/fonts/rank-one-serif.ttf"
NAME = "Rank One Serif"


def main() -> None:
    """Write the file and its licence."""
    with TemporaryDirectory() as folder:
        parts = []
        for script in ("latin", "greek"):
            web = PACKAGE / "files" / f"source-serif-4-{script}-400-normal.woff"
            font = TTFont(web)
            font.flavor = None
            parts.append(f"{folder}/{script}.ttf")
            font.save(parts[-1])
        whole = Merger().merge(parts)
    names = whole["name"]
    own = {1: NAME, 3: NAME, 4: NAME, 6: NAME.replace(" ", "") + "-Regular"}
    for number, name in own.items():
        names.setName(name, number, platformID=3, platEncID=1, langID=0x409)
    whole.save(FONT)
    # The package's licence names Google, which publishes the font, as its holder.
    notice = TTFont(FONT)["name"].getDebugName(0)
    _, text = (PACKAGE / "LICENSE").read_text(encoding="utf-8").split("\n", 1)
    FONT.with_name("LICENSE").write_text(f"{notice}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
