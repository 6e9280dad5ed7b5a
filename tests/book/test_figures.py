"""The book's figures have its style, and nothing else in the process has."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from rankone.book.figures import _STYLE, figure, show_pictures


def draw(axes):
    """What the chapters draw with."""
    (a, b), (c, d) = axes
    x = np.linspace(0.1, 1, 20)
    a.plot(x, x**2, label="plot"), a.semilogy(x, x, label="semilogy"), a.fill_between(x, x, 2 * x, alpha=0.2)
    (
        a.axhline(0.5, color="k", ls=":"),
        a.axvline(0.5),
        a.text(0.2, 0.5, "text"),
        a.legend(),
        a.set(xlabel="x", ylabel="y"),
    )
    b.errorbar(x[::5], x[::5], x[::5] / 9, fmt="o-", capsize=2, label="errorbar"), b.legend(fontsize=8)
    b.set(title="title", xscale="log", xticks=[0.1, 0.5, 1], xticklabels=[1, 2, 3]), b.minorticks_off()
    c.scatter(x, x, s=9), c.hist(x, bins=5, histtype="step"), c.vlines([0.2], 0, 3, ls="--"), c.bar(x, x, width=0.02)
    c.annotate("note", (0.5, 0.5), textcoords="offset points", xytext=(5, 5)), c.contour(np.outer(x, x)), c.grid(False)
    d.figure.colorbar(d.imshow(np.outer(x, x)), label="colour"), d.step(x, x), d.loglog(x, x), d.tick_params(length=2)
    d.figure.legend(loc="outside right"), d.figure.suptitle("above")


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
    assert (pixels(fig) != expected).any()  # the style is seen


def test_no_setting_of_matplotlib_changes():
    before = dict(mpl.rcParams)
    _, axes = figure(2, 2)
    draw(axes)
    axes[0, 0].figure.canvas.draw()
    show_pictures({"grey": np.full((2, 12), 0.5)}, 2)
    assert dict(mpl.rcParams) == before
    plt.close("all")
