"""The book's figure style: the typeface of its pages, legible at phone width, on white,
in colours that colour-blind readers can distinguish.

The style belongs to the figures made here. No other figure of the process has it, and
no setting of matplotlib changes. `plt.style.context` would not suffice: matplotlib
reads some settings when it draws, and Jupyter draws a figure after its cell has ended.
"""

import os
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.legend import Legend
from matplotlib.transforms import Bbox

__all__ = ["COLOURS", "PHONE", "figure", "show_pictures"]

# MIME type of a figure's second output: the same figure as a PNG for a narrow page, in
# base64
PHONE = "application/vnd.rankone.phone"

# Okabe and Ito (2008), ordered so that neighbours differ in lightness too.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
_TYPEFACE = Path(__file__).parent / "fonts" / "rank-one-serif.ttf"
fontManager.addfont(_TYPEFACE)
_STYLE: Any = {
    # the second typeface has characters that the first lacks, such as arrows
    "font.family": [FontProperties(fname=_TYPEFACE).get_name(), "DejaVu Sans"],
    "mathtext.fontset": "cm",  # as the pages set formulas
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "figure.dpi": 95,  # 7.2 inches are the width of the text
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


@contextmanager
def _style() -> Iterator[None]:
    """Context with the book's settings. `rc_context` would also undo what a notebook's
    backend sets when it starts.
    """
    before = {name: mpl.rcParams[name] for name in _STYLE}
    mpl.rcParams.update(_STYLE)
    try:
        yield
    finally:
        mpl.rcParams.update(before)


def _in_style(method: Callable) -> Callable:
    """The method, run with the book's settings. Matplotlib reads some of them when it
    adds an object to a figure, and others when it draws the figure.
    """

    @wraps(method)
    def styled(*args: Any, **options: Any) -> Any:
        with _style():
            return method(*args, **options)

    return styled


class _Axes(Axes):
    """Axes whose lines, texts and legends have the book's style."""


class _Figure(Figure):
    """A figure whose legend, colour bar, titles and ticks have the book's style."""

    on_phone: tuple[int, int] | None = None  # rows and columns of its panels on a phone
    crisp: bool = True  # True if drawn with twice the pixels

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Outputs of a figure besides its usual picture: in the book's build the
        picture for a phone, elsewhere none.
        """
        if "RANKONE_BUILD" not in os.environ:
            return {}
        from IPython import get_ipython

        pictures: Any = get_ipython().display_formatter.formatters["image/png"]
        # drawn first, because `for_phone` changes the figure
        picture = pictures.lookup_by_type(Figure)(self)
        pictures.for_type(_Figure, lambda _: picture)
        narrow = self.for_phone()
        return {PHONE: b64encode(narrow).decode()} if narrow else {}

    def draw(self, renderer: Any) -> None:
        """Draw the figure. With a renderer that shows nothing, which matplotlib uses
        before it saves a picture, only lay out its parts.
        """
        engine = self.get_layout_engine()
        if "draw_text" in vars(renderer) and engine is not None:  # draws nothing
            figure: Any = self
            figure._get_draw_artists(renderer)  # sets the shapes of the axes
            engine.execute(figure)
        else:
            super().draw(renderer)

    def for_phone(self, width: float = 3.7) -> bytes | None:
        """The figure as a PNG of this width in inches, at twice the pixels. Letters
        keep their size, and legends stand above the panels, below their titles.

        The figure itself is changed: its grid becomes `on_phone`, or a row of up to
        four panels becomes a column. The result is None if the figure fits as it is, if
        it has another grid, or if labels leave a panel less than a fifth of the width.
        """
        if self.get_size_inches()[0] <= width:  # it fits as it is
            return None
        places = {
            spec: ax for ax in self.axes if (spec := ax.get_subplotspec()) is not None
        }
        (rows, columns), *others = {
            spec.get_gridspec().get_geometry() for spec in places
        }
        shape = self.on_phone or ((columns, 1) if rows == 1 and columns <= 4 else None)
        if others or shape is None:
            return None
        grid = self.add_gridspec(*shape)
        height = self.get_size_inches()[1] * (
            1 if columns == 1 else 0.85 * shape[0] / rows
        )
        for spec, ax in places.items():
            ax.set_subplotspec(grid[spec.num1])
            ax.tick_params(axis="y", labelleft=True)
            height += self._lift_legend(ax)
        for legend in [*self.legends]:
            handles, names, size = self._entries(legend)
            legend_columns = 2 if max(map(len, names)) < 16 else 1
            legend.remove()
            self.legend(
                handles,
                names,
                loc="outside upper left",
                ncols=legend_columns,
                fontsize=size,
            )
            height += 0.2 * len(names) / legend_columns
        self.set_size_inches(width, height)
        self.draw_without_rendering()
        tight_box = self.get_tightbbox().padded(0.05)
        # never narrower: a page shows every picture as wide as a phone
        whole = Bbox.union(
            [tight_box, Bbox.from_extents(0, tight_box.y0, width, tight_box.y1)]
        )
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=2 * self.dpi, bbox_inches=whole)
        return (
            picture.getvalue()
            if min(ax.get_position(original=True).width for ax in places.values()) > 0.2
            else None
        )

    def _entries(self, legend: Legend) -> tuple[list[Any], list[str], float]:
        """Handles and labels of a legend, and the size of the labels in points."""
        handle_of = {
            label: handle
            for ax in self.axes
            for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        names = [text.get_text() for text in legend.get_texts()]
        handles: list[Any] = [
            handle_of.get(name, handle)
            for name, handle in zip(names, legend.legend_handles, strict=True)
        ]
        return handles, names, float(legend.get_texts()[0].get_fontsize())

    def _lift_legend(self, ax: Axes) -> float:
        """Put the legend of a panel above it in one column, and its title above the
        legend. Returns the height that they need, in inches.
        """
        if (legend := ax.get_legend()) is None:
            return 0
        handles, names, size = self._entries(legend)
        lifted = ax.legend(
            handles, names, fontsize=size, loc="lower left", bbox_to_anchor=(0, 1)
        )
        needed = lifted.get_window_extent().height / self.dpi
        if title := ax.get_title():
            points = 72 * needed + size  # and the space below the legend
            ax.set_title(title, fontsize=ax.title.get_fontsize(), pad=points)
        return needed


_DRAWN: dict[type, tuple[str, ...]] = {
    _Axes: (
        *(
            "annotate",
            "axhline",
            "axvline",
            "contour",
            "errorbar",
            "hist",
            "hlines",
            "legend",
            "plot",
            "scatter",
        ),
        *("bar_label", "set_title", "step", "text", "vlines"),
    ),
    _Figure: ("colorbar", "draw", "for_phone", "legend", "savefig", "suptitle"),
}
for _class, _names in _DRAWN.items():
    for _name in _names:
        setattr(_class, _name, _in_style(getattr(_class, _name)))


def figure(
    nrows: int = 1,
    ncols: int = 1,
    *,
    height: float = 3.0,
    width: float = 7.2,
    crisp: bool = True,
    on_phone: tuple[int, int] | None = None,
    **options: Any,
) -> Any:
    """`plt.subplots` in the book's style: (figure, axes).

    Args:
        nrows: Number of rows of axes.
        ncols: Number of columns of axes.
        height: Height of the figure in inches.
        width: Width of the figure in inches; 7.2 is the width of the text.
        crisp: True if a notebook shows its figures from now on with twice the pixels,
            for the screens that have them.
        on_phone: Rows and columns of the axes on a narrow page, filled row by row. By
            default a row becomes a column.
        options: Passed to `plt.subplots`.
    """
    with _style():
        kind = {"axes_class": _Axes}
        pair = plt.subplots(
            nrows,
            ncols,
            figsize=(width, height),
            FigureClass=_Figure,
            subplot_kw=kind,
            **options,
        )
        pair[0].on_phone = on_phone
        pair[0].crisp = crisp
        # matplotlib creates ticks when it needs them, with the settings of that moment
        for ax in pair[0].axes:
            ax.tick_params(
                which="both",
                labelsize=mpl.rcParams["font.size"],
                grid_alpha=mpl.rcParams["grid.alpha"],
            )
    if "inline" in mpl.get_backend():
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("retina" if crisp else "png")
        # the backend draws the figure when it shows it; pyplot would draw it once more
        # before
        pair[0].canvas.draw_idle = lambda *_: None
    return pair


def show_pictures(
    rows: dict[str, Any], size: int, *, height: float | None = None
) -> Any:
    """A grid of colour pictures, one labelled row per entry.

    Args:
        rows: Label → array (n, 3·size²) with entries in [0, 1]; others are clipped.
        size: Side of a picture in pixels.
        height: Height of the figure in inches.

    Returns:
        (figure, axes).
    """
    n = max(len(pictures) for pictures in rows.values())
    fig, axes = figure(
        len(rows),
        n,
        height=height or 7.2 / n * len(rows) * 1.05,
        crisp=False,
        squeeze=False,
    )
    for line, (label, pictures) in zip(axes, rows.items(), strict=True):
        for ax, picture in zip(line, pictures, strict=False):
            ax.imshow(
                picture.reshape(size, size, 3).clip(0, 1), interpolation="nearest"
            )
        for ax in line:
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
        line[0].set_ylabel(label, rotation=0, ha="right", va="center")
    return fig, axes
