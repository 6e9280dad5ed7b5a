"""The expectation that the package itself refuses an input."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from jaxtyping import config

__all__ = ["refused"]


@contextmanager
def refused(kind: Any, **options: Any) -> Iterator[Any]:
    """`pytest.raises`, inside which jaxtyping does not check annotations.

    The tests run the package under a type checker, which would refuse a bad argument
    before the package sees it. Users have no such checker, so the package must refuse
    the argument by itself.
    """
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        with pytest.raises(kind, **options) as caught:
            yield caught
    finally:
        config.update("jaxtyping_disable", before)
