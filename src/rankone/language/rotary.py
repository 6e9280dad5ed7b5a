"""Rotary position embedding: its frequencies, in the variants that llama checkpoints
use, and the rotation.
"""

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from rankone._checks import brief, choice, instance, integer, positive

__all__ = ["base_of", "frequencies", "rotate"]

# kind of scaling → the entries that it needs
_SCALING: dict[str, tuple[str, ...]] = {
    "default": (),
    "linear": ("factor",),
    "llama3": (
        "factor",
        "low_freq_factor",
        "high_freq_factor",
        "original_max_position_embeddings",
    ),
}


def frequencies(
    head_width: int, base: float, scaling: Mapping[str, Any] | None = None
) -> tuple[float, ...]:
    """Frequencies base^(−2i/w), i < w/2, of the rotary embedding, rescaled as the
    checkpoint's configuration says.

    Args:
        head_width: Length w of a head.
        base: The base θ, positive.
        scaling: Entry `rope_scaling` or `rope_parameters` of the configuration; its
            "rope_type" may be "default", "linear" or "llama3".

    Raises:
        ValueError: If the head has no positive length, the base is not positive, or the
            kind of scaling is unknown.
    """
    head_width = integer("head_width", head_width)
    if scaling is not None:
        instance("scaling", scaling, Mapping, "a mapping, or None")
    scaling = scaling or {}
    positive("base", base)
    kind = scaling.get("rope_type") or scaling.get("type") or "default"
    choice("scaling['rope_type']", kind, tuple(_SCALING))
    rates = float(base) ** -(np.arange(0, head_width, 2) / head_width)
    absent = [name for name in _SCALING[kind] if name not in scaling]
    if absent:
        raise ValueError(
            f"scaling: got {brief(scaling)}; "
            f"it must also have the entries {', '.join(absent)}."
        )
    for name in _SCALING[kind]:
        positive(f"scaling[{name!r}]", scaling[name])
    if kind == "linear":
        rates = rates / scaling["factor"]
    if kind == "llama3":
        rates = _llama3(rates, scaling)
    return tuple(float(rate) for rate in rates)


def base_of(rates: Sequence[float]) -> float:
    """The base θ that gives these frequencies.

    Raises:
        ValueError: If there is no such base, because the frequencies were rescaled.
    """
    width = 2 * len(rates)
    base = rates[-1] ** (-width / (width - 2)) if len(rates) > 1 else 1e4
    base = round(base) if abs(base - round(base)) < 1e-6 * base else base
    matches = np.allclose(frequencies(width, base), rates, rtol=1e-5)
    if not matches:
        raise ValueError(
            f"frequencies: got {rates[:3]}…; "
            "it must be powers of one base, not stretched."
        )
    return float(base)


def rotate(
    x: Float[Array, "*rows T h w"], positions: Int[Array, " T"], rates: Sequence[float]
) -> Float[Array, "*rows T h w"]:
    """Queries or keys rotated by their positions, with each head split into two halves.
    Attention scores then depend only on differences of positions.

    Args:
        x: Queries or keys (..., T, heads, w).
        positions: Position of each of the T tokens.
        rates: Angles in radians per position (w/2,); if there are none, x is returned
            unchanged.
    """
    if not rates:
        return x
    angles = jnp.multiply.outer(positions.astype(x.dtype), jnp.asarray(rates, x.dtype))
    angles = jnp.expand_dims(angles[:, None], range(x.ndim - 3))
    cos = jnp.cos(angles)
    sin = jnp.sin(angles)
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def _llama3(rates: np.ndarray, scaling: Mapping[str, Any]) -> np.ndarray:
    """Slow rotations are slowed by the factor, fast ones kept, those between mixed."""
    low = scaling["low_freq_factor"]
    high = scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * rates / (2 * pi)
    fraction = np.clip((turns - low) / (high - low), 0, 1)
    return fraction * rates + (1 - fraction) * rates / scaling["factor"]
