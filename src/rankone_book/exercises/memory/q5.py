"""Exercise 5: one stored pattern, two approximate gradients [D-thm2, D-eq10]."""

import jax
import jax.numpy as jnp
import numpy as np

from rankone_book.exercises import ask, close, test_case

points = 3
SIZES = ((3, 40), (5, 200), (8, 64))


def _case(draws, D, Y, distance):
    x = draws.normal(size=D)
    direction = draws.normal(size=D)
    return (
        draws.normal(size=(Y, D)),
        x,
        x - distance * direction / np.linalg.norm(direction),
    )


@test_case(name="the field is the gradient of the energy")
def test_gradient(autodiff_field, draws):
    for (D, Y), beta in zip(SIZES, (0.3, 2.0, 6.0), strict=True):
        omega, x, xi = _case(draws, D, Y, 0.5 / beta**0.5)

        def energy(z):
            return -jnp.log(jnp.cos(beta**0.5 * omega @ (z - xi)).mean()) / beta

        hint = (
            "Mind the chain rule: the cosine contains √β x, which gives one factor √β "
            "against the 1/β in front of the logarithm."
        )
        close(
            ask(autodiff_field, omega, x, xi, beta),
            jax.grad(energy)(jnp.asarray(x)),
            hint,
            rtol=5e-3,
            atol=1e-3,
        )


@test_case(name="the limit agrees with your field at a very small β", points=0)
def test_limit(autodiff_field, limit_field, draws):
    for D, Y in SIZES:
        omega, x, xi = _case(draws, D, Y, 0.7)
        hint = "For small β, sin h ≈ h and Ŝ ≈ 1."
        close(
            ask(limit_field, omega, x, xi),
            ask(autodiff_field, omega, x, xi, 1e-4),
            hint,
            rtol=5e-3,
            atol=2e-3,
        )


@test_case(name="the limit in closed form")
def test_closed_form(limit_field, draws):
    for D, Y in SIZES:
        omega, x, xi = _case(draws, D, Y, 0.7)
        expected = np.einsum("yd,ye,e->d", omega, omega, x - xi) / Y
        close(
            ask(limit_field, omega, x, xi),
            expected,
            "The limit is linear in x − ξ; divide by Y once.",
            atol=1e-3,
        )
