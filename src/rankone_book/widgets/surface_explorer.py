"""The surface explorer: three photographs, the energy over the plane through them, and
a retrieval as a path on that surface and as pixels.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets

from rankone._checks import brief, choice
from rankone.data import photograph_names
from rankone_book.widgets._explorer import Explorer, Settings
from rankone_book.widgets.retrieval_explorer import _packed, _shipped

__all__ = ["SurfaceExplorer"]


class SurfaceExplorer(Explorer):
    """The energy of a memory of three photographs over the plane through them, with one
    descent: its path in the plane, and above it at the height of its energy.

    The page descends on all pixels, as `MrDAM` and `retrieve` do, and projects each
    state on the plane. The part of the state off the plane is multiplied by 1 − η in
    each step and adds half its square to the energy, so that the surface and the path
    together show the whole run. Tests compare the page with JAX.

    Attributes:
        settings: Settings that the page starts with: start ("covered": a photograph
            whose lower part is grey; "blend": a point of the plane), from (which of the
            three is covered, 0 to 2), covered (fraction that is grey), query (2,) (the
            point of the plane; the origin is the mean), beta, eta (step size), steps
            and turn (degrees by which the surface is turned).

    >>> from rankone_book.widgets import SurfaceExplorer
    >>> SurfaceExplorer(beta=25.0).settings
    {'beta': 25.0}
    """

    _esm = Path(__file__).parent / "static" / "surface.js"
    _takes = Settings.read("surface")
    pictures = traitlets.Bytes(
        help="The three photographs (3, 32, 32, 3), as the retrieval explorer packs them."
    ).tag(sync=True)
    names = traitlets.List(traitlets.Unicode(), help="Their names.").tag(sync=True)

    def __init__(
        self,
        photographs: Sequence[str] = ("astronaut", "coffee", "rocket"),
        **settings: Any,
    ) -> None:
        """Makes a widget; show it by returning it from a cell.

        Args:
            photographs: Names of three shipped photographs, no two of them equal.
            settings: What the page starts with, as listed above.

        Raises:
            ValueError: If the photographs are not three of those that are shipped, or a
                setting is unknown or out of its range.
        """
        known = photograph_names()
        if not isinstance(photographs, list | tuple) or len(photographs) != 3:
            raise ValueError(
                f"photographs: got {brief(photographs)}; "
                "it must be a sequence of three names."
            )
        for name in photographs:
            choice("photographs", name, known)
        if len(set(photographs)) < 3:
            raise ValueError(
                f"photographs: got {brief(photographs)}; it must be three different names."
            )
        chosen = _shipped(32)[[known.index(name) for name in photographs]]
        super().__init__(
            {"pictures": _packed(chosen), "names": list(photographs)}, **settings
        )
