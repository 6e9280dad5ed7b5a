"""The package as others use it: installed with its declared dependencies on the oldest
and the newest Python.

The oldest Python gets the lowest declared versions, and the newest Python the newest
versions. `make compat` runs these tests, which create two environments and take 25
seconds of one core.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from environments import CLEAN, pythons, run, uv

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's wheel. `test_packaging.py` tests that it equals the wheel built
    from the sdist.
    """
    folder = tmp_path_factory.mktemp("wheel")
    run(
        [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--wheel",
            "--outdir",
            folder,
            ROOT,
        ]
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pythons of new environments with the wheel and its declared dependencies."""
    interpreters = []
    candidates = pythons()
    folder = tmp_path_factory.mktemp("environments")
    # named here, so that the lowest versions apply to these and not to their own
    # dependencies
    declared = PROJECT["dependencies"]
    for python, resolution in zip(
        (candidates[0], candidates[-1]), ("lowest-direct", "highest"), strict=True
    ):
        environment = folder / resolution
        uv("venv", "--quiet", "--python", python, environment)
        interpreters.append(
            environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        )
        options = ["--only-binary", ":all:", "--resolution", resolution]
        uv(
            "pip",
            "install",
            "--quiet",
            "--python",
            interpreters[-1],
            *options,
            wheel,
            *declared,
        )
    return interpreters


def test_the_snippet_of_the_readme_prints_the_same_on_the_oldest_and_the_newest(
    installed: list[Path], tmp_path: Path
) -> None:
    (snippet,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    # the book's flags, which a newer jax may not know
    snippet = f"import os; os.environ.pop('XLA_FLAGS', None)\n{snippet}"
    oldest, newest = (
        float(run([python, "-W", "error", "-c", snippet], cwd=tmp_path))
        for python in installed
    )
    assert 0.001 < oldest < 0.05  # of the pictures' range: the covered half is restored
    assert newest == pytest.approx(oldest, abs=1e-5)


def test_installing_the_package_leaves_colabs_jax_alone(
    installed: list[Path], wheel: Path
) -> None:
    (floor,) = re.findall(r"jax>=([\d.]+)", "\n".join(PROJECT["dependencies"]))
    assert f"jax=={floor}" in uv("pip", "freeze", "--python", installed[0]).split()
    uv("pip", "uninstall", "--quiet", "--python", installed[0], "rankone")
    uv("pip", "install", "--quiet", "--python", installed[0], wheel)
    assert f"jax=={floor}" in uv("pip", "freeze", "--python", installed[0]).split()


def test_a_users_script_sees_the_types(installed: list[Path], tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import jax.numpy as jnp\nimport rankone as "
        "ro\n\nreveal_type(ro.MrDAM(jnp.eye(3), 2.0).energy(jnp.ones(3)))\n"
        "reveal_type(ro.language.judge)\nro.retreive\n"
    )
    options = [
        "--no-incremental",
        "--follow-imports",
        "silent",
        "--python-executable",
        installed[1],
    ]
    command = [sys.executable, "-m", "mypy", *map(str, options), "script.py"]
    done = subprocess.run(
        command, env=CLEAN, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert 'Revealed type is "jax' in done.stdout
    assert 'Revealed type is "def (' in done.stdout
    assert '"Any"' not in done.stdout
    assert 'has no attribute "retreive"' in done.stdout
