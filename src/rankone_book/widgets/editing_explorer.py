"""The editing explorer: write one pair into a small linear memory, and see how the
values at all other keys change.
"""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import traitlets

from rankone.editing import RankOneEdit, pseudo_inverse_edit, rank_one_edit
from rankone_book.widgets._explorer import Explorer, Settings

__all__ = ["EditingExplorer"]


class EditingExplorer(Explorer):
    """Keys, values and the edit in the plane; drag any of them. The page computes
    everything.

    With a Jupyter kernel behind the page, `edit()` makes the edit with the package.

    Attributes:
        settings: Settings that the page starts with: keys (n, 2), W (2, 2), k and v
            (2,), with entries from −3 to 3 (keys: −30 to 30); geometry ("keys",
            "identity" or "pinv"), ridge, used (number of keys, from the first on, that
            C is computed from), beta (weight β of C ← C + βkkᵀ after each edit that is
            kept), dimension, edits and seed (of the run of many edits).
        shown: State that the page shows now: keys, W, k, v, geometry, ridge, used,
            beta, pairs and the order they were written in. Empty until a page with a
            kernel has drawn it.
    """

    _esm = Path(__file__).parent / "static" / "editing.js"
    _takes = Settings.read("editing")
    shown = traitlets.Dict(help="What the page shows now.").tag(sync=True)

    def edit(self) -> RankOneEdit:
        """The edit of the pair that the page shows, made by the package with C from the
        displayed keys alone. If edits were kept with beta > 0, the page has added their
        keys to C, and its displayed edit differs from this one.

        Raises:
            ValueError: If no page has drawn the widget yet, or if k is 0 or C is
                singular.
        """
        if not self.shown:
            raise ValueError(
                "shown: got nothing; it must be drawn by a page with a kernel first: "
                "show the widget in a cell."
            )
        return _edit(self.shown)


def _edit(state: dict[str, Any]) -> RankOneEdit:
    keys, W, k, v = (
        jnp.asarray(np.asarray(state[name], float)) for name in ("keys", "W", "k", "v")
    )
    K = keys[: state["used"]].T * (len(keys) / state["used"]) ** 0.5
    if state["geometry"] == "pinv":
        return pseudo_inverse_edit(W, K, k, v)
    C = jnp.eye(2) if state["geometry"] == "identity" else K @ K.T
    return rank_one_edit(
        W, C, k, v, ridge=state["ridge"] if state["geometry"] == "keys" else 0.0
    )
