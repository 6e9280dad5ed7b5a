"""The arithmetic of the page *How it grows* agrees with the arrays of the package, with
its theory, and with results computed by hand.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.theory import thresholds
from rankone_book import growth


def array_bytes(value):
    """Bytes of the arrays of an object of shapes, without random keys."""
    leaves = jax.tree.leaves(value)
    arrays = [
        leaf
        for leaf in leaves
        if not jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    ]
    return sum(leaf.size * leaf.dtype.itemsize for leaf in arrays)


def memory_bytes(projection, D, Y):
    def features():
        return ro.RandomFeatures(D, Y, key=jax.random.key(0), projection=projection)

    T = 4 * jax.eval_shape(features).M
    return array_bytes(jax.eval_shape(features)) + T


@pytest.mark.parametrize("D", [64, 768, 1024])
def test_the_bytes_are_those_of_the_packages_arrays(D):
    Y = 2**17
    K = 2 * Y * 0.25**2  # the number of patterns for which `costs` has Y frequencies
    cost = growth.costs(int(K), D, error=0.25)
    rows = jax.eval_shape(lambda: ro.MrDAM(jnp.ones((32, D)), 1.0)).Xi
    assert cost["list"].stored_bytes == array_bytes(rows) / 32 * K
    # Blocks are padded: by a few rows of frequencies, and Hadamard ones to whole blocks.
    stored = memory_bytes("gaussian", D, Y)
    assert stored == pytest.approx(cost["stored"].stored_bytes, rel=0.02)
    hadamard = memory_bytes("hadamard", D, Y)
    assert hadamard == pytest.approx(cost["hadamard"].stored_bytes, rel=0.02)


def test_the_number_of_frequencies_gives_the_accepted_noise():
    K, D = 1000, 50
    Y = growth.frequencies(K, D, error=0.2, use="energy")
    assert float(thresholds.noise(K=K, Y=Y)) == pytest.approx(0.2, rel=1e-6)
    Y = growth.frequencies(K, D, error=0.5, use="retrieval")
    assert float(thresholds.roughness(D=D, K=K, Y=Y)) == pytest.approx(0.5, rel=1e-6)
    expected = float(thresholds.features_for_stability(D=D, K=K))
    assert pytest.approx(expected, rel=1e-6) == Y
    assert growth.costs(K, D, error=0.2)["hadamard"].signal == pytest.approx(5)


def test_a_billion_keys_on_64_devices_by_hand():
    cost = growth.costs(10**9, 768, error=0.5**0.5 / 10**0.5, hardware="cluster")
    assert cost["half"].stored_bytes == 2 * 768e9
    assert cost["half"].seconds == pytest.approx(2 * 768e9 / (64 * 3.35e12))
    # Y = 10¹⁰ takes 20 bytes per frequency. A block is a product of two transforms of
    # √1024.
    assert cost["hadamard"].stored_bytes == pytest.approx(200e9)
    operations = (16 * 32 + 40) * 1e10
    assert cost["hadamard"].seconds == pytest.approx(operations / (64 * 67e12))
    assert not cost["stored"].fits
    assert cost["list"].sent_bytes == 4 * (768 + 2)


def test_the_costs_of_a_list_are_linear_and_the_writing_of_a_vector_is_quadratic():
    one, ten = (growth.costs(K, 256, use="retrieval") for K in (10**6, 10**7))
    for form in ("list", "half", "stored", "hadamard"):
        assert ten[form].stored_bytes == pytest.approx(
            10 * one[form].stored_bytes, rel=1e-6
        )
        assert ten[form].seconds == pytest.approx(10 * one[form].seconds, rel=1e-6)
    assert ten["hadamard"].writing == pytest.approx(100 * one["hadamard"].writing)
    assert ten["index"].seconds < 10 * one["index"].seconds


def test_one_query_is_limited_by_memory_bandwidth_and_many_queries_by_operations():
    one = growth.costs(10**8, 512, hardware="gpu")["list"]
    many = growth.costs(10**8, 512, hardware="gpu", N=10_000)["list"]
    gpu = growth.HARDWARE["gpu"]
    assert one.seconds == pytest.approx(one.stored_bytes / gpu.bandwidth)
    assert many.seconds == pytest.approx(4e4 * 1e8 * 512 / gpu.flops)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"use": "guess"}, "use"),
        ({"hardware": "abacus"}, "hardware"),
        ({"error": 0.0}, "error"),
        ({"N": 0}, "N"),
    ],
)
def test_a_wrong_argument_is_named(arguments, says):
    with refused(ValueError, match=f"^{says}: got"):
        growth.costs(100, 10, **arguments)


def test_forms_and_costs_have_the_same_names():
    assert growth.costs(100, 10).keys() == growth.FORMS.keys()
    assert np.isinf(growth.costs(100, 10)["list"].signal)
