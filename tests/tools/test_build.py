"""A build waits for another build, and reports in one sentence what is missing on the
machine.
"""

import errno
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import build
import pytest
from sphinx.errors import ExtensionError


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


FULL_DISK = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FULL_DISK, build.FULL),
        (ExtensionError("write", FULL_DISK), build.FULL),
        (
            caused(
                RuntimeError("Unexpected error"), Exception("database or disk is full")
            ),
            build.FULL,
        ),
        (
            OSError(errno.EROFS, "Read-only file system", "a/b"),
            build.CLOSED.format("a/b"),
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "a/b"),
            build.CLOSED.format("a/b"),
        ),
        (
            Exception("attempt to write a readonly database"),
            build.CLOSED.format(build.FOLDER),
        ),
        (caused(RuntimeError(), KeyboardInterrupt()), build.STOPPED),
        (FileNotFoundError(errno.ENOENT, "No such file", "a/b"), None),
        (ValueError("of a page"), None),
    ],
)
def test_errors_caused_by_the_machine_are_explained_in_a_sentence(
    error: Exception, said: str | None
) -> None:
    assert build.sentence(error) == said


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stamp of a checkout whose pages take no time."""
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "FOLDER", tmp_path / "_build")
    monkeypatch.setattr(build, "current", lambda stamp: False)
    stamp = tmp_path / "_build" / "html" / ".ready"
    stamp.parent.mkdir(parents=True)
    return stamp


def test_the_stamp_of_a_build_has_the_time_of_its_start(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = 1_000_000_000.0
    monkeypatch.setattr(build, "time", SimpleNamespace(time=lambda: began))
    outputs: list[Path] = []
    monkeypatch.setattr(build, "build", outputs.append)
    build.run(checkout)
    assert outputs == [build.ROOT]
    assert checkout.stat().st_mtime == began


def test_a_failed_build_leaves_no_stamp(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(output: Path) -> None:
        raise RuntimeError("a page")

    monkeypatch.setattr(build, "build", fail)
    with pytest.raises(SystemExit, match="a page"):
        build.main(str(checkout.relative_to(build.ROOT)))
    assert not checkout.exists()


def test_a_build_does_not_start_on_a_full_disk(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        shutil, "disk_usage", lambda folder: SimpleNamespace(free=10_000_000)
    )
    with pytest.raises(SystemExit) as ended:
        build.run(checkout)
    assert ended.value.code == build.FULL


def test_a_build_waits_for_another_and_takes_its_pages(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"""
import sys
from pathlib import Path
import build
build.ROOT, build.FOLDER = Path({str(build.ROOT)!r}), Path({str(build.FOLDER)!r})
build.current = lambda stamp: True
build.build = lambda output: print("built")
build.run(Path({str(checkout)!r}))
"""
    variables = os.environ | {"PYTHONPATH": str(Path(build.__file__).parent)}
    command = [sys.executable, "-c", script]
    with (build.FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = subprocess.Popen(
            command, env=variables, stdout=subprocess.PIPE, text=True
        )
        assert second.stdout is not None
        assert "waiting" in second.stdout.readline()
        assert second.poll() is None
    assert second.communicate(timeout=60) == ("", None)
    assert second.returncode == 0
    alone = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=60
    )
    assert alone.stdout == "built\n"
