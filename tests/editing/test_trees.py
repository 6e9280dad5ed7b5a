"""Edits inside models of other frameworks: the weight is found by its path, keys are
captured, and the edit is written, tested and undone.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

from rankone.editing import (
    KeyGeometry,
    SecondMoments,
    batch_edit,
    capture_keys,
    edit_at,
    load_edit,
    rank_one_edit,
    weight_at,
)

SIZES = (5, 8, 6, 3)  # of an MLP's layers; the middle matrix is edited
X = np.random.default_rng(0).normal(size=(40, SIZES[0])).astype(np.float32)
rectified = jax.nn.relu


@dataclass(frozen=True)
class Case:
    """A model of some framework, the function that runs it, the path of its middle
    matrix, and the inputs and outputs of this matrix.
    """

    model: Any
    run: Any
    path: str
    layout: str
    before: Any  # of the model and X: the inputs of the matrix
    after: Any  # of the model and keys: the outputs of the matrix, without its bias


def of_equinox():
    eqx = pytest.importorskip("equinox")
    model = eqx.nn.MLP(SIZES[0], SIZES[3], 8, 2, key=jax.random.key(0))

    def before(m, x):
        return rectified(jax.vmap(m.layers[0])(x))

    def after(m, k):
        return jax.vmap(m.layers[1])(k) - m.layers[1].bias

    run = eqx.filter_jit(lambda m, x: jax.vmap(m)(x))
    return Case(model, run, "layers[1].weight", "out_in", before, after)


def of_linen():
    nn = pytest.importorskip("flax.linen")
    module = nn.Sequential(
        [nn.Dense(SIZES[1]), nn.relu, nn.Dense(SIZES[2]), nn.relu, nn.Dense(SIZES[3])]
    )

    def dense(size, part, x):
        return nn.Dense(size).apply({"params": part}, x)

    def before(m, x):
        return rectified(dense(SIZES[1], m["params"]["layers_0"], x))

    def after(m, k):
        return k @ m["params"]["layers_2"]["kernel"]

    return Case(
        module.init(jax.random.key(0), X),
        module.apply,
        "params/layers_2/kernel",
        "in_out",
        before,
        after,
    )


def of_nnx():
    nnx = pytest.importorskip("flax.nnx")
    rngs = nnx.Rngs(0)
    parts = [
        part
        for n, m in pairwise(SIZES)
        for part in (nnx.Linear(n, m, rngs=rngs), nnx.relu)
    ]
    graph, state = nnx.split(nnx.Sequential(*parts[:-1]))

    def before(m, x):
        return rectified(nnx.merge(graph, m).layers[0](x))

    def after(m, k):
        return (
            nnx.merge(graph, m).layers[2](k) - nnx.merge(graph, m).layers[2].bias[...]
        )

    return Case(
        state,
        lambda m, x: nnx.merge(graph, m)(x),
        "layers[2].kernel",
        "in_out",
        before,
        after,
    )


def of_tensors():
    draw = np.random.default_rng(1).normal
    shapes = {f"h.{i}.weight": (m, n) for i, (n, m) in enumerate(pairwise(SIZES))}
    model = {
        name: draw(size=shape).astype(np.float32) for name, shape in shapes.items()
    }

    @jax.checkpoint
    def run(weights, x):
        x = jnp.einsum(
            "oi,bi->bo", weights["h.1.weight"], rectified(x @ weights["h.0.weight"].T)
        )
        return rectified(x) @ weights["h.2.weight"].T

    def before(m, x):
        return rectified(x @ m["h.0.weight"].T)

    return Case(
        model,
        jax.jit(run),
        "h.1.weight",
        "out_in",
        before,
        lambda m, k: k @ m["h.1.weight"].T,
    )


@pytest.fixture(scope="module", params=[of_equinox, of_linen, of_nnx, of_tensors])
def case(request):
    return request.param()


def test_captured_keys_are_what_enters_the_layer(case):
    keys = capture_keys(case.run, case.model, case.path, X, layout=case.layout)
    assert keys.shape == (40, SIZES[1])
    np.testing.assert_allclose(keys, case.before(case.model, X), rtol=1e-5, atol=1e-6)


def test_an_edited_model_gives_the_value_at_the_key_and_changes_one_leaf(case):
    keys = capture_keys(case.run, case.model, case.path, X, layout=case.layout)
    geometry = KeyGeometry.from_moments(
        SecondMoments.empty(SIZES[1]).update(keys).mean, ridge=1e-3
    )
    W = weight_at(case.model, case.path, layout=case.layout)
    v = np.linspace(-2, 2, len(W)).astype(np.float32)
    edit = rank_one_edit(W, geometry, keys[7], v)
    edited = edit_at(case.model, case.path, edit, layout=case.layout)
    np.testing.assert_allclose(
        case.after(edited, keys[7:8])[0], v, rtol=1e-4, atol=1e-4
    )
    again = capture_keys(case.run, edited, case.path, X, layout=case.layout)
    np.testing.assert_array_equal(again, keys)  # the layers below have not changed
    assert (
        np.abs(np.asarray(case.run(edited, X)) - case.run(case.model, X))[7].max()
        > 1e-2
    )
    same = jax.tree.map(
        lambda a, b: np.array_equal(a, b) if hasattr(a, "ndim") else a is b,
        case.model,
        edited,
    )
    assert sum(not equal for equal in jax.tree.leaves(same)) == 1


def test_an_edit_is_saved_made_again_and_taken_back(case, tmp_path):
    W = weight_at(case.model, case.path, layout=case.layout)
    K = np.eye(W.shape[1], 2, dtype=np.float32)
    V = np.ones((len(W), 2), np.float32)
    edit = batch_edit(W, np.eye(W.shape[1], dtype=np.float32), K, V)
    again, _ = load_edit(edit.save(tmp_path / "edit"))
    edited = edit_at(case.model, case.path, again, layout=case.layout)
    np.testing.assert_array_equal(
        weight_at(edited, case.path, layout=case.layout), edit.apply(W)
    )
    back = edit_at(edited, case.path, again, layout=case.layout, undo=True)
    np.testing.assert_allclose(
        weight_at(back, case.path, layout=case.layout), W, atol=1e-6
    )
    # the original model has not changed
    np.testing.assert_array_equal(
        weight_at(case.model, case.path, layout=case.layout), W
    )


TREE = {
    "h": [
        {"weight": np.ones((4, 3), jnp.bfloat16), "bias": np.ones(4)},
        {"weight": np.ones((3, 4))},
    ],
    "E": np.eye(4),
}
EDIT = rank_one_edit(np.ones((4, 3)), np.eye(3), np.ones(3), np.zeros(4))


def test_paths_are_read_in_every_usual_spelling():
    keys = next(
        path
        for path, leaf in jax.tree_util.tree_flatten_with_path(TREE)[0]
        if leaf.shape == (4, 3)
    )
    for path in (
        "h[0].weight",
        "h.0.weight",
        "h/0/weight",
        "['h'][0]['weight']",
        keys,
        ("h", 0, "weight"),
    ):
        assert weight_at(TREE, path, layout="out_in").dtype == jnp.bfloat16
        assert (
            edit_at(TREE, path, EDIT, layout="out_in")["h"][0]["weight"].dtype
            == jnp.bfloat16
        )
    assert weight_at(TREE, "h[0].weight", layout="in_out").shape == (3, 4)


def test_one_matrix_of_a_stack_is_chosen_by_its_number():
    stack = {"down": np.ones((5, 4, 3), np.float32)}
    edited = edit_at(stack, "down[2]", EDIT, layout="out_in")["down"]
    changed = np.abs(edited - stack["down"]).max((1, 2))
    assert np.flatnonzero(changed).tolist() == [2]
    np.testing.assert_array_equal(edited[2], EDIT.apply(stack["down"][2]))
    for path in ("down", "down[5]", "down[1][1]"):
        with refused(ValueError, match="add its number"):
            weight_at(stack, path, layout="out_in")


@pytest.mark.parametrize(
    ("path", "layout", "message"),
    [
        (
            "h[0].wieght",
            "out_in",
            r"such as h'\]\[0\]\['weight'\] \(4, 3\)|such as .*0.*weight.* \(4, 3\)",
        ),
        ("h[0].bias", "out_in", r"of shape \(4,\)"),
        ("h[0]", "out_in", "path: got"),
        ("h[0].weight", "in_out", "it must be 'out_in'"),
        ("h[1].weight", "out_in", "it must be 'in_out'"),
        ("E", "out_in", r"edit: got one of a \(4, 3\) matrix.*\(4, 4\)"),
        ("E", "rows", "layout: got 'rows'"),
    ],
)
def test_a_wrong_path_or_layout_says_what_would_fit(path, layout, message):
    with refused(ValueError, match=message):
        edit_at(TREE, path, EDIT, layout=layout)


def test_an_error_names_an_argument_that_is_not_a_path_edit_or_function():
    for name, call in {
        "path": lambda bad: edit_at(TREE, bad, EDIT, layout="out_in"),
        "edit": lambda bad: edit_at(TREE, "h[0].weight", bad, layout="out_in"),
        "undo": lambda bad: edit_at(
            TREE, "h[0].weight", EDIT, layout="out_in", undo=bad
        ),
        "fn": lambda bad: capture_keys(bad, TREE, "h[0].weight", X, layout="out_in"),
    }.items():
        for bad in (object(), 1.5, {"a": 1}):
            with refused(ValueError, match=f"^{name}: got"):
                call(bad)


def test_a_path_that_names_two_leaves_is_refused():
    with refused(ValueError, match="several leaves"):
        weight_at({"a.b": np.eye(2), "a": {"b": np.eye(2)}}, "a.b", layout="out_in")


def test_both_uses_of_a_matrix_are_captured_but_not_its_transpose():
    W = {"E": np.random.default_rng(3).normal(size=(8, 5)).astype(np.float32)}

    def twice(m, x):
        return (rectified(x @ m["E"].T) @ m["E"]) @ m["E"].T

    keys = np.asarray(capture_keys(twice, W, "E", X, layout="out_in"))
    np.testing.assert_array_equal(keys[:40], X)
    np.testing.assert_allclose(
        keys[40:], rectified(X @ W["E"].T) @ W["E"], rtol=1e-4, atol=1e-5
    )
    other = np.asarray(capture_keys(twice, W, "E", X, layout="in_out"))
    np.testing.assert_allclose(other, rectified(X @ W["E"].T), rtol=1e-4, atol=1e-5)


def test_the_error_about_an_uncaptured_matrix_says_how_it_is_used():
    model = {"W": np.eye(5, dtype=np.float32), "unused": np.eye(5)}

    def loop(m, x):
        return jax.lax.scan(lambda h, _: (h @ m["W"].T, None), x, length=2)[0]

    for run, path, message in (
        (loop, "W", "used inside a scan"),
        (lambda m, x: x @ (2 * m["W"]), "W", "a factor of single entries"),
        (loop, "unused", "not read"),
        (lambda m, x: x @ m["W"], "W", "the other layout"),
    ):
        with refused(ValueError, match=message):
            capture_keys(run, model, path, X, layout="out_in")
    with refused(ValueError, match="one in a stack"):
        capture_keys(loop, {"W": np.ones((2, 5, 5))}, "W[1]", X, layout="out_in")
