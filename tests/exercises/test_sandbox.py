"""Hostile notebooks, graded as in a course: by root, which runs their code as `nobody`,
and by an ordinary account.

Every attack returns what it achieved, and the report of its check repeats that.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import assignment
import nbformat
import pytest

import rankone_book

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "_build/html"
NOBODY = 65534
IS_ROOT = os.name == "posix" and os.geteuid() == 0
# Seconds for which the attacks' processes sleep to outlive the grading; the number
# identifies them.
MARK = f"4321.{os.getpid()}"
PACKAGES = [
    str(Path(rankone_book.__file__).parents[1]),
    *(path for path in sys.path if path.endswith("site-packages")),
]

CHECKS = """
from rankone_book.exercises import ask, holds, test_case

points = 1
SECRET = "the right answer"


@test_case(name="honest")
def test_honest(honest):
    holds(ask(honest, 3) == 9, "it is the square")
"""
CHECK = """

@test_case(name="{name}", points=0)
def test_{name}({name}):
    holds(False, str(ask({name})))
"""
ATTACKS = """
import os, pathlib, socket, subprocess, sys
BASE, PORT = pathlib.Path({base!r}), {port}


def honest(x):
    return x**2


def read():
    found = []
    for path in (BASE / "source/tests/q1.py", BASE / "source/config.json"):
        try:
            found.append(path.read_text())
        except OSError as error:
            found.append(type(error).__name__)
    return " ".join(found)


def spy():
    found = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if b"exercises.grading" in (process / "cmdline").read_bytes():
                found += 1
                (process / "mem").open("r+b").close()
                return "the grader's memory is open"
        except OSError:
            pass
    return f"{{found}} graders, none open"


def write():
    import rankone_book
    package = pathlib.Path(rankone_book.__file__).parent
    written = []
    for folder in (BASE, BASE / "results", BASE / "source/tests", package, sys.prefix):
        path = pathlib.Path(folder, "hostile")
        try:
            path.write_text("x")
            path.unlink()
            written.append(str(folder))
        except OSError:
            pass
    return f"written: {{written}}"


def connect():
    try:
        socket.create_connection(("127.0.0.1", PORT), 5).close()
        return "connected"
    except OSError as error:
        return f"no network: {{error}}"


def linger():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/bin/sleep", ["sleep", {mark!r}])
        os._exit(0)
    return "left a process"


def escape():
    os.setsid()
    os.execv("/bin/sleep", ["sleep", {mark!r}])


def eat():
    return f"ate {{len(bytearray(2**32))}} bytes"


def forever():
    while True:
        pass
"""
NAMES = re.findall(r"^def (\w+)\(\)", ATTACKS, re.MULTILINE)


@dataclass
class Runner:
    """A Python that an account may run, and how to run it."""

    python: str
    user: int | None

    @property
    def environment(self):
        """The variables of the grader: where its packages are."""
        return {
            "PATH": os.defpath,
            "PYTHONPATH": os.pathsep.join(PACKAGES),
            "JAX_PLATFORMS": "cpu",
        }

    def run(self, command, **options):
        account = (
            {}
            if self.user is None
            else {"user": self.user, "group": self.user, "extra_groups": []}
        )
        options = (
            {"env": self.environment, "cwd": "/", "capture_output": True, "text": True}
            | account
            | options
        )
        return subprocess.run(command, check=False, **options)


def runs(python, user):
    """True if an account can run this Python with the packages of the grader."""
    try:
        return (
            Runner(python, user)
            .run([python, "-c", "import rankone_book, IPython"])
            .returncode
            == 0
        )
    except OSError:
        return False


@pytest.fixture(scope="module")
def place():
    """A folder that every account may read."""
    folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def python():
    """A Python that `nobody` can run: this one, or the system's of the same version."""
    if not IS_ROOT:
        return sys.executable
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, system):
        if runs(candidate, NOBODY):
            return candidate
    return pytest.skip(
        f"`nobody` can run neither {sys.executable} nor {system} with the packages of "
        f"{PACKAGES}"
    )


@pytest.fixture(scope="module")
def isolated(python):
    """Skips the test if the kernel does not let an ordinary account create
    namespaces.
    """
    code = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x70000000) != 0)"
    if (
        Runner(python, NOBODY if IS_ROOT else None)
        .run([python, "-I", "-c", code])
        .returncode
    ):
        pytest.skip("the kernel lets an ordinary account make no namespaces")


def survivors():
    """Processes that sleep for as long as the attacks ask."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        if command.split(b"\0")[:2] == [b"sleep", MARK.encode()]:
            processes.append(int(path.parent.name))
    return processes


@dataclass
class Outcome:
    """Result of the hostile notebook: attack -> the report of its check."""

    reports: dict[str, str]
    score: float
    connections: int
    survivors: list[int]


def attacked(base, python, user):
    """Grade the hostile notebook in Gradescope's layout, by Gradescope's own script."""
    for folder in ("source/tests", "submission", "environment/bin", "results"):
        (base / folder).mkdir(parents=True)
    (base / "source/tests/q1.py").write_text(
        CHECKS + "".join(CHECK.format(name=name) for name in NAMES)
    )
    # A call has 15 s, and an attack asks for twice the memory of the process.
    limits = {"call_seconds": 15, "total_seconds": 300, "memory": 2**31}
    (base / "source/config.json").write_text(
        json.dumps({"secret": "the secret", "limits": limits})
    )
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    source = ATTACKS.format(base=str(base), port=server.getsockname()[1], mark=MARK)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(notebook, base / "submission/hostile.ipynb")
    shutil.copy(ROOT / "tools/gradescope/run_autograder", base)
    runner = Runner(python, user)
    # The archive's environment has its packages inside, and -I ignores these variables.
    wrapper = base / "environment/bin/python"
    path = runner.environment["PYTHONPATH"]
    wrapper.write_text(f'#!/bin/sh\nshift\nPYTHONPATH="{path}" exec "{python}" "$@"\n')
    wrapper.chmod(0o755)
    for path in (base, *base.rglob("*")):
        os.chown(path, -1 if user is None else user, -1)
    # setup.sh does the same
    subprocess.run(["chmod", "-R", "go-rwx", base / "source"], check=True)
    done = runner.run(["bash", base / "run_autograder"])
    assert done.returncode == 0, done.stderr
    content = json.loads((base / "results/results.json").read_text(encoding="utf-8"))
    assert content["tests"], (content, done.stderr)
    connections = 0
    with server:
        try:
            server.accept()[0].close()
            connections = 1
        except BlockingIOError:
            pass
    # the kernel ends the processes of a namespace soon after its first
    end = time.monotonic() + 10
    while survivors() and time.monotonic() < end:
        time.sleep(0.2)
    processes = survivors()
    for pid in processes:
        os.kill(pid, signal.SIGKILL)
    lines = re.findall(
        r"^  (?:failed|passed): (\w+)(?:\n    (.*))?",
        content["tests"][0]["output"],
        re.MULTILINE,
    )
    return Outcome(dict(lines), content["tests"][0]["score"], connections, processes)


@pytest.fixture(scope="module", params=["root", "ordinary"])
def account(request):
    """The grading account: root, or an account that runs the student's code itself."""
    if request.param == "root" and not IS_ROOT:
        pytest.skip("only root can hand a student's code to another account")
    return request.param


@pytest.fixture(scope="module")
def outcome(account, place, python):
    """The result of the hostile notebook under this account."""
    return attacked(
        place / account, python, NOBODY if IS_ROOT and account == "ordinary" else None
    )


def test_what_is_right_in_a_hostile_notebook_has_its_points(outcome):
    assert outcome.score == 1
    assert set(outcome.reports) == {"honest", *NAMES}


def test_a_student_reads_neither_the_checks_nor_the_secret(outcome, account):
    if account == "ordinary":
        pytest.skip(
            "an account can read its own files: the grader promises this for root alone"
        )
    assert outcome.reports["read"] == "PermissionError PermissionError"
    assert re.fullmatch(r"\d+ graders, none open", outcome.reports["spy"])


def test_a_student_writes_neither_results_nor_checks_nor_packages(outcome, account):
    if account == "ordinary":
        pytest.skip(
            "an account can write its own files: the grader promises this for root "
            "alone"
        )
    assert outcome.reports["write"] == "written: []"


def test_a_student_has_no_network(isolated, outcome):
    assert outcome.reports["connect"].startswith("no network")
    assert outcome.connections == 0


def test_no_process_of_a_student_outlives_the_grading(isolated, outcome):
    assert outcome.reports["linger"] == "left a process"
    assert (
        "escape took longer than" in outcome.reports["escape"]
        or "ended" in outcome.reports["escape"]
    )
    assert outcome.survivors == []


def test_what_runs_for_ever_is_ended(outcome):
    assert "forever took longer than 15 s" in outcome.reports["forever"]


def test_a_student_cannot_take_all_memory(outcome):
    assert "MemoryError" in outcome.reports["eat"]


def test_root_gets_a_message_if_the_account_nobody_cannot_run_python(place, python):
    if not IS_ROOT:
        pytest.skip("only root hands a student's code to another account")
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    link = closed / "python"
    link.symlink_to(python)
    notebook = place / "empty.ipynb"
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1")]), notebook
    )
    command = [link, "-m", "rankone_book.exercises.grading", "one_rule", notebook]
    done = Runner(python, None).run(command)
    assert done.returncode == 1
    assert "the account nobody, which cannot run" in done.stderr
    assert "in folders that every account may read and enter" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_readmes_command_grades_one_notebook(place, python, tmp_path):
    package = tmp_path / "rankone-0-py3-none-any.whl"
    package.write_bytes(b"wheel")
    assignment.write("one_rule", [package], BUILT, tmp_path)
    shutil.copy(tmp_path / "one_rule-instructor.ipynb", place / "homework.ipynb")
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    (\.venv/bin/python .+)$", readme, re.MULTILINE)
    words = command.replace(".venv/bin/python", python).replace(
        "homework.ipynb", str(place / "homework.ipynb")
    )
    done = Runner(python, None).run(words.split(), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("homework.ipynb: 22 of 22 points\nEvery cell ran.")


def test_the_attacks_are_of_the_form_that_the_grader_reads():
    compile(
        textwrap.dedent(ATTACKS.format(base="", port=0, mark="")), "attacks", "exec"
    )
    assert len(NAMES) == 8
