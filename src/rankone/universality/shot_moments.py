"""Recovery of k shots from 2k numbers: the kernels x⁰ … x^{2k−1} write the moments of
the shots, and the moments determine the shots [M-S6].

The moments mᵢ = (1/k) Σ_s Δ_s x_sⁱ belong to a measure with k atoms of positive mass;
Prony's method gives the atoms back. The features here are the powers of x themselves: a
ReLU front can only approximate them.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from rankone._checks import Numbers, array, as_array
from rankone.universality.constants import Constants
from rankone.universality.selectors import Selector, amplifiers, telescope, unipotent

__all__ = ["moment_stack", "prony", "write_moments"]


def moment_stack(k: int, constants: Constants) -> Selector:
    """Selector with 2k layers whose kernels are x⁰ … x^{2k−1} for every x*. The whole
    stack has depth 2k + 2.
    """
    n = 2 * k
    U = np.zeros((n, n, n))
    U[np.arange(n), np.arange(n), 0] = 1  # feature x^i of x meets feature 1 of x*
    return Selector(
        np.stack([unipotent(u) for u in U]),
        amplifiers(n, n, constants.epsilon),
        np.eye(n),
    )


def write_moments(
    x: Numbers, y: Numbers, *, constants: Constants | None = None
) -> Float[Array, " moments"]:
    """The moments m₀ … m_{2k−1} that one plain gradient step on k shots leaves in a
    ReLU stack.

    Args:
        x: Inputs (k,).
        y: Values (k,), above −1 by the margin at least; Δ = y + 2 for the default
            margin.
        constants: Numbers that the construction is free to choose.
    """
    x = array("x", as_array(x), "(k,): one input per shot", 1)
    y = array("y", as_array(y), "(k,): one value per shot", 1)
    if x.shape != y.shape:
        raise ValueError(
            f"y: got shape {y.shape}; it must be of the shape of x, {x.shape}."
        )
    constants = constants or Constants(offset=1e-9)
    stack = telescope(
        moment_stack(len(x), constants),
        epsilon=constants.epsilon,
        damping=constants.damping,
    )
    return _moments(stack.astype(x.dtype), x, y, constants)


@jax.jit
def _moments(stack: Array, x: Array, y: Array, constants: Constants) -> Array:
    n = 2 * len(x)
    Delta = y + 1 + constants.margin
    constant_inputs = jnp.concatenate(
        [jnp.full(n, constants.offset), jnp.full(1, constants.switch)]
    ).astype(x.dtype)

    def run(stack: Array, phi: Array) -> Array:
        def pass_on(h: Array, W: Array) -> tuple[Array, None]:
            return (
                jax.nn.relu(jnp.matmul(W, h, precision="highest")),
                None,
            )

        return jax.lax.scan(pass_on, phi, stack)[0]

    def loss(stack: Array) -> Array:
        powers = x[:, None] ** jnp.arange(n, dtype=x.dtype)[None]
        phi = jnp.concatenate(
            [powers, 0 * powers, jnp.broadcast_to(constant_inputs, (len(x), n + 1))], 1
        )
        q = jax.vmap(lambda p: run(stack, p)[2 * n :].sum())(phi)
        # the prediction is linear · q + const and misses y by Δ: the error is −Δ, up to
        # what q is before the step
        return 0.5 * jnp.mean(
            (constants.linear * (q - jax.lax.stop_gradient(q)) - Delta) ** 2
        )

    stepped_stack = stack - constants.alpha * jax.grad(loss)(stack)
    phi_star = jnp.concatenate([jnp.zeros(n), jnp.eye(n)[0], constant_inputs]).astype(
        x.dtype
    )
    slots = run(stepped_stack, phi_star)[2 * n : -1]
    # every layer writes ε into every slot: undone exactly
    weights = jnp.eye(n, dtype=x.dtype) + constants.epsilon
    return jnp.linalg.solve(weights, slots / (constants.alpha * constants.linear))


def prony(moments: Numbers) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Atoms (k,), ascending, and their masses (k,), of a measure with the moments m₀ …
    m_{2k−1} [M-S6].

    The atoms are the roots of tᵏ + c_{k−1} tᵏ⁻¹ + … + c₀, where c solves the Hankel
    system Σⱼ m_{i+j} cⱼ = −m_{i+k} for i = 0 … k − 1.

    Args:
        moments: An even number of them (2k,).
    """
    m = np.asarray(
        array("moments", as_array(moments), "(2k,): m₀ to m_{2k−1}", 1), float
    )
    if len(m) % 2 != 0:
        raise ValueError(
            f"moments: got {len(m)} numbers; "
            "it must be an even number of moments, two for each atom."
        )
    k = len(m) // 2
    hankel = m[np.arange(k)[:, None] + np.arange(k)]
    c = np.linalg.solve(hankel, -m[k:])
    atoms = np.sort(np.roots([1, *c[::-1]]).real)
    masses = np.linalg.lstsq(np.vander(atoms, 2 * k, increasing=True).T, m, rcond=None)[
        0
    ]
    return jnp.asarray(atoms), jnp.asarray(masses)
