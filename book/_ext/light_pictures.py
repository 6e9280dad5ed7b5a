"""Writes the pictures of the built pages with a palette: the same to the eye, at a third of the weight."""

from pathlib import Path

from PIL import Image
from sphinx.application import Sphinx

WORTHWHILE = 30_000  # bytes; smaller pictures are left as they are
DRAWN = 5_000  # colours: lines, marks and letters have fewer, photographs and heat maps more


def lighten(picture: Path) -> None:
    """Reduce a picture to its best colours, 128 of a photograph and 64 of a drawing, where that makes it smaller."""
    with Image.open(picture) as image:
        if image.mode not in ("RGB", "RGBA"):
            return
        solid = image.convert("RGB")
        drawn = solid.getcolors(DRAWN) is not None  # None of one that has more
        colours = solid.quantize(64 if drawn else 128, Image.Quantize.MEDIANCUT)
    light = picture.with_suffix(".light.png")
    colours.save(light, optimize=True)
    if light.stat().st_size < picture.stat().st_size:
        light.replace(picture)
    light.unlink(missing_ok=True)


def lighten_all(app: Sphinx, exception: Exception | None) -> None:
    """Lighten what the chapters drew; the notebooks keep the full pictures."""
    if exception is None and app.builder.format == "html":
        for picture in (Path(app.outdir) / "_images").glob("*.png"):
            if picture.stat().st_size > WORTHWHILE:
                lighten(picture)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", lighten_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
