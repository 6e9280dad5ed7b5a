"""otter's notebook grader with a report in plain text, which every theme and every screen reader can read."""

import sys
from pathlib import Path
from typing import Any

import otter
from otter.test_files import TestFile

__all__ = ["Grader", "Report"]


class Report:
    """Result of one check; the notebook shows its text.

    Attributes:
        result: otter's own record, with the score and every test case.
        passed: Whether every test case passed.
        answered: Whether the exercise's stub has been replaced.
    """

    def __init__(self, result: TestFile):
        self.result = result
        self.passed = bool(result.passed_all)
        self.answered = not any("NotAnswered: " in (case.message or "") for case in result.test_case_results)

    def __repr__(self) -> str:
        cases, name = self.result.test_case_results, self.result.name
        if self.passed:
            return f"{name}: all checks passed."
        if not self.answered:
            return f"{name}: not answered yet.\nReplace ... in the cell above, run it, then run this cell."
        lines = [f"{name}: {sum(case.passed for case in cases)} of {len(cases)} checks passed."]
        lines += [f"  {'passed' if case.passed else 'failed'}: {case.test_case.name}{_reason(case)}" for case in cases]
        return "\n".join(lines)


def _reason(case: Any) -> str:
    """The last line of otter's message, which is the exception; the test file's own source helps no reader."""
    if case.passed:
        return ""
    kind, _, text = case.message.strip().rpartition("\n")[2].partition(": ")
    return f"\n    {text if kind == 'AssertionError' else f'{kind}: {text}'}"


class Grader(otter.Notebook):
    """`otter.Notebook` over the package's test files. Nothing is submitted, so no log is kept."""

    def check(self, question: str, global_env: dict[str, Any] | None = None) -> Report:
        """Check one answer, in the caller's variables unless others are given."""
        return Report(super().check(question, sys._getframe(1).f_globals if global_env is None else global_env))

    def check_all(self) -> list[Report]:
        """Check every question in order, in the caller's variables."""
        return [self.check(question, sys._getframe(1).f_globals) for question in self.questions()]

    def questions(self) -> list[str]:
        """Names of the questions, in order."""
        return sorted((file.stem for file in Path(self._tests_dir).glob("q*.py")), key=lambda name: int(name[1:]))

    def _log_event(self, *args: Any, **kwargs: Any) -> None:
        pass
