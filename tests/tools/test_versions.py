"""The lowest versions in pyproject.toml and in the package, and the recorded versions
of Colab agree.
"""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import colab_freeze
import jax
import pytest
from environments import python, remade
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rankone import _jax

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PAGES = tomllib.loads(
    (ROOT / "src" / "rankone_book" / "pyproject.toml").read_text("utf-8")
)["project"]
REQUIREMENTS = [
    *PROJECT["dependencies"],
    *(
        line
        for extra in ("data", "language")
        for line in PROJECT["optional-dependencies"][extra]
    ),
    *PAGES["dependencies"],
]
FLOORS = {
    r.name: r.specifier for r in map(Requirement, REQUIREMENTS) if r.name != "rankone"
}
FREEZE = colab_freeze.recorded()
LIST = """\
# generated
anywidget==0.9.21
gpu-wheel @ https://example.org/gpu_wheel-1.0-cp313-cp313-manylinux_2_28_x86_64.whl
IPython_genutils==0.2.0
ipykernel==6.17.1
ipywidgets==7.7.1
torch==2.11.0+cu128
traitlets==5.7.1
"""


def test_the_oldest_supported_jax_is_that_of_colab() -> None:
    assert FLOORS["jax"] == SpecifierSet(f">={_jax.OLDEST}")
    assert FREEZE.pins["jax"] == FREEZE.pins["jaxlib"] == _jax.OLDEST


@pytest.mark.parametrize("name", sorted(FLOORS))
def test_colab_has_to_upgrade_nothing(name: str) -> None:
    assert name not in FREEZE.pins or FREEZE.pins[name] in FLOORS[name]


def test_the_colab_list_lacks_only_the_known_dependencies() -> None:
    not_on_colab = {"equinox", "gguf", "jaxtyping", "wadler-lindig"}
    assert FLOORS.keys() - FREEZE.pins.keys() == not_on_colab


def test_the_python_version_of_colab_is_supported() -> None:
    assert FREEZE.python in SpecifierSet(PROJECT["requires-python"])


@pytest.mark.parametrize("version", ["0.4.30", "0.7.1", "0.7.1.dev20250901"])
def test_an_older_jax_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "__version__", version)
    with pytest.raises(
        ImportError, match=f"needs jax {_jax.OLDEST} or newer and found {version}"
    ):
        importlib.reload(_jax)


@pytest.mark.parametrize(
    "version", [_jax.OLDEST, "0.7.2.dev1", "0.10.0", "0.12.0.1", "1.0"]
)
def test_the_oldest_and_newer_jax_versions_are_accepted(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jax, "__version__", version)
    importlib.reload(_jax)


def test_importing_the_package_on_an_older_jax_says_in_one_sentence_what_to_do() -> (
    None
):
    script = "import jax; jax.__version__ = '0.4.30'; import rankone"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith("ImportError: rankone needs jax")
    assert "in Colab choose" in said
    assert "elsewhere run `pip install --upgrade jax`" in said


def test_a_list_is_trimmed_to_what_the_notebooks_touch(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text(
        '[project]\nname = "p"\nversion = "1"\ndependencies = ["ipywidgets"]\n'
    )
    freeze = colab_freeze.trimmed(LIST, "2026-08-19", project=project)
    # ipywidgets depends on ipython-genutils and traitlets only indirectly, on anywidget
    # and torch not at all
    versions = {
        "ipython-genutils": "0.2.0",
        "ipykernel": "6.17.1",
        "ipywidgets": "7.7.1",
        "traitlets": "5.7.1",
    }
    assert freeze == colab_freeze.Freeze("2026-08-19", "3.13", versions)
    (tmp_path / "recorded.txt").write_text(str(freeze))
    assert colab_freeze.recorded(tmp_path / "recorded.txt") == freeze


def test_a_list_that_names_no_python_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no Python.*--python"):
        colab_freeze.trimmed("jax==0.7.2\n", "2026-08-19")


def test_a_recorded_list_without_a_date_is_refused(tmp_path: Path) -> None:
    (tmp_path / "recorded.txt").write_text("jax==0.7.2\n")
    with pytest.raises(ValueError, match="renew it"):
        colab_freeze.recorded(tmp_path / "recorded.txt")


def test_the_recorded_list_is_as_the_script_writes_it() -> None:
    assert colab_freeze.RECORDED.read_text("utf-8") == str(FREEZE)
    assert FREEZE.pins.keys() >= {
        "ipython",
        "ipykernel",
        "ipywidgets",
        "anywidget",
        "matplotlib",
        "numpy",
        "optax",
    }


def test_a_python_is_found_by_its_version() -> None:
    assert python(".".join(map(str, sys.version_info[:2]))) == Path(sys.executable)
    assert python("3.1") is None


def test_an_environment_is_made_anew_when_its_pins_change(tmp_path: Path) -> None:
    (tmp_path / "pins.txt").write_text("")

    def creation_time() -> float:
        path = remade(
            tmp_path / "made",
            Path(sys.executable),
            "--no-index",
            "--requirements",
            tmp_path / "pins.txt",
        )
        return path.lstat().st_mtime_ns

    first = creation_time()
    assert creation_time() == first
    (tmp_path / "pins.txt").write_text("# another\n")
    assert creation_time() > first
