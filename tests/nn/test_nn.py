"""Dense layers, their augmented matrix, and one gradient step."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

from rankone.nn import Dense, gradient_step, initial_layers, relu_network

rng = np.random.default_rng(0)
W, B, X = (
    rng.normal(size=shape).astype(np.float32) for shape in ((3, 4), (3,), (5, 4))
)


def test_a_layer_multiplies_inputs_with_a_one_by_its_augmented_matrix():
    layer = Dense(W, B)
    np.testing.assert_allclose(layer(X), X @ W.T + B, rtol=1e-5)
    np.testing.assert_array_equal(layer.augmented, np.c_[W, B])
    np.testing.assert_array_equal(layer.features(X), np.c_[X, np.ones(5)])
    np.testing.assert_allclose(
        layer.features(X) @ layer.augmented.T, layer(X), rtol=1e-5
    )
    assert Dense.from_augmented(np.c_[W, B]) == layer
    plain = Dense.from_augmented(W, bias=False)
    assert plain == Dense(W)
    np.testing.assert_array_equal(plain.augmented, W)
    np.testing.assert_array_equal(plain.features(X), X)


def test_a_stack_of_layers_is_scanned():
    W = rng.normal(size=(6, 4, 4)).astype(np.float32) / 4
    b = rng.normal(size=(6, 4)).astype(np.float32)
    deep = jax.jit(
        lambda x: jax.lax.scan(
            lambda x, layer: (jnp.tanh(layer(x)), None), x, Dense(W, b)
        )[0]
    )(X)
    x = X
    for i in range(6):
        x = np.tanh(x @ W[i].T + b[i])
    np.testing.assert_allclose(deep, x, atol=1e-5)
    np.testing.assert_array_equal(
        Dense(W, b).augmented, np.concatenate([W, b[..., None]], -1)
    )


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((W[0],), "W"),
        ((W, B[:2]), "b"),
        ((W, B[:, None]), "b"),
        ((W * np.nan,), "W"),
        (("W",), "W"),
    ],
)
def test_errors_name_the_invalid_array_of_a_layer(arguments, name):
    with refused(ValueError, match=rf"^{name}: got"):
        Dense(*arguments)


def test_a_network_of_layers_between_widths_keeps_the_scale_of_its_input():
    layers = initial_layers(jax.random.key(0), (200, 300, 200, 2))
    assert [layer.W.shape for layer in layers] == [(300, 200), (200, 300), (2, 200)]
    x = rng.normal(size=(50, 200)).astype(np.float32)
    hidden = x
    for layer in layers[:-1]:
        hidden = np.maximum(hidden @ np.asarray(layer.W).T, 0)
    np.testing.assert_allclose(
        jax.jit(relu_network)(layers, x), hidden @ np.asarray(layers[-1].W).T, atol=1e-4
    )
    assert 0.7 < np.mean(hidden**2) / np.mean(x**2) < 1.4


def test_gradient_step_updates_only_marked_parameters_and_keeps_dtypes():
    params = {"free": jnp.asarray(W, jnp.bfloat16), "fixed": jnp.asarray(B)}

    def loss(p):
        return (p["free"] ** 2).sum().astype(jnp.float32) / 2 + p["fixed"].sum()

    stepped = gradient_step(
        loss, params, np.float32(0.5), where={"free": True, "fixed": False}
    )
    assert stepped["free"].dtype == jnp.bfloat16
    np.testing.assert_allclose(stepped["free"], W / 2, rtol=5e-3)
    np.testing.assert_array_equal(stepped["fixed"], B)
    np.testing.assert_allclose(
        gradient_step(loss, params, 0.5)["fixed"], B - 0.5, rtol=1e-6
    )


@pytest.mark.parametrize(("first_order", "slope"), [(False, 0.25), (True, 0.5)])
def test_the_outer_derivative_goes_through_the_step_unless_it_is_stopped(
    first_order, slope
):
    """One step on the loss θ²/2 leads to θ/2. The outer loss θ²/8 then has the slope
    θ/4, and θ/2 if the gradient is taken as constant.
    """

    def outer(t):
        return (
            gradient_step(lambda t: t**2 / 2, t, 0.5, first_order=first_order) ** 2 / 2
        )

    assert jax.grad(outer)(jnp.float32(1.0)) == pytest.approx(slope)
