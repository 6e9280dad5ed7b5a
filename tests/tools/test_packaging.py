"""The package as others get it: the sdist, the wheels and their metadata."""

import os
import re
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
import yaml
from environments import VERSIONS, run

import rankone as ro
from rankone_book.growth import RECORDS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that is built from it, as `python -m build`
    makes them.
    """
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT])
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return message_from_bytes(
            archive.read(f"rankone-{PROJECT['version']}.dist-info/METADATA")
        )


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def book_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the pages' package, as the build of the book makes it."""
    folder = tmp_path_factory.mktemp("book")
    run(
        [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--wheel",
            "--outdir",
            folder,
            ROOT / "src/rankone_book",
        ]
    )
    return next(folder.glob("*.whl"))


def test_the_librarys_wheel_holds_the_library_alone(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in contents(wheel)}
    assert tops == {"rankone", f"rankone-{PROJECT['version']}.dist-info"}


def test_the_book_wheel_contains_its_whole_package_and_the_records(
    book_wheel: Path,
) -> None:
    package = ROOT / "src" / "rankone_book"
    records = ROOT / "experiments" / "results"
    source = {
        f"rankone_book/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file()
    }
    source = {name for name in source if "__pycache__" not in name} - {
        "rankone_book/pyproject.toml",
        "rankone_book/hatch_build.py",
    }
    source |= {
        f"rankone_book/results/{path.name}"
        for path in records.iterdir()
        if path.is_file()
    }
    # the records that a chapter reads
    source |= {f"rankone_book/benchmarks/{name}.json" for name in RECORDS}
    files = contents(book_wheel)
    assert {name for name in files if ".dist-info/" not in name} == source
    info = files[f"rankone_book-{PROJECT['version']}.dist-info/METADATA"].decode()
    assert re.findall(
        r"^Requires-Dist: rankone\[data,language\]==(.*)$", info, re.M
    ) == [PROJECT["version"]]


def test_the_sdist_builds_the_wheel_of_the_tree(wheel: Path, tmp_path: Path) -> None:
    run(
        [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--wheel",
            "--outdir",
            tmp_path,
            ROOT,
        ]
    )
    from_tree = contents(next(tmp_path.glob("*.whl")))
    from_sdist = contents(wheel)
    assert from_sdist.keys() == from_tree.keys()
    assert [
        name for name, content in from_tree.items() if from_sdist[name] != content
    ] == []
    assert "rankone/py.typed" in from_tree


def test_the_sdist_contains_no_tests_or_other_project_folders(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert {"src", "README.md", "LICENSE"} <= tops
    assert not {"tests", "book", "benchmarks", "experiments", "tools"} & tops


LICENCES = {
    "MIT": "MIT",
    "CC BY 4.0": "CC-BY-4.0",
    "CC BY 2.0": "CC-BY-2.0",
    "CC0": "CC0-1.0",
}
LICENCES |= {"ODC Public Domain Dedication": "PDDL-1.0"}


def test_the_licence_covers_the_bundled_data(metadata: Message, wheel: Path) -> None:
    text = (ROOT / "src" / "rankone" / "data" / "ATTRIBUTION.md").read_text("utf-8")
    needed = {
        licence for name, licence in LICENCES.items() if name in " ".join(text.split())
    }
    assert set(metadata["License-Expression"].split(" AND ")) == needed
    # other licences would have to be added above
    assert not re.findall(r"\b(?:GPL|BSD|Apache|CC BY-(?:NC|SA|ND))", text)
    for name in metadata.get_all("License-File", []):
        assert any(path.endswith(f"licenses/{name}") for path in contents(wheel))
    assert not [
        line
        for line in metadata.get_all("Classifier", [])
        if line.startswith("License")
    ]


def test_the_addresses_are_those_of_the_configuration(metadata: Message) -> None:
    url = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]["url"]
    if name := os.environ.get("GITHUB_REPOSITORY"):
        url = f"{os.environ['GITHUB_SERVER_URL']}/{name}"
    addresses = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    assert addresses["Source"] == url
    assert all(address.startswith(url) for address in addresses.values())


def test_the_classifiers_name_the_pythons_that_the_package_is_for(
    metadata: Message,
) -> None:
    named = re.findall(
        r"Python :: (3\.\d+)", "\n".join(metadata.get_all("Classifier", []))
    )
    assert named == VERSIONS
    assert metadata["Requires-Python"] == f">={VERSIONS[0]}"


def test_the_version_is_that_of_the_project() -> None:
    assert ro.__version__ == PROJECT["version"]
    assert (
        re.search(r"^version: (.*)", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)[
            1
        ]
        == ro.__version__
    )  # type: ignore[index]


def test_every_part_of_the_package_is_an_attribute_and_no_extra_is_needed() -> None:
    parts = {
        path.stem
        for path in (ROOT / "src" / "rankone").iterdir()
        if re.fullmatch(r"[a-z]\w+(\.py)?", path.name)
    }
    script = f"import sys, rankone as ro; print(*sorted(sys.modules)); [getattr(ro, part) for part in {sorted(parts)}]"
    done = run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); {script}",
        ]
    )
    extras = {"gguf", "matplotlib", "pooch", "safetensors", "tokenizers"}
    assert extras.isdisjoint(done.split())
    assert {"rankone_book", "anywidget"}.isdisjoint(done.split())
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ro.nothing  # type: ignore[attr-defined]  # noqa: B018
