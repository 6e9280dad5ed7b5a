"""Writes the pictures of the built pages as WebP with a palette: the same to the eye at a fifth of the weight.

Each page is told their sizes, so that nothing moves when they arrive. The notebooks keep the full pictures.
"""

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image
from sphinx.application import Sphinx

DRAWN = 5_000  # colours: lines, marks and letters have fewer, photographs and heat maps more
SHOWN = re.compile(r'<img (?=[^>]*src="[^"]*_images/(?P<name>[\w-]+)\.png")(?P<rest>[^>]*)>')


def lighten(picture: Path) -> tuple[int, int]:
    """Replace a picture by a WebP of its best colours, 128 of a photograph and 64 of a drawing; return its size."""
    with Image.open(picture) as image:
        image.load()
    solid = Image.new("RGB", image.size, "white")
    solid.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    drawn = solid.getcolors(DRAWN) is not None  # None of one that has more
    colours = solid.quantize(64 if drawn else 128, Image.Quantize.MEDIANCUT)
    colours.convert("RGB").save(picture.with_suffix(".webp"), lossless=True, quality=75, method=3)
    picture.unlink()
    return image.size


def sized(page: str, sizes: dict[str, tuple[int, int]]) -> str:
    """A page that shows the lightened pictures, each fetched when the reader comes near it, with its size in pixels."""

    def tag(found: re.Match[str]) -> str:
        width, height = sizes[found["name"]]
        rest = found["rest"].replace(f"{found['name']}.png", f"{found['name']}.webp")
        return f'<img width="{width}" height="{height}" loading="lazy" decoding="async" {rest}>'

    return SHOWN.sub(tag, page)


def lighten_all(pictures: Iterable[Path], pages: Iterable[Path]) -> None:
    """Lighten pictures, and tell the pages."""
    found = list(pictures)
    with ThreadPoolExecutor() as pool:
        sizes = dict(zip((picture.stem for picture in found), pool.map(lighten, found), strict=True))
    for path in pages:
        before = path.read_text(encoding="utf-8")
        if (after := sized(before, sizes)) != before:
            path.write_text(after, encoding="utf-8")


def _lighten_built(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        site = Path(app.outdir)
        lighten_all((site / "_images").glob("*.png"), (site / "book").rglob("*.html"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", _lighten_built)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
