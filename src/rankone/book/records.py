"""Results of the full-size experiments, with a record of where, when and how they were made.

The scripts in `experiments/` write them; the chapters read them here and show what the record says.
"""

import json
import lzma
import zlib
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from rankone._checks import check

__all__ = ["folder", "load_pictures", "load_record", "provenance", "select"]


@cache
def folder() -> Path:
    """Where the records lie: inside an installed package, or in `experiments/results` of a checkout."""
    here = Path(__file__).resolve()
    for place in (here.parent / "results", here.parents[3] / "experiments" / "results"):
        if place.is_dir():
            return place
    raise FileNotFoundError("No recorded experiments beside the package: install it from a checkout that has them.")


def load_record(name: str) -> dict[str, Any]:
    """The record of one experiment: its `runs` (device, date, versions, command), `cells` and `missing` cells.

    Args:
        name: Name of the script, such as "figure1".

    Raises:
        ValueError: If there is no such record, or its file is damaged; the message names the file.
    """
    path = _existing(f"{name}.json")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no JSON, or no text
        raise _damaged(path, error) from error
    if not (isinstance(record, dict) and {"runs", "cells"} <= record.keys()):
        raise _damaged(path, "it lacks runs or cells")
    return record


def load_pictures(name: str) -> dict[str, NDArray[np.uint8]]:
    """The pictures recorded beside an experiment, by the name that its cells give them.

    Args:
        name: Name of the script, such as "figure1".

    Raises:
        ValueError: If there are no such pictures, or their file is damaged; the message names the file.
    """
    path = _existing(f"{name}.npz")
    try:
        with path.open("rb") as file, np.load(file) as archive:  # np.load alone leaves a damaged file open
            return {key: archive[key] for key in archive.files}
    except (ValueError, OSError, EOFError, BadZipFile, zlib.error, lzma.LZMAError) as error:
        raise _damaged(path, error) from error


def _existing(name: str) -> Path:
    path = folder() / name
    known = sorted(other.stem for other in folder().glob(f"*{path.suffix}"))
    check(path.is_file(), "name", path.stem, f"one of the records {', '.join(known)}")
    return path


def _damaged(path: Path, reason: object) -> ValueError:
    wanted = "a complete record; restore the file, or run the script of its name in experiments/ again"
    return ValueError(f"record: got {str(path)!r}, which cannot be read ({reason}); it must be {wanted}.")


def select(record: dict[str, Any], **parameters: Any) -> list[dict[str, Any]]:
    """The cells of a record whose parameters have these values.

    Args:
        record: What `load_record` returns.
        parameters: Name and value of each.
    """
    return [cell for cell in record["cells"] if parameters.items() <= cell["parameters"].items()]


def provenance(record: dict[str, Any]) -> str:
    """One sentence: on what, when, with which versions and in how long the record was made."""
    runs = [run for i, run in enumerate(record["runs"]) if any(cell["run"] == i for cell in record["cells"])]
    devices = ", ".join(sorted({run["device"] for run in runs}))
    dates = " and ".join(sorted({run["date"] for run in runs}))
    versions = "; ".join(dict.fromkeys(", ".join(f"{k} {v}" for k, v in run["versions"].items()) for run in runs))
    seconds = sum(cell["seconds"] for cell in record["cells"])
    missing = f"; {len(record['missing'])} cells of the full grid not run" if record["missing"] else ""
    return f"{devices}; {dates}; {versions}; {seconds:,.0f} s for {len(record['cells'])} cells{missing}"
