"""Random projections Ω with rows ω ~ N(0, I): stored, regenerated from a seed, or made
of Hadamard transforms.

`divided` arranges a projection in equal blocks for several devices and keeps the order
of its rows. Rows past Y are padding, and their contributions are left out.

Every projection is a stack of row blocks. `operator(block)` turns one entry of `blocks`
into the pair (x ↦ Ω_b x, r ↦ Ω_bᵀ r), so that a scan over blocks reads or makes each
row once and uses it twice. The computation that all blocks share is done once:
`first_round` before the blocks, and its transpose after their sum. In between, the rows
may be spread over several axes (..., N, R'), with the queries always second to last.
`arrange` brings an array with one number per row into that order, and `flatten` brings
projections (..., N, R') into (N, R).
"""

from collections.abc import Callable
from math import ceil
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt

from rankone._module import Module

__all__ = [
    "PROJECTIONS",
    "Hadamard",
    "Operator",
    "Orthogonal",
    "Projection",
    "Regenerated",
    "Stored",
]

Operator = tuple[Callable[[Array], Array], Callable[[Array], Array]]
# 4 MB of float32: a stored block stays in cache between its two products
_BLOCK_ENTRIES = 2**20
# entries of the dense rows that a block of transforms replaces
_HADAMARD_ENTRIES = 10 * 2**20
# the rows of a divided block are a multiple of this, so that codes of few bits fill
# whole bytes
_LANES = 8
_PARTS = 64  # number of parts of a large projection, however many devices there are
# entries of a block that is drawn again at every use; stored rows are drawn in the same
# blocks
_DRAWN_ENTRIES = 2**18


def _matmul(a: Array, b: Array) -> Array:
    # a GPU would round the inputs to 10 bits otherwise
    return jnp.matmul(a, b, precision="highest")


def _rows_operator(rows: Float[Array, "R D"]) -> Operator:
    # rows @ z.T, never z @ rows.T: with one query the second orientation is up to ten
    # times slower on a CPU.
    return lambda z: _matmul(rows.astype(z.dtype), z.T).T, lambda r: _matmul(
        r, rows.astype(r.dtype)
    )


class _Rows(Module):
    """Projections whose rows are in one axis, in their own order, and whose blocks
    share nothing.
    """

    def first_round(self, z: Float[Array, "N D"]) -> Float[Array, "N D"]:
        """States after the step that all blocks share; for this projection, the states
        themselves.
        """
        return z

    def first_round_transposed(self, x: Float[Array, "N D"]) -> Float[Array, "N D"]:
        """The transpose of `first_round`."""
        return x

    def arrange(self, numbers: Float[Array, "... R"]) -> Float[Array, "... R"]:
        """Array with one number per row of Ω, in the order of the projections."""
        return numbers

    def flatten(self, h: Float[Array, "N R"]) -> Float[Array, "N R"]:
        """Projections with their rows in one axis."""
        return h


class Stored(_Rows):
    """Projection with independent rows, stored in full as blocks (B, R, D); rows past Y
    are zero.
    """

    blocks: Float[Array, "B R D"]

    @property
    def rows(self) -> int:
        """Rows of a block."""
        return self.blocks.shape[1]

    def divided(self, parts: int, Y: int) -> "Stored":
        """The same projection, with its first Y rows in a number of blocks that `parts`
        divides.
        """
        D = self.blocks.shape[2]
        limit = max(64, _BLOCK_ENTRIES // D)
        B, R = _equal_blocks(parts, ceil(Y / _LANES), ceil(limit / _LANES))
        R *= _LANES
        if self.blocks.shape == (B, R, D):
            return self
        rows = jnp.pad(self.blocks.reshape(-1, D)[:Y], ((0, B * R - Y), (0, 0)))
        return type(self)(rows.reshape(B, R, D))

    def operator(self, block: Any) -> Operator:
        """Functions that multiply by the block and by its transpose."""
        return _rows_operator(block)


class Orthogonal(Stored):
    """Projection whose rows are orthogonal within blocks of D; stored like `Stored`."""


class Regenerated(_Rows):
    """Projection with Gaussian rows that are drawn again from the seed at every use, in
    O(Y + D) memory, as Algorithm 1 requires [D-alg1].
    """

    key: Array
    blocks: UInt[Array, " B"]
    D: int = eqx.field(static=True)
    rows: int = eqx.field(static=True)

    def divided(self, parts: int, Y: int) -> "Regenerated":
        """The same draws, in a number of blocks that `parts` divides."""
        B, _ = _equal_blocks(parts, len(self.blocks), 1)
        ids = jnp.arange(B, dtype=jnp.uint32)
        return Regenerated(self.key, ids, self.D, self.rows)

    def operator(self, block: Any) -> Operator:
        """Functions that multiply by the block and by its transpose."""
        return _rows_operator(
            jax.random.normal(
                jax.random.fold_in(self.key, block), (self.rows, self.D), jnp.float32
            )
        )


class Hadamard(Module):
    """Transforms S·H·D₃·H·D₂·H·D₁ with random signs D and row norms S ~ chi(P): O(Y +
    D) memory, O(Y log D) time.

    The first round H·D₁ is the same for all blocks and is computed once. It is a
    rotation that spreads a state over all entries, and a rotation of the states does
    not change the distribution of estimates with Gaussian rows. A block contains G
    transforms, so that its products are large even for small P. D is padded to a power
    of two P ≥ 64. H is the Walsh–Hadamard matrix in Sylvester order.
    """

    first: Float[Array, " P"]  # the signs D₁
    # signs D₂ and D₃, norms; G transforms side by side
    blocks: tuple[Float[Array, "B 2 G P"], Float[Array, "B G P"]]
    D: int = eqx.field(static=True)

    @property
    def rows(self) -> int:
        """Rows of a block."""
        return self.blocks[1].shape[-2] * self.blocks[1].shape[-1]

    def divided(self, parts: int, Y: int) -> "Hadamard":
        """The same transforms, in blocks that `parts` divides."""
        signs, norms = self.blocks
        P = norms.shape[-1]
        transforms = ceil(Y / P)
        B, G = _equal_blocks(parts, transforms, max(1, _HADAMARD_ENTRIES // P**2))
        if norms.shape == (B, G, P):
            return self
        pad = B * G - transforms
        pairs = signs.swapaxes(1, 2).reshape(-1, 2, P)[:transforms]
        pairs = jnp.pad(pairs, ((0, pad), (0, 0), (0, 0))).reshape(B, G, 2, P)
        norms = jnp.pad(norms.reshape(-1, P)[:transforms], ((0, pad), (0, 0)))
        return Hadamard(
            self.first, (pairs.swapaxes(1, 2), norms.reshape(B, G, P)), self.D
        )

    @property
    def _shape(self) -> tuple[int, int, int]:
        G, P = self.blocks[1].shape[-2:]
        a = 2 ** (P.bit_length() // 2)
        return G, a, P // a

    def arrange(self, numbers: Float[Array, "... R"]) -> Float[Array, "... a G 1 b"]:
        """Array with one number per row of Ω, in the order of the projections."""
        G, a, b = self._shape
        return numbers.reshape(*numbers.shape[:-1], G, a, b).swapaxes(-3, -2)[
            ..., None, :
        ]

    def flatten(self, h: Float[Array, "a G N b"]) -> Float[Array, "N R"]:
        """Projections with their rows in one axis."""
        return h.transpose(2, 1, 0, 3).reshape(h.shape[2], self.rows)

    def first_round(self, z: Float[Array, "N D"]) -> Float[Array, "a N b"]:
        """First round H·D₁z of the transform, spread over all P entries."""
        _, a, b = self._shape
        x = self.first.astype(z.dtype)[None] * jnp.pad(z, ((0, 0), (0, a * b - self.D)))
        return walsh_hadamard(x.reshape(-1, a, b).swapaxes(0, 1))

    def first_round_transposed(self, x: Float[Array, "a N b"]) -> Float[Array, "N D"]:
        """The transpose of `first_round`."""
        z = (
            walsh_hadamard(x)
            .swapaxes(0, 1)
            .reshape(x.shape[1], x.shape[0] * x.shape[2])
        )
        return (self.first.astype(x.dtype)[None] * z)[:, : self.D]

    def operator(self, block: Any) -> Operator:
        """Functions that multiply by the later rounds of the block and by their
        transpose.
        """
        G, a, b = self._shape
        signs, norms = block
        signs_2, signs_3 = self.arrange(signs.reshape(2, -1))
        scale = self.arrange((a * b) ** -1.5 * norms.ravel())

        def transform(x: Array) -> Array:  # of G·N rows
            return walsh_hadamard(x.reshape(a, -1, b)).reshape(a, G, -1, b)

        def forward(x: Array) -> Array:
            x = transform(signs_2.astype(x.dtype) * x[:, None])
            return scale.astype(x.dtype) * transform(signs_3.astype(x.dtype) * x)

        def adjoint(r: Array) -> Array:
            x = signs_3.astype(r.dtype) * transform(scale.astype(r.dtype) * r)
            return (signs_2.astype(r.dtype) * transform(x)).sum(1)

        return forward, adjoint


def walsh_hadamard(x: Float[Array, "a N b"]) -> Float[Array, "a N b"]:
    """Unnormalised Walsh–Hadamard transform of N rows of length P = ab, powers of two,
    Sylvester (natural) order.

    H_ab = H_a ⊗ H_b, so the transform of a row reshaped to a matrix X (a, b) is H_a X
    H_b. These two small dense products were faster than the O(P log P) butterfly on
    every processor we measured. With the queries between the two axes, both are plain
    matrix products without a transposition.
    """
    a, N, b = x.shape
    y = _matmul(x.reshape(a * N, b), _hadamard_matrix(b).astype(x.dtype))
    return _matmul(_hadamard_matrix(a).astype(x.dtype), y.reshape(a, N * b)).reshape(
        a, N, b
    )


def _hadamard_matrix(n: int) -> Array:
    H = np.ones((1, 1), np.float32)
    while len(H) < n:
        H = np.block([[H, H], [H, -H]])
    return jnp.asarray(H)


def _layout(D: int, Y: int, entries: int) -> tuple[int, int]:
    rows = min(Y, max(64, entries // D))
    return ceil(Y / rows), rows


def _equal_blocks(parts: int, units: int, limit: int) -> tuple[int, int]:
    """Number of blocks, which the parts divide, and units in each, at most `limit`.

    From 512 units on, the layout is for 64 parts, so that saved arrays have the same
    shapes for every number of devices that is a power of 2 up to 64.
    """
    if _PARTS % parts == 0 and units >= 8 * _PARTS:
        parts = _PARTS
    units_per_part = ceil(units / parts)
    blocks = ceil(units_per_part / limit)
    return parts * blocks, ceil(units_per_part / blocks)


def _row_blocks(omega: Float[Array, "Y D"]) -> Float[Array, "B R D"]:
    Y, D = omega.shape
    B, R = _layout(D, Y, _BLOCK_ENTRIES)
    return jnp.pad(omega, ((0, B * R - Y), (0, 0))).reshape(B, R, D)


def _gaussian(key: Array, D: int, Y: int, regenerate: bool) -> Stored | Regenerated:
    """Independent rows ω ~ N(0, I_D): the same numbers whether they are stored or
    regenerated.
    """
    B, R = _layout(D, Y, _DRAWN_ENTRIES)
    regenerated = Regenerated(key, jnp.arange(B, dtype=jnp.uint32), D, R)
    if regenerate:
        return regenerated
    draw = jax.vmap(
        lambda b: jax.random.normal(jax.random.fold_in(key, b), (R, D), jnp.float32)
    )
    return Stored(_row_blocks(draw(regenerated.blocks).reshape(B * R, D)[:Y]))


def _orthogonal(key: Array, D: int, Y: int, regenerate: bool) -> Orthogonal:
    """Rows orthogonal within blocks of D, with chi(D) norms, so that each alone is N(0,
    I) [D-sharp8].
    """

    def block(k: Array) -> Array:
        k_direction, k_norm = jax.random.split(k)
        q, r = jnp.linalg.qr(jax.random.normal(k_direction, (D, D), jnp.float32))
        norms = jnp.linalg.norm(jax.random.normal(k_norm, (D, D), jnp.float32), axis=1)
        # the signs make the distribution of Q uniform
        return norms[:, None] * (q * jnp.sign(jnp.diagonal(r))[None]).T

    keys = jax.random.split(key, ceil(Y / D))
    return Orthogonal(_row_blocks(jax.lax.map(block, keys).reshape(-1, D)[:Y]))


def _hadamard(key: Array, D: int, Y: int, regenerate: bool) -> Hadamard:
    """Structured rows: three sign flips and Hadamard transforms, the first for all;
    only signs and norms are stored.
    """
    P = max(64, 2 ** (D - 1).bit_length())
    B = ceil(Y / P)
    k_signs, k_norms = jax.random.split(key)
    signs = 1 - 2 * (jax.random.bits(k_signs, (1 + 2 * B, P), jnp.uint32) >> 31).astype(
        jnp.float32
    )
    z = jax.random.normal(k_norms, (B, P), jnp.float32)
    # Wilson and Hilferty's cube approximates chi²(P). The relative error of its mean is
    # (2/9P)³, at most 4e-8 here.
    a = 2 / (9 * P)
    norms = jnp.sqrt(P * jnp.maximum(1 - a + z * a**0.5, 0) ** 3)
    groups = ceil(B / max(1, _HADAMARD_ENTRIES // P**2))
    G = ceil(B / groups)
    pad = groups * G - B  # empty transforms, past Y
    pairs = (
        jnp.pad(signs[1:], ((0, 2 * pad), (0, 0)))
        .reshape(groups, G, 2, P)
        .swapaxes(1, 2)
    )
    return Hadamard(
        signs[0], (pairs, jnp.pad(norms, ((0, pad), (0, 0))).reshape(groups, G, P)), D
    )


Projection = Stored | Regenerated | Hadamard
PROJECTIONS: dict[str, Callable[[Array, int, int, bool], Projection]] = {
    "gaussian": _gaussian,
    "orthogonal": _orthogonal,
    "hadamard": _hadamard,
}
