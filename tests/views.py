"""Screen sizes and themes in which a test views its page."""

from typing import Any

import pytest


def walked(*values: Any) -> Any:
    """Parameter values that only `make walk` tests, because the page looks the same in
    a view that `make test` covers.
    """
    return pytest.param(*values, marks=pytest.mark.walk)
