"""The universality explorer's network and gradient step, in JavaScript, equal the
package's under jax.grad.
"""

import jax
import node
import numpy as np
import pytest
from refusals import refused

from rankone.precision import double_precision
from rankone.universality import (
    Constants,
    adapt,
    lookup_table,
    predict,
    universal_learner,
)
from rankone.universality.fitted import quasirandom
from rankone_book.widgets.universality_explorer import UniversalityExplorer

TARGETS = {
    "sine": lambda x, y, xs: y * np.sin(2 * np.pi * (xs - x)),
    "neighbour": lambda x, y, xs: np.where(np.abs(x - xs) < 0.25, y, 0.0),
    "bump": lambda x, y, xs: np.sin(3 * y) * np.exp(-8 * (xs - x) ** 2) + 0.3 * xs,
}
XS = (np.arange(40) + 0.3) / 40
PAIRS = [(0.3, 0.7), (0.91, -0.95), (0.06, 0.2)]

BRIDGE = """
import { normalQuantile, quasirandom } from "./universality/math/kinks.js";
import { forward, gradientStep, size } from "./universality/math/network.js";
import { lookup } from "./universality/math/tables.js";
import { drawn, TARGETS } from "./universality/math/targets.js";
import { observe } from "./universality/observe.js";
import { PRESETS } from "./universality/presets.js";
import { python } from "./universality/python.js";
import { buildNetwork, nextSettings, PUBLISHED } from "./universality/settings.js";
const jobs = {
  learn({ settings, pairs, xs }) {
    const all = nextSettings(PUBLISHED, settings);
    const network = buildNetwork(all);
    const table = lookup(TARGETS[all.target].of(all.profile), all.size);
    const outputs = pairs.map(([x, y]) => {
      const step = gradientStep(network, x, y, all.ratio * network.alpha);
      return xs.map((v) => forward(network, v, step).output);
    });
    const step = gradientStep(network, ...pairs[0]);
    return { outputs, before: xs.map((v) => forward(network, v).output), size: size(network),
             depth: network.layers.length, errors: step.errors.map((e) => [...e]),
             inputs: step.inputs.map((h) => [...h]), switch: step.switch,
             tables: pairs.map(([x, y]) => xs.map((v) => table(x, y, v))) };
  },
  observe: (settings) => { const all = nextSettings(PUBLISHED, settings); return observe(buildNetwork(all), all); },
  copied: ({ patches }) => patches.map((patch) => {
    const all = nextSettings(PUBLISHED, patch);
    const { before, after, start, atProbe, error } = observe(buildNetwork(all), all);
    return { text: python(all), before, after, look: [start, atProbe.output], error };
  }),
  presets: () => PRESETS.map((p) => { const seen = observe(buildNetwork(p.set), p.set);
    return { key: p.key, set: p.set, said: p.after(seen), deviation: seen.deviation, error: seen.error,
             fired: seen.slots.filter((s) => s.share > 0.5).length }; }),
  numbers: ({ p }) => ({ points: quasirandom(50, 6), quantiles: p.map(normalQuantile) }),
  drawn: ({ profile, at }) => at.map(drawn(profile)),
};
const answer = ([name, job]) => jobs[name](job);
"""


def javascript(name, /, **job):
    """The answer of one job of the bridge."""
    return node.reply(BRIDGE, [name, job])


def package(target, construction, size, **constants):
    """The same network from the package, in double precision."""
    number = (
        {"cells": size} if construction in ("seed", "logdepth") else {"units": size}
    )
    # None means the construction's own constants
    values = Constants(**constants) if constants else None
    return universal_learner(
        TARGETS[target], construction=construction, constants=values, **number
    )


@pytest.fixture(autouse=True)
def double():
    with double_precision():
        yield


@pytest.mark.parametrize(
    ("construction", "size", "target", "tolerance"),
    [
        ("seed", 4, "bump", 1e-10),
        ("seed", 3, "neighbour", 1e-10),
        ("logdepth", 8, "sine", 1e-10),
        ("logdepth", 16, "bump", 1e-10),
        (
            "constant",
            50,
            "sine",
            1e-7,
        ),  # two least-squares fits of condition 1e10 agree to about 1e-10 · 1e3
        ("shallow", 50, "bump", 1e-7),
        ("two_layers", 50, "sine", 1e-7),
    ],
)
def test_network_after_the_step_equals_jax(construction, size, target, tolerance):
    settings = {"construction": construction, "size": size, "target": target}
    page = javascript("learn", settings=settings, pairs=PAIRS, xs=XS)
    network = package(target, construction, size)
    assert (page["size"], page["depth"]) == (network.size, network.depth)
    np.testing.assert_allclose(page["before"], predict(network, XS), atol=tolerance)
    for (x, y), outputs in zip(PAIRS, page["outputs"], strict=True):
        np.testing.assert_allclose(
            outputs, predict(adapt(network, x, y), XS), atol=tolerance
        )


def test_every_weight_moves_as_under_jax_grad():
    page = javascript("learn", settings={"size": 3}, pairs=PAIRS, xs=XS)
    network = package("sine", "seed", 3)
    after = adapt(network, *PAIRS[0])
    moved = jax.tree.map(
        lambda a, b: (np.asarray(a) - np.asarray(b)) / network.alpha, network, after
    )
    gradients = [
        np.outer(e, h) for e, h in zip(page["errors"], page["inputs"], strict=False)
    ]
    differences = [
        one
        for layer in moved.layers
        for one in layer.W.reshape(-1, *layer.W.shape[-2:])
    ]
    for gradient, difference in zip(gradients, differences, strict=True):
        # a difference of weights as large as 2²² is rounded at 2⁻³⁰
        np.testing.assert_allclose(gradient, difference, atol=1e-8, rtol=1e-6)
    assert page["switch"] == pytest.approx(moved.switch[0], rel=1e-6)


@pytest.mark.parametrize(
    "broken", [{"offset": 0}, {"switch": 0}, {"offset": 1e-2}, {"switch": 3e-4}]
)
def test_breaking_a_constant_breaks_both_alike(broken):
    page = javascript("learn", settings={"size": 4, **broken}, pairs=PAIRS, xs=XS)
    network = package("sine", "seed", 4, **broken)
    for (x, y), outputs in zip(PAIRS, page["outputs"], strict=True):
        np.testing.assert_allclose(
            outputs, predict(adapt(network, x, y), XS), rtol=1e-9, atol=1e-9
        )


def test_another_step_size_does_what_it_does_in_jax():
    page = javascript("learn", settings={"size": 4, "ratio": 1.1}, pairs=PAIRS, xs=XS)
    network = package("sine", "seed", 4)
    for (x, y), outputs in zip(PAIRS, page["outputs"], strict=True):
        after = adapt(network, x, y, alpha=1.1 * network.alpha)
        np.testing.assert_allclose(outputs, predict(after, XS), atol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
def test_targets_and_tables_equal_those_of_the_package(target):
    page = javascript(
        "learn", settings={"size": 6, "target": target}, pairs=PAIRS, xs=XS
    )
    for (x, y), table in zip(PAIRS, page["tables"], strict=True):
        np.testing.assert_allclose(
            table, lookup_table(TARGETS[target], 6)(x, y, XS), atol=1e-12
        )


def test_points_and_quantiles_of_the_fit_equal_those_of_the_package():
    p = np.concatenate([np.linspace(0.001, 0.999, 101), [1e-6, 1 - 1e-6]])
    page = javascript("numbers", p=p)
    np.testing.assert_allclose(page["points"], quasirandom(50, 6), atol=1e-12)
    np.testing.assert_allclose(
        page["quantiles"], jax.jit(jax.scipy.special.ndtri)(p), atol=1e-9
    )


def test_drawn_target_is_linear_between_its_knots():
    profile = np.random.default_rng(0).uniform(-1, 1, 33)
    at = np.linspace(-1.2, 1.2, 70)
    page = javascript("drawn", profile=profile, at=at)
    np.testing.assert_allclose(
        page, np.interp(at, np.linspace(-1, 1, 33), profile), atol=1e-12
    )


def test_only_the_cell_of_x_and_x_star_fires():
    for x, probe in [(0.3, 0.56), (0.99, 0.01), (0.51, 0.51)]:
        slots = javascript("observe", size=8, x=x, y=-0.4, probe=probe)["slots"]
        fired = [i for i, slot in enumerate(slots) if slot["share"] > 0.5]
        assert fired == [int(8 * x) + 8 * int(8 * probe)]
        assert slots[fired[0]]["expected"]
        assert slots[fired[0]]["share"] == pytest.approx(1, abs=1e-3)


def test_bits_spell_the_cells():
    slots = javascript(
        "observe", construction="logdepth", size=16, x=0.3, probe=0.9, y=0.5
    )["slots"]
    spelt = [round(slot["value"] / slots[0]["value"]) for slot in slots[1:]]
    assert spelt == [int(16 * 0.3) >> b & 1 for b in range(4)] + [
        int(16 * 0.9) >> b & 1 for b in range(4)
    ]


def test_presets_produce_the_effects_that_they_ask_about():
    presets = {preset["key"]: preset for preset in javascript("presets")}
    assert presets["learn"]["deviation"] < 1e-4
    assert presets["bits"]["deviation"] < 1e-3
    assert presets["draw"]["deviation"] < 1e-3
    assert presets["kink"]["deviation"] > 1
    assert presets["kink"]["fired"] == 0
    assert presets["switch"]["deviation"] > 1
    assert presets["switch"]["fired"] == 0
    assert presets["alpha"]["deviation"] > 0.05
    assert presets["margin"]["fired"] == 0
    assert presets["shallow"]["error"] < 0.15
    assert presets["two"]["error"] < 0.15
    assert presets["further"]["error"] > 2 * presets["two"]["error"]
    assert all(
        "NaN" not in preset["said"] and "undefined" not in preset["said"]
        for preset in presets.values()
    )


COPIED = [
    {},
    {"size": 4, "target": "bump", "offset": 0, "x": 0.91, "y": -0.4, "probe": 0.1},
    {
        "construction": "logdepth",
        "size": 4,
        "target": "drawn",
        "switch": 3e-4,
        "ratio": 0.9,
    },
    {
        "construction": "constant",
        "size": 50,
        "target": "neighbour",
        "offset": 1e-2,
        "switch": 1e-6,
    },
    {"construction": "two_layers", "size": 50, "offset": 1e-3},
]


def test_the_copied_python_code_computes_what_the_page_shows(run_copied):
    for page, patch in zip(javascript("copied", patches=COPIED), COPIED, strict=True):
        namespace = run_copied(page["text"])
        tolerance = (
            1e-6 if patch.get("construction") in ("constant", "two_layers") else 1e-9
        )
        for name in ("before", "after", "error"):
            np.testing.assert_allclose(
                namespace[name],
                page[name],
                atol=tolerance,
                rtol=1e-6,
                err_msg=str(patch),
            )
        np.testing.assert_allclose(
            namespace["look"], page["look"], atol=tolerance, rtol=1e-6
        )
        before, after = (
            float(namespace["printed"].split(part)[0].split()[-1])
            for part in (" before", " after")
        )
        error = float(namespace["printed"].split()[-1])
        np.testing.assert_allclose(
            [before, after, error],
            [*page["look"], page["error"]],
            rtol=5e-3,  # three figures are printed
            atol=tolerance,
        )


def test_the_slot_plane_matches_the_lemma_and_its_readers_match_the_network():
    settings = {"construction": "two_layers", "size": 100, "x": 0.37, "y": -0.4}
    for ratio in (1, 1.1):
        page = javascript("observe", **settings, probe=0.6, ratio=ratio)
        plane = page["plane"]
        cells = plane["cells"]
        below = np.sum(np.arange(1, cells) / cells < 0.37)
        delta = -0.4 - page["start"]
        v0, v1 = plane["written"]
        # An entry is a difference of numbers near δ = 10⁻⁴, divided by αw = 10⁻³.
        assert v0 == pytest.approx(ratio * delta * (1 + 0.37 * 0.6), rel=1e-9)
        assert v1 == pytest.approx(below / cells * v0, rel=1e-9)
        assert plane["ray"] == below / cells
        assert plane["span"] == pytest.approx([ratio * delta, ratio * delta * 1.37])
        assert len(plane["readers"]) == 100
        for reader in plane["readers"]:
            a, c = reader["a"], reader["c"]
            assert c < 0  # the origin, where every x is before the step, is inactive
            height = a[0] * v0 + a[1] * v1 + c
            # The third input of a reader is x* and a small multiple of v₁.
            if abs(height) > 1e-2:
                assert reader["isActive"] == (height > 0)
        active = [reader["isActive"] for reader in plane["readers"]]
        assert 0 < sum(active) < 100
    assert javascript("observe", construction="seed", size=4)["plane"] is None


def test_widget_hands_its_settings_to_the_page():
    widget = UniversalityExplorer(construction="logdepth", size=16, offset=0.0)
    assert widget.settings == {"construction": "logdepth", "size": 16, "offset": 0.0}
    assert "r1-universality" in str(widget._esm)


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"colour": 1}, "colour"),
        ({"target": "cosine"}, "target"),
        ({"construction": "deep"}, "construction"),
        ({"size": 7}, "size"),
        ({"size": 8}, "size"),
        ({"construction": "shallow", "size": 8}, "size"),
        ({"x": 1.5}, "x"),
        ({"offset": -1}, "offset"),
        ({"switch": "off"}, "switch"),
    ],
)
def test_bad_settings_are_named(bad, name):
    with refused(ValueError, match=f"^{name}: got"):
        UniversalityExplorer(**bad)
