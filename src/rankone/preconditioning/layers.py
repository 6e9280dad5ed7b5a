r"""Dense layers as callable pytrees: with one matrix W, and reparameterised as W = TUV.

A network is any pytree of such layers, and a function that calls them. A layer takes a batch x (..., n) to (..., m);
with `bias=True` it appends 1 to its input, so that the last column of W is the bias [K-eq0].
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from rankone._checks import array, check, is_traced, numbers
from rankone._pytree import pytree
from rankone.preconditioning.kronecker import Factors, KroneckerPreconditioner, kronecker_preconditioner

__all__ = ["Dense", "Layer", "Reparameterized", "between", "is_layer", "merge", "reparameterize", "trainable"]


@pytree(data=("W",), meta=("bias",))
@dataclass(frozen=True)
class Dense:
    """f(x) = Wx for a batch of rows [K-eq0].

    Attributes:
        W: Weights (m, n); (m, n + 1) with a bias.
        bias: Whether the input gets a 1 appended.
    """

    W: Float[Array, "m n"]
    bias: bool = False

    def __call__(self, x: Float[ArrayLike, "... n"]) -> Float[Array, "... m"]:
        """Outputs (..., m) for inputs (..., n)."""
        return _plain(self, _inputs(x, self.W.shape[1] - self.bias))

    def features(self, x: Float[ArrayLike, "... n"]) -> Float[Array, "... n"]:
        """What the matrix multiplies: x, with 1 appended if there is a bias."""
        return _augment(x, self.bias)


@pytree(data=("T", "U", "V", "W0"), meta=("bias",))
@dataclass(frozen=True)
class Reparameterized:
    r"""The layer f(x) = T(U(Vx)), in which only U is trained [K-eqW].

    Gradient descent on U moves W = TUV by $-\eta\,TT^\top(\partial\mathcal L/\partial W)V^\top V$. The forward pass
    stays factored. T and V are leaves as well, so that an outer loop can learn them; `trainable` masks them otherwise.
    A larger U than needed changes nothing on the path of W [K-unn-over].

    Attributes:
        T: (m, p), fixed.
        U: (p, q), trained.
        V: (q, n), fixed; (q, n + 1) with a bias.
        W0: A fixed part (m, n), or None. W = W0 + TUV starts anywhere even where T or V is rank-deficient [K-unn-init].
        bias: Whether the input gets a 1 appended.

    Raises:
        ValueError: If the shapes do not chain, or an entry is not finite.
    """

    T: Float[Array, "m p"]
    U: Float[Array, "p q"]
    V: Float[Array, "q n"]
    W0: Float[Array, "m n"] | None = None
    bias: bool = False

    def __post_init__(self) -> None:
        for name, shape in (("T", "(m, p)"), ("U", "(p, q)"), ("V", "(q, n)")):
            object.__setattr__(self, name, array(name, getattr(self, name), shape, 2))
        p, q = self.U.shape
        check(self.T.shape[1] == p, "T", f"shape {self.T.shape}", f"(m, {p}), because U is {self.U.shape}")
        check(self.V.shape[0] == q, "V", f"shape {self.V.shape}", f"({q}, n), because U is {self.U.shape}")
        if self.W0 is not None:
            m, n = len(self.T), self.V.shape[1]
            object.__setattr__(self, "W0", array("W0", self.W0, f"({m}, {n})", 2))
            check(self.W0.shape == (m, n), "W0", f"shape {self.W0.shape}", f"({m}, {n}), the shape of TUV")

    @property
    def W(self) -> Float[Array, "m n"]:
        """The matrix that the layer applies: TUV, plus W0 if there is one [K-eqW]."""
        return _multiplied_out(self)

    @property
    def preconditioner(self) -> KroneckerPreconditioner:
        """What gradient descent on U does to W: VᵀV ⊗ TTᵀ [K-eqP]."""
        return kronecker_preconditioner(self.T, self.V)

    def __call__(self, x: Float[ArrayLike, "... n"]) -> Float[Array, "... m"]:
        """Outputs (..., m) for inputs (..., n), through V, then U, then T."""
        return _factored(self, _inputs(x, self.V.shape[1] - self.bias))

    def features(self, x: Float[ArrayLike, "... n"]) -> Float[Array, "... n"]:
        """What the matrix multiplies: x, with 1 appended if there is a bias."""
        return _augment(x, self.bias)

    @classmethod
    def from_weight(
        cls,
        W: ArrayLike,
        T: ArrayLike,
        V: ArrayLike,
        *,
        bias: bool = False,
        anchor: bool = False,
        invertible: bool = False,
        tol: float = 1e-3,
    ) -> "Reparameterized":
        r"""The layer that starts at W: $U_0=T^+WV^+$, exact iff $TT^+WV^+V=W$ [K-unn-init].

        Args:
            W: Weights to start from (m, n).
            T: (m, p).
            V: (q, n).
            bias: Whether the layer appends 1 to its input.
            anchor: Keep W as the fixed part W0 and start at U = 0; always possible, and the same preconditioned steps.
            invertible: T and V are square and invertible: solve with them, which is many times cheaper.
            tol: Largest relative residual of TU₀V − W.

        Raises:
            ValueError: If W cannot be reached: it leaves the range of T or the row space of V.
        """
        W, T, V = array("W", W, "(m, n)", 2), array("T", T, "(m, p)", 2), array("V", V, "(q, n)", 2)
        fits = W.shape == (len(T), V.shape[1])
        check(fits, "W", f"shape {W.shape}", f"({len(T)}, {V.shape[1]}), because T is {T.shape} and V is {V.shape}")
        if anchor:
            return cls(T, jnp.zeros((T.shape[1], len(V)), W.dtype), V, W, bias)
        layer = cls(T, between(W, T, V, invertible=invertible), V, None, bias)
        if not is_traced(W, T, V):
            residual = float(_residual(layer.W, W))
            wanted = "in the range of T and the row space of V; use anchor=True to keep the rest fixed"
            check(residual <= tol, "W", f"relative residual {residual:.2g} after projection", wanted)
        return layer


Layer = Dense | Reparameterized


@partial(jax.jit, static_argnames="invertible")
def between(W: Array, T: Array, V: Array, *, invertible: bool = False) -> Float[Array, "p q"]:
    """T⁺ W V⁺: the smallest U whose TUV comes nearest to W [K-unn-init]."""
    if not invertible:
        return jnp.linalg.pinv(T) @ W @ jnp.linalg.pinv(V)
    return jnp.linalg.solve(V.T, jnp.linalg.solve(T, W).T).T


def _inputs(x: ArrayLike, n: int) -> Array:
    x = numbers("x", x)
    check(x.ndim >= 1 and x.shape[-1] == n, "x", f"shape {x.shape}", f"of shape (..., {n}): one input a row")
    return x


@jax.jit
def _plain(layer: Dense, x: Array) -> Array:
    return layer.features(x) @ layer.W.T


@jax.jit
def _factored(layer: Reparameterized, x: Array) -> Array:
    x = layer.features(x)
    y = ((x @ layer.V.T) @ layer.U.T) @ layer.T.T
    return y if layer.W0 is None else y + x @ layer.W0.T


@jax.jit
def _multiplied_out(layer: Reparameterized) -> Array:
    W = layer.T @ layer.U @ layer.V
    return W if layer.W0 is None else layer.W0 + W


@jax.jit
def _residual(reached: Array, W: Array) -> Array:
    return jnp.linalg.norm(reached - W) / jnp.maximum(jnp.linalg.norm(W), 1e-30)


@partial(jax.jit, static_argnames="bias")
def _augment(x: ArrayLike, bias: bool) -> Float[Array, "... n"]:
    x = jnp.asarray(x)
    return jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1), x.dtype)], -1) if bias else x


def is_layer(node: Any) -> bool:
    """Whether a node of a network is one of its layers."""
    return isinstance(node, Dense | Reparameterized)


def reparameterize(network: Any, factors: Any, *, anchor: bool = False, invertible: bool = False) -> Any:
    """The same network with every layer that has factors written as TUV, starting at the same weights.

    Args:
        network: Pytree of layers.
        factors: The same pytree with `Factors`, or None for a layer to leave alone, in the place of each layer.
        anchor: As in `Reparameterized.from_weight`, like the next.
        invertible: Whether all factors are square and invertible.
    """

    def one(layer: Layer, pair: Factors | None) -> Layer:
        if pair is None:
            return layer
        return Reparameterized.from_weight(layer.W, *pair, bias=layer.bias, anchor=anchor, invertible=invertible)

    return jax.tree.map(one, network, factors, is_leaf=is_layer)


def merge(network: Any) -> Any:
    """The network with every layer multiplied out to one matrix W."""
    return jax.tree.map(lambda layer: Dense(layer.W, layer.bias), network, is_leaf=is_layer)


def trainable(network: Any) -> Any:
    """True for the W of a dense layer and the U of a reparameterised one, False for T, V and W0: a mask for optax."""

    def mark(path: tuple, _: Any) -> bool:
        last = path[-1] if path else None
        return not (isinstance(last, jax.tree_util.GetAttrKey) and last.name in ("T", "V", "W0"))

    return jax.tree_util.tree_map_with_path(mark, network)
