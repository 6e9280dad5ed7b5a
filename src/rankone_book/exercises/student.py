"""The student's process: runs the cells of a notebook and calls its functions at the
grader's request.

`python -m rankone_book.exercises.student FD` reads messages from the socket FD. The
grader does not trust it: the process has no right answers, and its replies are read as
plain data. `grading` starts it, and replaces it if it ends or hangs.
"""

import socket
import sys
from typing import Any

from rankone_book import exercises
from rankone_book.exercises import plain_data
from rankone_book.exercises.cell_errors import in_words


class _Later:
    """Stand-in for the grader in the notebook: its checks are postponed."""

    def check(self, question: str, names: Any = None) -> str:
        return f"{question}: graded after the notebook has run."


def _shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    return InteractiveShell.instance(
        config=Config({"HistoryManager": {"enabled": False}})
    )


def _reply(shell: Any, message: dict[str, Any]) -> dict[str, Any]:
    if "cell" in message:
        result = shell.run_cell(message["cell"])
        error = result.error_before_exec or result.error_in_exec
        return {"error": in_words(error, shell.user_ns)[:300]} if error else {}
    function = shell.user_ns.get(message["call"])
    if not callable(function):
        return {"missing": True}
    answer = function(
        *(plain_data.decode(argument) for argument in message["arguments"])
    )
    return {"answer": plain_data.encode(answer)}


def main() -> None:
    """Answer messages until the grader hangs up."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    exercises.grader = lambda chapter: _Later()  # type: ignore[assignment, return-value]
    shell = _shell()
    plain_data.send(connection, {"ready": True})
    while True:
        message = plain_data.receive(connection)
        try:
            reply = _reply(shell, message)
        except (
            BaseException
        ) as error:  # an exit or an interrupt in a function fails only this answer
            reply = {"error": in_words(error, shell.user_ns)[:300]}
        try:
            plain_data.send(connection, reply)
        except ValueError as error:
            plain_data.send(connection, {"error": str(error)})


if __name__ == "__main__":
    main()
