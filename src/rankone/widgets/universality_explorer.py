"""The universality explorer: a network that learns any function in one gradient step, taken apart and broken."""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from rankone._checks import check, choice
from rankone.widgets._settings import within

__all__ = ["UniversalityExplorer"]

_SIZES = {
    "seed": (2, 3, 4, 6, 8, 10, 12),
    "logdepth": (2, 4, 8, 16, 32),
    "constant": (50, 100, 200, 400),
    "shallow": (50, 100, 200, 400),
}
_TARGETS = ("sine", "neighbour", "bump", "drawn")
_RANGES = {
    "x": (0.0, 1.0), "y": (-2.5, 1.5), "probe": (0.0, 1.0), "ratio": (0.25, 2.0), "offset": (0.0, 0.1),
    "switch": (0.0, 1e-3),
}  # fmt: skip


class UniversalityExplorer(anywidget.AnyWidget):
    """One gradient step of a universal learner, in the page: before, after, the cells that fired, and what breaks it.

    The page builds the network that `rankone.universal_learner` builds, and takes the step by backpropagation through
    every layer of it; the tests hold both equal to JAX.
    """

    _esm = Path(__file__).parent / "static" / "universality.js"
    settings = traitlets.Dict(help="Initial settings that differ from the page's own.").tag(sync=True)

    def __init__(self, **settings: Any) -> None:
        """Makes a widget; show it by returning it from a cell.

        Args:
            settings: What the page starts with: target ("sine", "neighbour", "bump" or "drawn"), construction
                ("seed", "logdepth", "constant" or "shallow") and its size (cells per axis, or units of the fitted
                net), x and y of the training pair, probe (the x* to look at), ratio (step size over the one it was
                built for), offset (δ) and switch (θ_b).

        Raises:
            ValueError: If a setting is unknown or out of range.
        """
        known = ("target", "construction", "size", *_RANGES)
        for name, value in settings.items():
            check(name in known, name, value, f"one of the settings {', '.join(known)}")
            if name in _RANGES:
                settings[name] = within(name, value, *_RANGES[name])
        choice("target", settings.get("target", "sine"), _TARGETS)
        choice("construction", settings.get("construction", "seed"), tuple(_SIZES))
        if "size" in settings:
            choice("size", settings["size"], _SIZES[settings.get("construction", "seed")])
        super().__init__(settings=settings)
