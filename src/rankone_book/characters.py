"""Ten thousand pictures of characters: the patterns of the mosaic explorer."""

import zlib
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from rankone._checks import integer

__all__ = ["MOST", "characters", "packed_characters"]

MOST = 10_000
_SIDE = 16
_FILE = Path(__file__).parent / "widgets" / "characters.zz"


def packed_characters(start: int = 0, stop: int = MOST) -> bytes:
    """Some of the pictures as the page reads them: their code points (4 bytes each, low
    bytes first), then 256 bits for each, deflated together.

    Args:
        start: Index of the first picture.
        stop: Index after the last picture.

    >>> len(zlib.decompress(packed_characters(0, 10)))
    360
    """
    codes, rows = _content()
    return zlib.compress(codes[start:stop].tobytes() + rows[start:stop].tobytes(), 9)


def characters(count: int = MOST) -> Float[NDArray, "K 256"]:
    """Pictures of 16 × 16 pixels, one per row: 1 for ink, 0 for paper.

    The letters and signs of DejaVu Sans Bold come first, in random order, and then the
    ideographs of Droid Sans Fallback. Any two pictures differ in 48 pixels or more.
    `tools/make_characters.py` made them. The licence of DejaVu is free; that of Droid
    is Apache 2.0.

    Args:
        count: Number of pictures; the first `count` are returned.

    Raises:
        ValueError: If `count` is not an integer from 1 to 10,000.

    >>> characters(3).shape
    (3, 256)
    """
    requirement = f"an integer from 1 to {MOST}"
    return _all()[: integer("count", count, requirement, least=1, most=MOST)].copy()


@cache
def _all() -> NDArray:
    _, rows = _content()
    return np.unpackbits(rows, axis=1).astype(float).reshape(MOST, _SIDE * _SIDE)


def _content() -> tuple[NDArray, NDArray]:
    """Code points, and the pictures as packed bits, one row of bytes for each."""
    content = zlib.decompress(_FILE.read_bytes())
    codes = np.frombuffer(content, "<u4", count=MOST)
    rows = np.frombuffer(content, np.uint8, offset=codes.nbytes)
    return codes, rows.reshape(MOST, -1)
