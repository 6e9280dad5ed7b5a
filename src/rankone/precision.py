"""Double precision for a block of code, whatever JAX's own setting is."""

from contextlib import AbstractContextManager

from rankone._jax import enable_x64

__all__ = ["double_precision"]


def double_precision(enabled: bool = True) -> AbstractContextManager:
    """A block in which float64 arrays stay float64; works inside jit too, and on every jax from 0.7.2 on.

    Args:
        enabled: False for a block in which they become float32.
    """
    return enable_x64(enabled)
