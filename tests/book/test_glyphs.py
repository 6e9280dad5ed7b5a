"""The letters and signs of the first part: distinct pictures, drawn with their
flaws.
"""

import numpy as np
from matplotlib.figure import Figure

from rankone_book.glyphs import HUNDRED, glyphs, show_glyphs


def test_a_hundred_characters_have_a_hundred_pictures() -> None:
    pictures = glyphs(HUNDRED)
    assert pictures.shape == (100, 144)
    assert set(np.unique(pictures)) == {-1.0, 1.0}
    apart = (pictures[:, None] != pictures).sum(-1) + 144 * np.eye(100)
    assert apart.min() >= 15


def test_wrong_pixels_are_orange() -> None:
    truth = glyphs("A")
    wrong = truth.copy()
    wrong[0, 0] *= -1
    fig, ax = show_glyphs({"stored": truth, "found": wrong}, truth=truth)
    image = np.asarray(ax.images[0].get_array())
    assert isinstance(fig, Figure)
    assert image.shape == (26, 12, 3)
    coloured = np.ptp(image, axis=-1) > 0
    assert np.argwhere(coloured).tolist() == [[14, 0]]
