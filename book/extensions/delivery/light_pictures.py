"""Writes the pictures of the built pages as WebP with a palette: the same to the eye,
in a fifth of the bytes.

Each page gets their sizes, so that nothing moves when they arrive. On a phone a page
shows the figure that was drawn for phones, whose panels are one below another, and its
caption says "above" for "left". The notebooks keep the full pictures.

The pictures are lightened while the pages are written, which uses one processor alone.
Later builds reuse them.
"""

import io
import re
import shutil
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
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

# number of colours: lines, marks and letters have fewer, photographs and heat maps more
DRAWN = 5_000
# fraction of white pixels above which a picture is a drawing even if it has more
# colours, such as those of translucent bands
PAPER = 0.6
SHOWN = re.compile(
    r'<img (?=[^>]*src="(?P<folder>[^"]*_images/)(?P<name>[\w-]+)\.png")(?P<rest>[^>]*)>'
)
LINKED = re.compile(r'(href="[^"]*_images/[\w-]+)\.png"')
# WebP's effort: its highest, 6, takes 47 times as long and saves half a per cent
METHOD = 4
# decides, with the picture, how the result looks
CODE = Path(__file__).read_bytes()
ON_PHONE = "-phone"  # ending of the name of a figure that was drawn for a phone
NARROW = "(max-width: 576px)"  # as in the styles
CAPTION = re.compile(r"(?<=</picture>)(.*?</figcaption>)", re.S)
STACKED = {"left": "above", "right": "below", "Left": "Above", "Right": "Below"}
# a tag, or a word that names a side
SIDE = re.compile(
    r"<[^>]*>|(?<!left to )\b([Ll]eft|[Rr]ight)\b(?=[,:)]| (?:against|by|from|with|without) )"
)


class PhoneRenderer(MimeRenderPlugin):
    """Shows nothing for the picture for a phone, which each page gets when it is
    written.
    """

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Element] | None:
        """No nodes, or None if the output is of another kind."""
        return [] if data.mime_type == PHONE else None


class Light(NamedTuple):
    """A lightened picture: its size in pixels, and True if it is a drawing."""

    width: int
    height: int
    drawn: bool


def lightened(picture: bytes) -> bytes:
    """A picture as a WebP of its 60 best colours; a drawing has a transparent
    background.

    One round of k-means brings 60 colours closer to the photographs than the 128 of
    median cut alone, at three quarters of the weight. In a drawing it keeps the lines in
    their own colours, which median cut alone mixes where a histogram takes many. With 32
    colours, two lines beside a colour bar become one colour.
    """
    with Image.open(io.BytesIO(picture)) as image:
        image.load()
    solid = Image.new("RGB", image.size, "white")
    solid.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    # `getcolors` returns None for a picture that has more
    drawn = solid.getcolors(DRAWN) is not None or _paper(solid) > PAPER
    colours = solid.quantize(60, Image.Quantize.MEDIANCUT, kmeans=1)
    light = colours.convert("RGB")
    webp = io.BytesIO()
    (_transparent(light) if drawn else light).save(
        webp, "WebP", lossless=True, quality=100, method=METHOD
    )
    return webp.getvalue()


def _paper(picture: Image.Image) -> float:
    """The fraction of the pixels that are white."""
    return float((np.asarray(picture).min(axis=-1) == 255).mean())


def _transparent(drawing: Image.Image) -> Image.Image:
    """The drawing as ink on a transparent background: the same on white, and as dark on
    any other colour.
    """
    colours = np.asarray(drawing, float) / 255
    ink = 1 - colours.min(axis=-1, keepdims=True)  # 0 where the drawing is white
    pure = 1 - (1 - colours) / np.where(ink > 0, ink, 1)
    inks = np.concatenate([pure, ink], axis=-1)
    return Image.fromarray((255 * inks).round().astype(np.uint8), "RGBA")


def sized(page: str, pictures: Mapping[str, Light]) -> str:
    """A page that shows the lightened pictures. Each is fetched when the reader comes
    near it, and has its size in pixels and, for the dark theme, its kind.
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
    which is named by its hash.
    """
    for notebook in notebooks:
        for output in (
            output for cell in notebook.cells for output in cell.get("outputs", [])
        ):
            if PHONE in (data := output.get("data", {})):
                name = sha256(b64decode(data["image/png"])).hexdigest()
                (folder / f"{name}{ON_PHONE}.png").write_bytes(b64decode(data[PHONE]))


class LightPictures:
    """The lightened pictures of a book, in a folder that its later builds share.

    Each is named by a hash of the original picture and of the code of this module.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pool = ThreadPoolExecutor()
        self._begun: dict[str, Future[Path]] = {}

    def begin(self, pictures: Iterable[bytes]) -> None:
        """Lighten pictures in the background."""
        for picture in pictures:
            self._future(picture)

    def replace(self, picture: Path) -> Light:
        """Replace a picture by the lightened picture."""
        kept = self._future(picture.read_bytes()).result()
        shutil.copyfile(kept, picture.with_suffix(".webp"))
        picture.unlink()
        with Image.open(kept) as image:
            return Light(*image.size, drawn=image.mode == "RGBA")

    def close(self) -> None:
        """Cancel pictures that are not begun, and remove lightened pictures that this
        build did not use.
        """
        self._pool.shutdown(cancel_futures=True)
        for kept in self._folder.glob("*"):  # empty if there is no folder
            if kept.stem not in self._begun:
                kept.unlink()

    def _future(self, picture: bytes) -> Future[Path]:
        name = sha256(CODE + picture).hexdigest()
        if name not in self._begun:
            path = self._folder / f"{name}.webp"
            self._begun[name] = self._pool.submit(self._make, picture, path)
        return self._begun[name]

    @staticmethod
    def _make(picture: bytes, path: Path) -> Path:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")  # a build can be stopped while it writes
            part.write_bytes(lightened(picture))
            part.replace(path)
        return path


def lighten_all(
    pictures: Iterable[Path], pages: Iterable[Path], light: LightPictures
) -> None:
    """Lighten pictures, and rewrite the pages that show them."""
    paths = list(pictures)
    light.begin(path.read_bytes() for path in paths)
    sizes = {path.stem: light.replace(path) for path in paths}
    for path in pages:
        before = path.read_text(encoding="utf-8")
        if (after := sized(before, sizes)) != before:
            path.write_text(after, encoding="utf-8")


def _notebooks(app: Sphinx) -> Iterator[NotebookNode]:
    cache = get_cache(app.config.nb_execution_cache_path)
    for record in cache.list_cache_records():
        yield cache.get_cache_bundle(record.pk).nb


def _drawn_by(notebooks: Iterable[NotebookNode]) -> Iterator[bytes]:
    for notebook in notebooks:
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                yield from (
                    b64decode(data[k]) for k in ("image/png", PHONE) if k in data
                )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx and MyST-NB."""
    if PhoneRenderer not in load_mime_renders():
        load_mime_renders().append(PhoneRenderer)
    light = LightPictures(Path(app.outdir).parent / ".light_pictures")

    def begin(app: Sphinx) -> None:
        if app.builder.format == "html":
            light.begin(_drawn_by(_notebooks(app)))

    def end(app: Sphinx, exception: Exception | None) -> None:
        if exception is None and app.builder.format == "html":
            images = Path(app.outdir) / "_images"
            write_for_phones(_notebooks(app), images)
            pages = (Path(app.outdir) / "book").rglob("*.html")
            lighten_all(images.glob("*.png"), pages, light)
        light.close()

    app.connect("builder-inited", begin)  # after the cells have been run
    app.connect("build-finished", end)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
