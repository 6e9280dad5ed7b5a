"""The benchmark compares like with like: the peers and the package give the same
numbers. Nothing here is timed.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rankone as ro

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import layer, memory, peers, record, timing


@pytest.fixture(scope="module")
def distributed():
    Xi, memories = memory.distributed_memories(48, 3000)
    return (
        Xi,
        memories,
        memory.stored_omega(memories["stored"].features),
        jnp.float32(memory.BETA),
    )


@pytest.mark.parametrize("rows_first", [False, True])
@pytest.mark.parametrize("N", [1, 5])
def test_the_published_formulation_gives_the_memorys_energy_and_gradient(
    distributed, N, rows_first
):
    Xi, memories, omega, beta = distributed
    x = Xi[:N] + 0.05
    energy, gradient = peers.autodiff_gradient(
        omega, memories["stored"].T, beta, x, rows_first=rows_first
    )
    ours = memories["stored"].energy_and_gradient(x)
    np.testing.assert_allclose(energy, ours[0], rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(gradient, ours[1], rtol=2e-3, atol=2e-4)


def test_the_published_retrieval_ends_at_the_same_states_as_the_memorys(distributed):
    Xi, memories, omega, beta = distributed
    x = Xi[:3] + 0.05
    theirs = peers.autodiff_retrieval(
        omega, memories["stored"].T, beta, x, 0.1, memory.STEPS
    )
    np.testing.assert_allclose(theirs, memory.walk(memories["stored"], x), atol=2e-4)


def test_the_hadamard_memory_has_the_same_energy_up_to_the_features_noise(distributed):
    Xi, memories, _, _ = distributed
    exact = ro.MrDAM(Xi, memory.BETA).energy(Xi)
    noise = np.sqrt(len(Xi) / 2 / 3000) / memory.BETA
    for form in memories.values():
        assert np.sqrt(np.mean((form.energy(Xi) - exact) ** 2)) < 3 * noise


def test_the_plain_form_and_the_attention_layer_are_the_exact_memory():
    Xi = memory.unit_rows(jax.random.key(0), 300, 16)
    x = memory.unit_rows(jax.random.key(1), 4, 16)
    energy, gradient = ro.MrDAM(Xi, memory.BETA).energy_and_gradient(x)
    plain = peers.plain_gradient(Xi, jnp.float32(memory.BETA), x)
    np.testing.assert_allclose(plain[0], energy, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(plain[1], gradient, atol=1e-5)
    if not peers.has_torch():
        pytest.skip("the layer is written in PyTorch, which is not installed")
    for peer in (peers.torch_layer, peers.torch_products):
        update = peer(np.asarray(Xi), memory.BETA, np.asarray(x))()
        np.testing.assert_allclose(update, x - gradient, atol=1e-5)


def test_a_step_of_training_is_the_same_in_all_three_forms():
    Xi, x, targets = layer.inputs(200, 16, 8)
    loss, slope = layer.train(Xi, x, targets, steps=60, gradient="unrolled")
    implicit = layer.train(Xi, x, targets, steps=60, gradient="implicit")
    np.testing.assert_allclose(implicit[0], loss, rtol=1e-5)
    np.testing.assert_allclose(implicit[1], slope, atol=1e-3 * np.abs(slope).max())
    if not peers.has_torch():
        pytest.skip("the layer is written in PyTorch, which is not installed")
    theirs = peers.torch_training(
        np.asarray(Xi), memory.BETA, *map(np.asarray, (x, targets)), known=8, steps=60
    )()
    np.testing.assert_allclose(theirs[0], loss, rtol=1e-4)
    np.testing.assert_allclose(theirs[1], slope, atol=1e-3 * np.abs(slope).max())


def test_interleaving_runs_every_job_in_every_round(monkeypatch):
    monkeypatch.setattr(timing, "BURST", 0.0)
    calls = []
    seconds = timing.interleave(
        {name: lambda name=name: calls.append(name) for name in "ab"}, 3
    )
    # one call to compile and one to measure the time of a call
    assert calls == list("aabb" + "ab" * 3)
    assert [len(times) for times in seconds.values()] == [3, 3]


def test_short_jobs_are_called_many_times_a_round_and_their_mean_is_kept(monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(
        timing, "time", SimpleNamespace(perf_counter=lambda: float(next(clock)))
    )
    monkeypatch.setattr(timing, "BURST", 5.0)
    calls = []
    seconds = timing.interleave({"a": lambda: calls.append("a")}, 2)
    assert len(calls) == 2 + 2 * 5  # each call takes one tick of this clock
    assert seconds == {"a": [1 / 5] * 2}


@pytest.fixture
def machine():
    """A machine that reads 10 bytes and does 100 operations per second."""
    example = timing.Machine(8)
    example.bandwidth = 10.0
    example.products = 100.0
    return example


def test_the_time_limit_is_the_larger_of_reading_time_and_multiplying_time(machine):
    assert machine.limit(timing.Work(bytes=20, flops=100)) == 2
    assert machine.limit(timing.Work(bytes=5, flops=400)) == 4


def test_the_machines_rates_are_the_best_seen():
    machine = timing.Machine(8)
    machine.observe({"read": [1.0, 0.5], "product": [2.0, 4.0]})
    machine.observe({"read": [3.0], "product": [1.0]})
    assert machine.bandwidth == 4 * 8 * 8**2 / 0.5
    assert machine.products == 2 * 8**3


def test_a_row_contains_the_least_median_and_largest_time_ratio(monkeypatch, machine):
    seconds = {
        "ours, form": [1.0, 2.0, 4.0],
        "peer": [8.0, 8.0, 8.0],
        "read": [1e9],
        "product": [1e9],
    }
    monkeypatch.setattr(timing, "interleave", lambda jobs, repetitions: seconds)
    forms = {"form": (None, timing.Work(30, 2))}
    (row,) = timing.compare(machine, {"task": "t", "D": 2}, forms, {"peer": None}, 3)
    assert row["ratio"] == {"min": 2.0, "median": 4.0, "max": 8.0}
    assert row["limit_ms"] == 3000
    assert "ratio     4.0 (2.0 to 8.0)" in timing.line(row)


def test_a_record_contains_device_date_versions_and_seed(tmp_path, machine):
    path = record.write("memory", machine, [{"task": "t"}], 7, tmp_path)
    written = json.loads(path.read_text())
    assert {
        "device",
        "date",
        "cores",
        "versions",
        "bandwidth_gb_s",
        "products_gflop_s",
        "load",
    } <= written.keys()
    assert written["seed"] == 7
    assert written["versions"]["jax"] == jax.__version__
    assert written["rows"] == [{"task": "t"}]


def test_a_run_without_one_of_the_recorded_peers_does_not_replace_the_record(
    tmp_path, machine
):
    from benchmarks.__main__ import folder

    both = [{"peer": "a"}, {"peer": "b"}]
    one = [{"peer": "a"}, {"task": "Fig. 2"}]
    assert folder(tmp_path, "memory", one) == tmp_path  # there is no record yet
    record.write("memory", machine, both, 7, tmp_path)
    assert folder(tmp_path, "memory", [*both, {"peer": "c"}]) == tmp_path
    assert folder(tmp_path, "memory", one) not in (
        tmp_path,
        ROOT / "benchmarks/results",
    )


def test_the_committed_record_has_every_case_and_its_peers():
    rows = json.loads((ROOT / "benchmarks/results/memory.json").read_text())["rows"]
    cases = {
        (r["task"], r["form"], r.get("K"), r["D"], r.get("Y"), r["N"]) for r in rows
    }
    for D, Y in memory.DISTRIBUTED:
        for task in ("gradient", f"{memory.STEPS} steps"):
            assert {
                (task, form, None, D, Y, N)
                for form in ("stored", "Hadamard")
                for N in memory.QUERIES
            } <= cases
    for K, D in memory.EXACT:
        assert {
            ("gradient", form, K, D, None, N)
            for form in ("exact", "prepared")
            for N in memory.QUERIES
        } <= cases
    assert {r["peer"] for r in rows if r.get("Y") and "peer" in r} == {
        "as published",
        "by Ω z",
    }
    assert {r["peer"] for r in rows if r["form"] == "exact"} == {
        "one read",
        "plain JAX",
        "Hopfield layer",
        "two products",
    }


def test_the_command_runs_every_case_at_small_sizes(light):
    command = [sys.executable, "-m", "benchmarks", "--quick"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=light,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ratio") >= 10
    assert "MB above the interpreter" in done.stdout
    assert "Written" not in done.stdout
