"""What the arithmetic must know of the device: whether it is a processor, or computes
large arrays at once.

A processor (CPU) is fastest when each piece of an array stays in its cache between two
uses. A GPU is fastest when each piece keeps the whole GPU busy, because each piece
costs a few kernel launches, of some microseconds each. The results differ by rounding
only.
"""

import jax

__all__ = ["on_processor"]


def on_processor() -> bool:
    """True if programs run on a CPU by default; `jax.default_device` may say so."""
    # a device, the name of a platform, or None
    device = jax.config.jax_default_device  # type: ignore[attr-defined]
    platform = getattr(device, "platform", device) or jax.default_backend()
    return bool(platform == "cpu")
