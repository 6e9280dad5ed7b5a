"""Progress bars of long calls. The variable TQDM_DISABLE turns all of them off."""

import os
from typing import Any

from tqdm.auto import tqdm

__all__ = ["PATIENCE", "bars_are_off", "progress_bar"]

PATIENCE = 2.0  # seconds before a bar appears by default


def bars_are_off() -> bool:
    """True if TQDM_DISABLE is set, to anything but 0.

    tqdm reads the variable only where no `disable` is passed, and its bar for notebooks
    does not read it at all.
    """
    return os.environ.get("TQDM_DISABLE", "0") not in ("", "0")


def progress_bar(*arguments: Any, disable: bool = False, **options: Any) -> Any:
    """Tqdm's bar, which is not shown if `disable` or TQDM_DISABLE says so."""
    return tqdm(*arguments, disable=disable or bars_are_off(), **options)
