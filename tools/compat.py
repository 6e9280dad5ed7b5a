"""Runs the core of each module's tests on the oldest and the newest jax, in parallel,
each in its own environment.

`make compat` keeps both environments under `_build/compat` until a pin changes. The
oldest has the lowest versions that pyproject.toml allows, on the oldest Python of this
machine. The newest has the newest versions on the package index, on the newest Python.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environments import CLEAN, pythons, remade, run

ROOT = Path(__file__).resolve().parents[1]
TESTS = [  # under tests/: the core of each module, about a minute in all
    "memory/test_descent.py",
    "memory/test_memories.py::test_distributed_gradient_is_the_derivative_of_its_energy",
    "memory/test_memories.py::test_memories_go_through_jit_grad_and_vmap",
    "editing/test_edits.py",
    "language/test_model.py",
    "maml/test_learners.py::test_meta_gradient_multiplies_the_steps_jacobians",
    "maml/test_learners.py::test_recurrent_learner_equals_a_plain_loop",
    "preconditioning/test_layers.py",
    "preconditioning/test_transforms.py",
    "residual/test_resmem.py",
    "universality/test_network.py::test_learn_is_adapt_and_predict_task_by_task",
]


def trial(name: str, python: Path, resolution: str) -> tuple[bool, str]:
    """True if the tests pass in an environment, and their output."""
    pins = re.findall(
        r"^(?:pytest|hypothesis)==[^\s;]+",
        (ROOT / "requirements-tests.txt").read_text("utf-8"),
        re.M,
    )
    project = [
        "--requirements",
        ROOT / "pyproject.toml",
        "--extra",
        "language",
        "--editable",
        ROOT,
    ]
    executable = remade(
        ROOT / "_build" / "compat" / name,
        python,
        *project,
        "--resolution",
        resolution,
        *pins,
    )
    versions = (
        "import jax, platform; print('jax', jax.__version__, 'on Python', "
        "platform.python_version())"
    )
    command = [
        str(executable),
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *(f"tests/{test}" for test in TESTS),
    ]
    process = subprocess.run(
        command, cwd=ROOT, env=CLEAN, capture_output=True, text=True, check=False
    )
    output = (
        f"{process.stdout}{process.stderr}".strip()
        or f"ended with {process.returncode} and said nothing"
    )
    return (
        not process.returncode,
        f"{output}\ncompat: {run([executable, '-c', versions]).strip()}: "
        f"{output.splitlines()[-1]}",
    )


def main() -> None:
    """Run both, print what they print, and fail if either does."""
    versions = pythons()
    jobs = [
        ("oldest", versions[0], "lowest-direct"),
        ("newest", versions[-1], "highest"),
    ]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda job: trial(*job), jobs))
    for _, output in results:
        print(output)
    sys.exit(not all(passed for passed, _ in results))


if __name__ == "__main__":
    main()
