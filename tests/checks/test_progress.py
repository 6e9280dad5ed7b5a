"""Progress bars of long calls can be switched off by the reader."""

import pytest

from rankone._progress import progress_bar


@pytest.mark.parametrize(
    ("variable", "disable", "visible"),
    [(None, False, True), (None, True, False), ("0", False, True), ("1", False, False)],
)
def test_an_environment_variable_turns_off_every_progress_bar(
    variable: str | None,
    disable: bool,
    visible: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    if variable is not None:
        monkeypatch.setenv("TQDM_DISABLE", variable)
    assert list(progress_bar(range(3), desc="steps", disable=disable)) == [0, 1, 2]
    assert ("steps" in capsys.readouterr().err) is visible
