"""The residual explorer: a base that is too small, the memory of what it leaves, and the risk of both as data come."""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from rankone._checks import check, choice
from rankone.widgets._settings import counted, within

__all__ = ["ResidualExplorer"]

_BOUNDS = {"L": (0, 1.2), "sigma": (0.01, 10), "noise": (0, 1), "flips": (0, 0.5)}
_COUNTS = {"d": (1, 8), "n": (2, 4096), "seed": (0, 2**31 - 1)}
_CHOICES = {"view": ("line", "plane"), "k": (1, 2, 3, 5, 8, 12, 20, 32, 64)}


class ResidualExplorer(anywidget.AnyWidget):
    """ResMem on a line in d dimensions and on two classes in a plane, with the printed bound and the true law.

    All of it is computed in the page, from JAX's own random numbers: `rankone.residual.sample_ball` with the same key
    gives the page's points. With a kernel, what the reader sets comes back in `settings`.

    Attributes:
        settings: What differs from the page's own start: view ("line" or "plane"), L (capacity of the base), k, sigma
            (neighbours and the width of their weights), n, d, noise (variance of the labels, on the line), flips
            (share of wrong labels, in the plane), seed.
    """

    _esm = Path(__file__).parent / "static" / "residual.js"
    settings = traitlets.Dict(help="Settings that differ from the page's own; all of them once the reader acts.").tag(
        sync=True
    )

    def __init__(self, **settings: Any) -> None:
        """Makes a widget; show it by returning it from a cell.

        Raises:
            ValueError: If a setting is unknown or out of its range.
        """
        super().__init__(settings={name: _setting(name, value) for name, value in settings.items()})


def _setting(name: str, value: Any) -> Any:
    if name in _BOUNDS:
        return within(name, value, *_BOUNDS[name])
    if name in _COUNTS:
        return counted(name, value, *_COUNTS[name])
    check(name in _CHOICES, name, value, f"one of the settings {', '.join((*_CHOICES, *_BOUNDS, *_COUNTS))}")
    choice(name, value, _CHOICES[name])
    return value
