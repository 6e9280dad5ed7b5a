"""The front end's own tests: its mathematics and its settings, under node without a
page.
"""

import subprocess

import node


def test_the_front_ends_own_tests_pass():
    done = subprocess.run(
        [*node.command(), "--test"],
        cwd=node.FRONTEND,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert "# pass 0" not in done.stdout
