"""The preconditioning explorer's mathematics in JavaScript equals JAX, and its texts
are true.
"""

import jax
import jax.numpy as jnp
import node
import numpy as np
import pytest
from refusals import refused

from rankone.precision import double_precision

LINEAR = ("gd", "heavy", "nesterov", "decoupled", "penalty")
METHODS = (*LINEAR, "adam", "muon")
KINDS = ("plain", "reparameterised", "explicit")
W_STAR = np.array([[0.9, 0.5], [-0.6, 0.8]])
DEFAULTS = {
    "conditionA": 25, "angleA": 30, "conditionD": 4, "conditionT": 2, "angleT": 60, "rankT": 2, "conditionV": 3,
    "angleV": 135, "rankV": 2, "method": "gd", "best": False, "share": 0.5, "momentum": 0.7, "lambda": 0.2,
    "rate": 0.1, "tolerance": 1e-6, "steps": 60, "start": [[-1.8, 1.5], [1.6, -0.8]],
}  # fmt: skip

BRIDGE = """
import { counting, run } from "./preconditioning/math/paths.js";
import { bestStep, largestStep } from "./preconditioning/math/rules.js";
import { PRESETS } from "./preconditioning/presets.js";
import { python } from "./preconditioning/python.js";
const counted = (settings) => {
  const work = counting(settings);
  let next = work.next();
  while (!next.done) next = work.next();
  return Object.fromEntries(Object.entries(next.value).map(([k, v]) => [k, v === Infinity ? "away" : v]));
};
const jobs = {
  run: (settings) => ({ ...run(settings), counts: counted(settings) }),
  copied: (settings) => ({ text: python(settings), ...run(settings) }),
  presets: () => PRESETS.map(({ key, set }) => ({ key, settings: set, ...jobs.run(set) })),
  steps: ({ name, momentum, values }) => [bestStep(name, momentum, values), largestStep(name, momentum, values)],
};
const answer = ([name, job]) => jobs[name](job);
"""


def javascript(name, /, **job):
    """The answer of one job of the bridge."""
    return node.reply(BRIDGE, [name, job])


def settings(seed=None, **more):
    """The page's own settings, or random ones."""
    if seed is None:
        return DEFAULTS | more
    rng = np.random.default_rng(seed)
    random_settings = {
        "conditionA": np.exp(rng.uniform(0, 4)), "conditionD": np.exp(rng.uniform(0, 3)),
        "conditionT": np.exp(rng.uniform(0, 2)), "conditionV": np.exp(rng.uniform(0, 2)),
        "angleA": rng.uniform(0, 180), "angleT": rng.uniform(0, 180), "angleV": rng.uniform(0, 180),
        "start": rng.uniform(-3, 3, (2, 2)).tolist(),
    }  # fmt: skip
    return DEFAULTS | random_settings | more


def turned(condition, angle):
    c = np.cos(np.deg2rad(angle))
    s = np.sin(np.deg2rad(angle))
    return np.array([[c, -s], [s, c]]) @ np.diag([condition**0.5, condition**-0.5])


def world(s):
    """A, D, T, V from the page's settings."""
    R = turned(1, s["angleA"])
    A = R @ np.diag([s["conditionA"] ** 0.5, s["conditionA"] ** -0.5]) @ R.T
    D = np.diag([s["conditionD"] ** 0.5, s["conditionD"] ** -0.5])
    T = turned(s["conditionT"], s["angleT"])[:, : s["rankT"]]
    return A, D, T, turned(s["conditionV"], s["angleV"])[:, : s["rankV"]].T


def direction(s):
    """(state, gradient) -> (state, direction) of the method, from its published
    form.
    """

    def adam(state, g):
        t, mean, square = state
        t = t + 1
        mean = 0.9 * mean + 0.1 * g
        square = 0.999 * square + 0.001 * g**2
        return (t, mean, square), mean / (1 - 0.9**t) / (
            np.sqrt(square / (1 - 0.999**t)) + 1e-8
        )

    def momentum(state, g):
        state = s["momentum"] * state + g
        if s["method"] == "nesterov":
            return state, g + s["momentum"] * state
        if s["method"] == "muon":
            left, values, right = np.linalg.svd(state, full_matrices=False)
            # directions with singular value 0 are left out
            return state, left @ np.diag(values > 1e-10 * values[0]) @ right
        return state, state

    if s["method"] == "adam":
        return (lambda x: (0, 0 * x, 0 * x)), adam
    if s["method"] in ("heavy", "nesterov", "muon"):
        return (lambda x: 0 * x), momentum
    return (lambda x: None), lambda state, g: (state, g)


def objective(W, A, D):
    return 0.5 * jnp.trace(D @ (W - W_STAR) @ A @ (W - W_STAR).T)


def penalised(x, W, A, D, penalty):
    return objective(W, A, D) + penalty / 2 * (x**2).sum()


@jax.jit
def slope(W, A, D, penalty):
    return jax.grad(lambda W: penalised(W, W, A, D, penalty))(W)


@jax.jit
def slope_of_U(U, A, D, penalty, rest, T, V):
    return jax.grad(lambda U: penalised(U, rest + T @ U @ V, A, D, penalty))(U)


losses_along = jax.jit(jax.vmap(objective, (0, None, None)))


def jax_paths(s, etas):
    """The three paths with jax.grad of the loss, through W = rest + TUV for the
    second.
    """
    with double_precision():
        A, D, T, V = world(s)
        W0 = np.asarray(s["start"])
        U0 = np.linalg.pinv(T) @ W0 @ np.linalg.pinv(V)
        rest = W0 - T @ U0 @ V
        loss = A, D, s["lambda"] if s["method"] == "penalty" else 0.0
        gradients = {
            "plain": lambda W: slope(W, *loss),
            "reparameterised": lambda U: slope_of_U(U, *loss, rest, T, V),
            "explicit": lambda W: T @ T.T @ np.asarray(slope(W, *loss)) @ V.T @ V,
        }
        start, update = direction(s)
        paths = {}
        for kind in KINDS:
            x = U0 if kind == "reparameterised" else W0
            state = start(x)
            path = []
            gradient = gradients[kind]
            keep = 1 - etas[kind] * s["lambda"] if s["method"] == "decoupled" else 1.0
            for _ in range(s["steps"] + 1):
                path.append(x)
                state, step = update(state, np.asarray(gradient(x)))
                x = keep * x - etas[kind] * step
            path = (
                rest + T @ np.array(path) @ V
                if kind == "reparameterised"
                else np.array(path)
            )
            paths[kind] = (path, np.asarray(losses_along(path, A, D)))
        return paths


def matrices(path):
    """Column-stacked vecs (steps, 4) as matrices (steps, 2, 2)."""
    return np.array(path).reshape(-1, 2, 2).transpose(0, 2, 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "more",
    [
        {"seed": 1},
        {"seed": 2},
        {"seed": 3, "rankV": 1},
        {"seed": 4, "rankT": 1, "rankV": 1},
    ],
)
def test_the_three_paths_are_those_of_jax(method, more):
    s = settings(method=method, steps=25, **more)
    page = javascript("run", **s)
    for kind, (path, losses) in jax_paths(s, page["etas"]).items():
        scale = np.abs(path).max()
        np.testing.assert_allclose(
            matrices(page["paths"][kind]["w"]), path, atol=1e-9 * scale
        )
        np.testing.assert_allclose(
            page["paths"][kind]["loss"], losses, rtol=1e-8, atol=1e-12
        )


@pytest.mark.parametrize("seed", range(4))
def test_the_operators_are_kronecker_products(seed):
    s = settings(seed, rankV=1 + seed % 2)
    page = javascript("run", **s)
    A, D, T, V = world(s)
    P = np.kron(V.T @ V, T @ T.T)
    J = np.kron(V.T, T)
    for name, expected in {
        "A": A,
        "D": D,
        "T": T,
        "V": V,
        "H": np.kron(A, D),
        "J": J,
        "P": P,
    }.items():
        np.testing.assert_allclose(
            page["problem"][name],
            expected,
            atol=1e-12 * np.abs(expected).max(),
            err_msg=name,
        )
    spectra = {
        "plain": np.kron(A, D),
        "P": P,
        "preconditioned": J.T @ np.kron(A, D) @ J,
    }
    for name, matrix in spectra.items():
        expected = np.linalg.eigvalsh(matrix)[::-1]
        np.testing.assert_allclose(
            page["spectra"][name], expected, atol=1e-12 * expected[0]
        )


def test_P_is_the_package_preconditioner():
    preconditioning = pytest.importorskip("rankone.preconditioning")
    s = settings(5)
    with double_precision():
        expected = preconditioning.kronecker_preconditioner(*world(s)[2:]).to_dense()
        np.testing.assert_allclose(
            javascript("run", **s)["problem"]["P"], expected, rtol=1e-12
        )


@pytest.mark.parametrize("seed", range(3))
def test_condition_numbers_of_the_two_sides_multiply(seed):
    """cond(JᵀHJ) = cond(VAVᵀ)·cond(TᵀDT) [K-sharp1]."""
    s = settings(seed)
    values = javascript("run", **s)["spectra"]["preconditioned"]
    A, D, T, V = world(s)
    expected = np.linalg.cond(V @ A @ V.T) * np.linalg.cond(T.T @ D @ T)
    assert values[0] / values[-1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("method", LINEAR)
@pytest.mark.parametrize("rank", [1, 2])
def test_each_path_ends_where_the_linear_systems_say(method, rank):
    s = settings(
        7,
        method=method,
        rankV=rank,
        steps=4000,
        conditionA=9,
        conditionD=3,
        conditionT=2,
        conditionV=2,
    )
    page = javascript("run", **s)
    for kind in KINDS:
        np.testing.assert_allclose(
            page["paths"][kind]["w"][-1], page["ends"][kind], atol=1e-9
        )
    assert page["gap"][-1] == pytest.approx(page["known"], abs=1e-9)


def test_the_penalty_on_U_is_w_P_inverse_w():
    """½λ‖U‖² = ½λ wᵀP⁺w, so the two minimisers solve (H + λP⁻¹)w = Hw* and (H + λI)w =
    Hw* [K-decoupled].
    """
    s = settings(8, method="penalty")
    page = javascript("run", **s)
    H, P = (np.array(page["problem"][name]) for name in "HP")
    pull = H @ W_STAR.T.ravel()
    own = np.linalg.solve(H + s["lambda"] * np.linalg.inv(P), pull)
    other = np.linalg.solve(H + s["lambda"] * np.eye(4), pull)
    np.testing.assert_allclose(page["ends"]["reparameterised"], own, rtol=1e-9)
    np.testing.assert_allclose(page["ends"]["explicit"], other, rtol=1e-9)
    assert page["known"] == pytest.approx(np.linalg.norm(own - other), rel=1e-9)
    assert page["known"] > 1e-3


@pytest.mark.parametrize("method", LINEAR)
def test_paths_diverge_just_beyond_the_longest_stable_step(method):
    base = settings(
        9, method=method, conditionA=4, conditionD=2, conditionT=1.5, conditionV=1.5
    )
    away = [
        kind
        for kind, count in javascript("run", **base | {"share": 1.03})["counts"].items()
        if count == "away"
    ]
    # the penalty has one step for two operators
    assert away == list(KINDS) if method != "penalty" else len(away) >= 2
    counts = javascript("run", **base | {"share": 0.97})["counts"]
    assert all(isinstance(count, int) for count in counts.values())


@pytest.mark.parametrize("name", ["gd", "heavy", "nesterov"])
@pytest.mark.parametrize("momentum", [0.3, 0.7, 0.95])
def test_the_best_step_has_the_smallest_spectral_radius(name, momentum):
    values = np.array([30.0, 8.0, 2.0, 0.5])
    best, largest = javascript("steps", name=name, momentum=momentum, values=values)

    def radius(eta):
        def roots(h):
            b = {"gd": 0.0, "heavy": momentum, "nesterov": momentum}[name]
            if name == "nesterov":
                return np.roots([1, -(1 + b) * (1 - eta * h), b * (1 - eta * h)])
            return np.roots([1, -(1 + b - eta * h), b])

        return max(np.abs(roots(h)).max() for h in values)

    assert (
        radius(best)
        <= min(radius(eta) for eta in np.linspace(0.01, 1, 400) * largest) + 1e-9
    )
    assert radius(largest * 0.999) < 1 < radius(largest * 1.001)


@pytest.mark.parametrize("method", ["gd", "heavy", "adam", "penalty"])
def test_steps_are_counted_to_the_tolerance(method):
    s = settings(10, method=method, conditionA=5, tolerance=1e-4)
    page = javascript("run", **s)
    for kind, (path, _) in jax_paths(s | {"steps": 600}, page["etas"]).items():
        end = matrices(page["ends"][kind])[0]
        away = np.linalg.norm(path - end, axis=(1, 2))
        within = np.flatnonzero(away <= 1e-4 * away[0])
        if len(within):
            assert page["counts"][kind] == within[0]
        else:
            assert page["counts"][kind] is None or page["counts"][kind] > 600


@pytest.fixture(scope="module")
def presets():
    return {run["key"]: run for run in javascript("presets")}


def test_the_presets_do_what_their_texts_say(presets):
    def ratio(run, name):
        return run["spectra"][name][0] / run["spectra"][name][-1]

    for key in ("start", "heavy", "decoupled", "muon", "wrong", "rank"):
        assert presets[key]["fate"] == "together", key
        assert max(presets[key]["gap"]) < 1e-12, key
    assert (
        presets["start"]["counts"]["plain"] > 3 * presets["start"]["counts"]["explicit"]
    )
    assert ratio(presets["inputs"], "preconditioned") == pytest.approx(4, rel=1e-6)
    assert (
        presets["both"]["counts"]["reparameterised"]
        == presets["both"]["counts"]["explicit"]
        == 1
    )
    assert ratio(presets["wrong"], "preconditioned") > 10 * ratio(
        presets["wrong"], "plain"
    )
    assert presets["rank"]["paths"]["reparameterised"]["loss"][-1] > 1
    assert presets["penalty"]["fate"] == "known"
    assert presets["penalty"]["gap"][-1] == pytest.approx(
        presets["penalty"]["known"], rel=1e-3
    )
    for key in ("adam", "rotation"):
        assert presets[key]["fate"] == "apart", key
        assert max(presets[key]["gap"]) > 1, key
    np.testing.assert_allclose(
        presets["rotation"]["problem"]["P"], np.eye(4), atol=1e-12
    )
    np.testing.assert_allclose(presets["muon"]["problem"]["P"], np.eye(4), atol=1e-12)


def test_the_variations_suggested_by_the_presets_have_the_stated_effects(presets):
    """At a quarter turn the paths of Adam coincide. Those of Muon separate if T is not
    a rotation.
    """
    turn = presets["rotation"]["settings"] | {"angleT": 90}
    assert javascript("run", **turn)["fate"] == "together"
    stretched = presets["muon"]["settings"] | {"conditionT": 1.5}
    assert javascript("run", **stretched)["fate"] == "apart"


@pytest.mark.parametrize("method", METHODS)
def test_the_copied_python_code_computes_what_the_page_shows(method, run_copied):
    page = javascript(
        "copied", **settings(12, method=method, steps=25, rankV=1 + (method != "heavy"))
    )
    with double_precision():
        namespace = run_copied(page["text"])
        np.testing.assert_allclose(
            namespace["P"].to_dense(), page["problem"]["P"], rtol=1e-9, atol=1e-12
        )
    for kind, name in zip(KINDS, ("plain", "on_U", "with_P"), strict=True):
        path = matrices(page["paths"][kind]["w"])
        np.testing.assert_allclose(
            namespace[name], path, atol=1e-8 * np.abs(path).max(), err_msg=name
        )
    for kind, losses in zip(KINDS, namespace["losses"], strict=True):
        np.testing.assert_allclose(
            losses, page["paths"][kind]["loss"], rtol=1e-6, atol=1e-12
        )
    np.testing.assert_allclose(namespace["gap"], page["gap"], rtol=1e-5, atol=1e-8)
    for kind, name in zip(KINDS, ("plain", "on U", "with P"), strict=True):
        said = namespace["printed"].split(f"{name} ")[1].split()[0].rstrip(".,")
        # Three figures are printed.
        assert float(said) == pytest.approx(
            page["paths"][kind]["loss"][-1], rel=5e-3, abs=1e-12
        )


def explorer(**options):
    pytest.importorskip("anywidget")
    from rankone_book.widgets.preconditioning_explorer import PreconditioningExplorer

    return PreconditioningExplorer(**options)


def test_the_widget_gives_the_factors_on_show():
    s = settings(11)
    widget = explorer(
        **{name: s[name] for name in ("conditionT", "angleT", "conditionV", "angleV")}
    )
    T, V = world(s)[2:]
    np.testing.assert_allclose(widget.T, T)
    np.testing.assert_allclose(widget.V, V)
    narrow = explorer(rankT=1, rankV=1)
    assert (narrow.T.shape, narrow.V.shape) == ((2, 1), (1, 2))
    page = javascript("run", **DEFAULTS)["problem"]
    np.testing.assert_allclose(explorer().T, page["T"])
    np.testing.assert_allclose(explorer().V, page["V"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"conditionT": 0.5}, "conditionT"),
        ({"method": "sgd"}, "method"),
        ({"rankV": 3}, "rankV"),
        ({"start": [[1, 2]]}, "start"),
        ({"start": [[1, 2], [5, 0]]}, "start"),
        ({"gamma": 1}, "gamma"),
    ],
)
def test_the_widget_says_what_is_wrong(options, says):
    with refused(ValueError, match=says):
        explorer(**options)
