"""The residual explorer's mathematics in JavaScript equals the package's in JAX, and
its texts are true.
"""

import jax
import jax.numpy as jnp
import node
import numpy as np
import pytest
from refusals import refused
from scipy.special import expit

from rankone.precision import double_precision
from rankone.printed.resmem_rate import theorem_printed
from rankone.residual import ResMem
from rankone.residual.resmem import soft_weights
from rankone.theory.linear_resmem import constrained_erm, sample_ball, simulate
from rankone.theory.nearest_neighbour import nearest_neighbour_risk
from rankone.theory.residual_energy import mode_risk
from rankone.theory.resmem_rates import helpful_noise, noisy_risk, resmem_law

RTOL = 1e-5  # the points are float32 on both sides
DEFAULTS = {
    "view": "line",
    "L": 0.6,
    "d": 1,
    "k": 1,
    "sigma": 1,
    "noise": 0,
    "flips": 0,
    "frequency": 8,
    "learns": "smooth",
    "n": 64,
    "seed": 0,
}

BRIDGE = """
import * as random from "./math/random.js";
import { featuresOf, logistic, probability } from "./residual/math/bases.js";
import { lawsAt } from "./residual/charts.js";
import { Neighbours } from "./residual/math/memory.js";
import { measure } from "./residual/math/risk.js";
import { drawLine, drawPlane, fitLine, fitPlane } from "./residual/math/sets.js";
import { drawWaves, fitWaves, modeRisk, waveLaws } from "./residual/math/waves.js";
import { border } from "./residual/math/sample.js";
import { levelOf } from "./residual/settings.js";
import { PRESETS } from "./residual/presets.js";
import { fields } from "./residual/maps.js";
import { python } from "./residual/python.js";
import { circle, slice } from "./residual/slices.js";
import { DEFAULTS, nextSettings } from "./residual/settings.js";
const finish = (work) => {
  let next = work.next();
  while (!next.done) next = work.next();
  return next.value;
};
const read = (set, fit, queries, k, sigma) => {
  const search = new Neighbours(set.X, set.n, set.d, k);
  return queries.map((query) => {
    search.find(query, 0).weigh(sigma);
    return { memory: search.read(fit.residuals), neighbours: search.read(fit.y), weights: [...search.weights] };
  });
};
const jobs = {
  line({ seed, n, d, L, noise, k, sigma, queries }) {
    const set = drawLine(random.key(seed), n, d);
    const fit = fitLine(set, { L, noise });
    const found = queries ? read(set, fit, queries, k, sigma) : [];
    return { X: [...set.X], y: [...fit.y], theta: fit.theta, residuals: [...fit.residuals], found };
  },
  plane({ seed, n, L, flips, k, sigma, queries }) {
    const set = drawPlane(random.key(seed), n);
    const fit = fitPlane(set, { L, flips });
    const found = read(set, fit, queries, k, sigma);
    const base = queries.map((query) => probability(fit.w, ...query));
    return { X: [...set.X], y: [...fit.y], w: fit.w, residuals: [...fit.residuals], found, base };
  },
  features: ({ points }) => points.map((point) => featuresOf(...point)),
  laws: ({ sizes, ...settings }) => sizes.map((n) => lawsAt({ view: "line", ...settings }, n)),
  modes: ({ sizes, frequencies }) => sizes.map((n) => frequencies.map((nu) => modeRisk(n, nu))),
  waves: ({ n, ...waves }) => waveLaws(waves, n),
  measure: ({ n, levels, ...settings }) => finish(measure(settings, n, levels)),
  copied: ({ patches }) => patches.map((patch) => {
    const settings = nextSettings(DEFAULTS, patch);
    if (settings.view === "waves") {
      const set = drawWaves(random.key(settings.seed), settings.n);
      const fit = fitWaves(set, settings);
      const { rows } = circle(set, fit, settings);
      return { text: python(settings), line: true, base: rows.map((row) => row.base),
        model: rows.map(({ sum }) => sum), y: [...fit.y], residuals: [...fit.residuals],
        truth: rows.map(({ truth }) => truth), laws: waveLaws(settings, settings.n) };
    }
    const line = settings.view === "line";
    const key = random.key(settings.seed);
    const set = line ? drawLine(key, settings.n, settings.d) : drawPlane(key, settings.n);
    const fit = (line ? fitLine : fitPlane)(set, settings);
    const seen = line ? slice(set, fit, settings).rows : fields(set, fit, settings);
    const model = line ? seen.map(({ sum }) => sum) : seen.sum;
    const base = line ? seen.map((row) => row.base) : seen.base;
    const stored = { y: [...fit.y], residuals: [...fit.residuals] };
    return { text: python(settings), line, base, model, truth: seen.truth, ...stored };
  }),
  presets: () => PRESETS.map(({ key, set }) => {
    const settings = set;
    const [risk] = finish(measure(settings, settings.n, [levelOf(settings)]));
    return { key, settings, risk, law: lawsAt(settings, settings.n) };
  }),
};
const answer = ([name, job]) => jobs[name](job);
"""


def javascript(name, /, **job):
    """The answer of one job of the bridge."""
    return node.reply(BRIDGE, [name, job])


def points(seed, n, d):
    return np.random.default_rng(seed).uniform(-1, 1, (n, d))


@pytest.mark.parametrize(("n", "d"), [(7, 1), (50, 2), (333, 5), (40, 8)])
def test_the_points_are_those_of_the_package(n, d):
    page = javascript("line", seed=d, n=n, d=d, L=0.5, noise=0.2, k=1, sigma=1)
    k_points, k_noise = jax.random.split(jax.random.key(d))
    X = np.asarray(sample_ball(n, d, key=k_points))
    np.testing.assert_allclose(np.reshape(page["X"], (n, d)), X, rtol=RTOL, atol=1e-6)
    y = X[:, 0] + np.sqrt(0.2) * np.asarray(jax.random.normal(k_noise, (n,)))
    np.testing.assert_allclose(page["y"], y, rtol=RTOL, atol=1e-5)


@pytest.mark.parametrize("d", [1, 2, 5, 8])
@pytest.mark.parametrize("L", [0.2, 0.6, 1.2])
@pytest.mark.parametrize("n", [3, 60])
def test_the_base_on_the_line_equals_constrained_erm_of_the_package(n, d, L):
    page = javascript("line", seed=n, n=n, d=d, L=L, noise=0.3, k=1, sigma=1)
    with double_precision():
        X = np.reshape(page["X"], (n, d))
        y = np.array(page["y"])
        theta = np.asarray(constrained_erm(X, y, L).theta)
        np.testing.assert_allclose(page["theta"], theta, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(
            page["residuals"], y - X @ theta, rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize(("k", "sigma"), [(1, 1.0), (5, 0.05), (12, 3.0), (64, 0.4)])
@pytest.mark.parametrize("d", [1, 3, 8])
def test_the_memory_on_the_line_is_resmem(k, sigma, d):
    queries = points(k, 9, d)
    job = {"seed": 1, "n": 80, "d": d, "L": 0.6, "noise": 0.1, "k": k, "sigma": sigma}
    page = javascript("line", queries=queries, **job)
    with double_precision():
        X = np.reshape(page["X"], (80, d))
        residuals = np.array(page["residuals"])[:, None]
        correction = np.asarray(
            ResMem(k=k, sigma=sigma).fit_residuals(X, residuals).correction(queries)
        )
        np.testing.assert_allclose(
            [f["memory"] for f in page["found"]], correction[:, 0], atol=1e-9
        )
        distances = np.sort(np.linalg.norm(queries[:, None] - X, axis=-1))[:, :k]
        weights = soft_weights(distances, sigma)
        np.testing.assert_allclose(
            [f["weights"] for f in page["found"]], weights, rtol=1e-6, atol=1e-12
        )


@pytest.mark.parametrize(("k", "sigma", "flips"), [(1, 1.0, 0.0), (8, 0.2, 0.2)])
def test_scores_in_the_plane_are_resmem(k, sigma, flips):
    queries = points(3, 11, 2)
    page = javascript(
        "plane", seed=2, n=90, L=0.4, flips=flips, k=k, sigma=sigma, queries=queries
    )
    with double_precision():
        X, y, w = (np.array(page[name]) for name in ("X", "y", "w"))
        X = X.reshape(90, 2)
        p = expit(np.array(javascript("features", points=X)) @ w)
        memory = ResMem(k=k, sigma=sigma).fit(X, np.stack([1 - p, p], 1), y.astype(int))
        base = np.array(page["base"])
        scores = np.asarray(memory.predict(queries, np.stack([1 - base, base], 1)))
        np.testing.assert_allclose(page["residuals"], y - p, atol=1e-9)
        mine = np.array(page["base"]) + [f["memory"] for f in page["found"]]
        np.testing.assert_allclose(mine, scores[:, 1], atol=1e-9)
        np.testing.assert_allclose(1 - mine, scores[:, 0], atol=1e-9)


@pytest.mark.parametrize("flips", [0.0, 0.3])
def test_the_logistic_base_is_the_best_in_its_ball(flips):
    """At the constrained minimum the gradient is a negative multiple of w."""
    page = javascript(
        "plane", seed=4, n=400, L=0.3, flips=flips, k=1, sigma=1, queries=[[0.0, 0.0]]
    )
    with double_precision():
        Phi = np.array(javascript("features", points=np.reshape(page["X"], (-1, 2))))
        y = np.array(page["y"])
        w = np.array(page["w"])

        @jax.jit
        @jax.grad
        def slope_at(w):
            score = Phi @ w
            return (jnp.logaddexp(0, score) - y * score).mean()

        slope = np.asarray(slope_at(w))
        length = np.linalg.norm(w)
        assert length == pytest.approx(14 * 0.3, rel=1e-9)
        across = slope - (slope @ w) * w / length**2
        assert slope @ w < 0
        assert np.linalg.norm(across) < 1e-3 * np.linalg.norm(slope_at(0 * w))


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_the_laws_equal_those_of_the_package(d):
    sizes = [2, 3, 10, 64, 1000, 4096]
    L = 0.45
    noise = 0.07
    laws = javascript("laws", sizes=sizes, d=d, L=L, noise=noise)
    N = np.array(sizes)
    column = {name: np.array([law[name] for law in laws]) for name in laws[0]}
    exact = nearest_neighbour_risk(N, d).exact
    np.testing.assert_allclose(column["neighbours"], noise + exact / d, rtol=1e-3)
    np.testing.assert_allclose(column["memory"], noisy_risk(N, d, L, noise), rtol=1e-3)
    np.testing.assert_allclose(column["printed"], theorem_printed(N, d, L), rtol=1e-12)
    np.testing.assert_allclose(
        column["threshold"], np.maximum(0, helpful_noise(N, d, L)), atol=1e-3
    )
    np.testing.assert_allclose(column["base"], (1 - L) ** 2)


@pytest.mark.parametrize(
    ("n", "d", "k"), [(16, 1, 1), (128, 2, 1), (64, 5, 1), (256, 3, 8)]
)
def test_the_measured_risks_are_those_of_the_package(n, d, k):
    settings = DEFAULTS | {"d": d, "k": k, "sigma": 1e9}
    risks = np.array(
        [
            [risk[model] for model in ("base", "neighbours", "memory")]
            for seed in range(8)
            for risk in javascript(
                "measure", levels=[0.1], **settings | {"n": n, "seed": seed}
            )
        ]
    )
    expected = simulate(
        n, d, 0.6, key=jax.random.key(0), repetitions=200, noise=0.1, k=k
    )
    for mine, theirs in zip(
        risks.T, (expected.base, expected.neighbours, expected.resmem), strict=True
    ):
        error = np.hypot(
            mine.std(ddof=1) / np.sqrt(len(mine)), float(theirs.std()) / np.sqrt(200)
        )
        assert mine.mean() == pytest.approx(float(theirs.mean()), abs=4.5 * error)


def test_the_law_is_what_is_measured():
    """(1 − L)² E Zₙ/d plus the noise: within 10 % at sizes where the base has converged
    [S-S4].
    """
    for d, n, noise in ((2, 256, 0.0), (3, 512, 0.1), (5, 512, 0.0)):
        risks = javascript(
            "measure", levels=[noise], **DEFAULTS | {"n": n, "d": d, "seed": 5}
        )
        assert risks[0]["memory"] == pytest.approx(
            float(noisy_risk(n, d, 0.6, noise)), rel=0.1
        )


def test_noise_hurts_beyond_the_threshold_of_the_law():
    """Measured at both sides of (1 − L)²(1 − E Zₙ/d) [S-S4]."""
    border = float(helpful_noise(512, 3, 0.6))
    under, over = javascript(
        "measure", levels=[0.7 * border, 1.3 * border], **DEFAULTS | {"n": 512, "d": 3}
    )
    assert under["memory"] < under["base"]
    assert over["memory"] > over["base"]


@pytest.fixture(scope="module")
def presets():
    return {run["key"]: run for run in javascript("presets")}


def test_the_presets_do_what_their_texts_say(presets):
    risk = {key: run["risk"] for key, run in presets.items()}
    law = {key: run["law"] for key, run in presets.items()}
    assert risk["start"]["memory"] < 0.1 * risk["start"]["base"]
    assert risk["start"]["base"] == pytest.approx(0.16, rel=0.1)
    assert risk["alone"]["memory"] == pytest.approx(
        risk["alone"]["neighbours"], rel=1e-9
    )
    again = javascript(
        "measure", levels=[0], **presets["alone"]["settings"] | {"L": 0.6}
    )
    assert again[0]["memory"] == pytest.approx(0.16 * risk["alone"]["memory"], rel=0.1)
    assert risk["dimension"]["memory"] > 0.1 * law["dimension"]["base"]
    tenfold = resmem_law(np.array([4096, 40960]), 8, 0.6)
    assert tenfold[1] > 0.5 * tenfold[0]
    assert law["printed"]["printed"] > 50 * risk["printed"]["memory"]
    assert law["noise"]["threshold"] < presets["noise"]["settings"]["noise"]
    assert risk["noise"]["memory"] > 1.3 * risk["noise"]["base"]
    assert risk["average"]["memory"] < 0.5 * risk["average"]["base"]
    assert risk["width"]["memory"] > risk["width"]["base"]
    assert risk["plane"]["memory"] < 0.5 * risk["plane"]["base"]
    assert risk["plane"]["memory"] == pytest.approx(
        risk["plane"]["neighbours"], abs=0.01
    )
    assert risk["flips"]["memory"] > 2 * risk["flips"]["base"]
    more = javascript(
        "measure", levels=[0.2], **presets["flips"]["settings"] | {"k": 20, "sigma": 10}
    )
    assert more[0]["memory"] < 0.5 * risk["flips"]["memory"]


COPIED = [
    {},
    {"d": 3, "k": 5, "sigma": 0.5, "noise": 0.1, "n": 48, "seed": 3},
    {"L": 0, "d": 2, "n": 8},
    {"view": "plane", "L": 0.3, "k": 3, "sigma": 0.2, "flips": 0.2, "n": 96, "seed": 1},
    {"view": "waves", "frequency": 5, "learns": "rough", "k": 3, "sigma": 0.1, "n": 48},
    {"view": "waves", "n": 64, "seed": 2},
]


@pytest.mark.parametrize("learns", ["smooth", "rough"])
def test_the_risk_of_two_waves_follows_the_law_of_the_package(learns):
    sizes = [2, 16, 128, 1024]
    frequencies = [1, 2, 7, 16]
    np.testing.assert_allclose(
        javascript("modes", sizes=sizes, frequencies=frequencies),
        mode_risk(np.array(sizes)[:, None], 1, np.array(frequencies)),
        rtol=1e-3,  # error of Simpson's rule at two points and sixteen waves
    )
    settings = DEFAULTS | {"view": "waves", "learns": learns, "n": 96}
    for frequency in (3, 12):
        law = javascript("waves", n=96, frequency=frequency, learns=learns)
        (risk,) = javascript("measure", levels=[frequency], **settings)
        assert risk["base"] == pytest.approx(law["base"], rel=1e-9)
        # The measured risk is a mean over 40 sets of points.
        assert risk["memory"] == pytest.approx(law["memory"], rel=0.25)
        assert risk["neighbours"] == pytest.approx(law["neighbours"], rel=0.25)
        residual_frequency = {"smooth": frequency, "rough": 1}[learns]
        height = {"smooth": 1 / 8, "rough": 1 / 2}[learns]
        assert law["memory"] == pytest.approx(
            height * mode_risk(96, 1, residual_frequency), rel=1e-3
        )


def test_the_rough_wave_is_the_one_to_learn_once_there_are_enough_examples():
    law = [javascript("waves", n=n, frequency=8, learns="smooth") for n in (3, 64)]
    assert law[0]["memory"] < law[0]["other"]
    assert law[1]["other"] < 0.1 * law[1]["memory"]
    assert law[1]["base"] < law[1]["otherBase"]


def test_the_copied_python_code_computes_what_the_page_shows(run_copied, capsys):
    for page in javascript("copied", patches=COPIED):
        capsys.readouterr()
        with double_precision():
            namespace = run_copied(page["text"])
        np.testing.assert_allclose(namespace["residuals"], page["residuals"], atol=2e-6)
        np.testing.assert_allclose(namespace["y"], page["y"], atol=2e-6)
        base = namespace["base"] if page["line"] else namespace["base"][:, 1]
        np.testing.assert_allclose(base, page["base"], atol=2e-6)
        # a place between two examples may be nearer to either
        off = np.abs(namespace["model"] - page["model"])
        assert np.mean(off > 1e-5) < 0.01
        if "laws" in page:
            error = np.mean((np.array(page["model"]) - page["truth"]) ** 2)
            said = capsys.readouterr().out
            assert float(said.splitlines()[0].split()[-1]) == pytest.approx(
                error, rel=0.02
            )
            figures = [float(line.split()[-1]) for line in said.splitlines()[1:]]
            known = [page["laws"]["memory"], page["laws"]["other"]]
            assert sorted(figures) == pytest.approx(sorted(known), rel=0.01)
        if not page["line"]:
            wrong = np.mean((np.array(page["model"]) > 0.5) != np.array(page["truth"]))
            assert namespace["wrong"] == pytest.approx(wrong, abs=1e-3)


def explorer(**options):
    pytest.importorskip("anywidget")
    from rankone_book.widgets.residual_explorer import ResidualExplorer

    return ResidualExplorer(**options)


def test_the_widget_carries_its_settings():
    assert explorer(L=0.3, k=5, view="plane").settings == {
        "L": 0.3,
        "k": 5,
        "view": "plane",
    }


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"L": -0.1}, "L"),
        ({"k": 4}, "k"),
        ({"sigma": 0}, "sigma"),
        ({"n": 1}, "n"),
        ({"d": 2.5}, "d"),
        ({"view": "cube"}, "view"),
        ({"gamma": 1}, "gamma"),
    ],
)
def test_the_widget_says_what_is_wrong(options, says):
    with refused(ValueError, match=says):
        explorer(**options)
