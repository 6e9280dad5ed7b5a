"""Damaged copies of patterns, and the arguments that they and the loaders refuse."""

import jax
import numpy as np
import pytest
from refusals import refused

from rankone.data import binary_patterns, country, flip_bits, occlude, photographs

KEY = jax.random.key(0)


def test_as_many_bits_are_flipped_as_asked_for_in_each_pattern():
    Xi = binary_patterns(6, 10, key=KEY)
    flipped = flip_bits(np.asarray(Xi), np.float32(0.3), key=jax.random.key(1))
    np.testing.assert_array_equal((np.asarray(flipped) != np.asarray(Xi)).sum(1), 3)
    assert {round(float(v), 5) for v in np.unique(flipped)} == {0.0, round(10**-0.5, 5)}
    assert (np.asarray(flip_bits(Xi, 0.3, key=KEY)) != np.asarray(flipped)).any()


def test_the_first_rows_are_kept_and_the_rest_is_painted():
    pictures, mask = occlude(photographs(16)[:2], visible=0.5, fill=0.25)
    np.testing.assert_array_equal(mask, np.arange(768) < 384)
    np.testing.assert_array_equal(np.asarray(pictures)[:, 384:], 0.25)
    np.testing.assert_array_equal(
        np.asarray(pictures)[:, :384], photographs(16)[:2, :384]
    )


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, True, "half", 2**2000])
def test_fractions_outside_zero_to_one_are_refused(bad):
    with refused(ValueError, match=r"^fraction: got"):
        flip_bits(np.zeros((2, 4)), bad, key=KEY)
    with refused(ValueError, match=r"^visible: got"):
        occlude(np.zeros((2, 4)), visible=bad)


@pytest.mark.parametrize("bad", [0, 2.5, 3.0, True, 2**70])
def test_sizes_are_positive_integers(bad):
    for name, call in {
        "K": lambda: binary_patterns(bad, 4, key=KEY),
        "D": lambda: binary_patterns(4, bad, key=KEY),
        "size": lambda: photographs(bad),
    }.items():
        with refused(ValueError, match=f"^{name}: got"):
            call()


def test_keys_and_names_are_checked():
    with refused(ValueError, match=r"^key: got"):
        binary_patterns(2, 4, key=7)
    with refused(
        ValueError, match=r"name: got 'Jpan'; it must be a country, such as .*Japan"
    ):
        country("Jpan")
