"""Random features φ with E⟨φ(z), φ(z')⟩ = exp(−‖z − z'‖²/2), evaluated in blocks of frequencies [D-eq8]."""

from dataclasses import dataclass
from functools import partial
from math import ceil, pi
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import check, choice, integer, random_key, states
from rankone._pytree import pytree
from rankone.memory.bases import BASES, Basis, value
from rankone.memory.projections import PROJECTIONS, Hadamard, Regenerated, Stored

__all__ = ["RandomFeatures"]


@pytree(data=["projection", "phase"], meta=["D", "Y", "basis"])
@dataclass(frozen=True, init=False)
class RandomFeatures:
    r"""A random feature map for the Gaussian kernel [D-eq8].

    $\langle\varphi(z),\varphi(z')\rangle\approx e^{-\|z-z'\|^2/2}$, exactly in expectation. With $h=\Omega z$:
    sincos $Y^{-1/2}(\cos h,\sin h)$; cos $\sqrt{2/Y}\cos(h+b)$; exp $Y^{-1/2}e^{h-\|z\|^2}$;
    expexp $(2Y)^{-1/2}(e^{h-\|z\|^2},e^{-h-\|z\|^2})$.

    Args:
        D: Length of the inputs.
        Y: Number of random frequencies; φ has M = 2Y entries for sincos and expexp, Y for cos and exp.
        key: JAX random key. Two maps are compatible only if made from the same key and options.
        basis: "sincos" (lowest variance wherever ⟨z, z'⟩ ≥ 0, D-sharp4), "cos", "exp" or "expexp".
        projection: "gaussian" (independent rows), "orthogonal" (within blocks of D) or "hadamard" (structured:
            O(Y log D) time and O(Y + D) memory; the fast choice from D of a few hundred).
        regenerate: With "gaussian", draw Ω again from the key at every use instead of storing its Y·D numbers.

    Raises:
        ValueError: If D or Y is not a positive integer, a name is unknown, or only "gaussian" could regenerate.
    """

    D: int
    Y: int
    basis: str
    projection: Stored | Regenerated | Hadamard
    phase: Float[Array, " Y"]

    def __init__(
        self,
        D: int,
        Y: int,
        *,
        key: Array,
        basis: str = "sincos",
        projection: str = "gaussian",
        regenerate: bool = False,
    ):
        D, Y = integer("D", D), integer("Y", Y)
        choice("basis", basis, BASES)
        choice("projection", projection, PROJECTIONS)
        check(
            not regenerate or projection == "gaussian", "regenerate", regenerate, "False unless projection='gaussian'"
        )
        random_key("key", key)
        k_projection, k_phase = jax.random.split(key)
        set_field = partial(object.__setattr__, self)
        set_field("D", D), set_field("Y", Y), set_field("basis", basis)
        set_field("projection", PROJECTIONS[projection](k_projection, D, Y, regenerate))
        phase = jnp.zeros(0, jnp.float32)
        if basis == "cos":
            phase = _drawn_phase(k_phase, Y)
        set_field("phase", phase)

    @property
    def M(self) -> int:
        """Number of features: the length of φ and of a memory T."""
        return self._basis.tables * self.Y

    @property
    def omega(self) -> Float[Array, "Y D"]:
        """The frequencies as a dense matrix, whatever the projection. For inspection: it has Y·D entries."""
        return _omega(self)

    @property
    def _basis(self) -> Basis:
        return BASES[self.basis]

    def phi(self, z: ArrayLike) -> Float[Array, "... M"]:
        """The features of z (..., D) -> (..., M); a kernel of inverse temperature β takes z = √β x [D-prop2]."""
        return _phi(self, states("z", z, self.D))

    def project(self, z: ArrayLike) -> Float[Array, "... Y"]:
        """The projections Ωz (..., D) -> (..., Y)."""
        return _project(self, states("z", z, self.D))

    def read(self, z: Float[Array, "N D"], T: Float[Array, " M"]) -> tuple[Float[Array, " N"], Float[Array, "N D"]]:
        """S = ⟨φ(z), T⟩ and ∂S/∂z in one pass over the frequencies, without forming φ or its Jacobian [D-eq10]."""
        basis, z2, x = self._basis, (z * z).sum(-1, keepdims=True), self.projection.enter(z)

        def block(inputs: Any) -> tuple[Array, Array]:
            entry, phase, table = inputs
            forward, adjoint = self.projection.operator(entry)
            f = basis.features(forward(x), z2, self._lay(phase))
            t = tuple(self.projection.lay(table))
            return value(basis, f, t), adjoint(basis.slopes(f, t))

        inputs = (self.projection.blocks, self._phases(z.dtype), self._in_blocks(T))
        S, gradient = _sum_blocks(block, inputs)
        scale = (basis.scale / self.Y) ** 0.5
        S, gradient = scale * S, scale * self.projection.leave(gradient)
        return S, gradient - 2 * z * S[:, None] if basis.positive else gradient

    def encode(self, Z: Float[Array, "K D"], weights: Float[Array, " K"]) -> Float[Array, " M"]:
        """Σ_μ w_μ φ(z_μ), a few patterns at a time: O(Y + D) memory beyond the patterns [D-prop3]."""
        chunk = ceil(len(Z) / ceil(len(Z) / 16)) if len(Z) else 1
        pad = -len(Z) % chunk
        Z = jnp.pad(Z, ((0, pad), (0, 0))).reshape(-1, chunk, self.D)
        weights = jnp.pad(weights, (0, pad)).reshape(-1, chunk)

        def add(T: Array, inputs: tuple[Array, Array]) -> tuple[Array, None]:
            z, w = inputs
            return T + self._features(z, lambda f: w @ f), None

        return jax.lax.scan(add, jnp.zeros(self.M, Z.dtype), (Z, weights))[0]

    def _features(self, z: Float[Array, "N D"], reduce: Any = lambda f: f) -> Array:
        """φ(z), each block's features passed through `reduce` (over the queries) before blocks are joined."""
        basis, z2, x = self._basis, (z * z).sum(-1, keepdims=True), self.projection.enter(z)

        def block(inputs: Any) -> Array:
            entry, phase = inputs
            forward, _ = self.projection.operator(entry)
            features = basis.features(forward(x), z2, self._lay(phase))[: basis.tables]
            return jnp.stack([reduce(self.projection.join(f)) for f in features])

        stacked = _map_blocks(block, (self.projection.blocks, self._phases(z.dtype)))  # (B, tables, ..., R)
        joined = jnp.moveaxis(stacked, 0, -2)  # (tables, ..., B, R)
        flat = joined.reshape(*joined.shape[:-2], joined.shape[-2] * joined.shape[-1])[..., : self.Y]
        return (basis.scale / self.Y) ** 0.5 * jnp.concatenate(list(flat), axis=-1)

    def _in_blocks(self, T: Float[Array, " M"]) -> Float[Array, "B tables R"]:
        R, tables = self.projection.rows, self._basis.tables
        padded = jnp.pad(T.reshape(tables, self.Y), ((0, 0), (0, -self.Y % R)))
        return padded.reshape(tables, -1, R).swapaxes(0, 1)

    def _lay(self, phase: Float[Array, " R"]) -> Array:
        return self.projection.lay(phase) if self.basis == "cos" else phase

    def _phases(self, dtype: Any) -> Float[Array, "B R"]:
        R = self.projection.rows
        if self.basis != "cos":  # an empty row a block, so that every basis scans over the same structure
            return jnp.zeros((-(-self.Y // R), 0), dtype)
        return jnp.pad(self.phase.astype(dtype), (0, -self.Y % R)).reshape(-1, R)


@jax.jit
def _phi(features: RandomFeatures, z: Array) -> Array:
    return features._features(z.reshape(-1, features.D)).reshape(*z.shape[:-1], features.M)


@jax.jit
def _project(features: RandomFeatures, z: Array) -> Array:
    flat, projection = z.reshape(-1, features.D), features.projection
    x = projection.enter(flat)
    h = _map_blocks(lambda entry: projection.join(projection.operator(entry)[0](x)), projection.blocks)
    rows = jnp.moveaxis(h, 0, 1).reshape(len(flat), h.shape[0] * h.shape[2])[:, : features.Y]
    return rows.reshape(*z.shape[:-1], features.Y)


@jax.jit
def _omega(features: RandomFeatures) -> Array:
    return _project(features, jnp.eye(features.D)).T


@partial(jax.jit, static_argnames="Y")
def _drawn_phase(key: Array, Y: int) -> Array:
    return 2 * pi * jax.random.uniform(key, (Y,), jnp.float32)


def _map_blocks(function: Any, blocks: Any) -> Any:
    if len(jax.tree.leaves(blocks)[0]) == 1:
        return jax.tree.map(lambda a: a[None], function(jax.tree.map(lambda a: a[0], blocks)))
    return jax.lax.map(function, blocks)


def _sum_blocks(function: Any, blocks: Any) -> Any:
    first, *_ = (jax.tree.map(lambda a: a[0], blocks),)
    if len(jax.tree.leaves(blocks)[0]) == 1:
        return function(first)
    zero = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), jax.eval_shape(function, first))
    return jax.lax.scan(lambda total, b: (jax.tree.map(jnp.add, total, function(b)), None), zero, blocks)[0]
