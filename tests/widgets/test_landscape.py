"""The landscape explorer's mathematics in JavaScript equals the package's in JAX, and
so does the code it copies.
"""

import jax
import jax.numpy as jnp
import node
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.theory.drift import drift
from rankone.theory.error_law import hessian
from rankone_book.widgets import LandscapeExplorer

BRIDGE = """
import { Estimate, frequenciesOf, tablesOf } from "./math/plane/estimate.js";
import { Exact } from "./math/plane/exact.js";
import { descend } from "./landscape/math/runs.js";
import { PRESETS } from "./landscape/presets.js";
import { python } from "./landscape/python.js";
import { consequences } from "./landscape/settings.js";
import { divergenceBound, neededPower } from "./landscape/math/theorem.js";
const estimate = ({ patterns, beta, basis, Y, seed }) =>
  new Estimate({ patterns, beta, basis, frequencies: frequenciesOf(Y, seed) });
const jobs = {
  read({ states, ticks, ...made }) {
    const [exact, copy] = [new Exact(made.patterns, made.beta), estimate(made)];
    const grid = Float64Array.from(ticks);
    const tables = tablesOf({ ticks: grid, frequencies: copy.frequencies, ...made });
    return { frequencies: [[...copy.frequencies.x], [...copy.frequencies.y]], copy: states.map((x) => copy.read(x)),
      energy: states.map((x) => exact.energy(x)), gradient: states.map((x) => exact.gradient(x)),
      curvature: states.map((x) => exact.curvature(x)),
      fields: [[...exact.field(grid)], [...copy.field(grid, tables)]] };
  },
  descend: ({ query, eta, steps, ...made }) =>
    descend({ exact: new Exact(made.patterns, made.beta), copy: estimate(made), query, eta, steps }),
  copied: (keys) => PRESETS.filter(({ key }) => keys.includes(key)).map(({ set }) =>
    ({ view: set.view, text: python(set), runs: consequences(set).runs })),
  theorem: (settings) => settings.map((setting) => ({ ...divergenceBound(setting), n: neededPower(setting) })),
};
const answer = ([name, job]) => jobs[name](job);
"""
PATTERNS = [[0.8, 0.1], [-0.5, 0.6], [-0.3, -0.9]]
STATES = np.random.default_rng(0).uniform(-1.2, 1.2, (6, 2))
TICKS = np.linspace(-1.2, 1.2, 7)

pytestmark = pytest.mark.usefixtures("x64")


def javascript(name, job):
    """The answer of one job of the bridge."""
    return node.reply(BRIDGE, [name, job])


def memories(beta=6.0, Y=200, seed=3, basis="sincos", patterns=PATTERNS):
    features = ro.RandomFeatures(2, Y, key=jax.random.key(seed), basis=basis)
    return ro.MrDAM(jnp.asarray(patterns), beta), ro.DrDAM.store(
        jnp.asarray(patterns), beta, features
    )


@pytest.mark.parametrize("basis", ["sincos", "cos", "exp", "expexp"])
def test_both_landscapes_equal_those_of_the_package(basis):
    settings = {"patterns": PATTERNS, "beta": 6.0, "basis": basis, "Y": 200, "seed": 3}
    page = javascript("read", {"states": STATES, "ticks": TICKS, **settings})
    exact, copy = memories(basis=basis)
    np.testing.assert_allclose(
        np.transpose(page["frequencies"]), copy.features.omega, atol=2e-6
    )
    np.testing.assert_allclose(page["energy"], exact.energy(STATES), rtol=1e-9)
    np.testing.assert_allclose(
        page["gradient"], exact.gradient(STATES), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        page["curvature"], jnp.linalg.eigvalsh(hessian(exact, STATES)), atol=1e-9
    )
    energy, gradient, floored = copy.read(STATES)
    assert [one["floored"] for one in page["copy"]] == floored.tolist()
    np.testing.assert_allclose(
        [one["energy"] for one in page["copy"]], energy, rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(
        [one["gradient"] for one in page["copy"]], gradient, rtol=1e-3, atol=1e-4
    )
    grid = np.stack(np.meshgrid(TICKS, TICKS[::-1]), -1)  # row by row from the top
    for field, memory in zip(page["fields"], (exact, copy), strict=True):
        np.testing.assert_allclose(
            np.reshape(field, (7, 7)), memory.energy(grid), rtol=1e-4, atol=1e-5
        )


def test_floored_states_and_their_energies_equal_those_of_the_package():
    """Two frequencies for three patterns at a high β: parts of the plane are
    unknown.
    """
    settings = {
        "patterns": PATTERNS,
        "beta": 60.0,
        "basis": "sincos",
        "Y": 200,
        "seed": 1,
    }
    page = javascript("read", {"states": STATES, "ticks": TICKS, **settings})["copy"]
    _, copy = memories(beta=60.0, seed=1)
    energy, _, floored = copy.read(STATES)
    assert 0 < floored.sum() < 6
    assert [one["floored"] for one in page] == floored.tolist()
    np.testing.assert_allclose(
        [one["energy"] for one in page], energy, rtol=1e-4, atol=1e-4
    )


def test_runs_and_tube_equal_those_of_the_package():
    exact, copy = memories(Y=200, seed=0)
    query = [0.3, 0.5]
    job = {"patterns": PATTERNS, "beta": 6.0, "basis": "sincos", "Y": 200, "seed": 0}
    page = javascript("descend", {**job, "query": query, "eta": 0.4, "steps": 12})
    run = drift(exact, copy, jnp.asarray([query]), step_size=0.4, steps=12)
    np.testing.assert_allclose(page["exact"], run.exact[:, 0], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(page["copy"], run.distributed[:, 0], atol=1e-4)
    np.testing.assert_allclose(page["distance"], run.distance[:, 0], atol=1e-4)
    growth = run.local_growth(exact, points=9)
    np.testing.assert_allclose(page["growth"], growth[:, 0], atol=1e-4)
    np.testing.assert_allclose(
        page["tube"], run.recursion(growth)[:, 0], rtol=1e-3, atol=1e-5
    )
    assert np.all(np.asarray(page["tube"])[1:] >= np.asarray(page["distance"])[1:])


def test_theorem_2_prime_gives_the_same_results_as_the_package():
    base = {"D": 2, "K": 2, "steps": 6, "energy": 0.0, "diameter": 1.0, "reach": 1.0}
    settings = [
        base | {"beta": 8.0, "eta": 0.5, "Y": 10**6},
        base | {"beta": 8.0, "eta": 0.5, "Y": 10**4},
        base | {"beta": 2.0, "eta": 1.0, "Y": 10**5, "steps": 40},
        base | {"beta": 2.0, "eta": 1.5, "Y": 10**5},
        base | {"beta": 40.0, "eta": 0.1, "Y": 4},
    ]
    for setting, page in zip(settings, javascript("theorem", settings), strict=True):
        named = setting | {"step_size": setting["eta"]}
        named.pop("eta")
        expected = ro.divergence_bound(**named)
        assert (page["fails"] is None) == expected.holds
        assert (
            page["bound"] is None
            if not expected.holds
            else page["bound"] == pytest.approx(expected.bound, rel=1e-6)
        )
        if page["n"] is not None:
            assert ro.divergence_bound(**named | {"Y": 10 ** page["n"]}).holds
            assert not ro.divergence_bound(**named | {"Y": 10 ** (page["n"] - 1)}).holds
    assert [page["n"] is None for page in javascript("theorem", settings)] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_the_copied_python_code_computes_what_the_page_shows(run_copied):
    pages = javascript("copied", ["two", "positive", "stay"])
    assert [one["view"] for one in pages] == ["exact", "both", "tube"]
    for one in pages:
        namespace = run_copied(one["text"])
        runs = one["runs"]
        np.testing.assert_allclose(
            namespace["end"], runs["exact"][-1], rtol=1e-6, atol=1e-6
        )
        place = namespace["printed"].split("(")[1].split(")")[0].split(", ")
        # Two decimals are printed, as on the page.
        np.testing.assert_allclose(
            [float(v) for v in place], runs["exact"][-1], rtol=0, atol=5.1e-3
        )
        if one["view"] != "exact":
            np.testing.assert_allclose(
                namespace["distance"], runs["distance"], rtol=1e-2, atol=2e-3
            )
        if one["view"] == "tube":
            np.testing.assert_allclose(
                namespace["tube"], runs["tube"], rtol=2e-2, atol=1e-3
            )


def test_the_explorer_says_what_is_wrong():
    assert (
        LandscapeExplorer(view="tube", patterns=[[0.5, 0], [0, 1]], Y=64).settings["Y"]
        == 64
    )
    for bad, name in [
        ({"view": "side"}, "view"),
        ({"Y": 1}, "Y"),
        ({"beta": 0.5}, "beta"),
        ({"gamma": 1}, "gamma"),
    ]:
        with refused(ValueError, match=f"^{name}: got"):
            LandscapeExplorer(**bad)
