"""The book's figures have its style, and no other figure of the process has it."""

import io
from base64 import b64decode

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats
from IPython.testing.globalipapp import start_ipython
from matplotlib.font_manager import get_font
from PIL import Image

from rankone_book.figures import _STYLE, _TYPEFACE, PHONE, figure, show_pictures


def draw(axes):
    """Calls of the methods with which the chapters draw."""
    (a, b), (c, d) = axes
    x = np.linspace(0.1, 1, 20)
    a.plot(x, x**2, label="plot")
    a.semilogy(x, x, label="semilogy")
    a.fill_between(x, x, 2 * x, alpha=0.2)
    a.axhline(0.5, color="k", ls=":")
    a.axvline(0.5)
    a.text(0.2, 0.5, "text")
    a.legend()
    a.set(xlabel="x", ylabel="y")
    b.errorbar(x[::5], x[::5], x[::5] / 9, fmt="o-", capsize=2, label="errorbar")
    b.legend(fontsize=8)
    b.set(title="title", xscale="log", xticks=[0.1, 0.5, 1], xticklabels=[1, 2, 3])
    b.minorticks_off()
    c.scatter(x, x, s=9)
    c.hist(x, bins=5, histtype="step")
    c.vlines([0.2], 0, 3, ls="--")
    c.bar(x, x, width=0.02)
    c.annotate("note", (0.5, 0.5), textcoords="offset points", xytext=(5, 5))
    c.contour(np.outer(x, x))
    c.grid(False)
    d.figure.colorbar(d.imshow(np.outer(x, x)), label="colour")
    d.step(x, x)
    d.loglog(x, x)
    d.tick_params(length=2)
    d.figure.legend(loc="outside right")
    d.figure.suptitle("above")


def pixels(fig):
    fig.canvas.draw()
    image = np.asarray(fig.canvas.buffer_rgba()).copy()
    plt.close(fig)
    return image


@pytest.fixture(autouse=True)
def _plain():
    with mpl.rc_context(), plt.style.context("default"):
        plt.switch_backend("agg")
        yield


def test_a_figure_looks_as_if_all_of_matplotlib_had_the_books_style():
    fig, axes = figure(2, 2, height=5)
    draw(axes)
    got = pixels(fig)
    with mpl.rc_context(_STYLE):
        fig, axes = plt.subplots(2, 2, figsize=(7.2, 5))
        draw(axes)
        expected = pixels(fig)
    np.testing.assert_array_equal(got, expected)
    fig, axes = plt.subplots(2, 2, figsize=(7.2, 5), dpi=95, layout="constrained")
    draw(axes)
    assert (pixels(fig) != expected).any()  # the style makes a difference


def test_the_merged_typeface_does_not_use_the_name_that_its_licence_reserves():
    name = get_font(_TYPEFACE).family_name
    assert "Source" not in name
    assert mpl.font_manager.findfont(name) == str(_TYPEFACE)


def test_a_saved_picture_is_drawn_once_and_is_that_of_matplotlib(monkeypatch):
    def saved(fig):
        picture = io.BytesIO()
        fig.savefig(picture, dpi=190, bbox_inches="tight")
        plt.close(fig)
        return np.asarray(Image.open(picture))

    with mpl.rc_context(_STYLE):
        fig, axes = plt.subplots(2, 2, figsize=(7.2, 5))
        draw(axes)
        expected = saved(fig)
    fig, axes = figure(2, 2, height=5)
    draw(axes)
    draws = []
    of_axes = type(axes[0, 0]).draw
    monkeypatch.setattr(
        type(axes[0, 0]), "draw", lambda *args: draws.append(1) or of_axes(*args)
    )
    np.testing.assert_array_equal(saved(fig), expected)
    assert len(draws) == 4


def test_no_setting_of_matplotlib_changes():
    before = dict(mpl.rcParams)
    _, axes = figure(2, 2)
    draw(axes)
    axes[0, 0].figure.canvas.draw()
    show_pictures({"grey": np.full((2, 12), 0.5)}, 2)
    assert dict(mpl.rcParams) == before
    plt.close("all")


def size(picture):
    return Image.open(io.BytesIO(picture)).size


def test_on_a_phone_panels_are_stacked_and_their_letters_keep_their_size():
    fig, axes = figure(1, 2, height=3, sharey=True)
    for ax in axes:
        ax.plot([0, 1], [0, 1], label="law")
        ax.set(xlabel="x", ylabel="y")
    axes[0].legend(loc="lower right")
    axes[1].set_title("titled")
    axes[1].legend()
    letters = axes[0].xaxis.label.get_size()
    width, height = size(fig.for_phone())
    assert width == pytest.approx(3.7 * 2 * 95, rel=0.05)  # cropped to the drawing
    assert height > 1.3 * width
    above, below = (ax.get_position() for ax in axes)
    assert above.y0 > below.y1
    assert above.x0 == pytest.approx(below.x0)
    assert axes[0].xaxis.label.get_size() == letters
    assert all(
        tick.label1.get_visible() for ax in axes for tick in ax.yaxis.get_major_ticks()
    )
    for ax in axes:
        legend = ax.get_legend().get_window_extent()
        assert legend.y0 >= ax.get_window_extent().y1
    assert axes[1].title.get_window_extent().y0 >= legend.y1


def test_the_picture_for_a_phone_has_full_width_even_with_narrow_panels():
    fig, axes = figure(1, 3, height=3, crisp=False)
    for ax in axes:
        ax.set_aspect("equal")
    assert size(fig.for_phone())[0] == pytest.approx(3.7 * 2 * 95, rel=0.01)
    assert axes[0].get_window_extent().width < 0.6 * fig.get_window_extent().width
    fig, ax = figure()
    for i in range(2):
        ax.errorbar([0, 1], [i, i], [0.1, 0.1], label=f"a long name of a line {i}")
    ax.legend(ncols=2)
    assert size(fig.for_phone())[0] == pytest.approx(3.7 * 2 * 95, rel=0.01)
    plt.close("all")


def test_figures_that_are_unreadable_on_a_phone_get_no_phone_version():
    assert figure(2, 2)[0].for_phone() is None
    assert figure(1, 5)[0].for_phone() is None
    fig, ax = figure()
    ax.set_yticks([0], ["a label that leaves hardly any room at all"])
    assert fig.for_phone() is None
    plt.close("all")


def test_on_a_phone_the_figures_legend_fits_above_the_panels():
    fig, axes = figure(1, 2, height=3)
    for i in range(5):
        axes[0].errorbar([0, 1], [i, i], [0.1, 0.1], label=f"a way of writing {i}")
    fig.legend(loc="outside lower center", ncols=5)
    width, _ = size(fig.for_phone())
    assert width == pytest.approx(3.7 * 2 * 95, rel=0.05)
    (legend,) = fig.legends
    assert len(legend.get_texts()) == 5
    assert legend.get_window_extent().y0 >= axes[0].get_window_extent().y1
    plt.close("all")


def test_a_grid_has_the_shape_on_a_phone_that_it_asks_for():
    fig, axes = figure(2, 4, on_phone=(4, 2))
    assert fig.for_phone() is not None
    middles = [(ax.get_position().x0 + ax.get_position().x1) / 2 for ax in axes.flat]
    heights = [ax.get_position().y0 for ax in axes.flat]
    assert middles == pytest.approx(middles[:2] * 4)
    assert middles[0] < middles[1]
    assert heights[::2] == pytest.approx(heights[1::2])
    assert heights[::2] == sorted(heights[::2], reverse=True)
    plt.close("all")


def test_only_the_books_build_draws_for_a_phone_and_draws_the_same_picture(monkeypatch):
    start_ipython()
    shell = InteractiveShell.instance()
    select_figure_formats(shell, {"retina"})
    # the terminal's shell does not enable it
    monkeypatch.setattr(
        shell.display_formatter.formatters["image/png"], "enabled", True
    )

    def example():
        fig, axes = figure(1, 2)
        axes[0].plot([0, 1], [1, 0])
        return fig

    monkeypatch.delenv("RANKONE_BUILD", raising=False)
    before, _ = shell.display_formatter.format(example())
    assert PHONE not in before
    monkeypatch.setenv("RANKONE_BUILD", "1")
    for _ in range(2):
        data, _ = shell.display_formatter.format(example())
        assert data["image/png"] == before["image/png"]
        (wide, low), (narrow, high) = (
            size(b64decode(data[kind])) for kind in ("image/png", PHONE)
        )
        assert narrow < wide
        assert high > low
    plt.close("all")
