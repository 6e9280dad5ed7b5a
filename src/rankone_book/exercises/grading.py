"""Grades a notebook that a student handed in: the trusted half of the autograder for
Gradescope.

`python -m rankone_book.exercises.grading FOLDER` reads Gradescope's layout in FOLDER:
the notebook in `submission`, the students in `submission_metadata.json`, and the checks
in `source/tests`. It writes `results/results.json`. With a chapter and a notebook in
place of FOLDER it prints the points of that notebook by the package's own checks. The
checks run in this process, on data drawn for this student. The student's functions run
in another process (`submission`). If root grades, that process belongs to an account
that can read neither the checks nor the secret from which the data are drawn, and
cannot write the results. Changes that a notebook makes to `rankone`, to NumPy or to
comparisons in its own process do not affect the grade.
"""

import argparse
import hashlib
import json
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax

from rankone_book import exercises
from rankone_book.exercises.checks import Question, Report, questions
from rankone_book.exercises.submission import CannotStart, Lost, Submission, cells

__all__ = ["grade", "results", "seed_of"]


def seed_of(metadata: dict[str, Any], secret: str) -> str:
    """The seed of a submission's data: the same whenever the same students hand in
    under the same archive.

    Args:
        metadata: Gradescope's metadata, with the students' ids.
        secret: Secret of the archive. Without a secret, a student could compute the
            data, and the answers to them, at home.
    """
    students = sorted(str(user.get("id")) for user in metadata.get("users", []))
    return hashlib.sha256("/".join([secret, *students]).encode()).hexdigest()


def grade(
    exercises: Iterable[Question], submission: Submission, seed: str
) -> list[Report]:
    """Check the functions of a submission."""
    try:
        submission.run()
    except Lost as lost:
        submission.notes[0] = str(lost)
    return [
        q.run({name: submission.function(name) for name in q.functions}, seed)
        for q in exercises
    ]


def results(
    exercises: Iterable[Question], reports: Iterable[Report], notes: dict[int, str]
) -> dict[str, Any]:
    """The content of results.json, as Gradescope reads it."""
    tests = [
        {
            "name": question.name,
            "score": report.earned,
            "max_score": question.points,
            "output": str(report),
        }
        for question, report in zip(exercises, reports, strict=True)
    ]
    lines = [
        f"Code cell {number} {note}" if number else note
        for number, note in sorted(notes.items())
    ]
    return {
        "tests": tests,
        "output": "\n".join(lines) or "Every cell ran.",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
    }


def _account() -> str | None:
    """The account that runs students' code: "nobody" if this process runs as root, else
    None, for its own account.
    """
    return "nobody" if os.geteuid() == 0 else None


def _grade_folder(base: Path) -> dict[str, Any]:
    tasks = list(questions(base / "source" / "tests").values())
    config = json.loads((base / "source" / "config.json").read_text(encoding="utf-8"))
    metadata = base / "submission_metadata.json"
    seed = seed_of(
        json.loads(metadata.read_text(encoding="utf-8")) if metadata.is_file() else {},
        config["secret"],
    )
    try:
        notebooks = sorted((base / "submission").rglob("*.ipynb"))
        if len(notebooks) != 1:
            raise ValueError(
                f"submission: it holds {len(notebooks)} notebooks (.ipynb); hand in exactly "
                "one."
            )
        sources = cells(notebooks[0])
        notes = dict[int, str]()
    except ValueError as error:
        sources = {}
        notes = {0: str(error)}
    with Submission(sources, user=_account(), **config.get("limits", {})) as submission:
        submission.notes |= notes
        return results(tasks, grade(tasks, submission, seed), submission.notes)


def _graded_here(chapter: str, notebook: Path) -> str:
    """The points and hints of one notebook, graded on this machine with the package's
    own checks.
    """
    tasks = exercises.grader(chapter).questions.values()
    with Submission(cells(notebook), user=_account()) as submission:
        reports = grade(tasks, submission, "graded on this machine")
        notes = submission.notes
    content = results(tasks, reports, notes)
    earned, most = (
        sum(test[kind] for test in content["tests"]) for kind in ("score", "max_score")
    )
    lines = [f"{notebook.name}: {earned:g} of {most:g} points", content["output"], ""]
    for test in content["tests"]:
        lines += [f"{test['score']:g} of {test['max_score']:g}, {test['output']}"]
    return "\n".join(lines)


def main() -> None:
    """Grade the submission in Gradescope's folder, or grade one notebook and print the
    result.
    """
    parser = argparse.ArgumentParser(prog="python -m rankone_book.exercises.grading")
    chapters = ", ".join(exercises.chapters())
    parser.add_argument(
        "place", help=f"Gradescope's folder; or, before a notebook, one of {chapters}"
    )
    parser.add_argument(
        "notebook", nargs="?", type=Path, help="to grade on this machine"
    )
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    if options.notebook:
        try:
            print(_graded_here(options.place, options.notebook))
        except (ValueError, OSError, CannotStart) as error:
            parser.exit(1, f"{error}\n")
        return
    base = Path(options.place)
    try:
        content = _grade_folder(base)
    except Exception as error:
        # Gradescope shows this only to instructors.
        print(error, file=sys.stderr) if isinstance(
            error, CannotStart
        ) else traceback.print_exc()
        content = {
            "score": 0,
            "output": "The autograder itself failed: please tell your instructor.",
            "tests": [],
        }
    (base / "results").mkdir(exist_ok=True)
    (base / "results" / "results.json").write_text(
        json.dumps(content, indent=1), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
