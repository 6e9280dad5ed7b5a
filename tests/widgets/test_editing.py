"""The editing explorer's mathematics in JavaScript equals the package's in JAX, and its
Python half works.
"""

import jax
import node
import numpy as np
import pytest
from refusals import refused

import rankone.editing as editing
from rankone.theory.edit_cost import leverage, sequential_residual

# path relative to frontend/
BRIDGE = 'import { answer } from "../tests/widgets/editing_bridge.mjs";'
RTOL = 1e-9  # both sides are float64; condition numbers stay below 1e4


def javascript(name, **job):
    """The answer of one job in editing_bridge.mjs."""
    return node.reply(BRIDGE, [name, job])


pytestmark = pytest.mark.usefixtures("x64")


def setting(seed, n=12, D=2, H=2):
    rng = np.random.default_rng(seed)
    keys = rng.normal(size=(n, D)) * np.linspace(1.5, 0.4, D)
    return rng.normal(size=(H, D)), keys, rng.normal(size=D), rng.normal(size=H)


@pytest.mark.parametrize("used", [12, 5])
@pytest.mark.parametrize(
    ("geometry", "ridge"),
    [("keys", 0.0), ("keys", 0.3), ("keys", 100.0), ("identity", 0.0)],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_edit_equals_that_of_the_package(seed, geometry, ridge, used):
    W, keys, k, v = setting(seed)
    page = javascript(
        "edit", W=W, keys=keys, used=used, k=k, v=v, geometry=geometry, ridge=ridge
    )
    C = (
        np.eye(2)
        if geometry == "identity"
        else keys[:used].T @ keys[:used] * (12 / used)
    )
    expected = editing.rank_one_edit(W, C, k, v, ridge=ridge)
    np.testing.assert_allclose(page["right"], expected.right, rtol=RTOL)
    np.testing.assert_allclose(page["left"], expected.left, rtol=RTOL)
    np.testing.assert_allclose(page["W"], expected.apply(W), rtol=RTOL)
    best = editing.rank_one_edit(W, keys.T @ keys, k, v).interference
    assert page["least"] == pytest.approx(float(best), rel=RTOL)
    change = (np.asarray(page["W"]) - W) @ keys.T
    assert page["damage"] == pytest.approx((change**2).sum(), rel=RTOL)


def test_the_leverage_equals_that_of_the_package():
    W, keys, _, v = setting(3)
    page = javascript(
        "edit", W=W, keys=keys, used=12, k=keys[4], v=v, geometry="keys", ridge=0
    )
    assert page["leverage"] == pytest.approx(np.asarray(leverage(keys.T))[4], rel=RTOL)


def test_keys_on_a_line_are_handled_as_in_the_package():
    W, _, k, v = setting(4)
    keys = np.outer(np.linspace(-2, 2, 9), [0.8, 0.3])
    job = {"W": W, "keys": keys, "used": 9, "k": k, "v": v}
    pinv = editing.pseudo_inverse_edit(W, keys.T, k, v)
    page = javascript("edit", **job, geometry="pinv", ridge=0)
    np.testing.assert_allclose(page["W"], pinv.apply(W), rtol=1e-8)
    assert page["damage"] == pytest.approx(float(pinv.interference), rel=1e-8)
    assert page["least"] == 0
    limit = editing.ridge_limit_edit(W, keys.T, k, v).apply(W)
    ridged = javascript("edit", **job, geometry="keys", ridge=1e-7)
    np.testing.assert_allclose(ridged["W"], limit, rtol=1e-5)
    assert javascript("edit", **job, geometry="keys", ridge=0) is None


@pytest.mark.parametrize("beta", [0.0, 1.0, 1000.0])
@pytest.mark.parametrize("D", [2, 7])
def test_sequential_edits_equal_those_of_the_package(D, beta):
    W, keys, *_ = setting(5, n=30, D=D, H=4)
    rng = np.random.default_rng(6)
    m = D
    K = rng.normal(size=(D, m))
    V = rng.normal(size=(4, m))
    C = keys.T @ keys
    expected = editing.sequential_edit(W, C, K, V, beta=beta)
    pairs = [{"k": k, "v": v} for k, v in zip(K.T, V.T, strict=True)]
    page = javascript(
        "sequence", W=W, C=C, pairs=pairs, order=list(range(m)), beta=beta, ridge=0
    )
    np.testing.assert_allclose(
        page["residuals"], expected.residuals, rtol=1e-7, atol=1e-10
    )
    np.testing.assert_allclose(page["W"], expected.edit.apply(W), rtol=1e-7)


def test_cyclic_edits_equal_those_of_the_package():
    W, keys, *_ = setting(7, n=20, D=3, H=2)
    rng = np.random.default_rng(8)
    K = rng.normal(size=(3, 2))
    V = rng.normal(size=(2, 2))
    C = keys.T @ keys
    pairs = [{"k": k, "v": v} for k, v in zip(K.T, V.T, strict=True)]
    page = javascript(
        "sequence", W=W, C=C, pairs=pairs, order=[0, 1] * 5, beta=0, ridge=0
    )
    expected = editing.cyclic_edit(W, C, K, V, cycles=5)
    np.testing.assert_allclose(page["W"], expected.edit.apply(W), rtol=1e-8)
    errors = np.asarray(expected.errors)
    cosine = javascript("cosine", C=C, a=K[:, 0], b=K[:, 1])
    np.testing.assert_allclose(errors[3] / errors[2], cosine, rtol=1e-6)


@pytest.mark.parametrize(("D", "T"), [(2, 8), (16, 48)])
def test_many_edits_equal_those_of_the_package_on_the_same_draws(D, T):
    page = javascript("many", D=D, T=T, seed=3, runs=2, outputs=5)
    errors = []

    @jax.jit
    def draws(key):
        for_keys, for_values = jax.random.split(key)
        return jax.random.normal(for_keys, (T, D), "float32"), jax.random.normal(
            for_values, (T, 5), "float32"
        )

    for key in jax.random.split(jax.random.key(3), 2):
        K, V = (np.asarray(draw, float) for draw in draws(key))
        K /= np.linalg.norm(K, axis=1, keepdims=True)
        sequence = editing.sequential_edit(np.zeros((5, D)), np.eye(D), K.T, V.T)
        errors.append(np.asarray(sequence.residuals)[-1] ** 2 / 5)
    # normal numbers agree in float32
    np.testing.assert_allclose(page, np.mean(errors, axis=0), rtol=1e-4, atol=1e-9)


def test_the_law_of_forgetting_equals_that_of_the_package():
    expected = sequential_residual(np.arange(1, 41), 40, 10)
    np.testing.assert_allclose(
        javascript("law", T=40, D=10), expected, rtol=1e-9, atol=1e-12
    )


KEPT = [{"k": [1.6, 0.3], "v": [0.4, 1.8]}, {"k": [1.2, 1.1], "v": [-1.5, 0.6]}]
PATCHES = [
    {"k": [1.25, -0.5], "v": [-0.1, 2.9], "used": 5, "ridge": 0.001},
    {"geometry": "pinv", "used": 11, "pairs": KEPT, "order": [1], "beta": 3},
    {"geometry": "identity", "pairs": KEPT, "order": [0, 1], "beta": 30, "ridge": 10},
    {
        "geometry": "keys",
        "pairs": KEPT,
        "order": [0, 1, 0],
        "beta": 1e6,
        "ridge": 0.3,
        "W": [[-1, 2], [0.5, 0]],
    },
]


def test_the_copied_python_code_computes_what_the_page_shows(run_copied):
    states = javascript("copied", patches=PATCHES)
    assert len(states) == 8 + len(PATCHES)
    for state in states:
        namespace = run_copied(state["text"])
        np.testing.assert_allclose(namespace["W"], state["W"], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(
            namespace["after"], state["after"], rtol=1e-8, atol=1e-10
        )
        np.testing.assert_allclose(
            namespace["change"], state["measured"], rtol=1e-7, atol=1e-9
        )
        assert (namespace["change"] ** 2).sum() == pytest.approx(
            state["total"], rel=1e-8
        )
        said = float(namespace["printed"].split()[-1])
        assert said == pytest.approx(state["total"], rel=5e-3, abs=1e-9)


def explorer(**settings):
    from rankone_book.widgets.editing_explorer import EditingExplorer

    return EditingExplorer(**settings)


def test_the_explorer_carries_its_settings():
    widget = explorer(k=np.array([0.5, 1.0]), geometry="identity", ridge=2)
    assert widget.settings == {"k": [0.5, 1.0], "geometry": "identity", "ridge": 2}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"k": [1.0, 2.0, 3.0]}, "k"),
        ({"keys": [[50.0, 0.0]]}, "within ±30"),
        ({"W": np.ones((3, 2))}, "W"),
        ({"v": [np.nan, 0.0]}, "v"),
        ({"geometry": "euclid"}, "identity"),
        ({"ridge": -1.0}, "ridge"),
        ({"gamma": 1}, "gamma"),
    ],
)
def test_the_explorer_says_what_is_wrong(settings, says):
    with refused(ValueError, match=says):
        explorer(**settings)


@pytest.mark.parametrize(
    ("geometry", "ridge"),
    [("keys", 0.0), ("keys", 3.0), ("identity", 0.0), ("pinv", 0.0)],
)
def test_the_kernel_makes_the_edit_on_show(geometry, ridge):
    W, keys, k, v = setting(9)
    widget = explorer()
    with refused(ValueError, match="show the widget"):
        widget.edit()
    state = {
        "W": W,
        "keys": keys,
        "used": 7,
        "k": k,
        "v": v,
        "geometry": geometry,
        "ridge": ridge,
    }
    widget.shown = {
        name: np.asarray(a).tolist() if isinstance(a, np.ndarray) else a
        for name, a in state.items()
    }
    page = javascript("edit", **state)
    np.testing.assert_allclose(widget.edit().apply(W), page["W"], rtol=1e-8)
