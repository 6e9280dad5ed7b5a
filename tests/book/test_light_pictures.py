"""The pictures of the built pages are light, and each page states their sizes, so that
they are known before the pictures load.
"""

import io
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image
from scipy.stats import beta

from extensions.delivery.light_pictures import (
    ON_PHONE,
    SIDE,
    LightPictures,
    _transparent,
    lighten_all,
    write_for_phones,
)
from rankone_book.figures import COLOURS, PHONE, figure


@pytest.fixture
def site(tmp_path):
    """A page that shows a drawing, a photograph and a picture from elsewhere."""
    x, y = np.mgrid[:80, :120]
    drawing = np.where((x + y)[..., None] % 40 < 2, 0, 255).astype(np.uint8) * np.ones(
        3, np.uint8
    )
    photograph = np.stack([x * 3, y * 2, x + y], -1).astype(np.uint8)
    for name, pixels in (("drawing", drawing), ("photograph", photograph)):
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    images = '<img alt="a" src="../_images/drawing.png" /><img src="../_images/photograph.png" alt="b" />'
    (tmp_path / "page.html").write_text(images + '<img alt="c" src="logo.png" />')
    lighten(tmp_path.glob("*.png"), [tmp_path / "page.html"], tmp_path / "kept")
    return tmp_path


def lighten(pictures, pages, folder):
    """Lighten pictures as a build does, with a cache in a folder."""
    light = LightPictures(folder)
    lighten_all(pictures, pages, light)
    light.close()


def on_white(picture: Image.Image) -> Image.Image:
    """The picture as a page shows it."""
    page = Image.new("RGBA", picture.size, "white")
    return Image.alpha_composite(page, picture.convert("RGBA")).convert("RGB")


def test_page_names_the_size_of_each_picture_and_leaves_others_alone(site):
    page = (site / "page.html").read_text()
    for name in ("drawing", "photograph"):
        (tag,) = [tag for tag in page.split("<img ") if f"_images/{name}.webp" in tag]
        assert 'width="120" height="80"' in tag
        assert 'alt="' in tag
        assert ("data-drawing" in tag) == (name == "drawing")
    assert page.endswith('<img alt="c" src="logo.png" />')
    assert "png" not in page.replace("logo.png", "")


def test_a_drawing_keeps_its_colours_and_a_photograph_nearly(site):
    with Image.open(site / "drawing.webp") as drawing:
        alpha = {colour[-1] for _, colour in drawing.getcolors()}
        colours = {colour for _, colour in on_white(drawing).getcolors()}
    assert alpha == {0, 255}  # opaque or transparent, nothing between
    assert colours == {(0, 0, 0), (255, 255, 255)}
    x, y = np.mgrid[:80, :120]
    with Image.open(site / "photograph.webp") as photograph:
        error = np.abs(
            np.asarray(photograph, int) - np.stack([x * 3, y * 2, x + y], -1)
        )
    assert 0 < error.max() < 32  # 60 colours; no edge is visible
    assert np.sqrt((error**2).mean()) < 9


def test_lines_keep_their_own_colours_over_translucent_areas(tmp_path):
    fig, ax = figure(height=2.8)
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 300)
    for colour, a in zip(COLOURS[:3], (5, 10, 30), strict=True):
        draws = rng.beta(a, 10, 4000)
        ax.hist(draws, 40, range=(0, 1), density=True, color=colour, alpha=0.3)
        ax.plot(x, beta.pdf(x, a, 10), color=colour, label=f"n = {a}")
    ax.legend()
    fig.savefig(tmp_path / "curves.png", dpi=100)
    plt.close(fig)
    lighten([tmp_path / "curves.png"], [], tmp_path / "kept")
    with Image.open(tmp_path / "curves.webp") as light:
        pixels = np.asarray(on_white(light), int)
    for colour in COLOURS[:3]:
        expected = 255 * np.asarray(to_rgb(colour))
        # 442 is the largest distance.
        assert np.linalg.norm(pixels - expected, axis=-1).min() < 60


def test_a_drawing_may_mix_many_colours_in_translucent_bands(tmp_path):
    x, y = np.mgrid[:200, :200]
    pixels = np.full((200, 200, 3), 255, np.uint8)
    pixels[:100, :100] = np.stack([x, y, x + y], -1)[:100, :100]
    Image.fromarray(pixels).save(tmp_path / "bands.png")
    assert len(Image.fromarray(pixels).getcolors(40_000)) > 5000
    lighten([tmp_path / "bands.png"], [], tmp_path / "kept")
    with Image.open(tmp_path / "bands.webp") as bands:
        assert bands.mode == "RGBA"  # opaque on transparent
        error = np.abs(np.asarray(on_white(bands), int) - pixels)
    assert error[100:].max() == 0
    assert np.sqrt((error**2).mean()) < 9


def test_a_transparent_picture_stands_on_white(tmp_path):
    Image.new("RGBA", (4, 4), (255, 0, 0, 0)).save(tmp_path / "clear.png")
    lighten([tmp_path / "clear.png"], [], tmp_path / "kept")
    with Image.open(tmp_path / "clear.webp") as clear:
        assert on_white(clear).getpixel((0, 0)) == (255, 255, 255)


def test_a_second_build_finds_what_the_first_has_lightened_and_drops_the_rest(
    tmp_path, monkeypatch
):
    folder = tmp_path / "kept"
    pictures = [tmp_path / f"{colour}.png" for colour in ("red", "blue")]
    for picture in pictures:
        Image.new("RGB", (4, 4), picture.stem).save(picture)
    folder.mkdir()
    (folder / "stopped.part").write_bytes(b"half a picture")
    lighten(pictures, [], folder)
    assert len(list(folder.iterdir())) == 2
    first = (tmp_path / "red.webp").read_bytes()
    Image.new("RGB", (4, 4), "red").save(tmp_path / "red.png")
    monkeypatch.delattr("extensions.delivery.light_pictures.lightened")
    lighten([tmp_path / "red.png"], [], folder)
    assert (tmp_path / "red.webp").read_bytes() == first
    assert len(list(folder.iterdir())) == 1


def test_a_drawing_made_transparent_looks_the_same_on_white():
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3), np.uint8)
    drawing = Image.fromarray(pixels)
    result = np.asarray(on_white(_transparent(drawing)), int)
    assert abs(result - pixels).max() <= 2  # two roundings to 1/255


def test_phones_get_their_own_figure_and_a_caption_with_its_panel_positions(
    tmp_path,
):
    def png(*size):
        Image.new("RGB", size, "white").save(picture := io.BytesIO(), "PNG")
        return picture.getvalue()

    data = {
        "image/png": b64encode(png(80, 40)).decode(),
        PHONE: b64encode(png(30, 60)).decode(),
    }
    output = nbformat.v4.new_output("display_data", data)
    name = sha256(png(80, 40)).hexdigest()
    folder = tmp_path / "_images"
    folder.mkdir()
    (folder / f"{name}.png").write_bytes(png(80, 40))
    write_for_phones(
        [
            nbformat.v4.new_notebook(
                cells=[nbformat.v4.new_code_cell("", outputs=[output])]
            )
        ],
        folder,
    )
    image = f'<a href="_images/{name}.png"><img alt="a" src="_images/{name}.png" /></a>'
    words = "Left, a law (right: its slope), from left to right, at a right angle; <b style='left:0'>right</b> by step"
    words = f"<figcaption>{words}: right by step.</figcaption>"
    page = tmp_path / "page.html"
    page.write_text(f"<figure>{image}{words}</figure>")
    lighten(folder.glob("*.png"), [page], tmp_path / "kept")
    html_text = page.read_text()
    assert (
        f'<source media="(max-width: 576px)" srcset="_images/{name}-phone.webp" width="30" height="60">'
        in html_text
    )
    assert f'href="_images/{name}.webp"' in html_text
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{name}-phone.webp",
        f"{name}.webp",
    ]
    on_phone = re.sub(r'<span class="beside">.*?</span>', "", html_text)
    beside = re.sub(r'<span class="stacked">.*?</span>', "", html_text)
    text = [re.sub("<.*?>", "", page) for page in (on_phone, beside)]
    assert text == [
        "Above, a law (below: its slope), from left to right, at a right angle; right by step: below by step.",
        "Left, a law (right: its slope), from left to right, at a right angle; right by step: right by step.",
    ]


def test_style_sheet_and_pictures_use_the_same_width_limit_for_phones():
    from extensions.delivery.light_pictures import NARROW

    style = Path("book/_static/custom.css").read_text(encoding="utf-8")
    assert f"@media {NARROW} {{" in style
    assert ".stacked" in style
    assert ".beside" in style


def test_figures_drawn_for_a_phone_are_narrower_than_those_for_other_screens():
    pages = Path("_build/html/book").rglob("*.html")
    names = {
        name
        for page in pages
        for name in re.findall(rf"_images/(\w+){ON_PHONE}\.webp", page.read_text())
    }
    assert len(names) > 50
    for name in names:
        at = Path("_build/html/_images")
        with (
            Image.open(at / f"{name}{ON_PHONE}.webp") as narrow,
            Image.open(at / f"{name}.webp") as wide,
        ):
            assert narrow.size != wide.size
            # Two pixels for each pixel of a phone's column. On the page this picture is
            # narrower than the other, which has one or two pixels per pixel.
            assert narrow.width >= 703
            assert narrow.width / 2 < wide.width


def test_a_side_in_a_caption_can_be_replaced_by_above_or_below():
    """On a narrow page "left" becomes "above". "On the above" is not English."""
    chapters = Path(__file__).parents[2] / "book" / "chapters"
    captions = re.findall(
        r"(?m)^ +caption: (.*)$",
        "\n".join(page.read_text() for page in chapters.glob("*.md")),
    )
    assert len(captions) > 50
    replaced = [
        (caption, side)
        for caption in captions
        for side in SIDE.finditer(caption)
        if side[1]
    ]
    assert replaced
    for caption, side in replaced:
        assert not caption[: side.start()].endswith("the "), caption
