"""The landscape explorer: the exact energy and its estimate in the plane, with patterns
and query to drag.
"""

from pathlib import Path

from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["LandscapeExplorer"]


class LandscapeExplorer(Explorer):
    """The energy E and its approximation Ê by random features, side by side in the
    plane, and the descents on both from one query. A tube around the descent on E has
    the bound on the distance of the two as its radius.

    The page draws the frequencies that `rankone.RandomFeatures` draws from the same
    seed, and does in JavaScript what `MrDAM`, `DrDAM`, `rankone.theory.drift.drift` and
    `divergence_bound` do; tests compare it with JAX.

    Attributes:
        settings: Settings that the page starts with: view ("exact": E alone; "both";
            "tube": both, with the tube whose radius is the bound), patterns (n, 2) and
            query (2,), with entries from −1.3 to 1.3 (points outside are moved to the
            rim), beta, Y (frequencies), seed, basis (as in `RandomFeatures`), eta (step
            size) and steps.

    >>> from rankone_book.widgets import LandscapeExplorer
    >>> LandscapeExplorer(view="tube", beta=8.0).settings
    {'view': 'tube', 'beta': 8.0}
    """

    _esm = Path(__file__).parent / "static" / "landscape.js"
    _takes = Settings.read("landscape")
