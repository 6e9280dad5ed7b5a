r"""Layers reparameterised as W = TUV. A network is any pytree of these layers and of
the dense layers of `rankone.nn`.

A layer with a bias appends a 1 to its input, so the bias is the last column of W
[K-eq0]. For a dense layer this W is the `augmented` matrix [W b]. TUV factorises it
like any other matrix.
"""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Real

from rankone._annotated import checked
from rankone._checks import array, boolean, brief, host, inputs, readable
from rankone._module import Module, assembled
from rankone.nn import Dense, append_one
from rankone.precision import full_precision
from rankone.preconditioning.kronecker import (
    Factors,
    KroneckerPreconditioner,
    kronecker_preconditioner,
)

__all__ = [
    "Layer",
    "Reparameterized",
    "beside",
    "between",
    "is_layer",
    "merge",
    "reparameterize",
    "trainable",
]


class Reparameterized(Module):
    """The layer f(x) = T(U(Vx)), in which only U is trained [K-eqW].

    Gradient descent on U moves W = TUV by −η TTᵀ(∂L/∂W)VᵀV. The forward pass applies V,
    then U, then T, without forming W. T and V are leaves of the pytree as well, so that
    an outer loop can learn them; to train U alone, use the mask of `trainable`. A
    larger U with the same TTᵀ and VᵀV leaves the path of W as it is [K-unn-over].

    Attributes:
        T: (m, p), fixed.
        U: (p, q), trained.
        V: (q, n), fixed; (q, n + 1) with a bias.
        W0: Fixed part (m, n), or (m, n + 1) with a bias; or None. With it, W = W0 + TUV
            can start at any matrix, even if T or V is rank-deficient [K-unn-init].
        bias: True if a 1 is appended to the input.

    Raises:
        ValueError: If the shapes do not fit together, or an entry is not finite.

    >>> import numpy as np, rankone as ro
    >>> U = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    >>> layer = ro.Reparameterized(T=np.eye(2), U=U, V=np.eye(3))
    >>> print(layer(np.array([5.0, 6.0, 7.0])))
    [ 5. 12.]
    >>> layer
    Reparameterized(T=f32[2,2], U=f32[2,3], V=f32[3,3], W0=None, bias=False)
    """

    T: Float[Array, "m p"]
    U: Float[Array, "p q"]
    V: Float[Array, "q n"]
    W0: Float[Array, "m n"] | None = None
    bias: bool = eqx.field(static=True, default=False)

    def __init__(
        self,
        T: ArrayLike,
        U: ArrayLike,
        V: ArrayLike,
        W0: ArrayLike | None = None,
        bias: bool = False,
    ) -> None:
        T = array("T", T, "(m, p)", 2)
        U = array("U", U, "(p, q)", 2)
        V = array("V", V, "(q, n)", 2)
        p, q = U.shape
        if T.shape[1] != p:
            raise ValueError(
                f"T: got shape {T.shape}; it must be (m, {p}), because U is {U.shape}."
            )
        if V.shape[0] != q:
            raise ValueError(
                f"V: got shape {V.shape}; it must be ({q}, n), because U is {U.shape}."
            )
        if W0 is not None:
            shape = T.shape[0], V.shape[1]
            W0 = array("W0", W0, f"{shape}", 2)
            if W0.shape != shape:
                raise ValueError(
                    f"W0: got shape {W0.shape}; it must be {shape}, the shape of TUV."
                )
        self.T = T
        self.U = U
        self.V = V
        self.W0 = W0
        self.bias = boolean("bias", bias)

    @property
    def W(self) -> Float[Array, "m n"]:
        """The matrix that the layer applies: TUV, plus W0 if there is one [K-eqW]."""
        return _multiplied_out(self)

    @property
    def augmented(self) -> Float[Array, "m n"]:
        """The same matrix as `W`, under the name that `Dense` has for weights with the
        bias as last column.
        """
        return self.W

    @property
    def preconditioner(self) -> KroneckerPreconditioner:
        """Preconditioner VᵀV ⊗ TTᵀ that gradient descent on U applies to the gradient
        of W [K-eqP].
        """
        return kronecker_preconditioner(self.T, self.V)

    def __call__(self, x: Real[ArrayLike, "*rows in"]) -> Float[Array, "*rows out"]:
        """Outputs (..., m) for inputs (..., n), through V, then U, then T."""
        return _factored(self, inputs(x, self.V.shape[1] - self.bias))

    def features(self, x: Real[ArrayLike, "*rows in"]) -> Real[Array, "*rows columns"]:
        """Input that W multiplies: x, with 1 appended if there is a bias."""
        x = inputs(x, self.V.shape[1] - self.bias)
        return append_one(x) if self.bias else x

    @classmethod
    @checked
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
        """The layer that starts at W: U₀ = T⁺WV⁺, exact if and only if TT⁺WV⁺V = W
        [K-unn-init].

        Args:
            W: Weights to start from (m, n).
            T: (m, p).
            V: (q, n).
            bias: True if the layer appends 1 to its input; n then counts this 1 too.
            anchor: True to keep W as the fixed part W0 and start at U = 0. This is
                always possible, and W takes the same preconditioned steps.
            invertible: True if T and V are square and invertible. U₀ then comes from
                linear solves, which are many times cheaper than pseudoinverses.
            tol: Largest accepted relative residual ‖TU₀V − W‖/‖W‖.

        Raises:
            ValueError: If W cannot be reached, because it is not in the range of T or
                the row space of V. Where no error can be raised, as inside jit, the
                layer starts at the nearest matrix that can be reached.
        """
        W = array("W", W, "(m, n)", 2)
        T = array("T", T, "(m, p)", 2)
        V = array("V", V, "(q, n)", 2)
        fits = W.shape == (T.shape[0], V.shape[1])
        if not fits:
            raise ValueError(
                f"W: got shape {W.shape}; it must be ({T.shape[0]}, {V.shape[1]}), "
                f"because T is {T.shape} and V is {V.shape}."
            )
        if anchor:
            return cls(T, jnp.zeros((T.shape[1], V.shape[0]), W.dtype), V, W, bias)
        U, residual = _started(W, T, V, invertible)
        if readable(residual) and not float(residual) <= tol:
            raise ValueError(
                f"W: got relative residual {float(residual):.2g} after projection; "
                "it must be in the range of T and the row space of V; use "
                "anchor=True to keep the rest fixed."
            )
        return assembled(
            cls, {"T": T, "U": U, "V": V, "W0": None, "bias": boolean("bias", bias)}
        )


Layer = Dense | Reparameterized


@checked
@partial(jax.jit, static_argnames="invertible")
@full_precision()
def between(
    W: Float[Array, "m n"],
    T: Float[Array, "m p"],
    V: Float[Array, "q n"],
    *,
    invertible: bool = False,
) -> Float[Array, "p q"]:
    """Minimum-norm U whose TUV comes nearest to W: T⁺ W V⁺ [K-unn-init].

    Args:
        W: Matrix (m, n).
        T: (m, p).
        V: (q, n).
        invertible: True if T and V are square and invertible; U then comes from linear
            solves.
    """
    if not invertible:
        return jnp.linalg.pinv(T) @ W @ jnp.linalg.pinv(V)
    return jnp.linalg.solve(V.T, jnp.linalg.solve(T, W).T).T


@partial(jax.jit, static_argnames="invertible")
@full_precision()
def _started(W: Array, T: Array, V: Array, invertible: bool) -> tuple[Array, Array]:
    """U and the relative distance of TUV from W."""
    U = between(W, T, V, invertible=invertible)
    return U, jnp.linalg.norm(T @ U @ V - W) / jnp.maximum(jnp.linalg.norm(W), 1e-30)


@jax.jit
@full_precision()
def _factored(layer: Reparameterized, x: Array) -> Array:
    x = layer.features(x)
    y = ((x @ layer.V.T) @ layer.U.T) @ layer.T.T
    return y if layer.W0 is None else y + x @ layer.W0.T


@jax.jit
@full_precision()
def _multiplied_out(layer: Reparameterized) -> Array:
    W = layer.T @ layer.U @ layer.V
    return W if layer.W0 is None else layer.W0 + W


def is_layer(node: Any) -> bool:
    """True if a node of a network's pytree is a `Dense` or a `Reparameterized` layer."""
    return isinstance(node, Dense | Reparameterized)


def beside(name: str, tree: Any, network: Any, kind: type) -> list:
    """List of the entries of `tree` at the position of each layer or array of the
    network. Each entry is an object of `kind`, or None.
    """
    requirement = (
        f"the network's pytree with {kind.__name__}, or None, in the place of each "
        "layer or array"
    )
    structure: Any = jax.tree.structure(network, is_leaf=is_layer)
    try:
        nodes = structure.flatten_up_to(tree)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{name}: got {tree!r:.99}; it must be {requirement}."
        ) from error
    if not all(node is None or isinstance(node, kind) for node in nodes):
        raise ValueError(f"{name}: got {brief(tree)}; it must be {requirement}.")
    return nodes


def reparameterize(
    network: Any, factors: Any, *, anchor: bool = False, invertible: bool = False
) -> Any:
    """Network in which each layer that is given factors is rewritten as TUV, with the
    same weights at the start.

    Args:
        network: Pytree of layers.
        factors: Pytree of the network's structure with `Factors` in the place of each
            layer, or None to leave that layer unchanged.
        anchor: As in `Reparameterized.from_weight`.
        invertible: True if all factors are square and invertible.

    Raises:
        ValueError: If an entry of `factors` is not in the place of a layer, does not
            fit that layer, or cannot reach its weights.
    """

    def rewrite(layer: Layer, pair: Factors | None) -> Layer:
        if pair is None:
            return layer
        if not is_layer(layer):
            raise ValueError(
                f"network: got {brief(layer)}; it must be a pytree of layers."
            )
        bias = layer.bias if isinstance(layer, Reparameterized) else layer.b is not None
        return Reparameterized.from_weight(
            layer.augmented, *pair, bias=bias, anchor=anchor, invertible=invertible
        )

    layers = list(filter(is_layer, jax.tree.leaves(network, is_leaf=is_layer)))
    if len(layers) == 0:
        raise ValueError(
            f"network: got {brief(network)}; it must be a pytree of layers."
        )
    beside("factors", factors, network, Factors)
    return jax.tree.map(rewrite, network, factors, is_leaf=is_layer)


def merge(network: Any) -> Any:
    """Network with every reparameterised layer multiplied out to a dense layer."""

    def dense(layer: Layer) -> Dense:
        if not is_layer(layer):
            raise ValueError(
                f"network: got {brief(layer)}; it must be a pytree of layers."
            )
        return (
            layer
            if isinstance(layer, Dense)
            else Dense.from_augmented(layer.W, bias=layer.bias)
        )

    return jax.tree.map(dense, network, is_leaf=is_layer)


def trainable(network: Any) -> Any:
    """Mask for optax: True for the U of a reparameterised layer and all of a dense one,
    False for T, V and W0 of the layers W = W0 + TUV.
    """

    def mark(path: tuple, leaf: Any) -> bool:
        if not callable(leaf):  # activation functions may be leaves
            host("network", leaf)
        last = path[-1] if path else None
        return not (
            isinstance(last, jax.tree_util.GetAttrKey) and last.name in ("T", "V", "W0")
        )

    return jax.tree_util.tree_map_with_path(mark, network)
