"""Run an experiment cell by cell, and record each result with where, when and how it was measured.

A cell is one point of a grid of parameters. A cell that the record holds is skipped, so that a run can be broken off,
resumed, split over days or moved to another machine; every cell names the run that measured it.
"""

import argparse
import itertools
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, ZipFile

import jax
import numpy as np
from tqdm.auto import tqdm

from rankone._files import locked, read_arrays, replaced

__all__ = ["main"]

Cell = dict[str, Any]
PICTURES = "pictures"  # the entry of a result that goes to the .npz file: name → uint8 array


def main(
    name: str,
    about: str,
    grid: dict[str, list],
    measure: Callable[..., dict],
    *,
    options: Cell,
    of: str = "the paper",
    argv: Any = None,
) -> dict:
    """Measure the cells of the grid asked for on the command line, and write `<name>.json` after each.

    Args:
        name: Of the record.
        about: First line is the help text.
        grid: Of the whole experiment: parameter → values. They are the defaults of the command line.
        measure: Called with one cell's parameters, the options and the seed; returns what to record.
        options: Further parameters that hold for all cells, with the values of the whole experiment. A cell measured
            with others, such as fewer queries, is recorded, and counts as reduced (`rankone.book.records.coverage`).
        of: Whose grid it is: "the paper", or "the book" where no paper prints one.
        argv: Arguments in place of the command line's.
    """
    args = _arguments(about, grid, options, argv)
    path, began = args.out / f"{name}.json", time.monotonic()
    whole = {"name": name, "axes": list(grid), "of": of, "full": {**grid, **options}}
    run = _entered(path, whole, "runs", _run(args, argv))
    for parameters in tqdm(_cells(args, grid, options), desc=name, unit="cell"):
        if time.monotonic() - began > args.budget:
            break
        if not any(cell["parameters"] == parameters for cell in _held(path)["cells"]):  # another may have measured it
            cell, pictures = _measured(parameters, measure, args)
            _entered(path, whole, "cells", {"run": run, **cell}, pictures)
    return _held(path)


def _entered(path: Path, whole: Cell, part: str, entry: Cell, pictures: Cell | None = None) -> int:
    """Add a run or a cell to the record as it stands by now, and its pictures; returns its place.

    Other processes may add to the record at the same time: none does between reading and writing it.
    """
    with locked(path):
        record = _held(path) | whole
        if part == "cells" and any(cell["parameters"] == entry["parameters"] for cell in record["cells"]):
            return -1  # another process was first
        record[part].append(entry)
        if pictures:
            _add_pictures(path.with_suffix(".npz"), pictures)
        _write(path, record)
        return len(record[part]) - 1


def _held(path: Path) -> dict:
    if not path.exists():
        return {"name": path.stem, "runs": [], "cells": []}
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not (isinstance(record, dict) and all(isinstance(record.get(part), list) for part in ("runs", "cells"))):
            raise ValueError("it lacks runs or cells")
        return record
    except ValueError as error:
        wanted = "a complete record; restore it, or move it away to measure all cells again"
        raise ValueError(f"record: got {str(path)!r}, which cannot be read ({error}); it must be {wanted}.") from error


def _arguments(about: str, grid: dict[str, list], options: Cell, argv: Any) -> argparse.Namespace:
    show_defaults = argparse.ArgumentDefaultsHelpFormatter
    parser = argparse.ArgumentParser(description=about.splitlines()[0], formatter_class=show_defaults)
    for key, values in grid.items():
        parser.add_argument(f"--{key}", type=type(values[0]), nargs="+", default=values, help="values of the grid")
    for key, value in options.items():
        parser.add_argument(f"--{key}", type=type(value), default=value, help="the same in all cells")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="seeds of data and features")
    parser.add_argument("--device", default=jax.default_backend(), help="cpu, gpu or tpu")
    parser.add_argument("--budget", type=float, default=float("inf"), help="start no cell after so many seconds")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder of the records")
    return parser.parse_args(argv)


def _cells(args: argparse.Namespace, grid: dict[str, list], options: Cell) -> list[Cell]:
    asked = {**{key: getattr(args, key) for key in grid}, "seed": args.seeds}
    fixed = {key: getattr(args, key) for key in options}
    return [dict(zip(asked, values, strict=True)) | fixed for values in itertools.product(*asked.values())]


def _measured(parameters: Cell, measure: Callable[..., dict], args: argparse.Namespace) -> tuple[Cell, Cell]:
    """A cell, and its pictures."""
    began = time.monotonic()
    with jax.default_device(jax.devices(args.device)[0]):
        results = measure(**parameters)
    pictures = results.pop(PICTURES, {})
    seconds = round(time.monotonic() - began, 2)
    return {"parameters": parameters, "seconds": seconds, "results": _plain(results)}, pictures


def _run(args: argparse.Namespace, argv: Any) -> dict:
    words = sys.argv[1:] if argv is None else [str(word) for word in argv]
    if "--out" in words:  # where a machine keeps its records is no part of what was measured
        at = words.index("--out")
        words = words[:at] + words[at + 2 :]
    device = jax.devices(args.device)[0]
    return {
        "device": _processor() if device.platform == "cpu" else device.device_kind,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), **{p: version(p) for p in ("jax", "numpy", "rankone")}},
        **_commit(),
        "command": shlex.join(["python", f"experiments/{Path(sys.argv[0]).name}", *words]),
    }


def _commit() -> dict[str, str]:
    """The commit that was run, "+" after it where files differ from it; nothing where there is no git."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        name = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
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
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"CPU ({platform.machine()}, {cores} cores)"


def _plain(value: Any) -> Any:
    """Numbers and lists that JSON knows, to five significant digits."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    array = np.asarray(value)
    if array.dtype.kind in "bi":
        return array.tolist()
    return [_plain(entry) for entry in array] if array.ndim else float(f"{float(array):.5g}")


def _add_pictures(path: Path, pictures: dict[str, Any]) -> None:
    held = read_arrays(path) if path.exists() else {}
    with (
        replaced(path) as whole,
        ZipFile(whole, "w", ZIP_LZMA) as archive,
    ):  # a tenth to a sixth smaller than NumPy's own, and as readable
        for name, picture in {**held, **pictures}.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.asarray(picture), allow_pickle=False)


def _write(path: Path, record: dict) -> None:
    """One line for each entry of the head, and one for each cell."""
    head = [f" {json.dumps(name)}: {json.dumps(record[name], allow_nan=False)}" for name in record if name != "cells"]
    cells = [json.dumps(_shorter(cell), allow_nan=False, separators=(",", ":")) for cell in record["cells"]]
    text = ",\n".join([*head, ' "cells": [\n' + ",\n".join(cells) + "\n ]"])
    with replaced(path) as file:
        file.write(f"{{\n{text}\n}}\n".encode())


def _shorter(value: Any) -> Any:
    """The same numbers, whole ones without a point."""
    if isinstance(value, dict):
        return {name: _shorter(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shorter(one) for one in value]
    return int(value) if isinstance(value, float) and abs(value) < 1e6 and value.is_integer() else value
