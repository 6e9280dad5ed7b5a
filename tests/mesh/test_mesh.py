"""Memories split over devices equal those on one device, and devices exchange only
small arrays.
"""

import json
import socket
import subprocess
import sys

import pytest

DEVICES = "--xla_force_host_platform_device_count=8"
CASES = [
    "MrDAM l2",
    "MrDAM square",
    "MrDAM retrieve",
    "MrDAM derivative",
    "DrDAM gaussian",
    "DrDAM hadamard",
    "DrDAM orthogonal cos",
    "DrDAM regenerated",
    "DrDAM packed",
    "DrDAM store over Y",
    "DrDAM store over K",
    "DrDAM store over both",
    "DrDAM add",
    "DrDAM retrieve",
    "ExactSearch",
    "ResMem all",
    "ResMem two largest",
    "ResMem ShardedSearch all",
    "ResMem ShardedSearch two largest",
    "SecondMoments",
    "meta_train",
]
UNCOUNTED = {
    # These have the same programs as other cases, or the sum of T that the call asks
    # for.
    "meta_train",
    "MrDAM derivative",
    "DrDAM store over K",
    "ResMem ShardedSearch all",
    "ResMem ShardedSearch two largest",
}
# Sums of some thousand terms in another order, in float32: √1000 · ε/2 is 2e-6, and a
# derivative at a fixed point is the solution of a linear system, solved to ε^⅔. Adam
# divides a gradient by its size, so that a hundred steps of it enlarge rounding.
TOLERANCE = {"MrDAM derivative": 1e-4, "meta_train": 1e-4}
# Larger transfers over explicit axes: all features of each state; T, to which each
# device adds; and the arrays that the compiler gathers for a top_k of two.
TRAVELS = {"split": ["RandomFeatures"], "whole": ["DrDAM add", "MrDAM certified"]}


def printed_by(program, root, light):
    """Output of a program of this folder on eight devices."""
    done = subprocess.run(
        [sys.executable, root / "tests" / "mesh" / program],
        cwd=root,
        env=light | {"XLA_FLAGS": DEVICES, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def eight(root, light):
    return printed_by("eight_devices.py", root, light)


def test_every_case_has_a_result(eight):
    assert sorted(eight) == sorted(CASES)


@pytest.mark.parametrize("case", CASES)
def test_eight_devices_compute_what_one_computes(case, eight):
    results = eight[case]
    assert results.get("same", True)
    assert results.get("error", 0) < TOLERANCE.get(case, 5e-6)


@pytest.mark.parametrize("case", [case for case in CASES if case not in UNCOUNTED])
def test_devices_exchange_only_sums_and_the_best_candidates(case, eight):
    """The traffic is read from the compiled program, in which a loop counts as one
    step.
    """
    results = eight[case]
    traffic = dict(results["sent"])
    assert sum(traffic.values()) < results["operand"] / 4
    gathered = traffic.pop("all-gather", 0)
    reduced = traffic.pop("all-reduce", 0)
    assert not traffic
    if "gathered" in results:
        # The compiler may pick the indices of the best by a sum instead of a gather.
        assert gathered <= results["gathered"]
        assert reduced <= results.get("reduced", 0) + results["gathered"]
    else:
        assert gathered == 0
        assert reduced == results["reduced"]


@pytest.fixture(scope="module")
def explicit(root, light):
    return printed_by("explicit_axes.py", root, light)


@pytest.mark.parametrize("kind", ["split", "whole"])
def test_objects_work_where_the_caller_uses_explicit_axes(kind, explicit):
    """This holds inside and outside the caller's jit. The results are on the caller's
    axes, split like the states.
    """
    for name, case in explicit[kind].items():
        assert case["error"] < TOLERANCE.get(name, 5e-6), name
        assert case["explicit"], name
        assert case["rows"], name
        if name not in TRAVELS[kind]:
            assert case["sent"] < case["operand"] / 4, name


def test_operations_that_need_automatic_axes_are_refused(explicit):
    for message in explicit["refusals"].values():
        assert message.startswith("mesh: got ")
        assert "AxisType.Auto" in message
    assert len(explicit["refusals"]) == 5


@pytest.fixture(scope="module")
def moments(root, light):
    return printed_by("split_moments.py", root, light)


@pytest.mark.parametrize(
    "layout", ["rows", "columns", "one of two axes", "explicit axes"]
)
def test_a_factor_that_is_split_over_devices_is_that_of_numpy(layout, moments):
    results = moments["factors"][layout]
    assert results["split"]
    assert results["below"] == 0  # entries below the diagonal
    # Rounding of a solve by Cholesky's factor, for an average sum of D = 96 terms:
    # κ(C)·√D·ε/2 (Higham, Accuracy and Stability, 10.1).
    tolerance = moments["factors"]["condition"] * 96**0.5 * 2.0**-24
    assert tolerance < 2e-5
    for name in ("factor", "solve", "one", "inner", "edits"):
        assert results[name] < tolerance, name
    # refinement reaches the last digit of float32
    assert results["refined"] < 2.0**-23


def test_each_device_holds_only_its_rows_of_C(moments):
    """The sizes are read from the compiled programs."""
    sizes = dict(moments["sizes"])
    # Twice an eighth of the solution with three columns, because a loop in a program
    # counts once.
    assert sizes.pop("sent") == {"all-reduce": 2 * 4 * 12 * 3}
    # every device has the whole batch of keys
    assert sizes.pop("update") == 40 / 96
    assert set(sizes.values()) == {1 / 8}


def test_moments_keep_their_rows_split(moments):
    results = moments["updates"]
    assert len(set(results["spec"])) == 1
    assert "rows" in results["spec"][0]
    assert max(results["error"]) < 5e-6  # as of the eight devices above


def test_a_pickled_split_factor_is_restored_onto_its_devices(moments):
    results = moments["copies"]
    assert "rows" in results["spec"]
    assert results["error"] == 0
    assert results["alone"] < 5e-6


def test_moments_that_cannot_be_split_or_factored_are_refused_by_name(moments):
    messages = moments["refusals"]
    for name in ("rows", "explicit", "explicit update"):
        assert messages.pop(name).startswith("mesh: got ")
    assert messages.pop("observe").startswith("keys: got ")
    for message in messages.values():
        assert message.startswith("C: got ")
    assert len(messages) == 4


def test_a_memory_larger_than_any_device_is_stored_read_descended_and_saved(
    root, light, tmp_path
):
    """Only public calls are used, for patterns in a file. The memory is then restored
    onto four devices.
    """
    done = subprocess.run(
        [sys.executable, root / "tests" / "mesh" / "larger.py", tmp_path],
        cwd=root,
        env=light | {"XLA_FLAGS": DEVICES, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    for name in ("DrDAM", "MrDAM"):
        case = results[name]
        assert case["most"] <= results["limit"] < case["size"]
        # as of the eight devices above
        assert case["read"] < 5e-6
        assert case["descended"] < 5e-6
    restored = results["restored"]
    assert restored["same"]
    assert restored["devices"] == 4
    assert restored["read"] < 5e-6


def test_two_processes_compute_what_one_computes(root, light):
    """The processes connect at a port of this machine, and both end."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    program = root / "tests" / "mesh" / "two_processes.py"
    pair = [
        subprocess.Popen(
            [sys.executable, program, address, str(i)],
            cwd=root,
            env=light | {"JAX_PLATFORMS": "cpu"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(2)
    ]
    try:
        said = [one.communicate(timeout=500) for one in pair]
    finally:
        for one in pair:
            one.kill()
            one.wait()
    assert [one.returncode for one in pair] == [0, 0], said
    # The last line comes after the messages of gloo.
    errors = json.loads(said[0][0].splitlines()[-1])
    assert sorted(errors) == ["DrDAM", "MrDAM", "add", "retrieve"]
    assert max(errors.values()) < 5e-6
