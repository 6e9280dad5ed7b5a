"""Make the ten thousand pictures of the mosaic explorer from two typefaces.

Run `python tools/make_characters.py DroidSansFallbackFull.ttf` with the file from
Debian's fonts-droid-fallback (Apache 2.0). DejaVu Sans Bold comes with matplotlib.
"""

import sys
import unicodedata
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fontTools.ttLib import TTFont
from matplotlib import font_manager
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "src" / "rankone_book" / "widgets" / "characters.zz"
MOST = 10_000
SIDE = 16  # pixels
FINE = 8 * SIDE  # pixels of a side before averaging
APART = 48  # least number of pixels in which two pictures differ
INK = (0.15, 0.75)  # fractions of ink between which a picture must lie
SHAPES = (0.4, 2.2)  # width over height; a square distorts others badly
IDEOGRAPHS = 0x2E80  # the first code point that is taken from the second typeface


def picture(character: str, font: ImageFont.FreeTypeFont) -> NDArray | None:
    """One character that fills its square, as booleans (SIDE²,). None if its shape or
    its fraction of ink is out of bounds.
    """
    image = Image.new("L", (4 * FINE, 4 * FINE))
    middle = (2 * FINE, 2 * FINE)
    ImageDraw.Draw(image).text(middle, character, fill=255, font=font, anchor="mm")
    box = image.getbbox()
    if box is None:
        return None
    left, top, right, bottom = box
    if not SHAPES[0] < (right - left) / (bottom - top) < SHAPES[1]:
        return None
    filled = np.asarray(image.crop(box).resize((FINE, FINE)))
    ink = filled.reshape(SIDE, 8, SIDE, 8).mean((1, 3)) > 127
    return ink.ravel() if INK[0] < ink.mean() < INK[1] else None


def glyphs(file: str, first: int) -> Iterator[tuple[int, NDArray]]:
    """Code point and picture of the letters, numbers and signs of a typeface, from a
    code point on.
    """
    font = ImageFont.truetype(file, 200)
    for code in sorted(TTFont(file).getBestCmap()):
        kind = unicodedata.category(chr(code))
        if code < first or kind[0] not in "LNS" or kind in ("Lm", "Sk"):
            continue
        ink = picture(chr(code), font)
        if ink is not None:
            yield code, ink


def chosen(candidates: list[tuple[int, NDArray]]) -> tuple[NDArray, NDArray]:
    """Code points and pictures of MOST candidates, any two of which differ in APART
    pixels or more.

    The characters of the first typeface come first: more readers know them.
    """
    shuffled = np.random.default_rng(0).permutation(len(candidates)).tolist()
    order = sorted(shuffled, key=lambda i: candidates[i][0] >= IDEOGRAPHS)
    pictures = np.zeros((MOST, SIDE * SIDE), np.float32)
    codes: dict[int, None] = {}  # in order
    for i in order:
        code, ink = candidates[i]
        n = len(codes)
        if code in codes or (np.abs(pictures[:n] - ink).sum(1) < APART).any():
            continue
        pictures[n] = ink
        codes[code] = None
        if len(codes) == MOST:
            return np.array(list(codes)), pictures
    raise ValueError(
        f"Only {len(codes)} of {MOST} pictures are {APART} pixels apart: lower APART or "
        "MOST."
    )


def main() -> None:
    """Write the code points and the packed pixels, deflated."""
    dejavu = font_manager.findfont("DejaVu Sans:bold")
    candidates = [*glyphs(dejavu, 0), *glyphs(sys.argv[1], IDEOGRAPHS)]
    codes, pictures = chosen(candidates)
    pixels = np.packbits(pictures.astype(bool), axis=1)
    written = zlib.compress(codes.astype("<u4").tobytes() + pixels.tobytes(), 9)
    PLACE.write_bytes(written)
    print(f"{len(codes):,} pictures in {len(written):,} bytes")


if __name__ == "__main__":
    main()
