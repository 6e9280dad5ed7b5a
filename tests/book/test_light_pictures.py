"""The pictures of the built pages are light, and each page knows their sizes before they arrive."""

import numpy as np
import pytest
from light_pictures import lighten_all
from PIL import Image


@pytest.fixture
def site(tmp_path):
    """A page that shows a drawing, a photograph and a picture from elsewhere."""
    x, y = np.mgrid[:80, :120]
    drawing = np.where((x + y)[..., None] % 40 < 2, 0, 255).astype(np.uint8) * np.ones(3, np.uint8)
    photograph = np.stack([x * 3, y * 2, x + y], -1).astype(np.uint8)
    for name, pixels in (("drawing", drawing), ("photograph", photograph)):
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    images = '<img alt="a" src="../_images/drawing.png" /><img src="../_images/photograph.png" alt="b" />'
    (tmp_path / "page.html").write_text(images + '<img alt="c" src="logo.png" />')
    lighten_all(tmp_path.glob("*.png"), [tmp_path / "page.html"])
    return tmp_path


def test_page_names_the_size_of_each_picture_and_leaves_others_alone(site):
    page = (site / "page.html").read_text()
    for name in ("drawing", "photograph"):
        (tag,) = [tag for tag in page.split("<img ") if f"_images/{name}.webp" in tag]
        assert 'width="120" height="80"' in tag
        assert 'alt="' in tag
    assert page.endswith('<img alt="c" src="logo.png" />')
    assert "png" not in page.replace("logo.png", "")


def test_a_drawing_keeps_its_colours_and_a_photograph_nearly(site):
    with Image.open(site / "drawing.webp") as drawing:
        assert {colour for _, colour in drawing.getcolors()} == {(0, 0, 0), (255, 255, 255)}
    x, y = np.mgrid[:80, :120]
    with Image.open(site / "photograph.webp") as photograph:
        error = np.abs(np.asarray(photograph, int) - np.stack([x * 3, y * 2, x + y], -1))
    assert 0 < error.max() < 32  # 128 colours; the eye sees no edge


def test_a_transparent_picture_stands_on_white(tmp_path):
    Image.new("RGBA", (4, 4), (255, 0, 0, 0)).save(tmp_path / "clear.png")
    lighten_all([tmp_path / "clear.png"], [])
    with Image.open(tmp_path / "clear.webp") as clear:
        assert clear.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
