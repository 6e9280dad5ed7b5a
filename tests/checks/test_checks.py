"""The checks of arguments: what they accept and refuse, how they are switched off, and
that they fetch no array from a device.
"""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import TypeCheckError
from refusals import refused

import rankone as ro
from rankone import _checks
from rankone._checks import (
    array,
    integer,
    numbers,
    positive,
    random_key,
    readable,
    real,
    states,
)
from rankone.checks import Outcome, outcome, value_checks

NAN = np.array([[1.0, np.nan]])


@pytest.mark.parametrize(
    "value", [1, 7, np.int8(7), np.int64(7), np.uint16(7), 2**31 - 1, np.array(7)]
)
def test_an_integer_of_python_or_numpy_is_accepted(value: Any) -> None:
    assert integer("k", value) == int(value)
    assert type(integer("k", value)) is int


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        np.True_,
        3.0,
        2.5,
        np.float64(3),
        "3",
        None,
        [3],
        np.ones(2, int),
        0,
        -1,
        2**31,
        10**400,
    ],
)
def test_anything_else_is_refused_by_name(value: Any) -> None:
    with refused(
        ValueError, match=r"^neighbours: got .*; it must be a positive integer"
    ):
        integer("neighbours", value)


def test_an_integer_must_lie_between_the_given_bounds() -> None:
    assert integer("layer", 0, least=0) == 0
    assert integer("layer", 5, most=5) == 5
    with refused(ValueError, match="at most 5"):
        integer("layer", 6, most=5)


@pytest.mark.parametrize(
    "value",
    [2, 0.5, np.float32(0.5), np.int8(2), np.array(0.5), jnp.float32(0.5), 10**400],
)
def test_a_real_number_is_accepted(value: Any) -> None:
    number = real("sigma", value, "a number")
    assert type(number) is float
    assert number == (
        np.inf if type(value) is int and value > 2**1023 else float(value)
    )


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.False_,
        np.nan,
        1j,
        "1",
        None,
        [1.0],
        np.ones(2),
        [[1], [1, 2]],
        {},
        jnp.nan,
    ],
)
def test_what_is_no_real_number_is_refused_by_name(value: Any) -> None:
    with refused(ValueError, match=r"^sigma: got .*; it must be a number"):
        real("sigma", value, "a number")


@pytest.mark.parametrize(
    "value", [0, -1.0, np.inf, -np.inf, 10**400, np.float32(0), jnp.float32(-1)]
)
def test_what_is_not_positive_and_finite_is_refused(value: Any) -> None:
    with refused(
        ValueError, match=r"^beta: got .*; it must be a positive finite number"
    ):
        positive("beta", value)


@pytest.mark.parametrize(
    ("value", "dtype"), [(1e-60, np.float32), (1e60, np.float32), (1e-9, np.float16)]
)
def test_what_is_positive_only_before_it_is_rounded_is_refused(
    value: float, dtype: Any
) -> None:
    positive("beta", value)
    with refused(ValueError, match="beta"):
        positive("beta", value, dtype=dtype)


@pytest.mark.parametrize(
    "value", [NAN, NAN.tolist(), np.array([[np.inf]]), jnp.asarray(NAN)]
)
def test_nan_or_infinity_in_arrays_on_the_host_is_refused(value: Any) -> None:
    with refused(ValueError, match=r"Xi: got NaN or infinity"):
        array("Xi", value, "(K, D)", 2)


@pytest.mark.parametrize(
    "value",
    [
        np.ones(3),
        np.ones((0, 3)),
        [[1, 2], [3]],
        "text",
        np.ones((2, 2), complex),
        None,
    ],
)
def test_shapes_and_types_are_checked_also_where_values_are_not(value: Any) -> None:
    with value_checks(False), refused(ValueError, match=r"^Xi: got "):
        array("Xi", value, "(K, D)", 2)


def test_value_checks_turns_off_checks_of_values_only_inside_its_block() -> None:
    with value_checks(False):
        assert not readable(np.ones(2))
        assert np.isnan(array("Xi", NAN, "(K, D)", 2, once=True)).any()
        assert np.isnan(ro.MrDAM(NAN, 1.0).Xi).any()
        with value_checks(True), refused(ValueError, match="Xi"):
            ro.MrDAM(NAN, 1.0)
    with refused(ValueError, match="Xi"):
        ro.MrDAM(NAN, 1.0)


def test_inside_jit_shapes_are_checked_and_values_are_not() -> None:
    assert jnp.isnan(jax.jit(lambda x: array("Xi", x, "(K, D)", 2))(NAN)).any()
    with refused(ValueError, match=r"x: got shape"):
        jax.eval_shape(lambda x: states("x", x, 3), NAN)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Makes all JAX arrays count as arrays on a device; returns the list of those that
    are fetched from there.
    """
    fetched: list[Any] = []
    monkeypatch.setattr(
        _checks, "_on_host", lambda leaf: not isinstance(leaf, jax.Array)
    )
    convert = np.asarray

    def noted(value: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(value, jax.Array):
            fetched.append(value)
        return convert(value, *rest, **options)

    monkeypatch.setattr(_checks, "np", SimpleNamespace(**vars(np) | {"asarray": noted}))
    return fetched


def test_a_call_fetches_nothing_from_a_device(device: list[Any]) -> None:
    bad = jnp.asarray(NAN)
    assert array("x", bad, "(n, D)", 2) is bad
    assert states("x", bad, 2) is bad
    assert numbers("x", bad) is bad
    assert real("beta", jnp.float32(-1), "a number") is None
    positive("beta", jnp.float32(-1))
    assert device == []


def test_values_of_stored_arrays_are_checked_on_the_device_and_one_boolean_is_fetched(
    device: list[Any],
) -> None:
    with refused(ValueError, match=r"Xi: got NaN or infinity"):
        array("Xi", jnp.asarray(NAN), "(K, D)", 2, once=True)
    assert [answer.shape for answer in device] == [()]


TWO = """
import sys, jax, jax.numpy as jnp, numpy as np
jax.distributed.initialize(sys.argv[1], num_processes=2, process_id=int(sys.argv[2]))
from rankone._checks import array, readable, states
mesh = jax.sharding.Mesh(np.asarray(jax.devices()), ("rows",))
rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
x = jax.make_array_from_callback((4, 3), rows, lambda index: np.full((4, 3), np.nan, np.float32)[index])
assert not x.is_fully_addressable
assert not readable(x)
assert array("Xi", x, "(K, D)", 2) is x and array("Xi", x, "(K, D)", 2, once=True) is x and states("x", x, 3) is x
print("passed")
"""


def test_a_global_array_of_two_processes_passes_without_being_fetched(
    light: dict[str, str], free_port: int
) -> None:
    flags = light | {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_COMPILATION_CACHE": "false"}
    commands = [
        [sys.executable, "-c", TWO, f"localhost:{free_port}", str(number)]
        for number in range(2)
    ]
    options: dict[str, Any] = {
        "env": flags,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    processes = [subprocess.Popen(command, **options) for command in commands]
    said = [process.communicate(timeout=120) for process in processes]
    assert [out.strip().splitlines()[-1:] for out, _ in said] == [["passed"]] * 2, said


@pytest.mark.parametrize("key", [jax.random.key(0), jax.random.PRNGKey(0)])
def test_a_random_key_of_either_style_is_accepted(key: Any) -> None:
    random_key("key", key)


@pytest.mark.parametrize(
    "key",
    [
        0,
        None,
        jnp.zeros(2),
        jnp.zeros(3, jnp.uint32),
        jax.random.split(jax.random.key(0)),
    ],
)
def test_anything_that_is_not_a_random_key_is_refused(key: Any) -> None:
    with refused(ValueError, match=r"key: got .*jax\.random\.key\(0\)"):
        random_key("key", key)


@pytest.mark.parametrize("each", Outcome)
def test_an_outcome_says_what_to_do_and_goes_through_jit(each: Outcome) -> None:
    assert each.message
    conditions = [(jnp.asarray(each == case), case) for case in Outcome if case]
    assert Outcome(int(jax.jit(lambda: outcome(*conditions))())) is each


def test_the_gravest_outcome_is_reported_first() -> None:
    both = outcome(
        (jnp.array([True, False]), Outcome.SINGULAR),
        (jnp.array([True, True]), Outcome.NOT_FINITE),
    )
    assert both.tolist() == [Outcome.SINGULAR, Outcome.NOT_FINITE]


def test_these_tests_run_the_package_under_a_type_checker_that_knows_shapes() -> None:
    noticed = False
    features = ro.RandomFeatures(D=2, Y=3, key=jax.random.key(0))
    try:
        features.encode(jnp.ones((4, 2)), jnp.ones(5))  # a weight for each of four rows
    except TypeCheckError:
        noticed = True
    assert noticed
