"""One page run without the book: its measured numbers, and its faults."""

from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from run_page import faults

PAGE = """# A page

```{{prf:theorem}} One
:label: thm-one
```

```{{code-cell}} ipython3
---
tags: [hide-input]
---
from rankone_book.claims import measured

{cell}
```
"""
ROW: dict[str, Any] = {
    "id": "Z-one",
    "chapter": "thm-one",
    "figures": {"Z-one.error": ".1f"},
    "holds": {"Z-one.error": "< 1"},
}


@pytest.fixture(autouse=True)
def no_shell_is_left() -> Any:
    """Forget the shell that runs the page, for the tests that start their own."""
    InteractiveShell.clear_instance()
    yield
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('measured("Z-one", error=0.5)', []),
        ('measured("Z-one", error=2.0)', ["Z-one.error: it should be < 1"]),
        (
            'measured("Z-one", rest=2.0)',
            ["Z-one.error: no cell measured it"],
        ),
        ("1 / 0", ["cell 1: ZeroDivisionError: division by zero"]),
    ],
)
def test_every_fault_of_a_page_is_reported(
    cell: str, said: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(cell=cell))
    before = Path.cwd()
    assert faults(page, [ROW], {**ROW["figures"], "Z-one.r*": ".2f"}) == said
    assert Path.cwd() == before
    if "measured" in cell:
        words = capsys.readouterr().out.split()
        assert words[0].startswith("Z-one.")
        assert words[1] == ("2.00" if "rest" in cell else f"{float(cell[-4:-1]):.1f}")
