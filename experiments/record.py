"""Run an experiment cell by cell, and record each result with where, when and how it
was measured.

A cell is one point of a grid of parameters. A cell that the record already has is
skipped, so that a run can be interrupted, resumed, split over days or moved to another
machine. Every cell names the run that measured it. Each script declares one
`Experiment`, and `main` is its command line. `missing.py` lists all experiments and
measures the missing cells.
"""

import argparse
import itertools
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, ZipFile

import jax
import numpy as np
from tqdm.auto import tqdm

from rankone._files import locked, read_arrays, replaced
from rankone_book.records import read_record, write_record

__all__ = ["Cell", "Experiment", "main", "measured", "stored_record"]

Cell = dict[str, Any]
RESULTS = Path(__file__).parent / "results"
# The entry of a result that is stored in the .npz file: name → uint8 array.
PICTURES = "pictures"


def _equally_long(_: Cell) -> float:
    return 1.0


@dataclass(frozen=True)
class Experiment:
    """An experiment: what it measures, and its grid.

    Attributes:
        name: Name of the record.
        about: Description. Its first paragraph is the help text.
        grid: Parameter → values, of the whole experiment. They are the defaults of the
            command line.
        measure: Called with one cell's parameters, the options and the seed; returns
            what to record.
        options: Further parameters, which are the same for all cells, with the values
            of the whole experiment. A cell measured with other values, such as fewer
            queries, is recorded too, and counts as reduced
            (`rankone_book.records.coverage`).
        of: Whose grid it is: "the paper", or "the book" where no paper prints one.
        seeds: Seeds of the whole experiment, which has each point of the grid with each
            seed.
        value: Value of the whole experiment relative to others, divided equally among
            its cells.
        work: Number to which the seconds of a cell are proportional, from its
            parameters and options. Without it all cells count as equally long.
        impossible: Combinations of values without a cell: no cell has all values of one
            entry.
    """

    name: str
    about: str
    grid: dict[str, list]
    measure: Callable[..., dict]
    options: Cell
    of: str = "the paper"
    seeds: tuple[int, ...] = (0,)
    value: float = 1.0
    work: Callable[[Cell], float] = _equally_long
    impossible: tuple[Cell, ...] = ()

    @property
    def cells(self) -> list[Cell]:
        """Parameters of all cells of the whole experiment."""
        return self.chosen({**self.grid, "seed": list(self.seeds)}, self.options)

    def chosen(self, grid: dict[str, list], options: Cell) -> list[Cell]:
        """Parameters of the cells of a part of the grid."""
        cells = [
            dict(zip(grid, values, strict=True)) | options
            for values in itertools.product(*grid.values())
        ]
        return [
            cell
            for cell in cells
            if not any(one.items() <= cell.items() for one in self.impossible)
        ]

    @property
    def whole(self) -> Cell:
        """Entries of the record that describe the experiment."""
        head = {
            "name": self.name,
            "axes": list(self.grid),
            "of": self.of,
            "full": {**self.grid, **self.options},
        }
        return head | {"impossible": list(self.impossible)} if self.impossible else head


def main(experiment: Experiment, argv: Any = None) -> dict:
    """Measure the cells of the grid asked for on the command line, and write
    `<name>.json` after each.

    Args:
        experiment: The experiment.
        argv: Arguments in place of the command line's.
    """
    args = _arguments(experiment, argv)
    grid = {**{key: getattr(args, key) for key in experiment.grid}, "seed": args.seeds}
    options = {key: getattr(args, key) for key in experiment.options}
    cells = experiment.chosen(grid, options)
    path = args.out / f"{experiment.name}.json"
    began = time.monotonic()
    run = _entered(path, experiment, "runs", _run(args.device, argv))
    for parameters in tqdm(cells, desc=experiment.name, unit="cell"):
        if time.monotonic() - began > args.budget:
            break
        _measure(experiment, parameters, path, args.device, run)
    return stored_record(path)


def measured(experiment: Experiment, parameters: Cell, out: Path, device: str) -> None:
    """Measure one cell and add it to the record, unless the record already has it."""
    path = out / f"{experiment.name}.json"
    _measure(
        experiment,
        parameters,
        path,
        device,
        _entered(path, experiment, "runs", _run(device, None)),
    )


def _measure(
    experiment: Experiment, parameters: Cell, path: Path, device: str, run: int
) -> None:
    if any(cell["parameters"] == parameters for cell in stored_record(path)["cells"]):
        return  # another process may have measured the cell
    began = time.monotonic()
    with jax.default_device(jax.devices(device)[0]):
        results = experiment.measure(**parameters)
    pictures = results.pop(PICTURES, {})
    seconds = round(time.monotonic() - began, 2)
    cell = {
        "run": run,
        "parameters": parameters,
        "seconds": seconds,
        "results": _plain(results),
    }
    _entered(path, experiment, "cells", cell, pictures)


def _entered(
    path: Path,
    experiment: Experiment,
    part: str,
    entry: Cell,
    pictures: Cell | None = None,
) -> int:
    """Add a run, or a cell with its pictures, to the current record. Returns the index
    of the entry, or −1 if the record already has the cell.

    Other processes may add to the record at the same time. The lock excludes them
    between reading and writing.
    """
    with locked(path):
        record = stored_record(path) | experiment.whole
        if part == "cells" and any(
            cell["parameters"] == entry["parameters"] for cell in record["cells"]
        ):
            return -1  # another process was first
        if part == "cells" or entry not in record["runs"]:  # each run is entered once
            record[part].append(entry)
        if pictures:
            _add_pictures(path.with_suffix(".npz"), pictures)
        write_record(path, record)
        return record[part].index(entry)


def stored_record(path: Path) -> dict:
    """The record at a path, empty if there is no file. A damaged file raises an error
    that names it.
    """
    return (
        read_record(path)
        if path.exists()
        else {"name": path.stem, "runs": [], "cells": []}
    )


def _arguments(experiment: Experiment, argv: Any) -> argparse.Namespace:
    show_defaults = argparse.ArgumentDefaultsHelpFormatter
    parser = argparse.ArgumentParser(
        description=experiment.about.partition("\n\n")[0], formatter_class=show_defaults
    )
    for key, values in experiment.grid.items():
        parser.add_argument(
            f"--{key}",
            type=type(values[0]),
            nargs="+",
            default=values,
            help="values of the grid",
        )
    for key, value in experiment.options.items():
        parser.add_argument(
            f"--{key}", type=type(value), default=value, help="the same in all cells"
        )
    parser.add_argument(
        "--seeds",
        type=int,
        nargs="+",
        default=list(experiment.seeds),
        help="seeds of data and features",
    )
    parser.add_argument(
        "--device", default=jax.default_backend(), help="cpu, gpu or tpu"
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=float("inf"),
        help="start no cell after so many seconds",
    )
    parser.add_argument(
        "--out", type=Path, default=RESULTS, help="folder of the records"
    )
    return parser.parse_args(argv)


def _run(device: str, argv: Any) -> dict:
    words = sys.argv[1:] if argv is None else [str(word) for word in argv]
    # the folder of the records does not belong to the measurement
    if "--out" in words:
        at = words.index("--out")
        words = words[:at] + words[at + 2 :]
    one = jax.devices(device)[0]
    return {
        "device": _processor() if one.platform == "cpu" else one.device_kind,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {
            "python": platform.python_version(),
            **{p: version(p) for p in ("jax", "numpy", "rankone")},
        },
        **_commit(),
        "command": shlex.join(
            ["python", f"experiments/{Path(sys.argv[0]).name}", *words]
        ),
    }


@cache
def _commit() -> dict[str, str]:
    """The commit that was run, followed by "+" if files differ from it; empty if there
    is no git.
    """
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        name = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
        )
        changed = subprocess.run(
            [*git, "status", "--porcelain", "-uno", "..", ":!../experiments/results"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {"commit": name.stdout.strip() + "+" * bool(changed.stdout.strip())}


def _processor() -> str:
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count()
    )
    return f"CPU ({platform.machine()}, {cores} cores)"


def _plain(value: Any) -> Any:
    """A result as numbers and lists for JSON, with five significant digits. None stands
    where nothing was measured or a number is not finite.
    """
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    array = np.asarray(value)
    if array.dtype.kind in "bi":
        return array.tolist()
    if array.ndim:
        return [_plain(entry) for entry in array]
    return float(f"{float(array):.5g}") if np.isfinite(array) else None


def _add_pictures(path: Path, pictures: dict[str, Any]) -> None:
    stored_pictures = read_arrays(path) if path.exists() else {}
    # LZMA makes the file a tenth to a sixth smaller than NumPy's compression does, and
    # NumPy reads it too.
    with (
        replaced(path) as whole,
        ZipFile(whole, "w", ZIP_LZMA) as archive,
    ):
        for name, picture in {**stored_pictures, **pictures}.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.asarray(picture), allow_pickle=False)
