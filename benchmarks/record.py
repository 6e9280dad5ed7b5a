"""The record of a run, which a page of the book draws."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax

from benchmarks.timing import Machine
from rankone._files import replaced

__all__ = ["lost_peers", "write"]

PACKAGES = ("rankone", "jax", "jaxlib", "numpy", "torch", "faiss-cpu", "scikit-learn")


def write(
    suite: str, machine: Machine, rows: list[dict[str, Any]], seed: int, folder: Path
) -> Path:
    """Write `folder/suite.json`: where, when and with what the rows were measured, then
    the rows.
    """
    record = {
        "device": _processor(),
        "backend": jax.default_backend(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "load": list(os.getloadavg()),
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "seed": seed,
        "bandwidth_gb_s": machine.bandwidth / 1e9,
        "products_gflop_s": machine.products / 1e9,
        "rows": rows,
    }
    path = folder / f"{suite}.json"
    with replaced(path) as file:
        file.write((json.dumps(record, indent=1) + "\n").encode())
    return path


def lost_peers(path: Path, rows: list[dict[str, Any]]) -> set[str]:
    """Peers that the record at `path` has and these rows do not have, because they were
    not installed where the rows were measured.
    """
    before = (
        json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    )
    return {row["peer"] for row in before if "peer" in row} - {
        row["peer"] for row in rows if "peer" in row
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    if jax.default_backend() != "cpu":
        return jax.devices()[0].device_kind
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(
            line.split(": ", 1)[1] for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
