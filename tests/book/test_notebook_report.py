"""The report that a notebook's first cell prints."""

import sys
from types import ModuleType, SimpleNamespace

import jax
import pytest

from rankone_book.notebook import report


def test_the_report_names_device_versions_and_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report("0.1.0-abcdef0", tested=("0.7.2", "0.10.2"), seconds=130.0, megabytes=1950.0)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(
        f"{len(jax.devices())} × {jax.devices()[0].device_kind} · Python "
        f"{sys.version.split()[0]} · "
    )
    assert first.endswith(
        f"jax {jax.__version__} (tested: 0.7.2 to 0.10.2) · rankone 0.1.0-abcdef0"
    )
    assert (
        second
        == "In the last build of the book this chapter took 2 min and 1.9 GB of memory."
    )


def test_the_report_says_nothing_of_a_cost_that_was_not_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report("in development", tested=("0.7.2", "0.10.2"))
    assert len(capsys.readouterr().out.splitlines()) == 1
    report("in development", tested=("0.7.2", "0.10.2"), seconds=3.0, megabytes=None)
    assert "took 1 min.\n" in capsys.readouterr().out


def test_colab_is_set_to_show_widgets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[str] = []
    colab = ModuleType("google.colab")
    colab.output = SimpleNamespace(
        enable_custom_widget_manager=lambda: calls.append("enabled")
    )  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    report("in development", tested=("0.7.2", "0.10.2"))
    assert calls == ["enabled"]
    assert capsys.readouterr().out
