"""Errors of eqs 14 and 15, damaged queries, completion of pictures."""

import jax
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.data.queries import flip_bits, occlude
from rankone.theory.fidelity import (
    RIGHT_WITHIN,
    approximation_errors,
    binarise,
    complete,
    hamming_error,
)


def test_hamming_error_is_share_of_bits_and_squared_norm():
    rng = np.random.default_rng(0)
    bits = rng.random(37) < 0.5
    flipped = bits ^ (np.arange(37) < 13)
    a = bits / 37**0.5
    b = flipped / 37**0.5
    noise = 0.4 / 37**0.5 * rng.uniform(-1, 1, 37)
    # noise below half a unit, which rounding removes
    for x, z in (
        (a, b),
        (a + noise, b - noise),
    ):
        assert hamming_error(x, z) == pytest.approx(13 / 37, rel=1e-5)
        assert (
            (np.asarray(binarise(x)) - np.asarray(binarise(z))) ** 2
        ).sum() == pytest.approx(13 / 37, rel=1e-5)


def test_binarise_rounds_the_midpoint_up():
    assert binarise(np.array([0.25, 0.2499, 0.0, 1.0])).tolist() == [0.5, 0.0, 0.0, 0.5]


def test_approximation_errors_are_those_of_eq_14_and_differ_by_root_pi_D_half():
    D = 100
    K = 100
    Xi = ro.data.binary_patterns(K, D, key=jax.random.key(2))
    exact = ro.MrDAM(Xi, 30.0)
    memory = ro.DrDAM.store(Xi, 30.0, ro.RandomFeatures(D, 4000, key=jax.random.key(3)))
    errors = approximation_errors(exact, memory, Xi)
    difference = np.asarray(exact.gradient(Xi)) - memory.gradient(Xi)
    assert np.allclose(errors.gradient, np.sqrt((difference**2).sum(1)), rtol=1e-5)
    assert np.allclose(
        errors.energy,
        np.abs(np.asarray(exact.energy(Xi)) - memory.energy(Xi)),
        atol=1e-6,
    )
    assert np.mean(errors.gradient) / np.mean(errors.entry) == pytest.approx(
        (np.pi * D / 2) ** 0.5, rel=0.05
    )


def test_approximation_errors_refuses_objects_that_are_not_memories():
    with refused(ValueError, match=r"^approximate: got"):
        approximation_errors(ro.MrDAM(np.eye(3), 1.0), "memory", np.ones(3))


def test_flip_bits_flips_exactly_that_fraction():
    Xi = np.asarray(ro.data.binary_patterns(20, 50, key=jax.random.key(4)))
    flipped = np.asarray(flip_bits(Xi, 0.1, key=jax.random.key(5)))
    assert ((flipped != Xi).sum(1) == 5).all()
    assert set(np.unique(flipped)) == set(np.unique(Xi))
    with refused(ValueError, match="fraction"):
        flip_bits(Xi, 1.5, key=jax.random.key(5))


def test_occlude_keeps_the_first_entries_and_paints_the_rest():
    pictures = np.random.default_rng(6).random((3, 10), np.float32)
    queries, mask = map(np.asarray, occlude(pictures, visible=0.4, fill=0.5))
    assert mask.tolist() == [True] * 4 + [False] * 6
    assert (queries[:, :4] == pictures[:, :4]).all()
    assert (queries[:, 4:] == 0.5).all()


def test_complete_restores_pictures_from_grey_and_keeps_the_visible_half():
    pictures = np.asarray(ro.data.photographs(16))[:6]
    recipe = {
        "beta": 80.0,
        "Y": 8192,
        "visible": 0.5,
        "key": jax.random.key(0),
        "max_steps": 150,
        "progress": False,
    }
    done = complete(pictures, fill=0.5, **recipe)
    assert done.exact_right.all()
    assert done.distributed_right.mean() >= 5 / 6
    half = pictures.shape[1] // 2
    for result in (done.start, done.exact, done.distributed):
        assert np.allclose(np.asarray(result)[:, :half], pictures[:, :half], atol=1e-6)
    assert (done.difference < 0.1).mean() >= 5 / 6
    scale = pictures.shape[1] ** -0.5
    exact = ro.MrDAM(scale * pictures, 80.0)
    for at, state in ((0, done.start), (-1, done.exact)):
        assert np.allclose(
            done.exact_energies[:, at], exact.energy(scale * state), atol=1e-6
        )
    for energies in (done.exact_energies, done.distributed_energies):
        assert energies.shape == (6, 151)
        assert (energies[:, -1] < energies[:, 0]).all()
    # Black is farther from every picture than grey, and the ratio must show this before
    # a step is taken.
    assert (
        complete(pictures, fill=0.0, **recipe).signal_to_noise.mean()
    ) < done.signal_to_noise.mean()


def test_noise_near_the_right_picture_is_not_right():
    """With far too few features the results are noise, and some of them are nearest to
    the right picture.
    """
    pictures = np.asarray(ro.data.photographs(16))[:5]
    recipe = {
        "beta": 80.0,
        "Y": 256,
        "visible": 0.6,
        "key": jax.random.key(0),
        "max_steps": 30,
        "progress": False,
    }
    done = complete(pictures, fill=0.5, **recipe)
    hidden = slice(round(0.6 * 768), None)
    gaps = (
        (np.asarray(done.distributed)[:, None, hidden] - pictures[:, hidden]) ** 2
    ).sum(-1)
    nearest = gaps.argmin(1) == np.arange(5)
    noise = np.asarray(done.distributed_error) >= RIGHT_WITHIN
    assert (nearest & noise).any()
    assert (np.asarray(done.distributed_right) == (nearest & ~noise)).all()


def test_complete_asks_for_the_chosen_pictures_only():
    pictures = np.asarray(ro.data.photographs(16))[:5]
    recipe = {
        "beta": 80.0,
        "Y": 1024,
        "visible": 0.6,
        "key": jax.random.key(0),
        "max_steps": 30,
        "progress": False,
    }
    one = complete(pictures, queries=slice(2, 3), fill=0.5, **recipe)
    every = complete(pictures, fill=0.5, **recipe)
    assert one.exact.shape == (1, 768)
    assert np.allclose(one.exact[0], every.exact[2], atol=1e-5)
    assert one.exact_right[0] == every.exact_right[2]
