"""The editing explorer: write one pair into a small linear memory, and see what every other key pays for it."""

from pathlib import Path
from typing import Any

import anywidget
import jax.numpy as jnp
import numpy as np
import traitlets

from rankone._checks import array, check, choice
from rankone.editing import RankOneEdit, pseudo_inverse_edit, rank_one_edit
from rankone.widgets._settings import within

__all__ = ["EditingExplorer"]

_ARRAYS = {"keys": ("(n, 2)", 2), "W": ("(2, 2)", 2), "k": ("(2,)", 1), "v": ("(2,)", 1)}
_NUMBERS = ("ridge", "used", "beta", "dimension", "edits", "seed")
_GEOMETRIES = ("keys", "identity", "pinv")
_REACH = 3


class EditingExplorer(anywidget.AnyWidget):
    """Keys, values and the edit in the plane; drag any of them. All is computed in the page.

    With a kernel behind the page, `edit()` makes the edit on show with the package itself.

    Attributes:
        shown: What the page shows now: keys, W, k, v, geometry, ridge, used, beta, pairs and the order they were
            written in. Empty until a page with a kernel has drawn it.
    """

    _esm = Path(__file__).parent / "static" / "editing.js"
    settings = traitlets.Dict(help="Initial settings that differ from the page's own.").tag(sync=True)
    shown = traitlets.Dict(help="What the page shows now.").tag(sync=True)

    def __init__(self, **settings: Any) -> None:
        """Makes a widget; show it by returning it from a cell.

        Args:
            settings: What the page starts with: keys (n, 2), W (2, 2), k and v (2,), with entries from −3 to 3;
                geometry ("keys", "identity" or "pinv"), ridge, used (keys behind C), beta (weight of a kept key in
                C), dimension, edits and seed (of the run of many edits).

        Raises:
            ValueError: If a setting is unknown, or does not fit.
        """
        super().__init__(settings={name: _setting(name, value) for name, value in settings.items()})

    def edit(self) -> RankOneEdit:
        """The edit on show, made by the package from what the page shows, kept pairs not counted.

        Raises:
            ValueError: If no page has drawn the widget yet, or there is no such edit.
        """
        check(bool(self.shown), "shown", "nothing", "drawn by a page with a kernel first: show the widget in a cell")
        return _edit(self.shown)


def _edit(shown: dict[str, Any]) -> RankOneEdit:
    keys, W, k, v = (jnp.asarray(np.asarray(shown[name], float)) for name in ("keys", "W", "k", "v"))
    K = keys[: shown["used"]].T * (len(keys) / shown["used"]) ** 0.5
    if shown["geometry"] == "pinv":
        return pseudo_inverse_edit(W, K, k, v)
    C = jnp.eye(2) if shown["geometry"] == "identity" else K @ K.T
    return rank_one_edit(W, C, k, v, ridge=shown["ridge"] if shown["geometry"] == "keys" else 0.0)


def _setting(name: str, value: Any) -> Any:
    if name in _ARRAYS:
        return _array(name, value)
    if name == "geometry":
        choice(name, value, _GEOMETRIES)
        return value
    check(name in _NUMBERS, name, value, f"one of the settings {', '.join([*_ARRAYS, 'geometry', *_NUMBERS])}")
    return within(name, value, 0, 1e308)


def _array(name: str, value: Any) -> list:
    shape, ndim = _ARRAYS[name]
    array(name, value, shape, ndim)
    got = np.asarray(value, float)
    fits = got.ndim == ndim and got.shape[-1] == 2 and got.size > 0 and (name != "W" or got.shape == (2, 2))
    check(fits, name, f"shape {got.shape}", f"of shape {shape}")
    check(bool((abs(got) <= _REACH).all()), name, value, f"within ±{_REACH}")
    return got.tolist()
