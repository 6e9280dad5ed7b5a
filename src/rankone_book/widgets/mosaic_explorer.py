"""The mosaic explorer: up to ten thousand pictures in two memories."""

from pathlib import Path
from typing import Any

import traitlets

from rankone_book.characters import packed_characters
from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["MosaicExplorer"]

_FIRST = 2_500  # pictures that every reader fetches


class MosaicExplorer(Explorer):
    """A wall of pictures for each memory, in which every picture lights up by its
    softmax weight while the retrieval runs.

    The page computes in JavaScript what `MrDAM`, and `DrDAM` with Hadamard features of
    the same seed, compute in JAX; tests compare the two. In the book the page fetches
    2,500 pictures when the explorer comes into view, and the others when a reader asks
    for more.

    Attributes:
        tiles: The first 2,500 pictures, as `rankone_book.characters` packs them.
        others: The remaining ones.
        settings: Settings that the page starts with: K (how many pictures are stored,
            the first ones), target (which of them the query is made of), damage
            ("eighth", "quarter" or "half" of it hidden, or "flips": a twentieth of its
            pixels flipped), beta, Y (frequencies), eta (step size), steps and seed.

    >>> from rankone_book.widgets import MosaicExplorer
    >>> MosaicExplorer(K=2500, damage="half").settings
    {'K': 2500, 'damage': 'half'}
    """

    _esm = Path(__file__).parent / "static" / "mosaic.js"
    _takes = Settings.read("mosaic")
    tiles = traitlets.Bytes(help="The first pictures, packed.").tag(sync=True)
    others = traitlets.Bytes(help="The remaining pictures, packed.").tag(sync=True)

    def __init__(self, **settings: Any) -> None:
        """Makes a widget; show it by returning it from a cell.

        Args:
            settings: What the page starts with, as listed above.

        Raises:
            ValueError: If a setting is unknown or out of its range.
        """
        packed = {
            "tiles": packed_characters(0, _FIRST),
            "others": packed_characters(_FIRST),
        }
        super().__init__(packed, **settings)
