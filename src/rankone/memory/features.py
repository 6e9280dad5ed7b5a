"""Random features φ with E⟨φ(z), φ(z')⟩ = exp(−‖z − z'‖²/2), evaluated in blocks of
frequencies [D-eq8].
"""

from collections.abc import Callable
from functools import partial
from math import ceil, pi
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rankone._checks import (
    Numbers,
    boolean,
    brief,
    choice,
    integer,
    numbers,
    random_key,
    states,
)
from rankone._module import Module
from rankone.memory.bases import BASES, Basis, value
from rankone.memory.packed import Packed, in_blocks
from rankone.memory.projections import PROJECTIONS, Projection
from rankone.precision import at_least_single

__all__ = ["RandomFeatures"]


class RandomFeatures(Module):
    """A random feature map for the Gaussian kernel: ⟨φ(z), φ(z')⟩ ≈ exp(−‖z − z'‖²/2),
    exactly in expectation [D-eq8].

    With h = Ωz the bases are

        sincos   Y^(−1/2) (cos h, sin h)
        cos      (2/Y)^(1/2) cos(h + b)
        exp      Y^(−1/2) exp(h − ‖z‖²)
        expexp   (2Y)^(−1/2) (exp(h − ‖z‖²), exp(−h − ‖z‖²))

    In `rankone.writes` it is a kernel whose geometry is the identity: `inner`,
    `features` and `dual`, with inputs in columns.

    Args:
        D: Length of the inputs.
        Y: Number of random frequencies; φ has M = 2Y entries for sincos and expexp, Y
            for cos and exp.
        key: JAX random key. Two maps are compatible only if made from the same key and
            options.
        basis: "sincos" (lowest variance wherever ⟨z, z'⟩ ≥ 0, D-sharp4), "cos", "exp"
            or "expexp".
        projection: "gaussian" (independent rows), "orthogonal" (within blocks of D) or
            "hadamard" (structured: O(Y log D) time and O(Y + D) memory; the fast choice
            from D of a few hundred).
        regenerate: With "gaussian", draw Ω again from the key at every use instead of
            storing its Y·D numbers.
        frequencies: What was drawn, instead of a key; `dataclasses.replace` passes it
            on.
        phase: Likewise, the b of "cos"; None for the other bases.

    Raises:
        ValueError: If D or Y is not a positive integer, a name is unknown, or only
            "gaussian" could regenerate.

    >>> import jax, rankone as ro
    >>> features = ro.RandomFeatures(3, 100_000, key=jax.random.key(0))
    >>> features.frequencies
    Stored(blocks=f32[1,100000,3])
    >>> near, far = features.phi([[0.1, 0.2, 0.3], [1.1, 0.2, 0.3]])
    >>> round((near @ far).item(), 2)  # of inputs at a distance of 1: exp(−1/2) = 0.61
    0.61
    """

    D: int = eqx.field(static=True)
    Y: int = eqx.field(static=True)
    basis: str = eqx.field(static=True)
    projection: str = eqx.field(static=True)
    regenerate: bool = eqx.field(static=True, repr=False)
    frequencies: Projection
    phase: Float[Array, " phases"] | None = eqx.field(repr=False)

    def __init__(
        self,
        D: int,
        Y: int,
        *,
        key: Array | None = None,
        basis: str = "sincos",
        projection: str = "gaussian",
        regenerate: bool = False,
        frequencies: Projection | None = None,
        phase: Array | None = None,
    ) -> None:
        choice("basis", basis, BASES)
        choice("projection", projection, PROJECTIONS)
        regenerate = boolean("regenerate", regenerate)
        possible = not regenerate or projection == "gaussian"
        if not possible:
            raise ValueError(
                f"regenerate: got {brief(regenerate)}; "
                "it must be False unless projection='gaussian'."
            )
        if not (frequencies is None or isinstance(frequencies, Projection)):
            raise ValueError(
                f"frequencies: got {brief(frequencies)}; "
                "it must be those of other features, or left out."
            )
        if phase is not None and numbers("phase", phase).size == 0:
            phase = None  # some formats of checkpoints refuse an array without entries
        D = integer("D", D)
        Y = integer("Y", Y)
        if key is not None:
            random_key("key", key)
            frequencies, phase = _drawn(key, D, Y, basis, projection, regenerate)
        elif frequencies is None or not _same_kind(
            (frequencies, phase), D, Y, basis, projection, regenerate
        ):
            raise ValueError(
                "key: got None; it must be a JAX random key, to draw frequencies of "
                "this size and kind."
            )
        self.D = D
        self.Y = Y
        self.basis = basis
        self.projection = projection
        self.regenerate = regenerate
        self.frequencies = frequencies
        self.phase = phase

    @property
    def M(self) -> int:
        """Number of features: the length of φ and of a memory T."""
        return self._basis.tables * self.Y

    @property
    def omega(self) -> Float[Array, "Y D"]:
        """The frequencies as a dense matrix, whatever the projection. For inspection:
        it has Y·D entries.
        """
        return _omega(self)

    @property
    def _basis(self) -> Basis:
        return BASES[self.basis]

    def phi(self, z: Numbers) -> Float[Array, "... M"]:
        """The features of z (..., D) -> (..., M); a kernel of inverse temperature β
        takes z = √β x [D-prop2].
        """
        return _phi(self, at_least_single(states("z", z, self.D)))

    def inner(self, a: Numbers, b: Numbers) -> Float[Array, "n m"]:
        """⟨φ(a_i), φ(b_j)⟩ of the columns of a (D, n) and b (D, m)."""
        return _inner(self, self._columns("a", a), self._columns("b", b))

    def features(self, a: Numbers) -> Float[Array, "M n"]:
        """φ of the columns of a (D, n), a column each."""
        return _phi(self, self._columns("a", a)).T

    def dual(self, a: Numbers) -> Float[Array, "M n"]:
        """`features`: the geometry between features is the identity."""
        return self.features(a)

    def _rows(self, name: str, z: Numbers) -> Float[Array, "N D"]:
        z = states(name, z, self.D)
        if z.ndim != 2:
            raise ValueError(
                f"{name}: got shape {z.shape}; "
                f"it must be (N, {self.D}): one input per row."
            )
        return z

    def _columns(self, name: str, a: Numbers) -> Float[Array, "n D"]:
        a = numbers(name, a)
        if a.ndim != 2:
            raise ValueError(
                f"{name}: got shape {a.shape}; "
                f"it must be ({self.D}, n): one input per column."
            )
        return at_least_single(states(name, a.T, self.D))

    def project(self, z: Numbers) -> Float[Array, "... Y"]:
        """The projections Ωz (..., D) -> (..., Y)."""
        return _project(self, at_least_single(states("z", z, self.D)))

    def read(
        self, z: Float[Array, "N D"], T: Float[Array, " M"] | Packed
    ) -> tuple[Float[Array, " N"], Float[Array, "N D"]]:
        """S = ⟨φ(z), T⟩ and ∂S/∂z in one pass over the frequencies, without forming φ
        or its Jacobian [D-eq10].
        """
        z = self._rows("z", z)
        T = T if isinstance(T, Packed) else numbers("T", T)
        if T.shape != (self.M,):
            raise ValueError(
                f"T: got shape {T.shape}; "
                f"it must be of shape ({self.M},): a number for each feature."
            )
        basis = self._basis
        z2 = (z * z).sum(-1, keepdims=True)
        x = self.frequencies.first_round(z)
        tables, entries = in_blocks(T, basis.tables, self.frequencies.rows)

        def block(inputs: Any) -> tuple[Array, Array]:
            entry, phase, table = inputs
            forward, adjoint = self.frequencies.operator(entry)
            f = self._of(forward(x), z2, phase)
            t = tuple(
                jnp.broadcast_to(row, f[0].shape)
                for row in self.frequencies.arrange(entries(table))
            )
            return value(basis, f, t), adjoint(basis.slopes(f, t))

        inputs = (self.frequencies.blocks, self._phases(z.dtype), tables)
        S, gradient = _sum_blocks(block, inputs)
        scale = (basis.scale / self.Y) ** 0.5
        S = scale * S
        gradient = scale * self.frequencies.first_round_transposed(gradient)
        return S, gradient - 2 * z * S[:, None] if basis.positive else gradient

    def encode(
        self, Z: Float[Array, "K D"], weights: Float[Array, " K"]
    ) -> Float[Array, " M"]:
        """Σ_μ w_μ φ(z_μ), a few patterns at a time: O(Y + D) memory beyond the patterns
        [D-prop3].
        """
        Z = self._rows("Z", Z)
        weights = numbers("weights", weights)
        if weights.shape != Z.shape[:1]:
            raise ValueError(
                f"weights: got shape {weights.shape}; "
                f"it must be of shape {Z.shape[:1]}: one per row."
            )
        chunk = ceil(len(Z) / ceil(len(Z) / 16)) if len(Z) else 1
        pad = -len(Z) % chunk
        Z = jnp.pad(Z, ((0, pad), (0, 0))).reshape(-1, chunk, self.D)
        weights = jnp.pad(weights, (0, pad)).reshape(-1, chunk)

        def add(T: Array, inputs: tuple[Array, Array]) -> tuple[Array, None]:
            z, w = inputs
            return T + self._features(z, lambda f: w @ f), None

        return jax.lax.scan(add, jnp.zeros(self.M, Z.dtype), (Z, weights))[0]

    def _features(self, z: Float[Array, "N D"], reduce: Any = lambda f: f) -> Array:
        """φ(z), each block's features passed through `reduce` (over the queries) before
        blocks are joined.
        """
        basis = self._basis
        z2 = (z * z).sum(-1, keepdims=True)
        x = self.frequencies.first_round(z)

        def block(inputs: Any) -> Array:
            entry, phase = inputs
            forward, _ = self.frequencies.operator(entry)
            features = self._of(forward(x), z2, phase)[: basis.tables]
            return jnp.stack([reduce(self.frequencies.flatten(f)) for f in features])

        # (B, tables, ..., R)
        stacked = _map_blocks(block, (self.frequencies.blocks, self._phases(z.dtype)))
        joined = jnp.moveaxis(stacked, 0, -2)  # (tables, ..., B, R)
        flat = joined.reshape(*joined.shape[:-2], joined.shape[-2] * joined.shape[-1])[
            ..., : self.Y
        ]
        return (basis.scale / self.Y) ** 0.5 * jnp.concatenate(list(flat), axis=-1)

    def _of(self, h: Array, z2: Array, phase: Float[Array, " R"]) -> tuple[Array, ...]:
        """Features of a block's projections."""
        phase = (
            jnp.broadcast_to(self.frequencies.arrange(phase), h.shape)
            if self.basis == "cos"
            else phase
        )
        return self._basis.features(
            h, jnp.expand_dims(z2, range(h.ndim - z2.ndim)), phase
        )

    def _phases(self, dtype: Any) -> Float[Array, "B R"]:
        R = self.frequencies.rows
        # an empty row a block, so that every basis scans over the same structure
        if self.basis != "cos":
            return jnp.zeros((-(-self.Y // R), 0), dtype)
        assert self.phase is not None
        return jnp.pad(self.phase.astype(dtype), (0, -self.Y % R)).reshape(-1, R)


@partial(jax.jit, static_argnames=("D", "Y", "basis", "projection", "regenerate"))
def _drawn(
    key: Array, D: int, Y: int, basis: str, projection: str, regenerate: bool
) -> tuple[Projection, Array | None]:
    """The frequencies, and the phases that "cos" alone has."""
    k_projection, k_phase = jax.random.split(key)
    frequencies = PROJECTIONS[projection](k_projection, D, Y, regenerate)
    if basis != "cos":
        return frequencies, None
    return frequencies, 2 * pi * jax.random.uniform(k_phase, (Y,), jnp.float32)


def _same_kind(
    given: tuple[Projection, Array | None],
    D: int,
    Y: int,
    basis: str,
    projection: str,
    regenerate: bool,
) -> bool:
    """True if frequencies and phase have the structure and shapes of drawn ones, so that
    `dataclasses.replace` may keep them.
    """
    key = getattr(given[0], "key", jax.random.key(0))
    expected = jax.eval_shape(
        lambda key: _drawn(key, D, Y, basis, projection, regenerate), key
    )
    same_structure: bool = jax.tree.structure(expected) == jax.tree.structure(given)  # type: ignore[operator]
    shapes = [leaf.shape for leaf in jax.tree.leaves(expected)]
    return same_structure and shapes == list(map(jnp.shape, jax.tree.leaves(given)))


@jax.jit
def _phi(features: RandomFeatures, z: Array) -> Array:
    return features._features(z.reshape(-1, features.D)).reshape(
        *z.shape[:-1], features.M
    )


@jax.jit
def _project(features: RandomFeatures, z: Array) -> Array:
    flat = z.reshape(-1, features.D)
    projection = features.frequencies
    x = projection.first_round(flat)
    h = _map_blocks(
        lambda entry: projection.flatten(projection.operator(entry)[0](x)),
        projection.blocks,
    )
    rows = jnp.moveaxis(h, 0, 1).reshape(len(flat), h.shape[0] * h.shape[2])[
        :, : features.Y
    ]
    return rows.reshape(*z.shape[:-1], features.Y)


@jax.jit
def _omega(features: RandomFeatures) -> Array:
    return _project(features, jnp.eye(features.D)).T


@jax.jit
def _inner(features: RandomFeatures, a: Array, b: Array) -> Array:
    return jnp.matmul(_phi(features, a), _phi(features, b).T, precision="highest")


def _map_blocks(function: Callable[[Any], Any], blocks: Any) -> Any:
    if len(jax.tree.leaves(blocks)[0]) == 1:
        return jax.tree.map(lambda a: a[None], function(_first(blocks)))
    return jax.lax.map(function, blocks)


def _sum_blocks(function: Callable[[Any], Any], blocks: Any) -> Any:
    if len(jax.tree.leaves(blocks)[0]) == 1:
        return function(_first(blocks))
    shapes = jax.eval_shape(function, _first(blocks))
    zero = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)
    return jax.lax.scan(
        lambda total, b: (jax.tree.map(jnp.add, total, function(b)), None), zero, blocks
    )[0]


def _first(blocks: Any) -> Any:
    return jax.tree.map(lambda a: a[0], blocks)
