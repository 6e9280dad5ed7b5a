"""Writes the pictures of the built pages as WebP with a palette: the same to the eye at
a fifth of the weight.

Each page is told their sizes, so that nothing moves when they arrive. On a phone it
shows the figure that was drawn for one, whose panels stand one below another, and its
caption says so. The notebooks keep the full pictures.
"""

import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from docutils import nodes
from jupyter_cache import get_cache
from myst_nb.core.render import (
    MimeData,
    MimeRenderPlugin,
    NbElementRenderer,
    load_mime_renders,
)
from nbformat import NotebookNode
from PIL import Image
from sphinx.application import Sphinx

from rankone_book.figures import PHONE

# colours: lines, marks and letters have fewer, photographs and heat maps more
DRAWN = 5_000
SHOWN = re.compile(
    r'<img (?=[^>]*src="(?P<folder>[^"]*_images/)(?P<name>[\w-]+)\.png")(?P<rest>[^>]*)>'
)
LINKED = re.compile(r'(href="[^"]*_images/[\w-]+)\.png"')
# WebP's effort: its highest, 6, takes 47 times as long and saves half a per cent
METHOD = 4
ON_PHONE = "-phone"  # of the name of a figure that was drawn for one
NARROW = "(max-width: 576px)"  # as in the styles
CAPTION = re.compile(r"(?<=</picture>)(.*?</figcaption>)", re.S)
STACKED = {"left": "above", "right": "below", "Left": "Above", "Right": "Below"}
# or a tag
SIDE = re.compile(
    r"<[^>]*>|(?<!left to )\b([Ll]eft|[Rr]ight)\b(?=[,:)]| (?:by|from|with|without) )"
)


class PhoneRenderer(MimeRenderPlugin):
    """Shows nothing for the picture for a phone, which each page gets when it is
    written.
    """

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Element] | None:
        """Nothing, or no answer where the output is of another kind."""
        return [] if data.mime_type == PHONE else None


class Light(NamedTuple):
    """A lightened picture: its size in pixels, and True if it is a drawing."""

    width: int
    height: int
    drawn: bool


def lighten(picture: Path) -> Light:
    """Replace a picture by a WebP of its best colours, 60 of a photograph and 32 of a
    drawing.

    One round of k-means brings 60 colours closer to the photographs than the 128 of
    median cut alone, at three quarters of the weight.
    """
    with Image.open(picture) as image:
        image.load()
    solid = Image.new("RGB", image.size, "white")
    solid.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    drawn = solid.getcolors(DRAWN) is not None  # None of one that has more
    number, rounds = (32, 0) if drawn else (60, 1)
    colours = solid.quantize(number, Image.Quantize.MEDIANCUT, kmeans=rounds)
    light = colours.convert("RGB")
    (_transparent(light) if drawn else light).save(
        picture.with_suffix(".webp"), lossless=True, quality=100, method=METHOD
    )
    picture.unlink()
    return Light(*image.size, drawn)


def _transparent(drawing: Image.Image) -> Image.Image:
    """The drawing as ink on nothing: the same on white, and as dark on any paper."""
    colours = np.asarray(drawing, float) / 255
    ink = 1 - colours.min(axis=-1, keepdims=True)  # what is not white
    pure = 1 - (1 - colours) / np.where(ink > 0, ink, 1)
    inks = np.concatenate([pure, ink], axis=-1)
    return Image.fromarray((255 * inks).round().astype(np.uint8), "RGBA")


def sized(page: str, pictures: Mapping[str, Light]) -> str:
    """A page that shows the lightened pictures, each fetched when the reader comes near
    it, with its size in pixels and its kind, which the dark theme asks for.
    """

    def tag(match: re.Match[str]) -> str:
        name = match["name"]
        width, height, drawn = pictures[name]
        kind = 'data-drawing="" ' if drawn else ""
        attributes = match["rest"].replace(f"{name}.png", f"{name}.webp")
        image = f'<img width="{width}" height="{height}" loading="lazy" decoding="async" {kind}{attributes}>'
        if (phone := name + ON_PHONE) not in pictures:
            return image
        width, height, _ = pictures[phone]
        source = f'media="{NARROW}" srcset="{match["folder"]}{phone}.webp" width="{width}" height="{height}"'
        return f"<picture><source {source}>{image}</picture>"

    def placed(side: re.Match[str]) -> str:
        if side[1] is None:  # a tag, whose style may speak of margins
            return side[0]
        return f'<span class="beside">{side[1]}</span><span class="stacked">{STACKED[side[1]]}</span>'

    def captioned(match: re.Match[str]) -> str:
        return SIDE.sub(placed, match[0])

    return CAPTION.sub(captioned, LINKED.sub(r'\1.webp"', SHOWN.sub(tag, page)))


def write_for_phones(notebooks: Iterable[NotebookNode], folder: Path) -> None:
    """Write each figure that was drawn for a phone beside the one for other screens,
    whose name is its hash.
    """
    for notebook in notebooks:
        for output in (
            output for cell in notebook.cells for output in cell.get("outputs", [])
        ):
            if PHONE in (data := output.get("data", {})):
                name = sha256(b64decode(data["image/png"])).hexdigest()
                (folder / f"{name}{ON_PHONE}.png").write_bytes(b64decode(data[PHONE]))


def lighten_all(pictures: Iterable[Path], pages: Iterable[Path]) -> None:
    """Lighten pictures, and tell the pages."""
    paths = list(pictures)
    with ThreadPoolExecutor() as pool:
        sizes = dict(
            zip(
                (picture.stem for picture in paths),
                pool.map(lighten, paths),
                strict=True,
            )
        )
    for path in pages:
        before = path.read_text(encoding="utf-8")
        if (after := sized(before, sizes)) != before:
            path.write_text(after, encoding="utf-8")


def _lighten_built(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        site = Path(app.outdir)
        cache = get_cache(app.config.nb_execution_cache_path)
        write_for_phones(
            (
                cache.get_cache_bundle(record.pk).nb
                for record in cache.list_cache_records()
            ),
            site / "_images",
        )
        lighten_all((site / "_images").glob("*.png"), (site / "book").rglob("*.html"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx and MyST-NB."""
    if PhoneRenderer not in load_mime_renders():
        load_mime_renders().append(PhoneRenderer)
    app.connect("build-finished", _lighten_built)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
