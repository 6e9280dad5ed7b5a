"""Recovery of k shots from 2k numbers: the kernels x⁰ … x^{2k−1} write the moments of
the shots, and the moments determine the shots [M-S6].

The moments mᵢ = (1/k) Σ_s Δ_s x_sⁱ, with the error Δ_s of shot s, belong to a measure
with k atoms of positive mass. Prony's method recovers the atoms. The features here are
the exact powers of x, which ReLU layers could only approximate.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray

from rankone._annotated import checked
from rankone._checks import Numbers, array, host, instance, integer
from rankone.universality.constants import Constants
from rankone.universality.selectors import Selector, amplifiers, telescope, unipotent

__all__ = ["moment_stack", "prony", "write_moments"]


@checked
def moment_stack(k: int, constants: Constants) -> Selector:
    """Selector with 2k layers whose kernels are x⁰ … x^{2k−1} for every x*. The whole
    stack has depth 2k + 2.

    >>> moment_stack(1, Constants()).kernels().shape  # of 4 pairs of features, 2 layers
    (4, 2)
    """
    n = 2 * integer("k", k)
    U = np.zeros((n, n, n))
    U[np.arange(n), np.arange(n), 0] = 1  # feature x^i of x times feature 1 of x*
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
        y: Values (k,), at least −1, so that the error Δ = y + 1 + margin is at least
            the margin; by default Δ = y + 2.
        constants: `Constants` of the construction; by default with an offset of 10⁻⁹.

    >>> from rankone.precision import double_precision
    >>> with double_precision():
    ...     moments = write_moments([0.5], [1.0])
    >>> [round(float(m), 3) for m in moments]  # Δ = 3, and Δx
    [3.0, 1.5]
    """
    x = array("x", host("x", x), "(k,): one input per shot", 1)
    y = array("y", host("y", y), "(k,): one value per shot", 1)
    if x.shape != y.shape:
        raise ValueError(
            f"y: got shape {y.shape}; it must be of the shape of x, {x.shape}."
        )
    if constants is None:
        constants = Constants(offset=1e-9)
    instance("constants", constants, Constants, "a Constants, or None")
    stack = telescope(
        moment_stack(len(x), constants),
        epsilon=constants.epsilon,
        damping=constants.damping,
    )
    return jnp.asarray(
        _moments(stack.astype(x.dtype), np.asarray(x), np.asarray(y), constants)
    )


def _moments(
    stack: NDArray[np.floating],
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    constants: Constants,
) -> NDArray[np.floating]:
    """Moments that one step writes, computed in NumPy, because JAX would compile a
    program for each number of shots. The gradient of a layer is the outer product of
    its error and its input [M-grad].
    """
    k = len(x)
    n = 2 * k
    powers = x[:, None] ** np.arange(n, dtype=x.dtype)
    constant_inputs = np.append(np.full(n, constants.offset), constants.switch)
    rest = np.broadcast_to(constant_inputs.astype(x.dtype), (k, n + 1))
    inputs = [np.hstack([powers, 0 * powers, rest])]
    for W in stack:
        inputs.append(np.maximum(inputs[-1] @ W.T, 0))
    # The prediction is linear · q + const, where q is the sum of the slots and the
    # switch. It is Δ below y, so the error is −Δ, up to the small value of linear · q
    # before the step.
    Delta = y + 1 + constants.margin
    error = np.zeros_like(inputs[-1])
    error[:, 2 * n :] = -constants.linear / k * Delta[:, None]
    stepped = []
    for W, read, output in zip(stack[::-1], inputs[-2::-1], inputs[:0:-1], strict=True):
        error = np.where(output > 0, error, 0)
        stepped.append(W - constants.alpha * error.T @ read)
        error = error @ W
    h = np.concatenate([np.zeros(n), np.eye(n)[0], constant_inputs]).astype(x.dtype)
    for W in stepped[::-1]:
        h = np.maximum(W @ h, 0)
    written = h[2 * n : -1] / (constants.alpha * constants.linear)
    # Every layer also writes ε times its moment into every slot, so the slots contain
    # (I + ε 11ᵀ)m. This matrix is inverted exactly.
    epsilon = constants.epsilon
    return written - epsilon / (1 + n * epsilon) * written.sum()


def prony(moments: Numbers) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Atoms (k,), ascending, and their masses (k,), of a measure with the moments m₀ …
    m_{2k−1} [M-S6].

    The atoms are the roots of tᵏ + c_{k−1} tᵏ⁻¹ + … + c₀, where c solves the Hankel
    system Σⱼ m_{i+j} cⱼ = −m_{i+k} for i = 0 … k − 1.

    Args:
        moments: Moments m₀ … m_{2k−1}, an even number (2k,).

    >>> atoms, masses = prony([3.0, 1.5])  # of one shot: Δ and Δx
    >>> atoms.tolist(), masses.tolist()
    ([0.5], [3.0])
    """
    m = np.asarray(
        array("moments", host("moments", moments), "(2k,): m₀ to m_{2k−1}", 1), float
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
