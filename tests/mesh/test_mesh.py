"""Memories split over devices: equal to one device, and nothing big travels."""

import json
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
    "DrDAM add",
    "DrDAM retrieve",
    "ExactSearch",
    "ResMem all",
    "ResMem two largest",
    "ResMem ShardedSearch all",
    "ResMem ShardedSearch two largest",
    "SecondMoments",
]
UNCOUNTED = {  # the same programs as in other cases, or the sum of T that is asked for
    "MrDAM derivative",
    "DrDAM store over K",
    "ResMem ShardedSearch all",
    "ResMem ShardedSearch two largest",
}
# Sums of some thousand terms in another order, in float32: √1000 · ε/2 is 2e-6, and a
# derivative at rest is the solution of a linear system, solved to ε^⅔.
TOLERANCE = {"MrDAM derivative": 1e-4}


@pytest.fixture(scope="module")
def eight(root, light):
    """What the program of eight devices prints."""
    done = subprocess.run(
        [sys.executable, root / "tests" / "mesh" / "eight_devices.py"],
        cwd=root,
        env=light | {"XLA_FLAGS": DEVICES, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_case_is_named(eight):
    assert sorted(eight) == sorted(CASES)


@pytest.mark.parametrize("case", CASES)
def test_eight_devices_compute_what_one_computes(case, eight):
    found = eight[case]
    assert found.get("same", True)
    assert found.get("error", 0) < TOLERANCE.get(case, 5e-6)


@pytest.mark.parametrize("case", [case for case in CASES if case not in UNCOUNTED])
def test_only_sums_and_the_best_few_travel(case, eight):
    """Read from the compiled program, whose loops count once, as one step does."""
    found = eight[case]
    sent = dict(found["sent"])
    assert sum(sent.values()) < found["operand"] / 4
    gathered = sent.pop("all-gather", 0)
    reduced = sent.pop("all-reduce", 0)
    assert not sent
    if "gathered" in found:
        # The compiler may pick the indices of the best by a sum instead of a gather.
        assert gathered <= found["gathered"]
        assert reduced <= found.get("reduced", 0) + found["gathered"]
    else:
        assert gathered == 0
        assert reduced == found["reduced"]
