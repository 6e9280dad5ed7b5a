"""Switches the compiler's optimisations on for the few tests that compute for longer
than they compile; the others run without them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import jax


@contextmanager
def optimized() -> Iterator[None]:
    """Programs that are compiled in this block are optimised."""
    jax.config.update("jax_disable_most_optimizations", False)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", True)
