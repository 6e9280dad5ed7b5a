"""Results of the full-size experiments, with a record of where, when and how they were
made.

The scripts in `experiments/` write them, and the chapters read them here. The file
repeats nothing: the names of a cell's parameters and results, its run, and the run's
machine are written once each, and a cell refers to them by index:

    "machines": [{"device": ..., "versions": {...}}],
    "runs": [{"machine": 0, "date": ..., "command": ...}],
    "names": [{"error": null, "near": {"bits": null}}],
    "cells": [[run, names, seconds, [values of axes, seed], {other options}, [results]]]
"""

import itertools
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankone._checks import brief
from rankone._files import read_arrays, replaced

__all__ = [
    "Coverage",
    "coverage",
    "folder",
    "load_pictures",
    "load_record",
    "provenance",
    "read_record",
    "select",
    "select_one",
    "write_record",
]


@cache
def folder() -> Path:
    """Folder of the records: inside an installed package, or `experiments/results` of a
    checkout.
    """
    file = Path(__file__).resolve()
    for place in (file.parent / "results", file.parents[2] / "experiments" / "results"):
        if place.is_dir():
            return place
    raise FileNotFoundError(
        "No recorded experiments beside the package: install it from a checkout that "
        "has them."
    )


def load_record(name: str) -> dict[str, Any]:
    """The record of one experiment: its `runs` (device, date, versions, command),
    `cells`, `axes` and `full` size.

    Args:
        name: Name of the script, such as "figure1".

    Raises:
        ValueError: If there is no such record, or its file is damaged; the message
            names the file.
    """
    return read_record(_existing(f"{name}.json"))


def read_record(path: Path) -> dict[str, Any]:
    """Record in any file. An option that a cell in the file does not name has its full
    value.

    Args:
        path: A file that an experiment has written.

    Raises:
        ValueError: If the file is damaged; the message names it.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no JSON, or no text
        raise _damaged(path, error) from error
    if not (isinstance(record, dict) and set(_ENTRIES) <= record.keys()):
        raise _damaged(path, f"it lacks one of {', '.join(_ENTRIES)}")
    try:
        machines = record.pop("machines")
        names = record.pop("names")
        axes = [*record["axes"], "seed"]
        options = _options(record)
        runs = [machines[run.pop("machine")] | run for run in record["runs"]]
        cells = [_unpacked(cell, axes, options, names) for cell in record["cells"]]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, f"it is no record: {error!r}") from error
    return record | {"runs": runs, "cells": cells}


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Writes a record so that `read_record` returns it: one line for each entry of the
    head, each run and each cell.

    A cell names no option that has its full value. An option that is newer than the
    cell is None there.

    Args:
        path: Its file, which is replaced as a whole.
        record: As `read_record` returns it.
    """
    axes = [*record["axes"], "seed"]
    options = _options(record)
    machines: list[dict[str, Any]] = []
    names: list[Any] = []
    runs = []
    for run in record["runs"]:
        machine = {key: run[key] for key in _MACHINE if key in run}
        rest = {key: value for key, value in run.items() if key not in _MACHINE}
        runs.append({"machine": _place(machines, machine), **rest})
    cells = [_packed(cell, axes, options, names) for cell in record["cells"]]
    head = (*_HEAD, _IMPOSSIBLE) if _IMPOSSIBLE in record else _HEAD
    lines = [f"{_line(key)}: {_line(record[key])}" for key in head]
    lists = {"machines": machines, "runs": runs, "names": names, "cells": cells}
    for key, values in lists.items():
        rows = ",\n".join(_line(value) for value in values)
        lines.append(f"{_line(key)}: [\n{rows}\n]")
    text = ",\n".join(lines)
    with replaced(path) as file:
        file.write(f"{{\n{text}\n}}\n".encode())


_HEAD = ("name", "axes", "of", "full")
# entry of the few records in which some values of the axes exclude others
_IMPOSSIBLE = "impossible"
_ENTRIES = (*_HEAD, "machines", "runs", "names", "cells")
_MACHINE = ("device", "versions")


def _options(record: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the whole experiment that are the same in all its cells."""
    axes = record["axes"]
    return {key: value for key, value in record["full"].items() if key not in axes}


def _packed(
    cell: dict[str, Any], axes: list[str], options: dict[str, Any], names: list[Any]
) -> list[Any]:
    """A cell in the form of the file; adds the names of its results to `names`."""
    parameters = dict.fromkeys(options) | cell["parameters"]
    others = {
        key: value
        for key, value in parameters.items()
        if key not in axes and (key not in options or options[key] != value)
    }
    return _shorter(
        [
            cell["run"],
            _place(names, _names(cell["results"])),
            cell["seconds"],
            [parameters.get(axis) for axis in axes],
            others,
            list(_leaves(cell["results"])),
        ]
    )


def _unpacked(
    cell: list[Any], axes: list[str], options: dict[str, Any], names: list[Any]
) -> dict[str, Any]:
    """A cell in the form that pages read."""
    run, place, seconds, values, others, results = cell
    leaves = iter(results)
    entry = {
        "run": run,
        "parameters": options | others | dict(zip(axes, values, strict=True)),
        "seconds": seconds,
        "results": _named(names[place], leaves),
    }
    if list(leaves):
        raise ValueError(f"cell: got {brief(cell)}, which has too many results")
    return entry


def _names(results: Any) -> Any:
    """The nested names of results, with None in place of each value."""
    if not isinstance(results, dict):
        return None
    return {name: _names(value) for name, value in results.items()}


def _leaves(results: Any) -> Iterator[Any]:
    """The values of nested results, in the order of their names."""
    if not isinstance(results, dict):
        yield results
        return
    for value in results.values():
        yield from _leaves(value)


def _named(names: Any, leaves: Iterator[Any]) -> Any:
    """Nested results from their names and their values."""
    if names is None:
        for leaf in leaves:
            return leaf
        raise ValueError("a cell has too few results")
    return {name: _named(inner, leaves) for name, inner in names.items()}


def _place(entries: list[Any], entry: Any) -> int:
    """Index of an entry, which is added if it is new; the order of its names
    matters.
    """
    lines = [json.dumps(one) for one in entries]
    line = json.dumps(entry)
    if line not in lines:
        entries.append(entry)
        return len(entries) - 1
    return lines.index(line)


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _shorter(value: Any) -> Any:
    """The same value with whole numbers below a million as integers, written
    shorter.
    """
    if isinstance(value, dict):
        return {name: _shorter(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shorter(one) for one in value]
    return (
        int(value)
        if isinstance(value, float) and abs(value) < 1e6 and value.is_integer()
        else value
    )


def load_pictures(name: str) -> dict[str, NDArray[np.uint8]]:
    """The pictures recorded beside an experiment, by the name that its cells give them.

    Args:
        name: Name of the script, such as "figure1".

    Raises:
        ValueError: If there are no such pictures, or their file is damaged; the message
            names the file.
    """
    path = _existing(f"{name}.npz")
    try:
        return read_arrays(path)
    except (ValueError, lzma.LZMAError) as error:
        raise _damaged(path, error) from error


def _existing(name: str) -> Path:
    path = folder() / name
    names = sorted(entry.stem for entry in folder().glob(f"*{path.suffix}"))
    if not path.is_file():
        raise ValueError(
            f"name: got {brief(path.stem)}; "
            f"it must be one of the records {', '.join(names)}."
        )
    return path


def _damaged(path: Path, reason: object) -> ValueError:
    return ValueError(
        f"record: got {str(path)!r}, which cannot be read ({reason}); it must be a "
        "complete record; restore the file, or move it away to measure all its cells "
        "again."
    )


def select(record: dict[str, Any], **parameters: Any) -> list[dict[str, Any]]:
    """The cells of a record whose parameters have these values.

    Args:
        record: Record that `load_record` returned.
        parameters: Name and value of each.
    """
    return [
        cell
        for cell in record["cells"]
        if parameters.items() <= cell["parameters"].items()
    ]


def select_one(record: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    """The one cell of a record whose parameters have these values.

    Cells are in the order in which they were measured, which changes when one is
    measured again. A page therefore names the parameters of a cell, and never its
    index.

    Args:
        record: Record that `load_record` returned.
        parameters: Name and value of each.

    Raises:
        ValueError: If there is no such cell, or more than one.
    """
    cells = select(record, **parameters)
    if len(cells) != 1:
        raise ValueError(
            f"parameters: got {parameters}, which {len(cells)} cells of "
            f"{record.get('name', 'the record')!r} have; they must be those of exactly "
            "one cell."
        )
    (cell,) = cells
    return cell


@dataclass(frozen=True)
class Coverage:
    """Part of an experiment that a record holds; a cell is one point of its grid,
    whatever the number of seeds.

    Attributes:
        of: Whose grid it is, "the paper" or "the book".
        cells: Number of points of the grid.
        whole: Points measured with every option at its full value.
        reduced: Points measured only with other options, such as fewer queries.
        missing: Points not measured at all, as values of `axes`.
        options: Name → (the values of the reduced cells, the full one).
    """

    of: str
    cells: int
    whole: int
    reduced: int
    missing: tuple[tuple[Any, ...], ...]
    options: dict[str, tuple[list[Any], Any]]

    def __str__(self) -> str:
        """One phrase: "16 of the paper’s 72 settings, with 50 queries instead of 500"."""
        run = self.whole + self.reduced
        owner = f"{self.of}’s"
        if run == self.cells:
            sentence = (
                f"all {self.cells} settings of {owner} experiment"
                if self.cells > 1
                else f"{owner} one setting"
            )
        else:
            sentence = f"{run} of {owner} {self.cells} settings"
        if not self.reduced:
            return sentence
        prefix = "" if self.reduced == run else f"{self.reduced} of them "
        *others, last = (
            _reduction(name, values, full)
            for name, (values, full) in self.options.items()
        )
        reductions = f"{', '.join(others)} and {last}" if others else last
        return f"{sentence}, {prefix}with {reductions}"


def _reduction(name: str, values: list[Any], full: Any) -> str:
    """Phrase for a reduced option: "16 or 50 queries instead of 500" for a count, "step
    size 0.3 instead of 0.1" for any other.
    """
    said = " or ".join(map(_as_text, values))
    is_count = name.endswith("s") and isinstance(full, int)
    words = name.replace("_", " ")
    what = f"{said} {words}" if is_count else f"{words} {said}"
    return f"{what} instead of {_as_text(full)}"


def _as_text(value: Any) -> str:
    return str(value) if isinstance(value, str) else f"{value:,}"


def coverage(record: dict[str, Any], **part: Any) -> Coverage:
    """Part of its experiment that a record holds.

    Args:
        record: Record that `load_record` returned.
        part: Values of axes, to which the experiment and the record are restricted.
    """
    axes = record["axes"]
    full = record["full"]
    options = {key: value for key, value in full.items() if key not in axes}
    points = itertools.product(
        *([part[axis]] if axis in part else full[axis] for axis in axes)
    )
    excluded = record.get(_IMPOSSIBLE, ())
    grid = [
        point
        for point in points
        if not any(
            one.items() <= dict(zip(axes, point, strict=True)).items()
            for one in excluded
        )
    ]
    runs: dict[tuple[Any, ...], bool] = {}
    other_values: dict[str, set[Any]] = {}
    cells = [cell["parameters"] for cell in select(record, **part)]
    for cell in cells:
        point = tuple(cell[axis] for axis in axes)
        if point in grid:
            runs[point] = runs.get(point, False) or options.items() <= cell.items()
    for cell in cells:
        if runs.get(tuple(cell[axis] for axis in axes)) is False:
            for key, value in options.items():
                if cell[key] != value:
                    other_values.setdefault(key, set()).add(cell[key])
    return Coverage(
        of=record["of"],
        cells=len(grid),
        whole=sum(runs.values()),
        reduced=len(runs) - sum(runs.values()),
        missing=tuple(point for point in grid if point not in runs),
        options={
            key: (sorted(values), options[key]) for key, values in other_values.items()
        },
    )


def provenance(record: dict[str, Any]) -> str:
    """One line on a record: device, date, versions, commit, time, and the part of the
    experiment that was measured.
    """
    runs = [
        run
        for i, run in enumerate(record["runs"])
        if any(cell["run"] == i for cell in record["cells"])
    ]
    devices = ", ".join(sorted({run["device"] for run in runs}))
    dates = " and ".join(sorted({run["date"] for run in runs}))
    versions = "; ".join(
        dict.fromkeys(
            ", ".join(f"{k} {v}" for k, v in run["versions"].items()) for run in runs
        )
    )
    commits = "".join(
        f"; commit {hash}"
        for hash in dict.fromkeys(run["commit"] for run in runs if "commit" in run)
    )
    seconds = sum(cell["seconds"] for cell in record["cells"])
    return (
        f"{devices}; {dates}; {versions}{commits}; {seconds:,.0f} s; {coverage(record)}"
    )
