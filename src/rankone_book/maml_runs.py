"""The recorded meta-training runs: what the chapter quotes of them, and its figures
[M-fig2–5].
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from rankone._checks import brief, choice
from rankone._module import Module
from rankone_book.figures import COLOURS, figure
from rankone_book.records import select

__all__ = [
    "ADAM",
    "AMPLITUDES",
    "FAMILIES",
    "PHASES",
    "SHEARS",
    "STEP_SIZE",
    "Band",
    "Family",
    "answering_zero",
    "at_chosen_rates",
    "best_inner_step",
    "by_depth",
    "chosen_rate",
    "diverged",
    "draw_depth",
    "draw_one_shot",
    "draw_other_tasks",
    "draw_scratch",
    "draw_steps",
    "from_scratch",
    "iterations",
    "of_length",
    "one_shot_ends",
    "one_shot_errors",
    "other_waves",
    "over_seeds",
    "seeds",
    "sheared_letters",
]

AMPLITUDES = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
PHASES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)  # multiples of π
SHEARS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


class Family(NamedTuple):
    """A family of tasks.

    Attributes:
        kind: "waves" or "letters".
        shots: Examples of each letter; None for waves.
    """

    kind: str
    shots: int | None


FAMILIES = {  # by the names that `maml_rates` records
    "waves": Family("waves", None),
    "letters1": Family("letters", 1),
    "letters4": Family("letters", 4),
}
# The usual inner step by kind, and the usual rate of Adam; `maml_rates` tries multiples
# of them.
STEP_SIZE = {"waves": 0.001, "letters": 0.1}
ADAM = 0.001
_TRAINED = {"amplitude": 5.0, "phase": 1.0}  # upper end of the range of meta-training
_STEPS = 5  # inner steps during meta-training
_LABELS = {
    "maml": "MAML",
    "first_order": "first-order",
    "joint": "joint training",
    "recurrent": "recurrent learner",
    "maml100": "MAML, 100 steps",
    "first_order100": "first-order, 100 steps",
}
# curve on waves outside the training range → learner, and the steps that it takes
_RUNS = {
    "maml": ("maml", 5),
    "maml100": ("maml", 100),
    "recurrent": ("recurrent", 5),
    "first_order100": ("first_order", 100),
}
_COLOUR = dict(zip(_LABELS, COLOURS, strict=False))


class Band(Module):
    """A recorded quantity: its mean over the seeds, and its range."""

    mean: Float[NDArray, "*points"]
    low: Float[NDArray, "*points"]
    high: Float[NDArray, "*points"]


def _band(values: Any) -> Band:
    array = np.array(values, float)
    return Band(array.mean(0), array.min(0), array.max(0))


def over_seeds(record: dict[str, Any], quantity: str, **parameters: Any) -> Band:
    """One quantity of the cells with these parameters.

    Args:
        record: Record of `maml_sine`, `maml_letters` or `maml_depth`, from
            `rankone_book.records.load_record`.
        quantity: An entry of the cells' results.
        parameters: Which cells.

    Raises:
        ValueError: If the record has no such cell, or cells of several settings.
    """
    cells = _of_one_setting(record, **parameters)
    return _band([cell["results"][quantity] for cell in cells])


def _of_one_setting(record: dict[str, Any], **parameters: Any) -> list[dict[str, Any]]:
    """The cells with these parameters, which differ in the seed alone: no mean is taken
    over runs of different lengths, or with different numbers of tasks.
    """
    cells = select(record, **parameters)
    if not cells:
        raise ValueError(
            f"parameters: got {brief(parameters)}; "
            "it must be those of at least one recorded cell."
        )
    settings = [cell["parameters"] for cell in cells]
    names = dict.fromkeys(name for one in settings for name in one if name != "seed")
    mixed = [
        name
        for name in names
        if any(one.get(name) != other.get(name) for one, other in pairwise(settings))
    ]
    if mixed:
        raise ValueError(
            f"parameters: got {brief(parameters)}, whose cells differ in "
            f"{', '.join(mixed)}; it must be those of cells that differ in the seed alone."
        )
    return cells


def seeds(record: dict[str, Any]) -> int:
    """Number of seeds in a record."""
    return len({cell["parameters"]["seed"] for cell in record["cells"]})


def iterations(record: dict[str, Any]) -> list[int]:
    """The numbers of iterations of meta-training in a record, smallest first; most
    records have one.
    """
    return sorted({cell["parameters"]["iterations"] for cell in record["cells"]})


def of_length(letters: dict[str, Any], iterations: int) -> dict[str, Any]:
    """The part of a record with this number of iterations of meta-training.

    Args:
        letters: Record of `maml_letters`, which has runs of two lengths.
        iterations: One of `iterations(letters)`.
    """
    return letters | {"cells": select(letters, iterations=iterations)}


def other_waves(sines: dict[str, Any], kind: str) -> dict[str, Band]:
    """Error by "amplitude" or "phase", at `AMPLITUDES` or `PHASES`, of four learners.

    They are MAML after 5 and after 100 steps, the first-order method after 100 steps,
    and the recurrent learner.
    """
    return {
        name: over_seeds(sines, f"by_{kind}_{steps}", learner=who)
        for name, (who, steps) in _RUNS.items()
    }


def diverged(
    sines: dict[str, Any], name: str, kind: str, error: float = 1e3
) -> list[int]:
    """Number of seeds whose error is above `error` or not finite, at each of
    `AMPLITUDES` or `PHASES`.

    Args:
        sines: Record of `maml_sine`, at chosen rates.
        name: As in `other_waves`.
        kind: "amplitude" or "phase".
        error: Mean squared error beyond which a run counts as diverged.
    """
    learner, steps = _RUNS[name]
    errors = np.array(
        [
            cell["results"][f"by_{kind}_{steps}"]
            for cell in select(sines, learner=learner)
        ],
        float,
    )
    return np.sum(~(errors <= error), axis=0).tolist()


def answering_zero(kind: str) -> NDArray:
    """Error of the answer 0 on waves by "amplitude" or "phase": the mean of y².

    The inputs are uniform in [−5, 5]. For a fixed phase, amplitudes are uniform in
    [0.1, 5]. For a fixed amplitude, phases are uniform in [0, π].
    """
    wobble = np.sin(10) / 20  # mean of cos 2(x − φ)/2 over x, for φ = 0
    if kind == "amplitude":  # the mean of cos 2φ over [0, π] is 0
        return np.array(AMPLITUDES) ** 2 / 2
    squares = (5**3 - 0.1**3) / (3 * 4.9)  # mean of A²
    return squares * (0.5 - wobble * np.cos(2 * np.pi * np.array(PHASES)))


def sheared_letters(letters: dict[str, Any], shots: int = 1) -> dict[str, Band]:
    """Fraction of queries answered correctly at each of `SHEARS`, by learner.

    Args:
        letters: Record of `maml_letters`, of one length.
        shots: Examples of each letter, 1 or 4.
    """
    return {
        n: over_seeds(letters, "by_shear", learner=n, shots=shots)
        for n in ("maml", "first_order", "recurrent")
    }


def chosen_rate(
    rates: dict[str, Any], family: str, learner: str, steps: int = _STEPS
) -> float:
    """The inner step size that was best on tasks that no figure shows; for the
    recurrent learner the rate of Adam.

    Args:
        rates: Record of `maml_rates`.
        family: One of `FAMILIES`.
        learner: "maml", "first_order", "recurrent", or "ordinary" for a start that was
            not meta-trained through inner steps.
        steps: Number of steps after which the learners are compared.

    Raises:
        ValueError: If there is no such family, or the record has no finite score of
            this learner.
    """
    choice("family", family, FAMILIES)
    kind = FAMILIES[family].kind
    sign = 1 if kind == "waves" else -1  # errors, or fractions right
    scores = {
        cell["parameters"]["rate"]: sign * cell["results"]["queries"][steps_of]
        for cell in select(rates, family=family, learner=learner)
        for steps_of in [0 if learner == "recurrent" else steps]
        if len(cell["results"]["queries"]) > steps_of
    }
    if not scores:
        raise ValueError(
            f"learner: got {brief(learner)}; "
            f"it must be one with a finite score on {family!r} in the record."
        )
    usual = ADAM if learner == "recurrent" else STEP_SIZE[kind]
    return float(f"{usual * min(scores, key=scores.__getitem__):.6g}")


def at_chosen_rates(sines: dict[str, Any], rates: dict[str, Any]) -> dict[str, Any]:
    """The part of `maml_sine` that was measured at the chosen rates, and at the usual
    rate where a learner lacks a seed at its chosen rate.

    Args:
        sines: Record of `maml_sine`.
        rates: Record of `maml_rates`.
    """
    usual = {name: sines["full"][name] for name in ("step_size", "adam")}
    cells = []
    for learner in sines["full"]["learner"]:
        joint = learner == "joint"
        rate = chosen_rate(
            rates, "waves", "ordinary" if joint else learner, 100 if joint else _STEPS
        )
        chosen = {"adam" if learner == "recurrent" else "step_size": rate}
        at_chosen = select(sines, learner=learner, **(usual | chosen))
        at_usual = select(sines, learner=learner, **usual)
        cells += at_chosen if len(at_chosen) >= len(at_usual) else at_usual
    return sines | {"cells": cells}


def from_scratch(
    letters: dict[str, Any], rates: dict[str, Any], shots: int
) -> tuple[str, dict[str, Band]]:
    """Training from random weights with the step size that is best after a hundred
    steps on other letters: (step size, curves).

    Args:
        letters: Record of `maml_letters`, of one length.
        rates: Record of `maml_rates`.
        shots: Examples of each letter, 1 or 4.
    """
    best = f"{chosen_rate(rates, f'letters{shots}', 'ordinary', 100):g}"
    cells = [
        cell["results"]
        for cell in _of_one_setting(letters, learner="scratch", shots=shots)
    ]
    return best, {
        kind: _band([cell[best][kind] for cell in cells])
        for kind in ("examples", "queries")
    }


def best_inner_step(rates: dict[str, Any], depth: int) -> float:
    """The inner step size with the least error at this depth, on tasks that no figure
    shows.

    Args:
        rates: Record of `maml_depth_rates`.
        depth: Number of hidden layers.

    Raises:
        ValueError: If the record has no finite error at this depth.
    """
    errors = {
        cell["parameters"]["step_size"]: cell["results"]["queries"]
        for cell in select(rates, depth=depth, iterations=rates["full"]["iterations"])
        if cell["results"]["queries"] is not None
    }
    if not errors:
        raise ValueError(
            f"depth: got {brief(depth)}; it must be one with a finite error in the record."
        )
    return min(errors, key=errors.__getitem__)


def by_depth(record: dict[str, Any], after: int | None = None) -> dict[str, Band]:
    """Error of one gradient step ("maml") and of the oracle at each recorded depth.

    Args:
        record: Record of `maml_depth`.
        after: Iterations of meta-training, a multiple of 100 and at least 500. The
            result is the mean error over the 500 iterations before. By default it is
            the error at the end of training, on tasks that are drawn once.
    """

    def error(cell: dict[str, Any]) -> float:
        results = cell["results"]
        if after is None:
            return results["queries"]
        return float(np.mean(results["losses"][after // 100 - 5 : after // 100]))

    def errors(**parameters: Any) -> list[float]:
        return [error(cell) for cell in _of_one_setting(record, **parameters)]

    depths = record["full"]["depth"]
    learners = ("maml", "oracle")
    return {
        name: _band(np.array([errors(learner=name, depth=d) for d in depths]).T)
        for name in learners
    }


def _draw(ax: Any, x: Any, band: Band, **style: Any) -> None:
    (line,) = ax.plot(x, band.mean, **style)
    ax.fill_between(x, band.low, band.high, color=line.get_color(), alpha=0.2, lw=0)


def draw_steps(sines: dict[str, Any], letters: dict[str, Any]) -> Any:
    """Error on waves, and fraction right on letters, against gradient steps: (figure,
    axes).
    """
    fig, axes = figure(ncols=2, height=3.1)
    for ax, record, only in ((axes[0], sines, {}), (axes[1], letters, {"shots": 1})):
        for name in ("maml", "first_order", "joint"):
            if select(record, learner=name, **only):
                curve = over_seeds(record, "queries", learner=name, **only)
                _draw(
                    ax,
                    range(len(curve.mean)),
                    curve,
                    label=_LABELS[name],
                    color=_COLOUR[name],
                )
        answer = over_seeds(
            record, "by_shear" if only else "queries", learner="recurrent", **only
        ).mean[0]
        ax.axhline(answer, color="black", ls="--", label=_LABELS["recurrent"])
        ax.axvline(_STEPS, color="grey", ls=":")
        ax.set_xscale("symlog", linthresh=_STEPS)
        ax.set_xticks([0, 5, 10, 50, 100], ["0", "5", "10", "50", "100"])
        ax.set(xlabel="gradient steps at test time", xlim=(0, 100))
    axes[0].set(ylabel="mean squared error", yscale="log")
    axes[1].set_ylabel("fraction right")
    axes[0].legend(fontsize=8.5, loc="center right", bbox_to_anchor=(1, 0.72))
    return fig, axes


def draw_other_tasks(sines: dict[str, Any], letters: dict[str, Any]) -> Any:
    """Waves of other amplitudes and phases, and letters with sheared features: (figure,
    axes).
    """
    fig, axes = figure(ncols=3, height=3.2)
    panels = [
        (AMPLITUDES, other_waves(sines, "amplitude"), "amplitude A"),
        (PHASES, other_waves(sines, "phase"), "phase, multiples of π"),
        (SHEARS, sheared_letters(letters), "shear s"),
    ]
    for ax, (x, bands, label) in zip(axes, panels, strict=True):
        for name, band in bands.items():
            of_waves = name == "maml" and ax is not axes[2]
            legend = f"MAML, {_STEPS} steps" if of_waves else _LABELS[name]
            _draw(ax, x, band, marker="o", ms=3, color=_COLOUR[name], label=legend)
        ax.set_xlabel(label)
    for name, band in sheared_letters(letters, shots=4).items():
        axes[2].plot(SHEARS, band.mean, "--", lw=1, color=_COLOUR[name])
    for ax, x, kind in zip(
        axes, (AMPLITUDES, PHASES), ("amplitude", "phase"), strict=False
    ):
        zero = answering_zero(kind)
        ax.plot(x, zero, "--", color="black", lw=1, label="answer 0")
        ax.axvline(_TRAINED[kind], color="grey", ls=":")
        ax.set(yscale="log", ylim=(0.01, 200))
        for i, name in enumerate(other_waves(sines, kind)):
            at = np.array(diverged(sines, name, kind)) > 0
            if at.any():
                top = np.full(at.sum(), 150 / 1.5**i)  # a row per learner
                ax.plot(np.array(x)[at], top, "x", ms=5, color=_COLOUR[name])
    axes[0].set_ylabel("mean squared error")
    axes[2].set_ylabel("fraction right")
    fig.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside upper left",
        ncols=3,
        fontsize=8.5,
    )
    axes[2].set_ylim(0.2, 1.05)  # from the level of chance, with room for the legend
    axes[2].legend(fontsize=7.5, loc="upper right")
    return fig, axes


def draw_scratch(letters: dict[str, Any], rates: dict[str, Any]) -> Any:
    """Twenty examples of five letters, from the meta-trained start and from random
    ones: (figure, axes).

    Args:
        letters: Record of `maml_letters`, of one length.
        rates: Record of `maml_rates`.
    """
    fig, ax = figure(height=3.0, width=5.8)
    starts = {
        "from the meta-trained start": {
            k: over_seeds(letters, k, learner="maml", shots=4)
            for k in ("queries", "examples")
        },
        "from scratch": from_scratch(letters, rates, shots=4)[1],
    }
    for (label, bands), colour in zip(starts.items(), COLOURS, strict=False):
        steps = range(len(bands["queries"].mean))
        _draw(ax, steps, bands["queries"], color=colour, label=label)
        _draw(ax, steps, bands["examples"], color=colour, ls="--")
    ax.axvline(_STEPS, color="grey", ls=":")
    ax.set(xlabel="gradient steps", ylabel="fraction right")
    ax.legend()
    return fig, ax


def draw_depth(record: dict[str, Any], earlier: int) -> Any:
    """Error against the number of hidden layers, at an equal number of parameters:
    (figure, axes).

    Args:
        record: Record of `maml_depth`.
        earlier: Iterations, a multiple of 100; the error after this many is dashed.
    """
    fig, ax = figure(height=2.9, width=5.4)
    depths = record["full"]["depth"]
    labels = {"maml": "one gradient step", "oracle": "oracle, told the coefficients"}
    last, before = by_depth(record), by_depth(record, earlier)
    for name, marker, colour in zip(labels, "os", COLOURS, strict=False):
        _draw(ax, depths, last[name], marker=marker, color=colour, label=labels[name])
        ax.plot(depths, before[name].mean, ls="--", lw=1, color=colour)
    ax.set(
        xlabel="hidden layers", ylabel="mean squared error", yscale="log", xticks=depths
    )
    ax.legend(fontsize=8.5, loc="center right", bbox_to_anchor=(1, 0.27))
    return fig, ax


_TARGETS = {"minus": "−y", "sin": "y sin", "cos": "y cos"}
_NETWORKS = {
    "one": "one hidden layer",
    "two": "two",
    "three": "three",
    "built": "two, constructed",
}


def one_shot_errors(record: dict[str, Any]) -> dict[str, dict[str, NDArray]]:
    """Rms errors after one step, relative to that of the answer 0, by target and
    network: one for each seed.

    Args:
        record: Record of `maml_one_shot`.
    """
    return {
        target: {
            network: np.array(
                [
                    cell["results"]["end"]["rms"] / cell["results"]["zero"]
                    for cell in _of_one_setting(record, target=target, network=network)
                ]
            )
            for network in _NETWORKS
        }
        for target in _TARGETS
    }


def one_shot_ends(record: dict[str, Any]) -> dict[str, NDArray]:
    """Numbers that the page quotes of the networks in the record of `maml_one_shot`.

    `parameters` are the numbers of parameters of all networks. `against` is the
    fraction of pairs (x, x*) at which a short step moves the answer in the wrong
    direction, for the networks of two and three layers that were trained on the cosine.
    `switched_on` is the number of units that the step switches on, in all trained
    networks; `before` the same before meta-training, in those of two and three layers;
    and `readers` the same in the constructions.
    """

    def ends(quantity: str, when: str = "end", **parameters: Any) -> list[float]:
        return [
            cell["results"][when][quantity] for cell in select(record, **parameters)
        ]

    deep = ("two", "three")
    parameters = [cell["results"]["parameters"] for cell in record["cells"]]
    switched = [ends("switched_on", network=name) for name in ("one", *deep)]
    return {
        "parameters": np.array(parameters),
        "against": np.array([ends("against", target="cos", network=n) for n in deep]),
        "switched_on": np.array(switched),
        "before": np.array([ends("switched_on", "start", network=n) for n in deep]),
        "readers": np.array(ends("switched_on", network="built")),
    }


def draw_one_shot(record: dict[str, Any]) -> Any:
    """Errors of meta-trained networks beside that of the construction, and their
    answers for the cosine: (figure, axes).

    Args:
        record: Record of `maml_one_shot`.
    """
    fig, axes = figure(ncols=2, height=3.1)
    errors = one_shot_errors(record)
    markers = dict(zip(_NETWORKS, "os^D", strict=True))
    for i, (network, label) in enumerate(_NETWORKS.items()):
        for place, target in enumerate(_TARGETS):
            values = errors[target][network]
            axes[0].plot(
                np.full(len(values), place + (i - 1.5) / 6),
                values,
                markers[network],
                ms=5,
                color=COLOURS[i],
                label=None if place else label,
            )
        if network != "built":
            cells = select(record, target="cos", network=network)
            for cell in cells:
                answers = cell["results"]["answers"]
                axes[1].plot(
                    np.linspace(0, 1, len(answers)), answers, color=COLOURS[i], lw=1.2
                )
    axes[0].axhline(1, color="0.4", ls="--", lw=1)
    axes[0].set(
        yscale="log",
        ylabel="rms error, relative to the answer 0",
        ylim=(0.003, 1.5),  # room for the legend
    )
    axes[0].set_xticks(range(len(_TARGETS)), _TARGETS.values())
    axes[0].legend(fontsize=8, loc="lower left")
    x_star = np.linspace(0, 1, 101)
    axes[1].plot(x_star, np.cos(2 * np.pi * (x_star - 0.25)), "--", color="0.4", lw=1)
    axes[1].set(xlabel="x*", ylabel="answer")
    return fig, axes
