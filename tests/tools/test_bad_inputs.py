"""A sample of bad inputs to the public surface: every 20th of those that the tool
tries.
"""

import subprocess
import sys
from collections import Counter
from contextlib import nullcontext
from functools import partial

import jax
import numpy as np
import optax
import pytest
from bad_inputs import (
    PARTS,
    Call,
    imported,
    outcome,
    public,
    record,
    recorded,
    table,
    watched,
    without_a_call,
)
from few_tests import names_of

from rankone._annotated import checked
from rankone._checks import renamed
from rankone.precision import double_precision
from rankone.theory.commutation import descend

CALLED = (
    "give the docstring an example that calls it, or record what the tests of the part "
    "call: .venv/bin/python tools/bad_inputs.py tests/PART --record"
)


def test_no_bad_input_leaks_or_is_answered_wrongly_or_changed(root, light):
    """The tool runs in a process of its own, in which nothing else checks
    annotations.
    """
    command = [
        sys.executable,
        str(root / "tools" / "bad_inputs.py"),
        "--most",
        "150",
        "--seed",
        "1",
        "--examples",
    ]
    done = subprocess.run(
        command, env=light, capture_output=True, text=True, check=False
    )
    assert "never called: none" in done.stdout, f"{CALLED}\n{done.stdout}{done.stderr}"
    assert not done.returncode, done.stdout + done.stderr
    assert " 150 inputs: " in done.stdout


def test_every_public_function_is_called_by_an_example_or_a_record():
    """Classes are left out: under the type checker of the tests, a class of results
    looks as if it had checks of its own.
    """
    silent = {name for name in without_a_call() if not name.endswith("()")}
    assert silent == set(), CALLED


def test_what_a_page_or_an_experiment_imports_counts_as_public():
    names = {name for name, _ in public(imported()).values()}
    assert {"gain", "find_fact_value", "spread_edit", "seed_matrix"} <= names
    assert not {"gain", "spread_edit"} & {name for name, _ in public().values()}


def test_new_counts_are_added_to_those_of_their_part(tmp_path, monkeypatch):
    monkeypatch.setattr("bad_inputs.RECORD", tmp_path / "record.json")
    record(["tests/data"], Counter(named=2), {"countries"}, more=False)
    record(["tests/nn"], Counter(named=1), {"Dense()"}, more=False)
    record(["tests/data"], Counter(named=3, answered=1), {"country"}, more=True)
    assert recorded()["data"] == {
        "inputs": {"answered": 1, "named": 5},
        "functions": ["countries", "country"],
    }
    record(["tests/data"], Counter(named=4), {"country"}, more=False)
    assert recorded()["data"]["inputs"] == {"named": 4}
    assert set(recorded()) == {"data", "nn"}


def test_the_record_lists_only_existing_parts():
    assert {part for name in recorded() for part in name.split()} <= {
        *PARTS,
        "all",
        "examples",
    }


def test_the_record_contains_no_faulty_outcomes():
    assert {ended for part in recorded().values() for ended in part["inputs"]} == {
        "answered",
        "named",
        "the caller's",
    }


def test_leaks_wrong_answers_and_changes_are_distinguished():
    def named(a):
        raise ValueError(f"a: got {a}; it must be otherwise.")

    def leaky(a):
        raise TypeError("unsupported operand")

    def lacking(a):
        raise ImportError(a)

    def itself(a):
        return a

    def changing(a, b):
        b += 1

    outcomes = [
        outcome(Call(f, {"a": 1}), "NaN", {"a"})[0] for f in (named, leaky, itself)
    ]
    assert outcomes == ["named", "leaky", "answered"]
    without = [
        Call(lacking, {"a": text})
        for text in ("It needs faiss: pip install faiss-cpu.", "no module")
    ]
    assert [outcome(call, "NaN", {"a"})[0] for call in without] == ["named", "leaky"]
    assert outcome(Call(itself, {"a": 1j}), "complex", {"a"})[0] == "answered wrongly"
    assert (
        outcome(Call(changing, {"a": 1, "b": np.zeros(2)}), "NaN", {"a"})[0]
        == "changed"
    )


@pytest.mark.parametrize(
    ("blames", "leaks"),
    [
        ("a", set()),
        ("a.beta", set()),
        ("a[0].W", set()),
        (
            "b",
            {"complex"},
        ),  # if two shapes or values do not fit, either may be the wrong one
        ("rows", {"complex", "None"}),  # the caller never wrote this name
        ("self", {"complex", "None"}),
        ("a thing", {"complex", "None"}),
    ],
)
def test_an_error_must_name_an_argument_that_the_caller_wrote(blames, leaks):
    def refusing(self, a, b):
        if a is None or np.iscomplexobj(a):
            raise ValueError(f"{blames}: got {a!r}; it must be otherwise.")

    counts = table(
        {"f": Call(refusing, {"self": 0, "a": np.ones(2), "b": 1.0})}, 1000, 0
    )
    kinds = {
        kind
        for kind in ("complex", "None")
        if any(f"leaky: f(a={kind})" in said for said in counts[""])
    }
    assert kinds == leaks


def test_an_error_about_an_omitted_argument_may_name_another():
    def refusing(probs=None, logits=None):
        if probs is not None and logits is not None:
            raise ValueError("probs: got both; it must be one of the two.")

    counts = table({"f": Call(refusing, {"probs": None, "logits": None})}, 1000, 0)
    assert "leaky" not in counts["f"]


def test_errors_of_the_callers_function_are_accepted_for_wrong_shapes_only():
    """The error of the caller's function is accepted for a wrong shape, but not for a
    wrong object. Without such a function, an error from inside is a leak.
    """

    def loss(W):
        return (W * np.ones((2, 3))).sum()

    call = Call(
        descend,
        {"loss": loss, "W0": np.ones((2, 6)), "optimizer": optax.sgd(0.1), "steps": 2},
    )
    outcomes = [outcome(call, kind, {"W0"})[0] for kind in ("longer", "object")]
    outcomes.append(
        outcome(Call(np.linalg.cholesky, {"a": np.ones((2, 4))}), "longer", {"a"})[0]
    )
    assert outcomes == ["the caller's", "leaky", "leaky"]


@pytest.mark.parametrize("block", [nullcontext, partial(renamed, a="b")])
def test_the_fastest_call_that_ended_well_seeds_the_others(block):
    """The time of a refused call does not count, however short, nor the work of a block
    that an error leaves.
    """

    def refusing(a):
        with block():
            if a < 0:
                raise ValueError("a: got less; it must be more.")

    with watched({id(refusing.__code__): ("refusing", refusing)}) as calls:
        with pytest.raises(ValueError, match=r"[ab]: got"):
            refusing(-1.0)
        assert not calls
        with double_precision():
            refusing(0.25)
    assert calls["refusing"].arguments == {"a": 0.25}
    assert calls["refusing"].double


def test_a_checked_compiled_function_is_recorded_with_its_checks():
    def twice(x: jax.Array):
        return 2 * x

    function = checked(jax.jit(twice))
    with watched({id(twice.__code__): ("twice", function)}) as calls:
        function(np.ones(2))
    assert calls["twice"].function is function
    np.testing.assert_array_equal(calls["twice"].arguments["x"], np.ones(2))
    assert (
        outcome(
            calls["twice"]._replace(arguments={"x": np.ones(2) * 1j}), "complex", {"x"}
        )[0]
        == "named"
    )


def test_options_are_replaced_one_by_one():
    def answers(**options):
        return options

    counts = table(
        {"answers": Call(answers, {"options": {"width": 1.0, "params": 2}})}, 1000, 0
    )
    assert "answered wrongly: answers(width=complex)" in counts[""]
    # the caller's loss checks these
    assert not [wrong for wrong in counts[""] if "params" in wrong]


def test_a_test_names_what_its_helpers_and_fixtures_name(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "from some import first, second, third\n"
        "def helper():\n    return thing.second()\n"
        "def fixed():\n    return helper()\n"
        "def test_it(fixed):\n    assert first\n"
        "def test_other():\n    assert third\n"
    )
    names = names_of(tmp_path / "test_it.py", "test_it")
    assert {"first", "second", "fixed"} <= names
    assert "third" not in names
