"""The universality explorer: a network that learns any function in one gradient step,
taken apart and broken.
"""

from pathlib import Path
from typing import Any

from rankone._checks import choice
from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["UniversalityExplorer"]


class UniversalityExplorer(Explorer):
    """One gradient step of a universal learner, in the page: before, after, the cells
    that became active, and what breaks it.

    The page builds the network that `rankone.universal_learner` builds, and takes the
    step by backpropagation through all its layers; tests compare both with JAX.

    Attributes:
        settings: Settings that the page starts with (if none are given, the network of
            two hidden layers with 200 units): target ("sine", "neighbour", "bump"
            or "drawn"), construction ("seed", "logdepth", "constant", "shallow" or
            "two_layers") and its size (cells per axis, or units of the fitted net), x
            and y of the training pair, probe (the x* to look at), ratio (step size over
            the one it was built for), offset (δ) and switch (θ_b).
    """

    _esm = Path(__file__).parent / "static" / "universality.js"
    _takes = Settings.read("universality")

    def __init__(self, **settings: Any) -> None:
        """Makes a widget; show it by returning it from a cell.

        Args:
            settings: Settings that the page starts with, as listed above.

        Raises:
            ValueError: If a setting is unknown or out of its range, or the construction
                has no such size.
        """
        super().__init__(**settings)
        if "size" in settings:
            choice(
                "size",
                settings["size"],
                self._takes.sizes[settings.get("construction", "two_layers")],
            )
