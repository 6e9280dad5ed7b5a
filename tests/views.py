"""Sizes and themes in which a test sees its page."""

from typing import Any

import pytest


def walked(*values: Any) -> Any:
    """Values of a test's parameters that `make test` leaves to `make walk`: what is
    drawn alike in another view.
    """
    return pytest.param(*values, marks=pytest.mark.walk)
