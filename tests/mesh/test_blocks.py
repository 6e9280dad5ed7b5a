"""Sums over blocks equal those over all rows at once, also after the process was
killed.
"""

import errno
import signal
import subprocess
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone import _blocks, _files
from rankone.editing import SecondMoments
from rankone.memory.distributed import _store
from rankone.residual import ExactSearch, ShardedSearch, search

XI = 0.4 * np.random.default_rng(0).standard_normal((96, 4)).astype(np.float32)
X = XI[:3] + 0.1
# tolerance for float32 sums of 96 terms in another order
ROUNDING = 2e-6


def features():
    return ro.RandomFeatures(4, 64, key=jax.random.key(0))


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=ROUNDING * np.abs(b).max())


@pytest.fixture
def small(monkeypatch):
    """Blocks have 16 rows, and a checkpoint is saved after each."""
    monkeypatch.setattr(_blocks, "_AT_ONCE", 64)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 16 * 16)
    monkeypatch.setattr(_blocks, "_SAVE_SECONDS", 0)


def test_blocks_give_the_memory_of_all_patterns(small, tmp_path):
    one = ro.DrDAM.store(jnp.asarray(XI), 4.0, features())
    file = np.memmap(tmp_path / "patterns", np.float32, "w+", shape=XI.shape)
    file[:] = XI
    for patterns in (XI, file, iter([XI[:40], XI[40:41], XI[41:]])):
        memory = ro.DrDAM.store(patterns, 4.0, features())
        assert len(memory) == 96
        close(memory.T, one.T)
        assert memory.power == one.power
    # No page of a private map is released, because the data written to it would be
    # lost.
    private = np.memmap(tmp_path / "patterns", np.float32, "c", shape=XI.shape)
    private[:] = 1
    close(
        ro.DrDAM.store(private, 4.0, features()).T,
        96 * one.features.phi(np.full(4, 2.0)),
    )


def test_moments_of_blocks_are_those_of_all_keys(small):
    one = SecondMoments.empty(4).update(jnp.asarray(XI))
    for keys in (XI, iter([XI[:7], XI[7:]])):
        moments = SecondMoments.empty(4).update(keys)
        close(moments.total, one.total)
        assert int(moments.count) == 96


@pytest.mark.parametrize("keep", [None, 2])
def test_a_residual_memory_of_blocks_is_that_of_all_rows(keep):
    """This holds also for more neighbours than a block has rows."""
    labels = np.arange(96) % 4
    model = ro.ResMem(k=20, keep=keep)
    one = model.fit(XI, logits=3 * XI, labels=labels)

    def blocks(array):
        return iter([array[:50], array[50:62], array[62:]])

    several = model.fit(blocks(XI), logits=blocks(3 * XI), labels=blocks(labels))
    jax.tree.map(close, several, one)
    with refused(ValueError, match=r"^labels: got"):
        model.fit(blocks(XI), logits=blocks(XI), labels=labels)
    with refused(ValueError, match=r"^logits: got fewer"):
        model.fit(blocks(XI), logits=iter([XI[:50]]), labels=blocks(labels))


def test_blocks_of_different_widths_are_named():
    labels = np.arange(32) % 4
    model = ro.ResMem(k=20)

    def fit(D, L):
        return model.fit(
            iter([XI[:32], XI[:32, :D]]),
            logits=iter([XI[:32], XI[:32, :L]]),
            labels=iter([labels, labels % L]),
        )

    with refused(ValueError, match=r"^embeddings: got a block with 3 columns"):
        fit(3, 4)
    with refused(ValueError, match=r"^logits: got a block with 2 columns"):
        fit(4, 2)


CHILD = """
import os, signal, sys
import numpy as np, jax
import rankone as ro
from rankone import _blocks
from rankone.editing import SecondMoments

_blocks._SAVE_SECONDS = 0
Xi = np.load(sys.argv[1])

def blocks(after):
    for start in range(0, 96, 8):
        if start == after:
            os.kill(os.getpid(), signal.SIGKILL)
        yield Xi[start : start + 8]

SecondMoments.empty(4).update(blocks(96), checkpoint=sys.argv[3])
features = ro.RandomFeatures(4, 64, key=jax.random.key(0))
ro.DrDAM.store(blocks(40), 4.0, features, checkpoint=sys.argv[2], progress=False)
"""


def test_a_killed_run_goes_on_without_a_pattern_lost_or_counted_twice(
    tmp_path, light, root
):
    paths = [tmp_path / name for name in ("Xi.npy", "T.npz", "C.npz")]
    np.save(paths[0], XI)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *paths], cwd=root, env=light, check=False
    )
    assert done.returncode == -signal.SIGKILL
    starts = []

    def blocks():
        for start in range(0, 96, 32):  # another length, so that a block is cut
            starts.append(start)
            yield XI[start : start + 32]

    path = paths[1]
    memory = ro.DrDAM.store(blocks(), 4.0, features(), checkpoint=path)
    assert len(memory) == 96
    assert starts == [0, 32, 64]
    one = ro.DrDAM.store(jnp.asarray(XI), 4.0, features())
    close(memory.T, one.T)
    # all rows are stored, so another run adds nothing
    again = ro.DrDAM.store(blocks(), 4.0, features(), checkpoint=path)
    assert len(again) == 96
    np.testing.assert_array_equal(again.T, memory.T)
    close(again.energy(X), one.energy(X))
    with refused(ValueError, match=r"^checkpoint: got .* of another run"):
        ro.DrDAM.store(blocks(), 3.0, features(), checkpoint=path)
    with refused(ValueError, match=r"^checkpoint: got .* 32 rows more"):
        ro.DrDAM.store(iter([XI[:64]]), 4.0, features(), checkpoint=path)
    moments = SecondMoments.empty(4).update(blocks(), checkpoint=paths[2])
    assert int(moments.count) == 96
    close(moments.total, XI.T @ XI)


FIT = """
import os, signal, sys
import numpy as np
import rankone as ro
from rankone import _blocks

_blocks._SAVE_SECONDS = 0
Xi = np.load(sys.argv[1])

def blocks(rows, after=96):
    for start in range(0, 96, 8):
        if start == after:
            os.kill(os.getpid(), signal.SIGKILL)
        yield rows[start : start + 8]

ro.ResMem(k=20, keep=2).fit(
    blocks(Xi, 40),
    logits=blocks(3 * Xi),
    labels=blocks(np.arange(96) % 4),
    checkpoint=sys.argv[2],
)
"""
LABELS = np.arange(96) % 4


def pieces(rows, size=32):
    return iter([rows[start : start + size] for start in range(0, len(rows), size)])


def fit(model, path, **options):
    inputs = {"logits": pieces(3 * XI), "labels": pieces(LABELS)} | options
    return model.fit(pieces(XI), checkpoint=path, **inputs)


def test_a_killed_fit_goes_on_without_a_row_lost_or_counted_twice(
    tmp_path, light, root
):
    rows, path = tmp_path / "Xi.npy", tmp_path / "rows.npz"
    np.save(rows, XI)
    done = subprocess.run(
        [sys.executable, "-c", FIT, rows, path], cwd=root, env=light, check=False
    )
    assert done.returncode == -signal.SIGKILL
    model = ro.ResMem(k=20, keep=2)
    one = model.fit(XI, logits=3 * XI, labels=LABELS)
    with np.load(path) as saved:
        assert len(saved.files) == 2 + 3 * 5  # five blocks, and not the sixth
    for _ in range(2):  # the second run has nothing to add
        memory = fit(model, path)
        assert len(memory.store) == 96
        jax.tree.map(close, memory, one)
    with refused(ValueError, match=r"^checkpoint: got .* of another run"):
        fit(ro.ResMem(k=20, keep=3), path)
    with refused(ValueError, match=r"^checkpoint: got .* of another run"):
        fit(ro.ResMem(k=20, keep=2, temperature=2.0), path)
    with refused(ValueError, match=r"^checkpoint: got .* 32 rows more"):
        model.fit(
            pieces(XI[:64]),
            logits=pieces(3 * XI[:64]),
            labels=pieces(LABELS[:64]),
            checkpoint=path,
        )
    with refused(ValueError, match=r"^checkpoint: got .*; it must be None unless"):
        model.fit(XI, logits=3 * XI, labels=LABELS, checkpoint=path)


def test_a_fit_goes_on_after_an_error(small, tmp_path):
    """This holds also if all entries of the residuals are stored."""

    def stopping():
        yield from pieces(XI[:64])
        raise RuntimeError

    path = tmp_path / "rows.npz"
    model = ro.ResMem(k=20)
    with pytest.raises(RuntimeError):
        model.fit(
            stopping(), logits=pieces(3 * XI), labels=pieces(LABELS), checkpoint=path
        )
    with np.load(path) as saved:
        assert len(saved.files) == 2 + 2 * 2
    memory = fit(model, path)
    jax.tree.map(close, memory, model.fit(XI, logits=3 * XI, labels=LABELS))


@pytest.mark.parametrize("call", ["store", "update", "fit"])
def test_a_full_disk_leaves_the_earlier_checkpoint_whole(
    call, small, tmp_path, monkeypatch
):
    """The error names the file and says what to do, in one sentence."""
    path = tmp_path / "run.npz"
    whole = np.savez
    saves = []

    def savez(file, **arrays):
        saves.append(file)
        if len(saves) == 3:
            file.write(b"PK")
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(file, **arrays)

    def run():
        if call == "store":
            return ro.DrDAM.store(pieces(XI), 4.0, features(), checkpoint=path).T
        if call == "update":
            return SecondMoments.empty(4).update(pieces(XI), checkpoint=path).total
        return fit(ro.ResMem(k=20), path).store.rows

    monkeypatch.setattr(_files.np, "savez", savez)
    with refused(
        ValueError, match=r"^checkpoint: got '.*run\.npz', which could"
    ) as refusal:
        run()
    monkeypatch.setattr(_files.np, "savez", whole)
    assert "No space left on device" in str(refusal.value)
    assert str(refusal.value).count(". ") == 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.npz"]
    rest = run()
    path.unlink()
    close(rest, run())


def test_slow_saves_are_made_less_often(monkeypatch, tmp_path):
    """A block takes 10 seconds and a save 3 seconds. After the first save there is one
    per minute.
    """
    now = [0.0]
    saves = []

    def step(state, block):
        now[0] += 10
        return state + len(block)

    def save(path, state, run):
        now[0] += 3
        saves.append(state)

    monkeypatch.setattr(_blocks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(_blocks, "_save", save)
    _blocks.run_blocks(
        0,
        step,
        iter([[0]] * 12),
        count=int,
        title="test",
        progress=False,
        checkpoint=tmp_path / "run.npz",
        run="",
    )
    assert saves == [2, 8, 12]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "run.npz"
    with refused(ValueError, match=r"^checkpoint: got '.*run\.npz', which could not"):
        fit(ro.ResMem(k=20), path)


def test_the_number_of_patterns_is_exact_beyond_the_digits_of_float32():
    """In float32, adding 1 to 2²⁴ does not change it."""
    memory = ro.DrDAM.store(XI[:2], 4.0, features())
    full = ro.DrDAM(memory.T, 4.0, features(), 2.0**24, 2.0**24)
    more = full.add(XI[:1]).add(XI[:2])
    assert len(more) == 2**24 + 3
    assert len(more.remove(XI[:1])) == 2**24 + 2
    # the exact number has 24 more bits than the rounded one
    wide = ro.DrDAM(memory.T, 4.0, features(), 2.0**40, 2.0**40, count_rest=1.0)
    assert len(wide.add(XI[:2])) == 2**40 + 3


def test_too_many_keys_are_refused_by_name():
    moments = SecondMoments(jnp.eye(4), jnp.int32(2**31 - 2))
    assert int(moments.update(XI[:1]).count) == 2**31 - 1
    with refused(ValueError, match=r"^keys: got 2 after"):
        moments.update(XI[:2])


def test_sharded_search_does_not_measure_host_rows_on_a_device(monkeypatch):
    """No device gets all rows, which may exceed its memory."""
    calls = []
    monkeypatch.setattr(search, "_largest_entry", calls.append)
    ShardedSearch(XI)
    assert not calls


def test_sizes_beyond_32_bits_are_refused_by_name():
    many = np.broadcast_to(np.float32(0), (2**31, 1))  # this array takes four bytes
    for make in (ExactSearch, ShardedSearch):
        with refused(ValueError, match=r"^rows: got 2,147,483,648 rows"):
            make(many)
    with refused(ValueError, match=r"^Y: got 1073741824; .* at most"):
        ro.RandomFeatures(1, 2**30, key=jax.random.key(0))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ro.DrDAM.store(iter([]), 4.0, features()), "Xi"),
        (lambda: ro.DrDAM.store(iter([XI[0]]), 4.0, features()), "Xi"),
        (lambda: ro.DrDAM.store(iter([XI[:, :3]]), 4.0, features()), "Xi"),
        (lambda: ro.DrDAM.store(XI, 4.0, features(), checkpoint=3), "checkpoint"),
        (lambda: SecondMoments.empty(4).update(iter([XI[:, :3]])), "keys"),
    ],
)
def test_blocks_that_do_not_fit_are_named(call, named):
    with refused(ValueError, match=f"^{named}: got"):
        call()


def test_storing_copies_no_patterns():
    """The compiler's temporary memory, for patterns that are on a device, is a few
    numbers per pattern of 64 numbers.
    """
    features = ro.RandomFeatures(64, 32, key=jax.random.key(0))
    beta = jnp.float32(4)
    Xi = jax.ShapeDtypeStruct((2**14, 64), jnp.float32)
    program = _store.lower(features, beta, Xi, "dot", jnp.zeros(64), None).compile()
    temporary = program.memory_analysis().temp_size_in_bytes
    assert temporary < 0.1 * Xi.size * 4
