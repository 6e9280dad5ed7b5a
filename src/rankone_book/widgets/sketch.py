"""Small interactive figures, each of one idea."""

from pathlib import Path
from typing import Any

import traitlets

from rankone._checks import choice
from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["Sketch"]

_FREE = {"inner": ("layers",), "neighbours": ("facts",)}
_TAKES = {
    name: Settings.read("sketch", name, free=_FREE.get(name, ()))
    for name in ("bounds", "cosines", "crosstalk", "grows", "inner", "neighbours")
}


class Sketch(Explorer):
    """One idea, a chart and a few controls; the mathematics runs in the page.

    Args:
        name: "crosstalk" (signal and crosstalk in the field of a unit of a Hopfield
            network: load, seed), "cosines" (their mean is the kernel: Y, seed),
            "bounds" (the bound on the energy error as the DrDAM paper prints it, and
            corrected: beta, Y), "grows" (bytes and time of a memory that stores its
            patterns and of one that stores a vector of features: K, D, error (that is
            accepted, which determines the number of features), use ("energy" or
            "retrieval"), hardware ("cpu", "gpu", "node" or "cluster"), N (queries at
            once)), "inner" (gradient steps of a meta-trained network: amplitude, phase,
            steps, stepSize, and layers, a list of {"W": …, "b": …} as nested lists) or
            "neighbours" (recorded edits: facts, a list of those that
            `rankone_book.editing_study.neighbour_shares` makes, and fact, the index of
            the displayed one).
        settings: Settings that the page starts with, as listed.

    Raises:
        ValueError: If there is no such figure, or a setting of it is unknown or out of
            range.

    >>> from rankone_book.widgets import Sketch
    >>> figure = Sketch("cosines", Y=30)
    >>> figure.sketch, figure.settings
    ('cosines', {'Y': 30})
    """

    _esm = Path(__file__).parent / "static" / "sketch.js"
    sketch = traitlets.Unicode(help="Name of the figure.").tag(sync=True)

    def __init__(self, name: str = "cosines", /, **settings: Any) -> None:
        choice("name", name, tuple(_TAKES))
        self._takes = _TAKES[name]
        super().__init__({"sketch": name}, **settings)
