"""The student's and the instructor's version of a page of exercises, from the notebook
that the book publishes.
"""

import copy
import re
from collections.abc import Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode

__all__ = ["instructor", "minutes", "named", "numbers", "student"]

SOLUTION = re.compile(r"(?=<details><summary>Solution to )")
ANCHOR = r"<a (?:name|id)=[^>]*></a>"
EXERCISE = rf"(?:^|\n)> (?:{ANCHOR})*\*\*Exercise \d"
HEADING = rf"(?:^|\n)> (?:{ANCHOR})*\*\*Exercise (?P<number>\d+)\*\*"
NEXT = re.compile(rf"(?=(?:^|\n)(?:<a (?:name|id)=[^\n]*\n\n)?#+ |{EXERCISE})")
CHECK = re.compile(r'^grader\.check\("(q\d+)"\)$', re.MULTILINE)
TO_A_SOLUTION = re.compile(r"\[([^\[\]]*)\]\([^()]*_exercises[^()]*\)")
ADDRESS = re.compile(r"https?://[^\s\"]*_exercises\.html")
PROMISE = re.compile(r"Solution to |folded solution|_exercises\.html")


def named(question: str) -> str:
    """The name of a question in files for a class: "Exercise 1 (q1)" for q1."""
    return f"Exercise {question.removeprefix('q')} ({question})"


def numbers(notebook: NotebookNode) -> dict[str, str]:
    """Number of an exercise in the book, where numbers run through all pages ->
    question: "9" -> "q1".

    Raises:
        ValueError: If the check of another question follows an exercise.
    """
    questions: dict[str, str] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for heading in re.finditer(HEADING, cell.source):
                questions[heading["number"]] = f"q{len(questions) + 1}"
        elif (
            (checked := CHECK.search(cell.source))
            and questions
            and checked[1] != list(questions.values())[-1]
        ):
            raise ValueError(
                f"notebook: got the check of {checked[1]} under exercise "
                f"{len(questions)} of the page; it must be the check of "
                f"{list(questions.values())[-1]}: move it, or rename its question."
            )
    return questions


def _renumbered(cells: list[NotebookNode], numbers: Mapping[str, str]) -> None:
    """Call every exercise of the page by the name of its question, in headings,
    solutions and references.
    """

    def name(match: re.Match[str]) -> str:
        return named(numbers[match[1]]) if match[1] in numbers else match[0]

    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\bExercise (\d+)\b", name, cell.source)


def minutes(notebook: NotebookNode) -> dict[str, tuple[str, int]]:
    """Title and minutes of every exercise: q2 -> ("The block system", 20)."""
    stated = rf"{EXERCISE}\d*\*\* \((.+)\)\n>\s*\n> ★+ \*(\d+) minutes"
    rows = re.findall(stated, "\n".join(cell.source for cell in notebook.cells))
    return {f"q{n}": (title, int(time)) for n, (title, time) in enumerate(rows, 1)}


def student(
    notebook: NotebookNode, rubric: Mapping[str, Any], sentence: str
) -> NotebookNode:
    """The notebook without solutions, outputs and links to solutions, and with cells
    for the written halves.

    Args:
        notebook: As published, with solutions.
        rubric: Question -> its task and criteria.
        sentence: Text under the title.

    Raises:
        ValueError: If there is not exactly one solution for every exercise, or a link
            to a solution is left. No partly cut notebook is returned.
    """
    result = copy.deepcopy(notebook)
    cells = []
    solving = False
    cuts = 0
    result.cells[
        0
    ].source = f"{result.cells[0].source.partition(chr(10))[0]}\n\n{sentence}"
    for cell in result.cells:
        if cell.cell_type == "markdown":
            text, solving, count = _without_solutions(cell.source, solving)
            cell.source = TO_A_SOLUTION.sub(r"\1", text)
            cuts = cuts + count
            keep = bool(cell.source)
        else:
            keep = not solving
            cell.source = ADDRESS.sub("your course", cell.source)
            cell.outputs = []
            cell.execution_count = None
        cells += [cell] * keep
    _check(cells, cuts)
    _renumbered(cells, numbers(notebook))
    result.cells = _with_written_halves(cells, rubric, with_criteria=False)
    result.metadata.pop("widgets", None)
    return result


def instructor(notebook: NotebookNode, rubric: Mapping[str, Any]) -> NotebookNode:
    """The whole notebook, with the criteria of every written half at the place of the
    student's answer.
    """
    result = copy.deepcopy(notebook)
    _renumbered(result.cells, numbers(notebook))
    result.cells = _with_written_halves(result.cells, rubric, with_criteria=True)
    return result


def _without_solutions(text: str, solving: bool) -> tuple[str, bool, int]:
    """The part of a text outside solutions, True if the text ends within a solution,
    and the number of solutions that begin in it.
    """
    parts = []
    begun = 0
    while text:
        match = (NEXT if solving else SOLUTION).search(text)
        part, text = (
            (text[: match.start()], text[match.start() :]) if match else (text, "")
        )
        parts += [] if solving else [part]
        begun += bool(match) and not solving
        solving = solving != bool(match)
    return "".join(parts).strip(), solving, begun


def _check(cells: list[NotebookNode], cuts: int) -> None:
    count = len(re.findall(EXERCISE, "\n".join(cell.source for cell in cells)))
    if cuts != count or not count:
        raise ValueError(
            f"notebook: {count} exercises but {cuts} solutions; it is not of the form "
            "this tool reads."
        )
    leads = [match[0] for cell in cells for match in PROMISE.finditer(cell.source)]
    if leads:
        raise ValueError(
            f"notebook: {leads[0]!r} still leads to a solution; reword the page, or the "
            "title's cell."
        )


def _with_written_halves(
    cells: list[NotebookNode], rubric: Mapping[str, Any], with_criteria: bool
) -> list[Any]:
    """The cells, with a cell for the written half after the first check of each
    question. The set-up cell gets a tag.
    """
    result = []
    waiting = dict(rubric)
    next(cell for cell in cells if cell.cell_type == "code").metadata["tags"] = [
        "setup"
    ]
    for cell in cells:
        result.append(cell)
        match = CHECK.search(cell.source) if cell.cell_type == "code" else None
        if match and (half := waiting.pop(match[1], None)):
            total = sum(points for points, _ in half["criteria"])
            text = f"**In writing ({total} point{'s' * (total != 1)}).** {half['task']}\n\n*Your answer:*"
            if with_criteria:
                text += "".join(
                    f"\n\n- **{points}**: {criterion}"
                    for points, criterion in half["criteria"]
                )
            result.append(nbformat.v4.new_markdown_cell(text, id=f"written-{match[1]}"))
    if waiting:
        raise ValueError(
            f"rubric: {', '.join(waiting)} is not checked in the notebook."
        )
    return result
