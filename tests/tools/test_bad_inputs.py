"""Bad inputs to the public surface, in short: every 20th of those that the tool tries."""

import subprocess
import sys

import numpy as np
import pytest
from bad_inputs import Call, outcome, watched

from rankone.precision import double_precision


def test_no_bad_input_leaks_or_is_answered_wrongly_or_changed(root, light):
    """In a process of its own, in which nothing else checks annotations."""
    command = [sys.executable, str(root / "tools" / "bad_inputs.py"), "--most", "150", "--seed", "1", "--examples"]
    done = subprocess.run(command, env=light, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    assert " 150 inputs: " in done.stdout


def test_leaks_wrong_answers_and_changes_are_told_apart():
    def named(a):
        raise ValueError(f"a: got {a}; it must be otherwise.")

    def leaky(a):
        raise TypeError("unsupported operand")

    def itself(a):
        return a

    def changing(a, b):
        b += 1

    told = [outcome("f", "a", "NaN", Call(f, {"a": 1})) for f in (named, leaky, itself)]
    assert told == ["named", "leaky", "answered"]
    assert outcome("f", "a", "complex", Call(itself, {"a": 1j})) == "answered wrongly"
    assert outcome("f", "a", "NaN", Call(changing, {"a": 1, "b": np.zeros(2)})) == "changed"


def test_the_fastest_call_that_ended_well_seeds_the_others():
    """One that was refused does not, however fast; arguments and precision are kept."""

    def refusing(a):
        if a < 0:
            raise ValueError("a: got less; it must be more.")

    with watched({refusing.__code__: ("refusing", refusing)}) as found:
        with pytest.raises(ValueError, match="a: got"):
            refusing(-1.0)
        assert not found
        with double_precision():
            refusing(0.25)
    assert found["refusing"].given == {"a": 0.25}
    assert found["refusing"].double
