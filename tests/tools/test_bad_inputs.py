"""Bad inputs to the public surface, in short: every 20th of those that the tool tries."""

from bad_inputs import outcome, table


def test_no_bad_input_leaks_or_is_answered_wrongly_or_changed():
    counts = table(150, seed=1)
    assert not counts.pop("", None)
    assert sum(count["named"] for count in counts.values()) > 100


def test_leaks_wrong_answers_and_changes_are_told_apart():
    def named(a):
        raise ValueError(f"a: got {a}; it must be otherwise.")

    def leaky(a):
        raise TypeError("unsupported operand")

    def changing(a, b):
        b += 1

    import numpy as np

    told = [outcome("f", "a", kind, (f, {"a": 1})) for f, kind in ((named, "text"), (leaky, "text"), (abs_of, "NaN"))]
    assert told == ["named", "leaky", "answered"]
    assert outcome("f", "a", "complex", (abs_of, {"a": 1j})) == "answered wrongly"
    assert outcome("f", "a", "NaN", (changing, {"a": 1, "b": np.zeros(2)})) == "changed"


def abs_of(a):
    return abs(a)
