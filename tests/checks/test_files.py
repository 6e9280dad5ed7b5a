"""Files of state are written completely or not at all, by one writer at a time, and
damaged files are refused. Also names for runs.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from half import needs_float16
from refusals import refused

from rankone._files import locked, read_arrays, replaced, save_arrays
from rankone._fingerprint import fingerprint
from rankone.maml import MLP, GradientLearner, SineTasks, squared_error
from rankone.writes import Write, load_write

WRITE = Write(jnp.array([1.0, 2.0]), jnp.array([0.0, 0.5, 0.0]))
WRITER = """
import sys
from rankone._files import replaced
with replaced(sys.argv[1]) as file:
    file.write(b"half of it")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""
COUNTER = """
import sys
from pathlib import Path
from rankone._files import locked, replaced
path = Path(sys.argv[1])
for _ in range(100):
    with locked(path):
        count = int(path.read_text())
        with replaced(path) as file:
            file.write(str(count + 1).encode())
"""


def python(code, path):
    command = [sys.executable, "-c", code, str(path)]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ},
        text=True,
    )


def test_a_writer_that_is_killed_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "state.npz"
    path.write_bytes(b"all of it")
    with python(WRITER, path) as writer:
        assert writer.stdout.readline() == "writing\n"
        writer.send_signal(signal.SIGKILL)
    assert path.read_bytes() == b"all of it"


def test_a_writer_that_fails_leaves_the_file_as_it_was_and_nothing_else(tmp_path):
    path = tmp_path / "state.npz"
    path.write_bytes(b"all of it")
    with refused(TypeError), replaced(path) as file:
        file.writelines([b"half of it", None])
    assert path.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [path]


def test_writers_side_by_side_lose_nothing(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    with ExitStack() as running:
        counters = [running.enter_context(python(COUNTER, path)) for _ in range(3)]
        for counter in counters:
            counter.communicate(timeout=60)
            assert counter.returncode == 0
    assert path.read_text() == "300"
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_file_that_is_removed_while_waiting_is_created_again(
    tmp_path, monkeypatch
):
    path = tmp_path / "state"
    fstat = os.fstat
    handles = []

    def removed_just_then(handle):
        if not handles:
            path.with_name("state.lock").unlink()
        handles.append(handle)
        return fstat(handle)

    monkeypatch.setattr(os, "fstat", removed_just_then)
    with locked(path):
        assert len(handles) == 2
        assert path.with_name("state.lock").exists()


def test_a_lock_is_refused_to_others_until_its_holder_is_gone(tmp_path):
    path = tmp_path / "state"
    code = "import sys, rankone._files as f\nwith f.locked(sys.argv[1]): print('in', flush=True); sys.stdin.read()"
    with python(code, path) as holder:
        assert holder.stdout.readline() == "in\n"
        with refused(BlockingIOError), locked(path, wait=False):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    began = time.monotonic()
    with locked(path):
        assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    "dtype", [jnp.bfloat16, pytest.param(jnp.float16, marks=needs_float16), jnp.float32]
)
def test_a_saved_write_comes_back_as_it_was(tmp_path, dtype):
    write = Write(*(part.astype(dtype) for part in (WRITE.left, WRITE.right)))
    about = {"layer": 3, "model": "small", "share": 0.5, "sure": True}
    loaded, description = load_write(write.save(tmp_path / "edit", about))
    assert loaded == write
    assert description == about


def test_npz_is_appended_to_every_name_that_does_not_end_in_it(tmp_path):
    names = [
        WRITE.save(tmp_path / name).name
        for name in ("edit.v1", "edit.v2", "edit", "edit.npz", "e.npz.old")
    ]
    assert names == [
        "edit.v1.npz",
        "edit.v2.npz",
        "edit.npz",
        "edit.npz",
        "e.npz.old.npz",
    ]


@pytest.mark.parametrize(
    "about",
    [{"a": [1, 2]}, {"a": {"b": 1}}, {"a": None}, {"left": 1}, {"a": np.ones(3)}],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, about):
    with refused(ValueError, match=r"^about: got"):
        WRITE.save(tmp_path / "edit", about)
    assert not list(tmp_path.iterdir())


def test_damaged_files_are_refused_by_name(tmp_path):
    path = WRITE.save(tmp_path / "edit")
    whole = path.read_bytes()
    single = tmp_path / "single.npy"
    np.save(single, np.ones(3))
    for damage in (
        b"",
        whole[:50],
        whole[: len(whole) // 2],
        whole[:-10],
        single.read_bytes(),
        b"no archive",
    ):
        path.write_bytes(damage)
        with refused(ValueError, match=r"^path: got .*edit\.npz"):
            load_write(path)
        with refused(ValueError, match=r"cannot be read|no archive"):
            read_arrays(path)
    with refused(FileNotFoundError):
        load_write(tmp_path / "none")
    save_arrays(path, {"left": np.ones(2)})  # a complete file, but no write
    with refused(ValueError, match=r"^path: got"):
        load_write(path)


def test_a_fingerprint_tells_apart_whatever_differs():
    learner = GradientLearner(MLP(1, (8,)))

    def times(scale):
        return lambda a: a * scale

    key = jax.random.key(0)
    runs = [
        learner,
        GradientLearner(MLP(1, (9,))),
        GradientLearner(MLP(1, (8,)), step_size=0.010000001),
        SineTasks(),
        SineTasks(shots=7),
        squared_error,
        jax.jit(squared_error),
        lambda a: a + 1,
        lambda a: a + 2,
        times(2.0),
        times(3.0),
        lambda a, b=1: a + b,
        lambda a, b=2: a + b,
        lambda a: a.real,
        lambda a: a.imag,
        learner.init,
        GradientLearner(MLP(1, (9,))).init,
        partial(squared_error, 1),
        partial(squared_error, one_hot=1),
        partial(squared_error, one_hot=2),
        key,
        jax.random.key(1),
        np.ones(3),
        np.ones(3, np.float32),
        np.ones((3, 1)),
        np.zeros(3, np.float32),
        np.zeros(3, np.int32),  # the same bytes, but another type
        1,
        1.0,
        True,
        "1",
        None,
        [1],
        (1,),
        {"a": 1},
    ]
    assert len({fingerprint(run) for run in runs}) == len(runs)
    assert fingerprint({"b": learner, "a": key}) == fingerprint(
        {"a": jax.random.key(0), "b": learner}
    )
    with refused(ValueError, match=r"^checkpoint: got"):
        fingerprint(iter([]))


def test_a_fingerprint_is_the_same_in_another_process():
    code = """
from rankone._fingerprint import fingerprint
from rankone.maml import MLP, GradientLearner, SineTasks, squared_error
learner = GradientLearner(MLP(1, (8,)))
print(fingerprint([learner, SineTasks(), squared_error, lambda a: a in {"x", "y"}]))
"""
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True
        )
        for env in seeds
    ]
    assert runs[0].stdout == runs[1].stdout != ""
