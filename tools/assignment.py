"""A folder for a class's learning management system from one page of exercises:
`make assignment CHAPTER=editing`.

It reads the notebook that the build of the book wrote, and writes the student's
notebook, the instructor's, an archive for Gradescope, the rubric and a README into
`_build/assignments/CHAPTER`.
"""

import argparse
import tomllib
from pathlib import Path
from typing import Any

import nbformat
from autograder import archive
from nbformat import NotebookNode
from student_version import instructor, minutes, named, numbers, student

from rankone_book import exercises
from rankone_book.exercises.checks import questions

ROOT = Path(__file__).resolve().parents[1]
CHECKS = ROOT / "src/rankone_book/exercises"
GRADE = ".venv/bin/python -m rankone_book.exercises.grading"
README = """\
# {title}

{code} points by checks and {written} in writing, {time} minutes of work for a prepared student.

1. Hand out `{chapter}.ipynb`. It holds no solution, and no link to one. The public book and its repository do hold
   them: for a site without, run `make html SOLUTIONS=no` and publish what it prints. The package that the notebook
   installs holds the checks, and to check an answer some compute its formula: the written half asks for the reason.
2. On Gradescope make a *programming assignment* of {code} autograder points, enable *manual grading*, and upload
   `{chapter}-autograder.zip`: it sets itself up, with the wheels of the published book inside.
3. Students hand in the notebook. It runs from top to bottom in a process of its own; the last definition of a name
   counts. Every student's answers are checked on data of their own, the same at every attempt under this archive.
4. Grade the written half by `rubric.md`; `{chapter}-instructor.ipynb` has solutions and criteria in their places.

To grade the checks of one notebook on this machine, run this in the folder of the book's repository:

    {command} homework.ipynb

This runs the student's code with the rights of your account. Only root hands it to another account, `nobody`, and then
needs a Python that lies, with its packages, in folders that every account may read and enter, so not under `/root`.

Exercise 1 is q1 in the notebooks, the checks, the rubric and Gradescope's results. The book counts the exercises of all
its pages, and calls the same exercise {first}.
"""


def read_rubric(chapter: str) -> dict[str, Any]:
    """Question -> task and criteria of its written half.

    Raises:
        ValueError: If not exactly the questions with checks have one, in their order.
    """
    text = (ROOT / "tools" / "rubrics.toml").read_text(encoding="utf-8")
    rubric = tomllib.loads(text)[chapter]
    names = questions(CHECKS / chapter)
    for q in names:
        if q not in rubric:
            raise ValueError(
                f"tools/rubrics.toml: got no [{chapter}.{q}]; it must be there, with "
                "the task and the criteria of the question's written half."
            )
    if list(rubric) != list(names):
        raise ValueError(
            f"tools/rubrics.toml: got {', '.join(rubric)} under {chapter}; "
            f"it must be {', '.join(names)}: the questions with checks, in order."
        )
    return rubric


def page(chapter: str) -> str:
    """Name of the page of exercises of a chapter's checks.

    Raises:
        ValueError: If there is no such chapter.
    """
    if chapter not in exercises.chapters():
        raise ValueError(
            f"CHAPTER: got {chapter!r}; "
            f"it must be one of {', '.join(exercises.chapters())}."
        )
    return f"{chapter}_exercises"


def published(chapter: str, built: Path) -> NotebookNode:
    """The notebook of a page of exercises, as the book publishes it in the folder where
    it was built.

    Raises:
        FileNotFoundError: If the book has not been built.
    """
    source = built / "notebooks" / f"{page(chapter)}.ipynb"
    if not source.is_file():
        raise FileNotFoundError(
            f"{source} is missing: build the book first, with `make html`."
        )
    return nbformat.read(source, as_version=4)


def wheels(built: Path) -> list[Path]:
    """The wheels that the book publishes, which its notebooks install.

    Raises:
        FileNotFoundError: If the book has not been built.
    """
    files = sorted(built.glob("wheels/*/*.whl"))
    if len(files) != 2:
        raise FileNotFoundError(
            f"{built / 'wheels'} holds {len(files)} wheels: build the book first, with "
            "`make html`."
        )
    return files


def rubric_page(title: str, rows: list[tuple[str, int, float, Any]]) -> str:
    """The rubric as a page: of every exercise the minutes, the points of its checks,
    and the criteria in writing.
    """
    lines = [f"# Rubric: {title}"]
    for name, time, points, half in rows:
        lines += [
            "",
            f"## {name}",
            "",
            f"{time} minutes. {points} points by checks. In writing: {half['task']}",
            "",
        ]
        lines += [
            f"- [ ] {worth}: {criterion}" for worth, criterion in half["criteria"]
        ]
    return "\n".join(lines) + "\n"


def write(chapter: str, packages: list[Path], built: Path, folder: Path) -> None:
    """Write one chapter's assignment.

    Args:
        chapter: Folder of checks in rankone_book.exercises.
        packages: The wheels that go into the archive.
        built: Folder where the book was built.
        folder: Where the files go.
    """
    notebook = published(chapter, built)
    rubric = read_rubric(chapter)
    exercises = questions(CHECKS / chapter)
    times = minutes(notebook)
    title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
    code = sum(question.points for question in exercises.values())
    writing = sum(worth for half in rubric.values() for worth, _ in half["criteria"])
    time = sum(time for _, time in times.values())
    sentence = (
        f"An assignment from *Rank One*: {code} points by checks and {writing} in "
        f"writing, about {time} minutes. Replace every `...`, answer in writing where a "
        "cell asks for it, and hand this notebook in; it is graded by running it from "
        "top to bottom, on other data than the checks in it use."
    )
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(student(notebook, rubric, sentence), folder / f"{chapter}.ipynb")
    nbformat.write(instructor(notebook, rubric), folder / f"{chapter}-instructor.ipynb")
    archive(chapter, packages, folder / f"{chapter}-autograder.zip")
    rows = [
        (f"{named(q)}: {times[q][0]}", times[q][1], exercises[q].points, rubric[q])
        for q in exercises
    ]
    (folder / "rubric.md").write_text(rubric_page(title, rows), encoding="utf-8")
    command = f"{GRADE} {chapter}"
    first = next(iter(numbers(notebook)))
    text = README.format(
        title=title,
        code=code,
        written=writing,
        time=time,
        chapter=chapter,
        command=command,
        first=first,
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def main() -> None:
    """Write the assignment of one chapter, or of all, and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("chapters", nargs="*", help="; ".join(exercises.chapters()))
    parser.add_argument("--built", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--to", type=Path, default=ROOT / "_build" / "assignments")
    options = parser.parse_args()
    for chapter in options.chapters or exercises.chapters():
        write(chapter, wheels(options.built), options.built, options.to / chapter)
        print(options.to / chapter)


if __name__ == "__main__":
    main()
