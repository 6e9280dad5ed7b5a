"""The small figures' mathematics in JavaScript equals the package's in JAX, and their
Python half works.
"""

from itertools import pairwise

import jax
import jax.numpy as jnp
import node
import numpy as np
import pytest
from refusals import refused

from rankone.maml import MLP, GradientLearner, Task
from rankone.memory import hopfield
from rankone.nn import Dense
from rankone.precision import double_precision
from rankone.printed import memory_bounds
from rankone.theory.kernel_error import uniform_kernel_error
from rankone_book import growth
from rankone_book.widgets import Sketch

BRIDGE = """
import { bounds } from "./sketch/bounds.js";
import { meanCosine } from "./sketch/cosines.js";
import { observe, patternsOf, recall, tail } from "./sketch/crosstalk.js";
import { costs, grows, inBytes, inTime, quickest } from "./sketch/grows.js";
import { learn, predict, step } from "./sketch/inner.js";
import { cosines } from "./sketch/cosines.js";
import { crosstalk } from "./sketch/crosstalk.js";
import { rankCorrelation } from "./sketch/neighbours.js";
const jobs = {
  crosstalk({ K, D, seed }) {
    const Xi = patternsOf(K, D, seed);
    const rest = recall(Xi, K, Xi.subarray(0, D));
    const { signals, ...found } = observe({ load: K / D, D, seed });
    return { Xi: [...Xi], rest: [...rest], signals: [...signals], ...found, law: tail(1 / Math.sqrt(K / D)) };
  },
  cosines: ({ Y, seed }) => meanCosine(Y, seed),
  bounds: (settings) => settings.map(bounds),
  inner({ layers, x, y, stepSize, steps, at }) {
    let net = layers;
    for (let t = 0; t < steps; t++) net = step(net, x, y, stepSize);
    return at.map((one) => predict(net, one));
  },
  copied: ({ Y, seed, load }) => [cosines.python({ Y, seed }), crosstalk.python({ load, D: 400, seed }),
    meanCosine(Y, seed)[25], observe({ load, D: 400, seed }).lost],
  ranks: ({ a, b }) => rankCorrelation(a, b),
  costs: (settings) => settings.map(costs),
  quickest: (settings) => settings.map((one) => quickest(one, costs(one))),
  words: ({ bytes, seconds }) => [bytes.map(inBytes), seconds.map(inTime)],
  opening: () => ({ shown: grows.show(grows.defaults), code: grows.python(grows.defaults) }),
};
const answer = ([name, job]) => jobs[name](job);
"""

pytestmark = pytest.mark.usefixtures("x64")


def javascript(name, job):
    """The answer of one job of the bridge."""
    return node.reply(BRIDGE, [name, job])


@pytest.mark.parametrize("K", [10, 30])
def test_crosstalk_and_recall_equal_those_of_the_package(K):
    page = javascript("crosstalk", {"K": K, "D": 100, "seed": 4})
    half = jnp.float32(0.5)  # as `rademacher` draws without x64
    Xi = 2.0 * np.asarray(jax.random.bernoulli(jax.random.key(4), half, (K, 100))) - 1
    np.testing.assert_array_equal(np.reshape(page["Xi"], (K, 100)), Xi)
    fields = Xi * (Xi @ (Xi.T @ Xi) - K * Xi) / 100
    np.testing.assert_allclose(
        np.reshape(page["signals"], (-1, 100)), fields, atol=1e-12
    )
    assert page["wrong"] == pytest.approx((fields < 0).mean())
    # one shape for both; T has the K patterns alone
    padded = np.concatenate([Xi, np.ones((30 - K, 100))])
    rest = hopfield.recall(
        padded[0], hopfield.hebbian(padded) - (30 - K), max_sweeps=200
    )
    np.testing.assert_array_equal(page["rest"], rest.sigma)
    assert page["lost"] == pytest.approx((np.asarray(rest.sigma) != Xi[0]).mean())
    assert page["law"] == pytest.approx(
        float(jax.scipy.stats.norm.sf((K / 100) ** -0.5)), rel=1e-4
    )


def test_the_mean_of_cosines_equals_that_of_jax():
    omega = np.asarray(jax.random.normal(jax.random.key(5), (300,), jnp.float32), float)
    expected = np.cos(np.linspace(0, 12, 301)[:, None] * omega).mean(1)
    np.testing.assert_allclose(
        javascript("cosines", {"Y": 300, "seed": 5}), expected, atol=2e-6
    )


def test_the_bounds_equal_those_of_the_package():
    settings = [
        {"beta": beta, "Y": 20000.0, "L": L}
        for beta in (2.0, 10.0, 50.0)
        for L in (1, 50)
    ]
    for setting, page in zip(settings, javascript("bounds", settings), strict=True):
        beta = setting["beta"]
        L = setting["L"]
        eta = 0.1
        K = 500
        eps0 = uniform_kernel_error(D=100, Y=20000, radius=beta**0.5)
        A = np.log10(2 * K * eps0 * eta)
        known = {
            "beta": beta,
            "K": K,
            "energy": 0.0,
            "eps0": eps0,
            "step_size": eta,
            "steps": L,
        }
        B = [10 ** memory_bounds.log10_lipschitz(beta=beta, K=K), max(1, beta / 4 - 1)]
        assert page["printed"] == pytest.approx(
            memory_bounds.log10_theorem(**known), rel=1e-9
        )
        expected = [A + memory_bounds.log10_gronwall(eta * b, L)[0] for b in B]
        assert [page["solved"], page["best"]] == pytest.approx(expected, rel=1e-6)
        growth = 1 + eta * (beta / 4 - 1)
        assert page["contraction"] == pytest.approx(
            A + np.log10((growth ** np.arange(L)).sum()), rel=1e-9
        )


def test_the_inner_steps_equal_those_of_the_package():
    rng = np.random.default_rng(0)
    sizes = (1, 6, 6, 1)
    layers = [
        {"W": rng.normal(size=(out, fan)), "b": 0.3 * rng.normal(size=out)}
        for fan, out in pairwise(sizes)
    ]
    x = np.linspace(-4, 4, 5)
    y = rng.normal(size=5)
    at = np.linspace(-5, 5, 11)

    def column(v):
        return jnp.asarray(v)[:, None]

    task = Task(column(x), column(y), column(at), column(at), jnp.zeros(0))
    params = {
        "layers": tuple(Dense(one["W"], one["b"]) for one in layers),
        "bias": jnp.zeros(0),
    }
    expected = GradientLearner(MLP(1, (6, 6)), step_size=0.01, steps=3).predict(
        params, task
    )[:, 0]
    job = {"layers": layers, "x": x, "y": y, "at": at, "stepSize": 0.01}
    np.testing.assert_allclose(
        javascript("inner", {**job, "steps": 3}), expected, rtol=1e-9
    )
    unmoved = javascript("inner", {**job, "steps": 0})
    assert np.abs(np.asarray(unmoved) - np.asarray(expected)).max() > 0.01


def test_ranks_correlate_as_in_scipy():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(1)
    a = rng.integers(0, 8, 40)
    b = rng.normal(size=40)
    assert javascript("ranks", {"a": a, "b": b}) == pytest.approx(
        spearmanr(a, b).statistic, abs=1e-12
    )


def growth_settings():
    """Sizes over the whole range of the calculator, on all hardware."""
    rng = np.random.default_rng(2)
    return [
        {
            "K": int(10 ** rng.uniform(0, 12)),
            "D": int(10 ** rng.uniform(0, 6)),
            "N": int(10 ** rng.uniform(0, 6)),
            "error": float(rng.uniform(0.02, 0.5)),
            "use": use,
            "hardware": hardware,
        }
        for use in growth.USES
        for hardware in growth.HARDWARE
        for _ in range(5)
    ]


def test_the_costs_equal_those_of_the_book():
    settings = growth_settings()
    for setting, page in zip(settings, javascript("costs", settings), strict=True):
        sizes = {name: setting[name] for name in ("error", "use", "hardware", "N")}
        expected = growth.costs(setting["K"], setting["D"], **sizes)
        assert page.keys() == expected.keys()
        for form, cost in expected.items():
            assert page[form]["fits"] == cost.fits
            fields = {"kept": "stored_bytes", "sent": "sent_bytes"}
            for name in ("kept", "seconds", "writing", "sent", "signal"):
                # JSON has no infinity, so an exact form has null
                value = getattr(cost, fields.get(name, name))
                if value in (None, np.inf):
                    assert page[form][name] is None, form
                else:  # a few roundings of double precision
                    assert page[form][name] == pytest.approx(value, rel=1e-12), form


def test_the_fastest_form_fits_and_answers_the_question():
    settings = growth_settings()
    chosen = javascript("quickest", settings)
    assert len(set(chosen)) >= 3
    for setting, form in zip(settings, chosen, strict=True):
        sizes = {name: setting[name] for name in ("error", "use", "hardware", "N")}
        cost = growth.costs(setting["K"], setting["D"], **sizes)
        able = {
            name: one.seconds
            for name, one in cost.items()
            if one.fits and (name != "index" or setting["use"] == "retrieval")
        }
        assert form == (min(able, key=lambda name: able[name]) if able else None)


def test_bytes_and_times_are_said_in_units():
    said = javascript(
        "words", {"bytes": [0, 999, 1.536e12], "seconds": [2e-10, 0.0072, 7.5 * 86400]}
    )
    assert said == [
        ["0 bytes", "999 bytes", "1.5 TB"],
        ["0.2 ns", "7.2 ms", "7.5 days"],
    ]


def test_the_calculator_says_what_its_python_computes(run_copied):
    opening = javascript("opening", {})
    costs = run_copied(opening["code"])["by_form"]
    fitting = sum(cost.fits for cost in costs.values())
    assert f"{fitting} of the 5 forms fit." in opening["shown"]["words"]
    assert "vector, Hadamard frequencies: 160 GB" in opening["shown"]["words"]
    assert costs["hadamard"].stored_bytes == 160e9


def test_a_sketch_carries_its_name_and_settings():
    figure = Sketch("crosstalk", load=0.16, seed=2)
    assert (figure.sketch, figure.settings) == ("crosstalk", {"load": 0.16, "seed": 2})
    assert "r1-sketch" in str(figure._esm)


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("pendulum", {}, "name"),
        ("cosines", {"beta": 2.0}, "beta"),
        ("bounds", {"beta": 99.0}, "beta"),
    ],
)
def test_a_sketch_says_what_is_wrong(name, settings, says):
    with refused(ValueError, match=f"^{says}: got"):
        Sketch(name, **settings)


def test_the_copied_python_code_computes_what_the_page_shows(run_copied):
    kernel, recalled, estimate, wrong_fraction = javascript(
        "copied", {"Y": 100, "seed": 2, "load": 0.18}
    )
    with double_precision(False):  # a reader's session
        namespace = run_copied(kernel + recalled)
    assert float(namespace["estimate"]) == pytest.approx(estimate, abs=1e-5)
    assert 0 < wrong_fraction < 1
    assert float(namespace["wrong"]) == pytest.approx(wrong_fraction, abs=1e-6)
    # Three decimals of the mean are printed, and two digits of the percentage.
    at_one, at_rest = namespace["printed"].splitlines()
    said = float(at_one.split("mean ")[1].split(",")[0])
    assert said == pytest.approx(estimate, abs=6e-4)
    assert float(at_rest.split()[-2]) == pytest.approx(100 * wrong_fraction, rel=0.06)
