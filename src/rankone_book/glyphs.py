"""The pictures of the first part: letters and signs as rows of ±1, and how they are
shown.
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib import font_manager
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont

from rankone_book.figures import COLOURS, figure

__all__ = ["HUNDRED", "glyphs", "show_glyphs"]

# one hundred characters of which no two have similar pictures
HUNDRED = (
    "CATSHOUNDBEGIJKLMPQRVWXYZabdefgkmnqrt12345679#%&@?+="
    "*$ΓΔΞΣΦΨΩβδεζλμξπςσφωЖЮДИЙЛЦЧШЩЪЫЭЯЋЂЉЊ§¶£¥€<>{}"
)


def glyphs(text: str, side: int = 12) -> Float[NDArray, "K D"]:
    """Pictures of characters, one per row: +1 for ink, −1 for paper.

    Each character fills its square.

    Args:
        text: One character per picture.
        side: Side of a picture in pixels, so that D = side².

    >>> glyphs("AB").shape
    (2, 144)
    """
    fine = 8 * side
    file = font_manager.findfont("DejaVu Sans:bold")
    font = ImageFont.truetype(file, 2 * fine)
    rows = []
    for character in text:
        image = Image.new("L", (4 * fine, 4 * fine))
        pen = ImageDraw.Draw(image)
        pen.text((2 * fine, 2 * fine), character, fill=255, font=font, anchor="mm")
        filled = image.crop(image.getbbox()).resize((fine, fine))
        ink = np.asarray(filled).reshape(side, 8, side, 8).mean((1, 3))
        rows.append(np.where(ink > 127, 1.0, -1.0).ravel())
    return np.array(rows)


def show_glyphs(
    rows: dict[str, ArrayLike],
    *,
    truth: ArrayLike | None = None,
    width: float = 7.2,
    height: float | None = None,
) -> Any:
    """Draw pictures of glyphs, one labelled row per entry.

    Args:
        rows: Label → array (n, side²) with entries from −1, paper, to 1, ink.
        truth: The original pictures (n, side²). Pixels whose sign differs from theirs
            are orange.
        width: Width of the figure in inches.
        height: Height of the figure in inches.

    Returns:
        (figure, axes).
    """
    pictures = {label: np.atleast_2d(np.asarray(a)) for label, a in rows.items()}
    n, size = next(iter(pictures.values())).shape
    side = round(size**0.5)
    step = side + 2
    canvas = np.ones((len(rows) * step - 2, n * step - 2, 3))
    orange = np.array([int(COLOURS[1][i : i + 2], 16) / 255 for i in (1, 3, 5)])
    for i, row in enumerate(pictures.values()):
        for j, picture in enumerate(row):
            grey = 0.93 * (1 - np.clip(picture, -1, 1)) / 2 + 0.02
            colours = np.repeat(grey[:, None], 3, 1)
            if truth is not None:
                wrong = np.sign(picture) != np.sign(np.atleast_2d(truth)[j])
                colours[wrong] = orange
            top = i * step
            start = j * step
            canvas[top : top + side, start : start + side] = colours.reshape(
                side, side, 3
            )
    shape = canvas.shape[0] / canvas.shape[1]
    fig, ax = figure(width=width, height=height or max(0.9 * width * shape, 0.5))
    ax.imshow(canvas, interpolation="nearest")
    ax.set_yticks([i * step + side / 2 - 0.5 for i in range(len(rows))], list(pictures))
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return fig, ax
