"""The recorded runs of the chapter on one rule: the same pairs written and read by six
methods [W-ways].
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.special import stdtrit

from rankone._checks import brief, choice
from rankone._module import Module
from rankone.theory.one_rule import matrix_of
from rankone.writes import BatchStep, Exact, InSequence, Ridge, Rule
from rankone_book.figures import COLOURS, figure
from rankone_book.records import select

__all__ = [
    "DATA",
    "WAYS",
    "Interval",
    "difference",
    "draw_rule",
    "draw_ways",
    "gains",
    "measured_at",
    "over_seeds",
    "ways_table",
]

DATA = {
    "letters": "UCI Letter",
    "fashion": "Fashion-MNIST",
    "tokens": "SmolLM2's states",
}
WAYS = {
    "step": "one batch step",
    "features": "batch step, random features",
    "sequence": "in sequence",
    "exact": "exact",
    "ridge": "ridge",
    "neighbours": "few neighbours",
}
_SHOWN = ("step", "sequence", "exact", "ridge", "neighbours")
_MARKS = dict(zip(WAYS, "ovs^Dx", strict=True))


class Interval(Module):
    """The mean over seeds, and half of its 95 % interval by Student's t; NaN for one
    seed.
    """

    mean: Float[NDArray, ""]
    half: Float[NDArray, ""]

    def __str__(self) -> str:
        """Text of a table's cell, in per cent."""
        return f"{100 * self.mean:.1f} ± {100 * self.half:.1f}".replace("-", "−")


def over_seeds(
    record: dict[str, Any], method: str, quantity: str, **parameters: Any
) -> Interval:
    """One quantity of a method over the cells with these parameters. The method "base"
    has one quantity, its accuracy.

    Args:
        record: `one_rule`, from `rankone_book.records.load_record`.
        method: One of `WAYS`, or "base".
        quantity: An entry of a method's results.
        parameters: Which cells.
    """
    return _interval(_values(record, method, quantity, **parameters))


def difference(
    record: dict[str, Any], one: str, other: str, quantity: str, **parameters: Any
) -> Interval:
    """Difference between two methods, seed by seed. The arguments are those of
    `over_seeds`.
    """
    return _interval(
        _values(record, one, quantity, **parameters)
        - _values(record, other, quantity, **parameters)
    )


def _values(
    record: dict[str, Any], method: str, quantity: str, **parameters: Any
) -> NDArray:
    choice("method", method, [*WAYS, "base"])
    cells = select(record, **parameters)
    if not cells:
        raise ValueError(
            f"parameters: got {brief(parameters)}; "
            "it must be those of at least one recorded cell."
        )
    results = (cell["results"][method] for cell in cells)
    return np.array(
        [value if method == "base" else value[quantity] for value in results], float
    )


def _interval(values: NDArray) -> Interval:
    n = len(values)
    half = stdtrit(n - 1, 0.975) * values.std(ddof=1) / n**0.5 if n > 1 else np.nan
    return Interval(np.asarray(values.mean()), np.asarray(half))


def measured_at(record: dict[str, Any], n: int) -> dict[str, str]:
    """Data sets of which the record holds cells with n pairs: key -> name."""
    return {data: name for data, name in DATA.items() if select(record, data=data, n=n)}


def gains(record: dict[str, Any], n: int) -> str:
    """Gains of ridge over the base for new keys, as a phrase: percentage points, one
    data set after another.

    Args:
        record: `one_rule`.
        n: Number of pairs stored.
    """
    phrases = [
        f"{difference(record, 'ridge', 'base', 'unseen', data=data, n=n)} on {name}"
        for data, name in measured_at(record, n).items()
    ]
    return " and ".join([*[", ".join(phrases[:-1])][: len(phrases) - 1], phrases[-1]])


def ways_table(record: dict[str, Any], n: int) -> str:
    """Markdown table of all methods at n pairs: one row per method, accuracies in per
    cent for each data set.

    Args:
        record: `one_rule`.
        n: Number of pairs stored.
    """
    data_sets = measured_at(record, n)
    heads = [
        f"{name}, {quantity}"
        for name in data_sets.values()
        for quantity in ("new", "noisy")
    ]
    lines = [
        "| Method | " + " | ".join([*heads, "kB", "write", "read"]) + " |",
        "|---" * (len(heads) + 4) + "|",
    ]
    plain = [str(over_seeds(record, "base", "", data=data, n=n)) for data in data_sets]
    lines.append(
        "| base alone | " + " | ".join(f"{accuracy} |" for accuracy in plain) + " | | |"
    )
    for method, name in WAYS.items():
        cells = [
            str(over_seeds(record, method, quantity, data=d, n=n))
            for d in data_sets
            for quantity in ("unseen", "noisy")
        ]
        cost = [
            over_seeds(record, method, quantity, data="letters", n=n).mean
            for quantity in ("bytes", "write", "read")
        ]
        cells += [
            f"{cost[0] / 1000:,.0f}",
            *(f"{1000 * seconds:.1f}" for seconds in cost[1:]),
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw_ways(record: dict[str, Any]) -> Any:
    """Error at the stored keys against the number of pairs, one panel per data set; and
    how much writing in sequence forgets.

    Args:
        record: `one_rule`.

    Returns:
        (figure, axes).
    """
    most = max(cell["parameters"]["n"] for cell in record["cells"])
    data_sets = measured_at(record, most)
    fig, axes = figure(1, len(data_sets) + 1, height=3.0, sharey=True)
    for ax, (data, title) in zip(axes, data_sets.items(), strict=False):
        counts = sorted({cell["parameters"]["n"] for cell in select(record, data=data)})
        for colour, method in zip(COLOURS, _SHOWN, strict=False):
            bars = [
                over_seeds(record, method, "interference", data=data, n=n)
                for n in counts
            ]
            _errorbars(
                ax,
                counts,
                bars,
                color=colour,
                marker=_MARKS[method],
                ms=5,
                label=WAYS[method],
            )
        ax.set(xscale="log", xticks=counts, xticklabels=counts, xlabel="pairs stored")
        ax.set_title(title, fontsize=9)
        ax.minorticks_off()
        ax.tick_params(axis="x", labelsize=8)
    axes[0].set_ylabel("error at stored keys / %")
    for place, (quantity, name) in enumerate(
        {"first": "first tenth", "last": "last tenth"}.items()
    ):
        bars = [
            over_seeds(record, "sequence", quantity, data=data, n=most)
            for data in data_sets
        ]
        at = np.arange(len(data_sets)) + 0.2 * (2 * place - 1)
        _errorbars(
            axes[-1], at, bars, fmt="ov"[place], color=COLOURS[5 + place], label=name
        )
    axes[-1].set(
        xticks=range(len(data_sets)),
        xticklabels=list(data_sets),
        xlim=(-0.6, len(data_sets) - 0.4),
    )
    axes[-1].set_title("in sequence", fontsize=9)
    axes[-1].tick_params(axis="x", rotation=45)
    axes[0].set_ylim(-5, 125)
    # one row above the error bars, which fill the panel
    axes[-1].legend(
        fontsize=8,
        loc="upper center",
        ncols=2,
        handlelength=1,
        handletextpad=0.3,
        columnspacing=0.8,
        borderpad=0.1,
        borderaxespad=0.1,
    )
    fig.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=5,
        fontsize=9,
    )
    return fig, axes


def _errorbars(ax: Any, x: Any, bars: list[Interval], **options: Any) -> None:
    mean, half = (
        [100 * getattr(bar, part) for bar in bars] for part in ("mean", "half")
    )
    ax.errorbar(x, mean, np.nan_to_num(half), capsize=2, **options)


def draw_rule() -> Any:
    """The book in one picture: one write is a term of rank one, and methods of writing
    many pairs differ in a matrix X.

    Returns:
        (figure, axes).
    """
    keys = np.r_[0.0:1:4j, 2.0, 3.0]
    S = np.exp(-abs(keys[:, None] - keys))
    value = np.sin(np.arange(6) * 1.7 + 0.8)[:, None]
    key = np.cos(np.arange(9) * 0.9)[None]
    term = {
        "value − prediction": value,
        "geometry · key": key,
        "what is added": value * key,
    }
    methods: dict[str, tuple[Rule, str]] = {
        "all at once": (BatchStep(), "a gradient step,\ndense memory, ResMem"),
        "one by one": (InSequence(), "edits in sequence,\nDeltaNet"),
        "compromise": (Ridge(2.0), "MEMIT"),
        "exactly": (Exact(), "edits in a batch"),
    }
    fig, axes = figure(
        2, 4, height=4.3, on_phone=(4, 2), gridspec_kw={"height_ratios": [1, 1.25]}
    )
    for ax, (sign, (name, matrix)) in zip(
        axes[0], zip(("", "⊗", "="), term.items(), strict=True), strict=False
    ):
        ax.imshow(matrix, cmap="RdBu", vmin=-1, vmax=1)
        ax.set_title(f"{sign} {name}".strip(), fontsize=10)
    for ax, (name, (rule, who)) in zip(axes[1], methods.items(), strict=True):
        ax.imshow(matrix_of(rule, S), cmap="RdBu", vmin=-1.5, vmax=1.5)
        ax.set_title(f"X: {name}", fontsize=10)
        ax.set_xlabel(who, fontsize=9)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
    axes[0, 3].axis("off")
    axes[0, 3].text(
        0,
        0.5,
        "one write:\na term of\nrank one",
        va="center",
        transform=axes[0, 3].transAxes,
    )
    return fig, axes
