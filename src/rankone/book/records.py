"""Results of the full-size experiments, recorded with where, when and how they were made.

The scripts in `experiments/` write them; the chapters read them here and show what the record says.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        name: Of the script, such as "figure1".
    """
    return json.loads((folder() / f"{name}.json").read_text())


def load_pictures(name: str) -> dict[str, NDArray[np.uint8]]:
    """The pictures recorded beside an experiment, by the name that its cells give them."""
    with np.load(folder() / f"{name}.npz") as archive:
        return {key: archive[key] for key in archive.files}


def select(record: dict[str, Any], **parameters: Any) -> list[dict[str, Any]]:
    """The cells whose parameters have these values."""
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
