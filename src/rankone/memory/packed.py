"""A vector rounded to a few bits per entry, packed into bytes, and decoded some entries
at a time [D-sharp16].
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer, UInt8
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from rankone._checks import array, choice, integer
from rankone._module import Module
from rankone.precision import wider

__all__ = [
    "BITS",
    "CodedVector",
    "Packed",
    "check_bits",
    "coded",
    "from_bytes",
    "in_blocks",
    "in_bytes",
    "levels",
    "rounded",
]

BITS = (32, 8, 4, 2, 1)
# iterations: with 8 bits the error is then within 2e-4 of the minimum, and with fewer
# bits it is the minimum
_LLOYD = 500


class CodedVector:
    """A vector (M,) whose entries are decoded when they are read: the base of `Packed`
    and of `Tables`. It has the shape and the dtype of the vector.
    """

    scale: Float[Array, ""]
    bits: int

    @property
    def dtype(self) -> np.dtype:
        """Data type of the entries."""
        return self.scale.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the codes and the scale, on all devices together."""
        return sum(leaf.nbytes for leaf in jax.tree.leaves(self))

    @property
    def unpacked(self) -> Float[Array, " M"]:
        """All entries as one vector. For inspection: a memory reads them a block at a
        time, and all of them together may not fit on a device.
        """
        return _unpack(self)

    def all_entries(self) -> Float[Array, " M"]:
        """All entries as one vector, which `unpacked` computes in a jitted function."""
        raise NotImplementedError

    def numbers(self, code: Integer[Array, "..."]) -> Float[Array, "..."]:
        """Values of the entries with the given codes."""
        code = code.astype(jnp.int32)
        return self.scale * jnp.asarray(levels(self.bits), self.dtype)[code]


@jax.jit
def _unpack(vector: CodedVector) -> Array:
    return vector.all_entries()


class Packed(CodedVector, Module):
    """A vector (M,) whose entries are rounded to 2^bits levels, stored as one code per
    entry and one scale [D-sharp16].

    Entry j is `scale`·c, where c is the level of its code, one of `levels(bits)`.
    `rounded` chooses the scale such that the rounding error is orthogonal to the
    vector.

    Attributes:
        codes: ⌈M·bits/8⌉ bytes, with the first entry in the lowest bits of the first
            byte.
        scale: Factor of the levels.
        bits: Bits per entry: 1, 2, 4 or 8.
        size: M, the number of entries.

    >>> import jax.numpy as jnp
    >>> from rankone.memory.packed import rounded
    >>> packed = rounded(jnp.array([0.3, -1.2, 0.8, -0.1, 2.0]), bits=2)
    >>> packed.nbytes, [round(entry, 1) for entry in packed.unpacked.tolist()]
    (6, [0.5, -1.7, 0.5, -0.5, 1.7])
    """

    codes: UInt8[Array, " bytes"]
    scale: Float[Array, ""]
    bits: int = eqx.field(static=True)
    size: int = eqx.field(static=True)

    @property
    def shape(self) -> tuple[int]:
        """Shape (M,) of the vector."""
        return (self.size,)

    def all_entries(self) -> Float[Array, " M"]:
        """All entries as one vector, as in `unpacked`, for use inside a traced
        function.
        """
        return self.take(jnp.arange(self.size))

    def take(self, index: Int[Array, "..."]) -> Float[Array, "..."]:
        """Entries at the given indices. An index past the end gives the last entry."""
        index = jnp.minimum(index, self.size - 1)
        per_byte = 8 // self.bits
        byte = self.codes[index // per_byte].astype(jnp.int32)
        code = byte >> self.bits * (index % per_byte).astype(jnp.int32)
        return self.numbers(code & (2**self.bits - 1))


def in_blocks(
    T: Float[Array, " M"] | Packed, tables: int, rows: int
) -> tuple[Array, Callable[[Any], Array]]:
    """Inputs for a scan over blocks of frequencies, and a function that maps one input
    to the block's (tables, rows) entries of T.

    An array is arranged in blocks in advance. For a packed vector the scan gets only
    the position of each block, and the function unpacks the block. Entries past the end
    are zero.
    """
    Y = T.size // tables
    if isinstance(T, Packed):

        def unpack(first: Array) -> Array:
            row = first + jnp.arange(rows)
            return jnp.where(
                (row < Y)[None], T.take(row[None] + Y * jnp.arange(tables)[:, None]), 0
            )

        return rows * jnp.arange(-(-Y // rows)), unpack
    entries = jnp.pad(T.reshape(tables, Y), ((0, 0), (0, -Y % rows)))
    return entries.reshape(tables, -1, rows).swapaxes(0, 1), lambda block: block


def check_bits(bits: int) -> int:
    """`bits` if it is one of `BITS`, as a Python integer."""
    bits = integer("bits", bits, "one of 32, 8, 4, 2, 1")
    choice("bits", bits, BITS)
    return bits


def rounded(T: Float[Array, " M"] | Packed, bits: int) -> Float[Array, " M"] | Packed:
    """The vector T rounded to `bits` bits per entry, as a `Packed`; with 32 bits an
    array that is not rounded.
    """
    bits = check_bits(bits)
    if not isinstance(T, Packed | jax.Array):
        T = array("T", T, "(M,): one entry per feature", 1)
    if isinstance(T, Packed):
        if T.bits == bits:
            return T
        T = T.unpacked
    return T if bits == 32 else _pack(T, bits)


@partial(jax.jit, static_argnames="bits")
def _pack(T: Array, bits: int) -> Packed:
    code, scale = coded(T, bits, T.size)
    return Packed(in_bytes(code, bits), scale, bits, T.size)


def coded(T: Float[Array, "..."], bits: int, size: int) -> tuple[Array, Array]:
    """Code of each entry, and the scale. Only `size` of the entries count; the others
    are padding and 0.
    """
    T = T.astype(wider(T.dtype, jnp.result_type(float)))
    c = jnp.asarray(levels(bits), T.dtype)
    square = (T * T).sum()
    unit = T * jnp.sqrt(size / jnp.where(square > 0, square, 1))
    code = jnp.searchsorted((c[1:] + c[:-1]) / 2, unit).astype(jnp.uint8)
    product = (T * c[code]).sum()
    # ⟨T̂, T⟩ = ‖T‖²: the rounding error is orthogonal to T
    return code, square / jnp.where(product > 0, product, 1)


def in_bytes(code: UInt8[Array, "..."], bits: int) -> UInt8[Array, "..."]:
    """Codes along the last axis, several to a byte, the first in the lowest bits."""
    per_byte = 8 // bits
    padding = [(0, 0)] * (code.ndim - 1) + [(0, -code.shape[-1] % per_byte)]
    rows = jnp.pad(code, padding).reshape(*code.shape[:-1], -1, per_byte)
    shifts = (bits * jnp.arange(per_byte, dtype=jnp.uint8)).reshape(
        *[1] * (rows.ndim - 1), per_byte
    )
    return (rows << shifts).sum(-1, dtype=jnp.uint8)


def from_bytes(codes: UInt8[Array, "..."], bits: int) -> UInt8[Array, "..."]:
    """Codes along the last axis, unpacked from the bytes of `in_bytes`."""
    per_byte = 8 // bits
    shifts = (bits * jnp.arange(per_byte, dtype=jnp.uint8)).reshape(
        *[1] * codes.ndim, per_byte
    )
    code = (codes[..., None] >> shifts) & jnp.uint8(2**bits - 1)
    return code.reshape(*codes.shape[:-1], codes.shape[-1] * per_byte)


def levels(bits: int) -> Float[NDArray, " levels"]:
    """The 2^bits levels that round a standard normal variable with least mean squared
    error (Max 1960).

    Each level is the mean of the variable between the midpoints to its neighbours.
    Lloyd's iteration computes the levels. It starts from levels whose density is
    proportional to the cube root of the normal density.
    """
    return _levels(integer("bits", bits, "an integer from 1 to 8", most=8))


@cache
def _levels(bits: int) -> Float[NDArray, " levels"]:
    n = 2**bits
    c = np.sqrt(3) * ndtri((np.arange(n) + 0.5) / n)
    for _ in range(_LLOYD):
        edges = np.concatenate([[-np.inf], (c[1:] + c[:-1]) / 2, [np.inf]])
        density = np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
        c = -np.diff(density) / np.diff(ndtr(edges))
    return c
