"""Products of matrices in float32 keep their digits on a GPU.

There JAX rounds the factors of a product to ten bits unless it is told otherwise. That
is enough to train a network, and too little to write a fact into one. No GPU is needed
to test it: the traced program says what each product asks for.
"""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from composition import FAMILIES, Use

FAMILIES_WITH_PRODUCTS = [
    "editing",
    "writes",
    "memory",
    "preconditioning",
    "residual",
    "universality",
]
# functions whose products are those of the user's own network and loss
OF_THE_USER = {"capture_keys", "layer_moments", "meta_learn", "skipped"}


def products(jaxpr: Any) -> Iterator[Any]:
    """The products of a program and of all programs in it."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            yield equation
        inner = jax.tree.leaves(
            list(equation.params.values()),
            is_leaf=lambda value: hasattr(value, "jaxpr") or hasattr(value, "eqns"),
        )
        for value in inner:
            if hasattr(value, "jaxpr"):
                yield from products(value.jaxpr)
            elif hasattr(value, "eqns"):
                yield from products(value)


def is_rounded(product: Any) -> bool:
    """True if a GPU may round the factors of a product."""
    precision = product.params["precision"]
    precision = precision if isinstance(precision, tuple) else (precision,)
    return product.outvars[0].aval.dtype == jnp.float32 and any(
        one != jax.lax.Precision.HIGHEST for one in precision
    )


def program(use: Use) -> Any:
    """The program of a call in which all that may be traced is traced."""
    traced = {k: v for k, v in use.arguments.items() if k not in use.refused}
    fixed = {k: v for k, v in use.arguments.items() if k in use.refused}
    return jax.make_jaxpr(
        lambda arguments: jax.tree.leaves(use.call(**fixed, **arguments))
    )(traced).jaxpr


@pytest.mark.parametrize(
    "use",
    [
        use
        for family in FAMILIES_WITH_PRODUCTS
        for use in FAMILIES[family]()
        if not use.names & OF_THE_USER
    ],
    ids=repr,
)
def test_every_matrix_product_uses_full_precision(use):
    rounded = [str(one) for one in products(program(use)) if is_rounded(one)]
    assert not rounded, (
        "under @jax.jit, add @full_precision() of rankone.precision:\n"
        + "\n".join(rounded)
    )


def test_a_product_without_a_precision_is_found():
    jaxpr = jax.make_jaxpr(jax.jit(lambda a: a @ a.T))(jnp.ones((2, 3))).jaxpr
    assert [is_rounded(one) for one in products(jaxpr)] == [True]
