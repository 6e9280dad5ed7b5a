"""The package as others get it: built, installed with what it declares on the oldest and newest Python, and used."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
import yaml
from environments import CLEAN, VERSIONS, pythons, run, uv

import rankone as ro

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that is built from it, as `python -m build` makes them."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT])
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return message_from_bytes(archive.read(f"rankone-{PROJECT['version']}.dist-info/METADATA"))


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def book_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the pages' package, as the build of the book makes it."""
    folder = tmp_path_factory.mktemp("book")
    run([sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT / "src/rankone_book"])
    return next(folder.glob("*.whl"))


def test_the_librarys_wheel_holds_the_library_alone(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in contents(wheel)}
    assert tops == {"rankone", f"rankone-{PROJECT['version']}.dist-info"}


def test_the_pages_wheel_holds_all_of_their_package_and_the_records(book_wheel: Path) -> None:
    package, records = ROOT / "src" / "rankone_book", ROOT / "experiments" / "results"
    source = {f"rankone_book/{path.relative_to(package).as_posix()}" for path in package.rglob("*") if path.is_file()}
    source = {name for name in source if "__pycache__" not in name} - {"rankone_book/pyproject.toml"}
    source |= {f"rankone_book/results/{path.name}" for path in records.iterdir() if path.is_file()}
    held = contents(book_wheel)
    assert {name for name in held if ".dist-info/" not in name} == source
    info = held[f"rankone_book-{PROJECT['version']}.dist-info/METADATA"].decode()
    assert re.findall(r"^Requires-Dist: rankone\[data,language\]==(.*)$", info, re.M) == [PROJECT["version"]]


def test_the_sdist_builds_the_wheel_of_the_tree(wheel: Path, tmp_path: Path) -> None:
    run([sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, ROOT])
    from_tree, from_sdist = contents(next(tmp_path.glob("*.whl"))), contents(wheel)
    assert from_sdist.keys() == from_tree.keys()
    assert [name for name, content in from_tree.items() if from_sdist[name] != content] == []
    assert "rankone/py.typed" in from_tree


def test_the_sdist_holds_no_test_that_cannot_run(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert {"src", "README.md", "LICENSE"} <= tops
    assert not {"tests", "book", "benchmarks", "experiments", "tools"} & tops


LICENCES = {"MIT": "MIT", "CC BY 4.0": "CC-BY-4.0", "CC BY 2.0": "CC-BY-2.0", "CC0": "CC0-1.0"}
LICENCES |= {"ODC Public Domain Dedication": "PDDL-1.0"}


def test_the_licence_covers_the_bundled_data(metadata: Message, wheel: Path) -> None:
    told = (ROOT / "src" / "rankone" / "data" / "ATTRIBUTION.md").read_text("utf-8")
    needed = {licence for name, licence in LICENCES.items() if name in " ".join(told.split())}
    assert set(metadata["License-Expression"].split(" AND ")) == needed
    assert not re.findall(r"\b(?:GPL|BSD|Apache|CC BY-(?:NC|SA|ND))", told)  # which would have to be added above
    for name in metadata.get_all("License-File", []):
        assert any(path.endswith(f"licenses/{name}") for path in contents(wheel))
    assert not [line for line in metadata.get_all("Classifier", []) if line.startswith("License")]


def test_the_addresses_are_those_of_the_configuration(metadata: Message) -> None:
    url = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]["url"]
    if name := os.environ.get("GITHUB_REPOSITORY"):
        url = f"{os.environ['GITHUB_SERVER_URL']}/{name}"
    addresses = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    assert addresses["Source"] == url
    assert all(address.startswith(url) for address in addresses.values())


def test_the_classifiers_name_the_pythons_that_the_package_is_for(metadata: Message) -> None:
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(metadata.get_all("Classifier", [])))
    assert named == VERSIONS
    assert metadata["Requires-Python"] == f">={VERSIONS[0]}"


def test_the_version_is_that_of_the_project() -> None:
    assert ro.__version__ == PROJECT["version"]
    assert re.search(r"^version: (.*)", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)[1] == ro.__version__  # type: ignore[index]


def test_every_part_of_the_package_is_an_attribute_and_slow_ones_wait_for_their_use() -> None:
    parts = {path.stem for path in (ROOT / "src" / "rankone").iterdir() if re.fullmatch(r"[a-z]\w+(\.py)?", path.name)}
    script = f"import sys, rankone as ro; print(*sorted(sys.modules)); [getattr(ro, part) for part in {sorted(parts)}]"
    done = run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); {script}"])
    assert {"rankone.language", "rankone_book", "anywidget", "matplotlib"}.isdisjoint(done.split())
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ro.nothing  # type: ignore[attr-defined]  # noqa: B018


# As installed. The lowest of what is declared meets the oldest Python, the newest that there is meets the newest.


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pythons of fresh environments with the wheel and what it declares."""
    made, found, folder = [], pythons(), tmp_path_factory.mktemp("environments")
    declared = PROJECT["dependencies"]  # named here, so that the lowest is taken of these and not of what these need
    for python, resolution in zip((found[0], found[-1]), ("lowest-direct", "highest"), strict=True):
        environment = folder / resolution
        uv("venv", "--quiet", "--python", python, environment)
        made.append(environment / ("Scripts" if os.name == "nt" else "bin") / "python")
        options = ["--only-binary", ":all:", "--resolution", resolution]
        uv("pip", "install", "--quiet", "--python", made[-1], *options, wheel, *declared)
    return made


def test_the_snippet_of_the_readme_prints_the_same_on_the_oldest_and_the_newest(
    installed: list[Path], tmp_path: Path
) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    snippet = f"import os; os.environ.pop('XLA_FLAGS', None)\n{snippet}"  # the book's, which a newer jax may not know
    oldest, newest = (float(run([python, "-W", "error", "-c", snippet], cwd=tmp_path)) for python in installed)
    assert 0.001 < oldest < 0.05  # of the pictures' range: the covered half is back
    assert newest == pytest.approx(oldest, abs=1e-5)


def test_installing_the_package_leaves_colabs_jax_alone(installed: list[Path], wheel: Path) -> None:
    (floor,) = re.findall(r"jax>=([\d.]+)", "\n".join(PROJECT["dependencies"]))
    assert f"jax=={floor}" in uv("pip", "freeze", "--python", installed[0]).split()
    uv("pip", "uninstall", "--quiet", "--python", installed[0], "rankone")
    uv("pip", "install", "--quiet", "--python", installed[0], wheel)
    assert f"jax=={floor}" in uv("pip", "freeze", "--python", installed[0]).split()


def test_a_users_script_sees_the_types(installed: list[Path], tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import jax.numpy as jnp\nimport rankone as ro\n\nreveal_type(ro.MrDAM(jnp.eye(3), 2.0).energy(jnp.ones(3)))\n"
        "reveal_type(ro.language.judge)\nro.retreive\n"
    )
    options = ["--no-incremental", "--follow-imports", "silent", "--python-executable", installed[1]]
    command = [sys.executable, "-m", "mypy", *map(str, options), "script.py"]
    done = subprocess.run(command, env=CLEAN, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'Revealed type is "jax' in done.stdout
    assert 'Revealed type is "def (' in done.stdout
    assert '"Any"' not in done.stdout
    assert 'has no attribute "retreive"' in done.stdout
