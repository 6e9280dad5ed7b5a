"""Functions that refuse arguments which do not fit their annotations."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, ArrayLike, Float
from refusals import refused

from rankone._annotated import Broadcast, checked
from rankone._checks import renamed
from rankone._module import Module


class Thing(Module):
    x: float


KEY = jax.random.key(0)
THING = Thing(1.0)


@checked
def example(
    A: Float[ArrayLike, "m n"],
    b: Float[ArrayLike, "... n"],
    p: Float[ArrayLike, " 2"] | None = None,
    number: float = 1.0,
    count: int = 1,
    yes: bool = True,
    name: str = "a",
    key: Array | None = KEY,
    thing: Thing = THING,
    rows: Sequence[Float[Array, " n"]] = (np.ones(1),),
    pair: tuple[int, float] = (1, 2.0),
    act: Callable[[Array], Array] = abs,
    path: str | Path = "a",
    texts: Sequence[str] | None = None,
    facts: Mapping[str, int] | None = None,
    own=None,
):
    return A, b, number


BAD = {
    "A": [
        *map(np.ones, (3, (0, 3), (2, 3, 1))),
        1.5,
        "a",
        None,
        [[1.0], [2.0, 3.0]],
        np.ones((2, 3)) * 1j,
        object(),
    ],
    "b": [
        np.ones(2),
        np.ones((5, 2)),
        1.0,
        np.array(["a"] * 3),
        np.array(["2020-01-01"] * 3, "datetime64[D]"),
    ],
    "p": [np.ones(3), np.ones((2, 1)), "a"],
    "number": ["a", float("nan"), 1j, np.ones(2), None, True],
    "count": [-1, 1.5, "a", True, None, np.ones(1)],
    "yes": [1, "a", None],
    "name": [1, None, ["a"]],
    "key": [1, np.ones(3), "a"],
    "thing": [1, Thing, "a", None],
    "rows": [1, [], "a", np.ones((2, 1))],
    "pair": [1, (1,), "ab", [1, 2, 3]],
    "act": [1, "a", None],
    "path": [1, None, ["a"], np.array(["a"])],
    "texts": ["a", [], np.array(["a", "b"])],
    "facts": ["a", [("a", 1)], np.ones(2)],
}


@pytest.mark.parametrize(
    ("name", "bad"), [(name, bad) for name, some in BAD.items() for bad in some]
)
def test_an_error_names_the_argument_that_its_annotation_excludes(name, bad):
    with refused(ValueError, match=rf"^{name}: got .*it must be"):
        example(**{"A": np.ones((2, 3)), "b": np.ones(3)} | {name: bad})


def test_parts_of_a_list_are_named():
    with refused(ValueError, match=r"^rows\[1\]: got"):
        example(np.ones((1, 2)), np.ones(2), rows=[np.ones(1), "a"])
    with refused(ValueError, match=r"^pair\[0\]: got"):
        example(np.ones((1, 2)), np.ones(2), pair=("a", 1.0))
    with refused(ValueError, match=r"^texts\[1\]: got"):
        example(np.ones((1, 2)), np.ones(2), texts=["a", 1])


@checked
def spread(a: Broadcast, b: Broadcast, sizes: tuple[int, ...] = (1,), count: int = 0):
    return a + b, sizes, count


def test_shapes_that_do_not_broadcast_are_named_and_those_that_do_go_on():
    with refused(
        ValueError,
        match=r"^b: got shape \(3,\); it must be of a shape that broadcasts with the other "
        r"arrays, where a is \(2,\)",
    ):
        spread(np.ones(2), np.ones(3))
    assert spread(np.ones((4, 1)), np.ones(3))[0].shape == (4, 3)


@checked
def holding(
    texts: Sequence[str] = ("a",),
    ends: tuple[float, float] = (0.0, 1.0),
    sizes: tuple[int, ...] = (1,),
    arrays: Sequence[Float[Array, " n"]] = (np.ones(1),),
    pairs: Sequence[tuple[int, int]] = ((1, 2),),
):
    return texts, ends, sizes, arrays, pairs


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("texts", "a list or tuple of texts, one or more"),
        ("ends", "a tuple of 2 entries: number, number"),
        ("sizes", "a list or tuple of integers, one or more"),
        ("arrays", "a list or tuple of arrays, one or more"),
        ("pairs", r"a list or tuple of tuples \(integer, integer\), one or more"),
    ],
)
def test_what_a_list_holds_is_said_in_words(name, words):
    with refused(ValueError, match=f"^{name}: got 1; it must be {words}"):
        holding(**{name: 1})


def test_a_tuple_may_have_any_length_and_a_count_may_be_zero():
    assert spread(1.0, 1.0, (1, 2, 3), 0)[1:] == ((1, 2, 3), 0)
    with refused(ValueError, match=r"^sizes\[2\]: got 'a'"):
        spread(1.0, 1.0, (1, 2, "a"))


def test_valid_arguments_are_passed_on_unchanged_and_lists_become_arrays():
    A = np.ones((4, 3))
    b = jnp.ones((2, 3))
    assert example(A, b)[0] is A
    assert example(A, b)[1] is b
    results = example(
        [[1, 2]],
        (3.0, 4.0),
        p=[1, 2],
        number=2,
        count=10**30,
        pair=[1, 2],
        own="anything",
    )
    example(A, b, path=Path("a"), texts=("a", ""), facts={}, key=KEY)
    assert [type(one) for one in results] == [np.ndarray, np.ndarray, int]
    with refused(TypeError):
        example(nothing=1)


class Counter(Module):
    @checked
    def add(self, number: float):
        return number


def test_an_error_about_missing_or_unknown_arguments_names_the_function():
    with refused(TypeError, match=r"^example\(\) missing a required argument: 'b'$"):
        example(np.ones((2, 3)))
    with refused(
        TypeError, match=r"^example\(\) got an unexpected keyword argument 'nothing'$"
    ):
        example(np.ones((2, 3)), np.ones(3), nothing=1)
    with refused(
        TypeError, match=r"^Counter\.add\(\) missing a required argument: 'number'$"
    ):
        Counter().add()


@checked
def on_host(x: float, act: Callable[[float], float] | None = None):
    return np.exp(np.asarray(x)) if act is None else act(x)


def test_a_traced_argument_of_a_function_that_computes_on_the_host_is_named():
    for function in (
        jax.jit(on_host),
        jax.grad(on_host),
        lambda x: jax.vmap(on_host)(jnp.ones(2)),
    ):
        with refused(
            ValueError,
            match=r"^x: got a traced value; it must be known: on_host computes on the host",
        ):
            function(1.0)
    # The error of the caller's own program.
    with refused(jax.errors.ConcretizationTypeError):
        jax.jit(lambda x: on_host(x, float))(1.0)


def test_a_number_in_a_jax_array_is_known_inside_a_program_of_the_callers():
    """The number becomes a Python number. Otherwise its first operation would be
    traced.
    """

    @checked
    def doubled(x: float, n: int = 1):
        return float(2 * x * (n + 1))

    x = jnp.float32(1.5)
    n = jnp.int32(1)
    assert jax.jit(lambda y: y + doubled(x, n))(1.0) == 7.0
    assert doubled(x, n) == 6.0


def test_while_jit_traces_only_shapes_are_checked():
    A, b, _ = jax.jit(lambda A, number: example(A, A[0], number=number))(
        jnp.ones((2, 3)), 1.0
    )
    assert (A.shape, b.shape) == ((2, 3), (3,))
    with refused(ValueError, match=r"^b: got shape \(2,\).*where A is \(2, 3\)"):
        jax.jit(lambda A: example(A, A[:, 0]))(jnp.ones((2, 3)))


def test_an_error_from_an_inner_call_has_the_callers_name_of_the_argument():
    """This holds for a block and for a function. Errors about other names, and other
    errors, are not changed.
    """

    @renamed(b="rows")
    def outer(rows, name="a"):
        example(np.ones((2, 3)), rows, name=name)

    outer(np.ones(3))
    with refused(
        ValueError, match=r"^rows: got shape \(2,\); it must be of shape"
    ) as caught:
        outer(np.ones(2))
    assert str(caught.value.__cause__).startswith("b: got")
    with refused(ValueError, match=r"^name: got 1; it must be"):
        outer(np.ones(3), name=1)
    with refused(ValueError, match=r"^q\[0\].W: got"), renamed(p="q"):
        raise ValueError("p[0].W: got 1; it must be 2.")
    for error in (ValueError("bad b"), TypeError("b: got 1; it must be 2.")):
        with refused(type(error)) as caught, renamed(b="rows"):
            raise error
        assert caught.value is error
