"""Public functions inside programs of the user's own: some of their arguments traced,
the others closed over.

Each use in `composition.FAMILIES` is called with one argument after another traced, by
jit, scan, vmap, grad and jit(vmap(grad)), while the other arguments are closed over:
once as arrays of numpy, once as arrays of JAX. Each of these calls gives the numbers of
the plain call, or is refused with an error that names the argument.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import bad_inputs
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from composition import EXEMPT, FAMILIES, Use
from jaxtyping import config

import rankone as ro

Function = Callable[[Any], list[Any]]
KINDS = ("numpy", "jax")
# Tolerance, relative to the largest entry of an array. One program adds and multiplies
# in another order than several programs do. The largest condition number among the
# inputs is below 100, and 100 times the rounding of float32 is 1e-5.
CLOSE = 2e-4


def as_kind(kind: str, value: Any) -> Any:
    """An array as one of numpy or of JAX; a pytree of something else stays as it is."""
    return (
        jax.device_put(value)
        if kind == "jax" and isinstance(value, np.ndarray)
        else value
    )


def closed(use: Use, name: str, kind: str) -> Function:
    """The arrays that the call returns, as a function of one argument; the others are
    closed over.
    """
    others = {
        key: as_kind(kind, value) for key, value in use.arguments.items() if key != name
    }
    return lambda x: jax.tree.leaves(use.call(**others, **{name: x}))


def floating(leaves: list[Any]) -> list[Any]:
    """The leaves that can be differentiated."""
    return [leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)]


def weights(leaf: Any) -> np.ndarray:
    """Different numbers in the shape of a leaf, so that no two entries cancel in a
    weighted sum.
    """
    return np.cos(np.arange(leaf.size, dtype=leaf.dtype)).reshape(leaf.shape)


def scanned(f: Function) -> Function:
    """The function in the body of a scan."""
    return lambda x: second(
        jax.lax.scan(lambda _, one: (None, f(one)), None, twice(x))[1]
    )


def mapped_slope(f: Function) -> Function:
    """The gradient of a weighted sum of all results, under vmap."""

    def weighted(x: Any) -> jax.Array:
        return sum((weights(leaf) * leaf).sum() for leaf in floating(f(x)))

    return lambda x: second(jax.vmap(jax.grad(weighted))(twice(x)))


def slope(f: Function, x: Any) -> Any:
    """The same gradient outside of jit. It is computed without the sum, because each
    operation of the sum would be a program.
    """
    leaves, pull = jax.vjp(lambda x: floating(f(x)), x)
    return pull([as_kind("jax", weights(leaf)) for leaf in leaves])[0]


def mapped(f: Function) -> Function:
    """The function under vmap."""
    return lambda x: second(jax.vmap(f)(twice(x)))


def twice(value: Any) -> Any:
    """Two copies along a new leading axis."""
    return jax.tree.map(lambda leaf: jnp.stack([leaf] * 2), value)


def second(value: Any) -> Any:
    """The second of two copies."""
    return jax.tree.map(lambda leaf: leaf[1], value)


def tracers(use: Use, name: str, kind: str) -> dict[str, Callable[[Any], Any]]:
    """All transformations that trace one argument inside a program. They are traced as
    by jit, but not compiled.
    """
    f = closed(use, name, kind)
    functions = {"jit": f, "scan": scanned(f), "vmap": mapped(f)}
    if smooth(use, name):
        functions["vmap(grad)"] = mapped_slope(f)
    return {
        transform: jax.make_jaxpr(function) for transform, function in functions.items()
    }


def smooth(use: Use, name: str) -> bool:
    """True if the result has a derivative with respect to the argument."""
    leaves = jax.tree.leaves(use.arguments[name])
    return name not in use.whole and all(
        jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves
    )


def fault(use: Use, name: str, tracer: Callable[[Any], Any]) -> str:
    """The fault of one traced call, or an empty text."""
    try:
        tracer(as_kind("jax", use.arguments[name]))
    except Exception as error:
        own = isinstance(error, ValueError | TypeError) and re.match(
            rf"{name}: got .*; it must be ", str(error)
        )
        return (
            ""
            if own and name in use.refused
            else f"{type(error).__name__}: {error!s:.100}"
        )
    return "it is not refused" if name in use.refused else ""


def difference(got: Any, expected: Any) -> str:
    """Description of the differences between the leaves of two trees."""
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key):
            continue
        one = np.asarray(one)
        other = np.asarray(other)
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            return f"{one.dtype} {one.shape} instead of {other.dtype} {other.shape}"
        exact = not np.issubdtype(one.dtype, np.floating)
        size = 0 if exact else np.abs(other).max(initial=0, where=np.isfinite(other))
        if not np.allclose(
            one,
            other,
            rtol=0,
            atol=CLOSE * size + (0 if exact else np.finfo(one.dtype).eps),
        ):
            return f"{one} instead of {other}"
    return ""


def compiled(
    use: Use, names: list[str], slopes: list[str]
) -> dict[str, dict[str, Any]]:
    """Results of jit for each argument, and of jit(vmap(grad)) for some of them, in one
    program.
    """

    def program(arguments: dict[str, Any]) -> dict[str, dict[str, Any]]:
        values = {
            name: closed(use, name, KINDS[i % 2])(arguments[name])
            for i, name in enumerate(names)
        }
        return {
            "jit": values,
            "grad": {
                name: mapped_slope(closed(use, name, "jax"))(arguments[name])
                for name in slopes
            },
        }

    return jax.jit(program)(
        {name: as_kind("jax", use.arguments[name]) for name in names}
    )


@pytest.fixture(scope="module", autouse=True)
def as_it_is_installed() -> Iterator[None]:
    """Switches off the type checker of the tests, which would refuse arrays of numpy
    before the package does.
    """
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", before)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_argument_may_be_traced_while_the_others_are_closed_over(family):
    faults = [f"{use}: {said}" for use in FAMILIES[family]() for said in faults_of(use)]
    assert not faults, "\n".join(faults)


def faults_of(use: Use) -> list[str]:
    """Faults of a use, with each of its arguments traced in turn."""
    faults = []
    for name in use.arguments:
        for kind in KINDS:
            said = {
                transform: fault(use, name, function)
                for transform, function in tracers(use, name, kind).items()
            }
            faults += [
                f"{name} traced by {transform}, the others of {kind}: {text}"
                for transform, text in said.items()
                if text
            ]
    return faults or differences(
        use, [name for name in use.arguments if name not in use.refused]
    )


def differences(use: Use, names: list[str]) -> list[str]:
    """Differences of the numbers from those of the plain call, and of the gradients
    inside jit from those outside.
    """
    if not names:
        return []
    plain = jax.tree.leaves(
        use.call(**{name: as_kind("jax", x) for name, x in use.arguments.items()})
    )
    first = [name for name in names if smooth(use, name)][: use.outside]
    program = compiled(use, names, first)
    pairs = {f"jit, {name}": (out, plain) for name, out in program["jit"].items()}
    for name in first:
        f = closed(use, name, "jax")
        x = as_kind("jax", use.arguments[name])
        pairs[f"vmap, {name}"] = mapped(f)(x), plain
        pairs[f"grad, {name}"] = slope(f, x), program["grad"][name]
    return [
        f"{what}: {said}" for what, pair in pairs.items() if (said := difference(*pair))
    ]


def test_every_public_function_that_takes_arrays_is_tested_for_composition():
    """These are the functions of the library, and of `theory` only those that are names
    of the package itself.
    """
    named = {name for make in FAMILIES.values() for use in make() for name in use.names}
    parts = {
        "editing",
        "maml",
        "memory",
        "nn",
        "preconditioning",
        "residual",
        "universality",
        "writes",
    }
    public = {
        name
        for name in ro.__all__
        if not inspect.isclass(getattr(ro, name))
        and not inspect.ismodule(getattr(ro, name))
    }
    every = bad_inputs.public().values()
    for name, function in every:
        takes = set(inspect.signature(function).parameters) - {"self"}
        if (
            function.__module__.split(".")[1] in parts
            and takes
            and not holds_results(function)
        ):
            public.add(name)
    assert public - named == set(EXEMPT), (
        "add a use to tests/composition.py, or a reason to EXEMPT there"
    )
    assert named <= {name for name, _ in every}, "no such public name"


def holds_results(thing: Any) -> bool:
    """True for a class whose instances the package makes, so that the class checks and
    computes nothing by itself.
    """
    return (
        inspect.isclass(thing)
        and "__post_init__" not in vars(thing)
        and "__init__(" not in inspect.getsource(thing)
    )
