"""T rounded to a few bits per entry: the stored numbers, the readings, and the refused
arguments.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.memory.packed import Packed, levels, rounded
from rankone.precision import double_precision

FEW = (8, 4, 2, 1)
# D, Y and options of feature maps with several blocks, the last of which is not full.
MAPS = {
    "gaussian": (4096, 600, {}),
    "regenerated": (4096, 300, {"regenerate": True}),
    "hadamard": (2049, 5000, {"projection": "hadamard"}),
    "cos": (4096, 300, {"basis": "cos"}),
}


def memory_of(D, Y, **options):
    Xi = ro.data.binary_patterns(5, D, key=jax.random.key(0))
    return Xi, ro.DrDAM.store(
        Xi, 20.0, ro.RandomFeatures(D, Y, key=jax.random.key(1), **options)
    )


@pytest.mark.parametrize("bits", FEW)
def test_every_entry_goes_to_the_nearest_level_and_costs_its_bits(bits):
    with double_precision():
        T = np.random.default_rng(bits).normal(size=1003) * 0.3
        packed = rounded(jnp.asarray(T), bits)
        assert isinstance(packed, Packed)
        assert packed.nbytes == -(-1003 * bits // 8) + 8
        c = levels(bits)
        nearest = c[np.abs(T[:, None] / np.sqrt(np.mean(T**2)) - c).argmin(1)]
        scale = (T @ T) / (T @ nearest)
        np.testing.assert_allclose(packed.unpacked, scale * nearest, rtol=1e-12)
        assert abs((packed.unpacked - T) @ T) < 1e-12 * (T @ T)


@pytest.mark.parametrize("name", MAPS)
def test_a_packed_vector_is_read_as_the_unpacked_one(name):
    D, Y, options = MAPS[name]
    Xi, memory = memory_of(D, Y, **options)
    assert jax.tree.leaves(memory.features.frequencies.blocks)[0].shape[0] > 1
    for bits in (2, 1):
        few = replace(memory, bits=bits)
        whole = replace(memory, T=few.unpacked)
        for one, other in zip(
            few.energy_and_gradient(Xi), whole.energy_and_gradient(Xi), strict=True
        ):
            # the two programs add many float32 terms in different orders
            np.testing.assert_allclose(
                one, other, rtol=1e-5, atol=1e-5 * abs(other).max()
            )


def test_reading_a_packed_vector_never_unpacks_all_of_it():
    """No array of the compiled program, nor of one of its blocks' loops, has as many
    numbers as T.
    """
    Xi, memory = memory_of(*MAPS["gaussian"][:2])
    few = replace(memory, bits=4)

    def longest(memory):
        program = jax.jit(lambda memory, x: memory.energy_and_gradient(x))
        text = program.lower(memory, Xi[:1]).as_text()
        whole = (
            f"<{memory.features.M}xf32>",
            f"<2x{memory.features.Y}xf32>",
            "<3x2x256xf32>",
        )
        return any(shape in text for shape in whole)

    assert longest(memory)
    assert not longest(few)


def test_replace_keeps_rounded_values_and_rounds_new_ones():
    _, memory = memory_of(64, 300)
    few = replace(memory, bits=4)
    assert replace(few, beta=2.0).T is few.T
    assert isinstance(replace(few, T=memory.T).T, Packed)
    again = replace(few, bits=32)
    assert isinstance(again.T, jax.Array)
    assert again.bits == 32
    assert again.T.shape == few.T.shape == memory.T.shape
    assert ro.DrDAM.store(memory_of(64, 300)[0], 20.0, memory.features, bits=4) == few
    assert few.write.right.tolist() == again.T.tolist()


def test_a_rounded_memory_retrieves_and_has_derivatives():
    Xi, memory = memory_of(64, 4000)
    few = replace(memory, bits=2)
    run = jax.jit(
        lambda memory, x: ro.retrieve(memory, x, step_size=0.5, max_steps=40).x
    )
    assert float(jnp.abs(run(few, Xi) - Xi).max()) < 0.05
    slope = jax.grad(lambda x: few.energy(x))(Xi[0])
    np.testing.assert_allclose(slope, few.gradient(Xi[0]), atol=1e-5)


def test_an_empty_memory_rounds_to_zero():
    _, memory = memory_of(64, 300)
    empty = replace(memory, T=0 * memory.T, count=0.0, power=0.0, bits=1)
    assert not np.any(empty.unpacked)
    assert np.isfinite(empty.energy(np.zeros(64)))


@pytest.mark.parametrize("bits", [0, 3, 16, 1.0, True, "4", None])
def test_other_numbers_of_bits_are_refused(bits):
    _, memory = memory_of(64, 300)
    with refused(ValueError, match=r"^bits: got "):
        replace(memory, bits=bits)
    with refused(ValueError, match=r"^bits: got "):
        ro.DrDAM.store(np.eye(64), 1.0, memory.features, bits=bits)


def test_a_rounded_memory_is_not_written_to():
    Xi, memory = memory_of(64, 300)
    few = replace(memory, bits=4)
    for write in (few.add, few.remove):
        with refused(ValueError, match=r"^bits: got 4; it must be 32 to be written to"):
            write(Xi[0])
