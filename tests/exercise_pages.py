"""Tests of the checks on a page of exercises. A test file gives the second right
answers and the wrong answers of its page.

A file defines `PAGE = Page(...)` and `class TestPage(EveryCheck): page = PAGE`.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jupytext
import numpy as np

from rankone_book import exercises

__all__ = ["COUNTS", "EveryCheck", "Page"]

ROOT = Path(__file__).parents[1]
# Least and most minutes for each number of stars, as the head of each page states them.
STARS = {"★": (10, 25), "★★": (15, 30), "★★★": (30, 40)}
# Number of exercises with checks on each page: the number of its files of checks.
COUNTS = {
    folder.name: len(list(folder.glob("q*.py")))
    for folder in (ROOT / "src/rankone_book/exercises").iterdir()
    if (folder / "q1.py").is_file()
}
SEEDS = ("public", "one student", "another", "a third")
GIVEN = {"np": np, "jnp": jnp, "jax": jax}
Answer = dict[str, Any]


@dataclass
class Page:
    """A page of exercises and the answers to try on it.

    Attributes:
        chapter: Its name for `rankone_book.exercises.grader`.
        file: Name of the page's file in book/chapters, without its ending.
        second: Question -> a right answer, written differently from the page's.
        wrong: (question, what is wrong, functions that replace the right ones):
            mistakes that a good student makes.
    """

    chapter: str
    file: str
    second: dict[str, Answer]
    wrong: list[tuple[str, str, Answer]]

    @property
    def questions(self) -> list[str]:
        """q1, q2, ..."""
        return list(self.second)

    @cached_property
    def text(self) -> str:
        """The page's source."""
        return (ROOT / f"book/chapters/{self.file}.md").read_text(encoding="utf-8")

    @cached_property
    def grader(self) -> Any:
        """The page's grader."""
        return exercises.grader(self.chapter)

    def graded(self, question: str, answer: Answer) -> None:
        """Fail unless an answer has all points on the data of several students."""
        checks = self._asked(question)
        for seed in SEEDS:
            report = checks.run(answer, seed)
            assert report.passed, (seed, report)
            assert report.earned == checks.points

    def check(self, question: str, answer: Answer) -> Any:
        """The report on an answer."""
        self._asked(question)
        return self.grader.check(question, dict(answer))

    def stub(self, question: str) -> Answer:
        """The functions of the cell that a student fills in."""
        return self._on_page(question, 0, "stub")

    def solution(self, question: str) -> Answer:
        """The functions of the folded solution."""
        return self._on_page(question, 1, "solution")

    def _asked(self, question: str) -> Any:
        """The checks of a question."""
        checks = f"src/rankone_book/exercises/{self.chapter}/{question}.py"
        assert question in self.grader.questions, f"{checks} is missing"
        return self.grader.questions[question]

    def _on_page(self, question: str, kind: int, name: str) -> Answer:
        """One of `answers`."""
        n = self.questions.index(question)
        functions = self.answers[kind]
        assert n < len(functions), (
            f"book/chapters/{self.file}.md: it has {len(functions)} cells with a {name}, "
            f"and none for {question}"
        )
        return functions[n]

    @cached_property
    def answers(self) -> tuple[list[Answer], list[Answer]]:
        """The functions of the page's stubs, and those of its folded solutions, by
        exercise.
        """
        stubs = []
        solutions = []
        folded = False
        for cell in jupytext.reads(self.text, fmt="md:myst").cells:
            folded = folded or "{solution-start}" in cell.source
            if cell.cell_type == "code" and "\ndef " in f"\n{cell.source}":
                names = dict(GIVEN)
                exec(
                    "\n".join(
                        line
                        for line in cell.source.split("\n")
                        if not line.startswith("grader.")
                    ),
                    names,
                )
                functions = {
                    name: thing
                    for name, thing in names.items()
                    if callable(thing) and name not in GIVEN
                }
                (solutions if folded else stubs).append(functions)
            folded = folded and "{solution-end}" not in cell.source
        return stubs, solutions


class EveryCheck:
    """Every check accepts two right answers and rejects plausible wrong ones, and the
    page's table agrees with the exercises.
    """

    page: Page

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """One test for each question, or for each wrong answer."""
        if "functions" in metafunc.fixturenames:
            ids = [f"{question}: {mistake}" for question, mistake, _ in self.page.wrong]
            wrong = [
                (question, functions) for question, _, functions in self.page.wrong
            ]
            metafunc.parametrize(("question", "functions"), wrong, ids=ids)
        elif "question" in metafunc.fixturenames:
            metafunc.parametrize("question", self.page.questions)

    def test_the_check_accepts_the_pages_solution(self, question: str) -> None:
        self.page.graded(question, self.page.solution(question))

    def test_the_check_accepts_a_differently_written_answer(
        self, question: str
    ) -> None:
        self.page.graded(question, self.page.second[question])

    def test_the_check_rejects(self, question: str, functions: Answer) -> None:
        assert functions.keys() <= self.page.second[question].keys()
        report = self.page.check(question, self.page.second[question] | functions)
        assert not report.passed
        assert report.answered
        assert "failed: " in str(report)

    def test_two_wrong_answers_are_tried_on_every_check(self) -> None:
        tried = [question for question, _, _ in self.page.wrong]
        few = [name for name in self.page.questions if tried.count(name) < 2]
        assert not few, (
            f"tests/exercises/test_{self.page.chapter}.py: WRONG has fewer than two"
        )

    def test_the_stub_is_reported_as_not_answered(self, question: str) -> None:
        report = self.page.check(question, self.page.stub(question))
        assert not report.passed
        assert not report.answered
        assert "not answered yet" in str(report)
        assert report.earned == 0

    def test_the_table_gives_the_stars_and_minutes_of_every_exercise(self) -> None:
        exercise = r"```{exercise} (.+)\n:label: (.+)\n\n(★+) \*(\d+) minutes"
        stated = re.findall(exercise, self.page.text)
        rows = re.findall(
            r"^\| {ref}`(.+) <(.+)>` \| (★+) \| (\d+) \| .+ \| .+ \|$",
            self.page.text,
            re.MULTILINE,
        )
        page = f"book/chapters/{self.page.file}.md"
        assert rows == stated, f"{page}: its table and its exercises differ"
        questions = list(self.page.grader.questions)
        assert len(rows) == len(questions), (
            f"{page}: one exercise for each file of checks"
        )
        assert self.page.questions == questions, (
            f"tests/exercises/test_{self.page.chapter}.py: SECOND must have one answer "
            "for each file of checks"
        )
        for _, _, stars, minutes in stated:
            least, most = STARS[stars]
            assert least <= int(minutes) <= most

    def test_the_head_of_the_page_says_what_the_stars_mean(self) -> None:
        head = " ".join(self.page.text.partition("| Exercise |")[0].split())
        for stars, (least, most) in STARS.items():
            assert re.search(
                rf"(?<!★){stars} [^★]+ takes {least} to {most} minutes\.", head
            )
