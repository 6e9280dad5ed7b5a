"""The vector T of a distributed memory whose features are split over devices: each
entry lies on the device of its frequency.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt8

from rankone._module import Module
from rankone.memory.packed import (
    CodedVector,
    Packed,
    coded,
    from_bytes,
    in_bytes,
)

__all__ = ["Tables", "as_tables", "table_blocks"]


class Tables(CodedVector, Module):
    """The vector T (M,) as a matrix with one row per kind of feature (such as cosine
    and sine) and one column per frequency.

    Splitting the columns over devices splits all tables alike. Splitting the vector
    (M,) itself would put the cosines on half of the devices and the sines on the
    others.

    Attributes:
        entries: (tables, columns), 0 in the columns past Y; with fewer than 32 bits the
            codes of the entries, 8/bits of them in each byte.
        scale: Factor of the levels of the codes; 1 for 32 bits.
        bits: Bits per entry: 32, 8, 4, 2 or 1.
        Y: Number of frequencies.
    """

    entries: Float[Array, "tables columns"] | UInt8[Array, "tables bytes"]
    scale: Float[Array, ""]
    bits: int = eqx.field(static=True)
    Y: int = eqx.field(static=True)

    @property
    def columns(self) -> int:
        """Number of columns: one for each of the Y frequencies, and the padding of the
        last block.
        """
        return self.entries.shape[1] * (1 if self.bits == 32 else 8 // self.bits)

    @property
    def size(self) -> int:
        """Number M of entries."""
        return self.entries.shape[0] * self.Y

    @property
    def shape(self) -> tuple[int]:
        """Shape (M,) of the vector."""
        return (self.size,)

    def all_entries(self) -> Float[Array, " M"]:
        """All entries as one vector, which `unpacked` computes in a jitted function."""
        return self.decoded(self.entries)[:, : self.Y].reshape(self.size)

    def rounded(self, bits: int) -> "Tables":
        """The same entries, each rounded to the given number of bits."""
        if bits == self.bits:
            return self
        return _round(self, bits)

    def decoded(self, entries: Array) -> Float[Array, "..."]:
        """Values of some of the entries, decoded from their codes."""
        if self.bits == 32:
            return entries
        return self.numbers(from_bytes(entries, self.bits))


@partial(jax.jit, static_argnames="bits")
def _round(T: Tables, bits: int) -> Tables:
    columns = jnp.arange(T.columns)[None]
    numbers = jnp.where(columns < T.Y, T.decoded(T.entries), 0)
    if bits == 32:
        return Tables(numbers, jnp.ones((), T.dtype), 32, T.Y)
    code, scale = coded(numbers, bits, T.size)
    return Tables(in_bytes(code, bits), scale, bits, T.Y)


@partial(jax.jit, static_argnames=("tables", "columns"))
def as_tables(T: Array | Packed | Tables, tables: int, columns: int) -> Tables:
    """`Tables` of the vector T (M,) with the given numbers of tables and columns; the
    entries are equal to the last bit.
    """
    if isinstance(T, Tables) and T.columns == columns:
        return T
    Y = T.size // tables
    if isinstance(T, CodedVector):
        bits = T.bits
        scale = T.scale
    else:
        bits = 32
        scale = jnp.ones((), T.dtype)
    if isinstance(T, Packed):
        entries = from_bytes(T.codes, bits)[: T.size].reshape(tables, Y)
    elif isinstance(T, Tables):
        entries = T.entries if bits == 32 else from_bytes(T.entries, bits)
        entries = entries[:, :Y]
    else:
        entries = T.reshape(tables, Y)
    entries = jnp.pad(entries, ((0, 0), (0, columns - Y)))
    return Tables(entries if bits == 32 else in_bytes(entries, bits), scale, bits, Y)


def table_blocks(
    T: Tables, rows: int, first: Any
) -> tuple[Any, Callable[[Any], Array]]:
    """Inputs for a scan over a device's blocks of frequencies, and a function that maps
    one input to the block's (tables, rows) entries of T, as in `packed.in_blocks`.

    Args:
        T: The columns of one device.
        rows: Frequencies in a block.
        first: Index of the device's first column.
    """
    width = rows * T.entries.shape[1] // T.columns
    blocks = T.entries.reshape(len(T.entries), -1, width).swapaxes(0, 1)
    if T.bits == 32:
        return blocks, lambda block: block

    def unpack(inputs: tuple[Array, Array]) -> Array:
        block, start = inputs
        counts = start + jnp.arange(rows) < T.Y
        return jnp.where(counts[None], T.decoded(block), 0)

    return (blocks, first + rows * jnp.arange(len(blocks))), unpack
