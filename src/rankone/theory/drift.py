"""Runs of the two memories from the same queries: a bound on their distance at each
step, from growth and errors along the run, and the theorem for one ball around a
pattern.

The two memories are the exact one and its distributed copy. The bound is computed along
a run [D-looseness]. The theorem certifies a run: around a well separated pattern the
two memories stay close for any number of steps [D-sharp9].
"""

from functools import partial
from math import expm1, inf, log1p

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from rankone._annotated import checked
from rankone._checks import Numbers, instance, integer, positive, states
from rankone._module import Module
from rankone.memory.distributed import DrDAM
from rankone.memory.exact import MrDAM
from rankone.memory.protocol import Memory
from rankone.theory.error_law import broadcasts, hessian

__all__ = ["Drift", "LocalRetrieval", "drift", "kernel_gap", "local_retrieval"]


class Drift(Module):
    """Runs of the exact and of the distributed memory from the same queries; made by
    `drift`.

    Attributes:
        exact: States of the exact memory (L + 1, N, D).
        distributed: States of the distributed memory (L + 1, N, D).
        errors: ‖ĝ − ∇E‖ at the distributed states (L, N): the second term of eq. 54
            divided by η. ĝ is the gradient that the distributed memory follows.
        step_size: η.
    """

    exact: Float[Array, "states N D"]
    distributed: Float[Array, "states N D"]
    errors: Float[Array, "steps N"]
    step_size: Float[Array, ""]

    @property
    def distance(self) -> Float[Array, "states N"]:
        """Distance ‖x⁽ᵗ⁾ − x̂⁽ᵗ⁾‖ of the two runs, t = 0 … L."""
        return _distance(self)

    @checked
    def recursion(
        self, growth: ArrayLike, errors: ArrayLike | None = None
    ) -> Float[Array, "states N"]:
        """Bound D⁽ᵗ⁾ on the distance: D⁽⁰⁾ = 0 and D⁽ᵗ⁺¹⁾ = ρ_t D⁽ᵗ⁾ + η e_t, for
        growths ρ and errors e, each a number or of shape (L, N). By default e is the
        `errors` of the run.
        """
        shape = self.errors.shape
        errors = self.errors if errors is None else errors
        for name, value in (("growth", growth), ("errors", errors)):
            if not broadcasts(np.shape(value), shape):
                raise ValueError(
                    f"{name}: got shape {np.shape(value)}; "
                    f"it must be a number, or {shape}."
                )
        return _recursion(self, growth, errors)

    @checked
    def local_growth(
        self, memory: MrDAM, *, points: int = 3
    ) -> Float[Array, "steps N"]:
        """Growth ρ_t of a distance in one step: the largest |1 − ηλ| over the
        eigenvalues λ of ∇²E at equally spaced points of the segment from x⁽ᵗ⁾ to
        x̂⁽ᵗ⁾. The number of these points is `points`.

        The mean value theorem requires the largest value over the whole segment. If the
        curvature varies little along the segment, its ends and its middle are enough.
        """
        return _local_growth(self, memory, integer("points", points))


@jax.jit
def _distance(run: Drift) -> Array:
    return jnp.linalg.norm(run.exact - run.distributed, axis=-1)


@partial(jax.jit, static_argnames="points")
def _local_growth(run: Drift, memory: MrDAM, points: int) -> Array:
    fractions = jnp.linspace(0, 1, points)[:, None, None, None]
    segment = (
        run.exact[None, :-1] + fractions * (run.distributed - run.exact)[None, :-1]
    )
    curvature = jnp.linalg.eigvalsh(hessian(memory, segment))
    return jnp.abs(1 - run.step_size * curvature).max((0, -1))


@jax.jit
def _recursion(run: Drift, growth: ArrayLike, errors: ArrayLike) -> Array:
    growth, errors = (
        jnp.broadcast_to(jnp.asarray(a, run.errors.dtype), run.errors.shape)
        for a in (growth, errors)
    )

    def step(D: Array, inputs: tuple[Array, Array]) -> tuple[Array, Array]:
        rho, e = inputs
        D = rho * D + run.step_size * e
        return D, D

    start = jnp.zeros(errors.shape[1:], errors.dtype)
    return jnp.concatenate(
        [start[None], jax.lax.scan(step, start, (growth, errors))[1]]
    )


@checked
@jax.jit
def kernel_gap(
    copy: DrDAM, Xi: Float[Array, "K D"], x: Float[Array, "... D"]
) -> Float[Array, "... K"]:
    """Kernel error k̂ − k between states and patterns. Its largest absolute value is
    the least value that the paper's bound C₁√(D/Y) can have at these states [D-unn2].

    Args:
        copy: The distributed memory, of which only the features and β are used.
        Xi: Patterns (K, D).
        x: States (..., D), in the same unit.
    """
    root = jnp.sqrt(copy.beta)
    inner = x @ Xi.T
    square = (
        (x**2).sum(-1, keepdims=True)
        + jnp.broadcast_to((Xi**2).sum(-1), inner.shape)
        - 2 * inner
    )
    return copy.features.phi(root * x) @ copy.features.phi(root * Xi).T - jnp.exp(
        -copy.beta / 2 * square
    )


@checked
def drift(
    memory: MrDAM, copy: Memory, x0: Numbers, *, step_size: float, steps: int
) -> Drift:
    """Runs of gradient descent on both energies from the queries x0 (N, D), with every
    state [D-eq48-53].

    Args:
        memory: The exact memory.
        copy: The distributed memory: a `DrDAM`, or any other `Memory`.
        x0: Queries (N, D), in the unit of the patterns.
        step_size: η, positive.
        steps: Number of steps L.

    Raises:
        ValueError: If a shape does not fit or a number is not positive.
    """
    instance("copy", copy, Memory, "a memory, with `energy_and_gradient`")
    x0 = states("x0", x0, memory.D)
    if x0.ndim != 2:
        raise ValueError(
            f"x0: got shape {x0.shape}; it must be (N, {memory.D}): one query per row."
        )
    positive("step_size", step_size)
    steps = integer("steps", steps, "an integer of at least 1")
    return _drift(memory, copy, x0, jnp.asarray(step_size, x0.dtype), steps)


@partial(jax.jit, static_argnames="steps")
def _drift(
    memory: MrDAM, copy: Memory, x0: Array, step_size: Array, steps: int
) -> Drift:
    def step(
        pair: tuple[Array, Array], _: None
    ) -> tuple[tuple[Array, Array], tuple[Array, Array, Array]]:
        x, y = pair
        gradient = memory.gradient(jnp.stack([x, y]))
        estimate = copy.energy_and_gradient(y)[1]
        next_states = (x - step_size * gradient[0], y - step_size * estimate)
        return next_states, (
            *next_states,
            jnp.linalg.norm(estimate - gradient[1], axis=-1),
        )

    _, (exact, distributed, errors) = jax.lax.scan(step, (x0, x0), None, length=steps)
    return Drift(
        jnp.concatenate([x0[None], exact]),
        jnp.concatenate([x0[None], distributed]),
        errors,
        step_size,
    )


class LocalRetrieval(Module):
    """Bounds of the local retrieval theorem for the ball around one pattern; made by
    `local_retrieval` [D-sharp9]. Distances are in the unit of the patterns.

    Attributes:
        bound: Bound on ‖x⁽ᴸ⁾ − x̂⁽ᴸ⁾‖ for starts within the radius r of the pattern; ∞
            if the theorem does not apply.
        forever: Bound on the same distance after any number of steps.
        leak: q, a bound on the softmax weight of all other patterns in the ball.
        convexity: m₀ = 1 − βqd², a lower bound on the curvature of E in the ball. Here
            d is the largest distance from the pattern to another one.
        invariant: True if qd + A ≤ r, with A the bound on the gradient's error. Then
            neither memory leaves the ball.
        holds: True if the ball is invariant, m₀ > 0 and η ≤ 1.
    """

    bound: float
    forever: float
    leak: float
    convexity: float
    invariant: bool
    holds: bool


@checked
def local_retrieval(
    Xi: Numbers,
    index: int,
    *,
    beta: float,
    radius: float,
    gradient_error: float,
    step_size: float,
    steps: int,
) -> LocalRetrieval:
    """`LocalRetrieval` for one pattern: conditions under which both memories stay
    within `radius` of it, and a bound on their distance from each other [D-sharp9].

    Args:
        Xi: Patterns (K, D).
        index: Row of the pattern.
        beta: Inverse temperature, 1/unit².
        radius: r of the ball, in the unit of the patterns.
        gradient_error: A, a bound on ‖ĝ − ∇E‖ at the states that the distributed run
            visits, in the same unit. With the maximum of `Drift.errors` the theorem
            certifies the run of that `Drift`.
        step_size: η in (0, 1].
        steps: Number of steps L.
    """
    Xi = np.asarray(Xi, float)
    if Xi.ndim != 2:
        raise ValueError(
            f"Xi: got shape {Xi.shape}; it must be (K, D): one pattern per row."
        )
    index = integer(
        "index", index, "the row of a pattern in Xi (K, D)", least=0, most=len(Xi) - 1
    )
    gradient_error = float(gradient_error)
    radius = float(radius)
    s = np.delete(np.linalg.norm(Xi - Xi[index], axis=1), index)
    d = float(s.max(initial=0))
    q = float(np.exp(np.minimum(-beta / 2 * (s**2 - 2 * s * radius), 0)).sum())
    q = min(q, 1.0)
    convexity = 1 - beta * q * d**2
    invariant = q * d + gradient_error <= radius
    holds = invariant and convexity > 0 and 0 < step_size <= 1
    forever = gradient_error / convexity if holds else inf
    bound = (
        -forever * expm1(steps * log1p(-step_size * convexity))
        if holds and step_size * convexity < 1
        else forever
    )
    return LocalRetrieval(bound, forever, q, convexity, invariant, holds)
