"""List every experiment with what is recorded and what is missing; with --minutes,
measure as many of the missing cells as fit.

Missing cells are measured in the order of their value per second, estimated from the
recorded seconds. Each cell is written as soon as it is measured, so that an interrupted
run resumes where it stopped. There is a budget instead of a plain list to work through,
because one grid is not complete: its missing cells take from seconds to hours each, and
weeks in all.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import jax
from record import RESULTS, Cell, Experiment, measured, stored_record

from rankone._files import locked

__all__ = [
    "Piece",
    "State",
    "every",
    "main",
    "plan",
    "run",
    "seconds_of",
    "state",
    "table",
]


class Piece(NamedTuple):
    """A missing cell: its parameters, the seconds it would take (None if no cell of the
    experiment is recorded), and its value.
    """

    experiment: Experiment
    parameters: Cell
    seconds: float | None
    value: float


class State(NamedTuple):
    """An experiment with its recorded and its missing cells, or with the damage of its
    record.
    """

    experiment: Experiment
    record: dict[str, Any]
    missing: list[Piece]
    damage: str = ""


def every(folder: Path = Path(__file__).parent) -> list[Experiment]:
    """The experiments of all scripts of a folder that is on Python's path, by name."""
    scripts = [
        path
        for path in sorted(folder.glob("*.py"))
        if "\nEXPERIMENT = " in path.read_text(encoding="utf-8")
    ]
    return [import_module(path.stem).EXPERIMENT for path in scripts]


def state(experiment: Experiment, out: Path, device: str) -> State:
    """The recorded and the missing cells of an experiment, by its record in a folder.

    Args:
        experiment: The experiment.
        out: Folder of the record.
        device: "cpu", "gpu" or "tpu". The seconds of the missing cells are estimated
            from the cells that a device of this kind measured, if there are any.
    """
    try:
        record = stored_record(out / f"{experiment.name}.json")
    except ValueError as error:
        return State(experiment, {"runs": [], "cells": []}, [], str(error))
    done = [cell["parameters"] for cell in record["cells"]]
    pending = [parameters for parameters in experiment.cells if parameters not in done]
    worth = experiment.value / len(experiment.cells)
    on_cpu = {
        i for i, run in enumerate(record["runs"]) if run["device"].startswith("CPU")
    }
    alike = [
        cell for cell in record["cells"] if (cell["run"] in on_cpu) == (device == "cpu")
    ]
    times = seconds_of(alike or record["cells"], pending, experiment.work)
    return State(
        experiment,
        record,
        [Piece(experiment, *pair, worth) for pair in zip(pending, times, strict=True)],
    )


def seconds_of(
    cells: list[dict[str, Any]], pending: list[Cell], work: Callable[[Cell], float]
) -> list[float | None]:
    """Seconds that the pending cells would take at the mean speed of the recorded
    cells; None if no cell is recorded.
    """
    if not cells:
        return [None] * len(pending)
    done = sum(work(cell["parameters"]) for cell in cells)
    seconds = sum(cell["seconds"] for cell in cells)
    pace = max(seconds, 0.01) / done  # recorded seconds can be 0
    return [pace * work(parameters) for parameters in pending]


def plan(pieces: Iterable[Piece], budget: float, named: bool = False) -> list[Piece]:
    """Pieces to measure within a budget: in the order of their value per second, each
    piece that still fits.

    Args:
        pieces: The missing cells.
        budget: Seconds to spend.
        named: True if the pieces were asked for by name. Then pieces of unknown time
            are measured too, after the others.
    """
    pieces = list(pieces)
    chosen = []
    remaining = budget
    timed = [
        (piece.value / piece.seconds, piece.seconds, piece)
        for piece in pieces
        if piece.seconds is not None
    ]
    for _, seconds, piece in sorted(timed, key=lambda one: -one[0]):
        if seconds <= remaining:
            chosen.append(piece)
            remaining -= seconds
    return chosen + [
        piece for piece in pieces if named and budget and piece.seconds is None
    ]


def table(states: Iterable[State]) -> str:
    """One line per experiment: the number of its recorded cells, their devices, the
    number of missing cells, and the time that these would take.
    """
    rows = [("experiment", "recorded", "of", "others", "on", "missing", "would take")]
    for one in states:
        name = one.experiment.name
        size = len(one.experiment.cells)
        lacking = len(one.missing)
        devices = {run["device"] for run in one.record["runs"]}
        others = len(one.record["cells"]) - (size - lacking)
        about = "" if one.damage else _time([piece.seconds for piece in one.missing])
        done = "damaged" if one.damage else f"{size - lacking} of {size}"
        rows.append(
            (
                name,
                done,
                one.experiment.of,
                str(max(others, 0)),
                "; ".join(sorted(devices)),
                str(lacking),
                about,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(
        [
            *lines,
            *(f"{one.experiment.name}: {one.damage}" for one in states if one.damage),
        ]
    )


def _time(seconds: list[float | None]) -> str:
    known = [s for s in seconds if s is not None]
    unknown = seconds.count(None)
    total = sum(known)
    text = (
        f"{total:.0f} s"
        if total < 100
        else f"{total / 60:.0f} min"
        if total < 6000
        else f"{total / 3600:.0f} h"
        if total < 100 * 3600
        else f"{total / 86400:.0f} days"
    )
    return " + ".join(
        [text] * bool(known) + [f"{unknown} of unknown time"] * bool(unknown)
    )


def run(pieces: list[Piece], out: Path, device: str, budget: float) -> list[str]:
    """Measure pieces in their order, and start none after the budget's seconds. If a
    piece fails, the rest of its experiment is skipped.

    Returns:
        The experiments that failed, each with its error.

    Raises:
        BlockingIOError: If another run is measuring for the same records.
    """
    failed: dict[str, str] = {}
    with locked(out / "missing", wait=False):
        began = time.monotonic()
        for i, piece in enumerate(pieces):
            name = piece.experiment.name
            if name in failed or time.monotonic() - began > budget:
                continue
            print(f"{i + 1} of {len(pieces)}: {name} {piece.parameters}", flush=True)
            try:
                measured(piece.experiment, piece.parameters, out, device)
            except Exception as error:  # after any error, the other experiments go on
                failed[name] = f"{name}: {type(error).__name__}: {error}"
    return list(failed.values())


def main(
    argv: list[str] | None = None, experiments: list[Experiment] | None = None
) -> int:
    """List the experiments, and measure within the given minutes. Returns 1 if a record
    is damaged, a measurement failed, or another run is measuring.
    """
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n\n")[0])
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="time to spend; 0 only lists"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        help="names of experiments; those of unknown time must be named",
    )
    parser.add_argument(
        "--device", default=jax.default_backend(), help="cpu, gpu or tpu"
    )
    parser.add_argument(
        "--out", type=Path, default=RESULTS, help="folder of the records"
    )
    args = parser.parse_args(argv)
    known = every() if experiments is None else experiments
    unknown = sorted(set(args.only) - {one.name for one in known})
    if unknown:
        parser.error(
            f"argument --only: got {unknown}; it must be among "
            f"{', '.join(one.name for one in known)}"
        )
    states = [
        state(one, args.out, args.device)
        for one in known
        if not args.only or one.name in args.only
    ]
    print(table(states))
    chosen = plan(
        [piece for one in states for piece in one.missing],
        60 * args.minutes,
        bool(args.only),
    )
    print(
        f"To measure: {len(chosen)} cells, "
        f"{_time([piece.seconds for piece in chosen]) or '0 s'}."
    )
    try:
        failed = run(chosen, args.out, args.device, 60 * args.minutes)
    except BlockingIOError:
        print("Another run is at work on these records: wait for it, or stop it.")
        return 1
    print("\n".join(failed), end="\n" * bool(failed))
    return int(bool(failed) or any(one.damage for one in states))


if __name__ == "__main__":
    sys.exit(main())
