"""The memory bench's mathematics in JavaScript equals the package's in JAX, and so does
the code it copies.
"""

from typing import Any

import jax
import jax.numpy as jnp
import node
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.theory import one_rule
from rankone.theory.soft_neighbours import laplace_features, ratio_error
from rankone.writes import (
    BatchStep,
    Cycled,
    Exact,
    Gaussian,
    InSequence,
    Laplace,
    Ridge,
    interpolate,
)
from rankone_book.widgets import BenchExplorer

BRIDGE = """
import { ASKED, matrixAt, measure } from "./bench/measure.js";
import { frequenciesOf, featuresAt } from "./bench/math/kernels.js";
import { PRESETS } from "./bench/presets.js";
import { python } from "./bench/python.js";
import { keysOf, settingsFrom, truth, valuesOf } from "./bench/settings.js";
const plain = (value) => ArrayBuffer.isView(value) ? Array.from(value)
  : Array.isArray(value) ? value.map(plain) : value;
const shown = (settings) => {
  const found = measure(settings);
  const all = Object.entries({ ...found, field: found.field() });
  return Object.fromEntries(all.map(([name, value]) => [name, plain(value)]));
};
const jobs = {
  measured: (all) => all.map((given) => shown(settingsFrom(given))),
  matrices: ({ S, all }) => all.map((given) => matrixAt(settingsFrom(given), S)),
  features({ points, ...made }) {
    const { x, y } = frequenciesOf(made);
    return { drawn: [x, y].map(plain), phi: featuresAt({ x, y }, points).map(plain) };
  },
  stored: (given) => ({ keys: keysOf(settingsFrom(given)), values: valuesOf(settingsFrom(given)),
    truth: keysOf(settingsFrom(given)).map(truth) }),
  copied: (all) => all.map((given) => ({ text: python(settingsFrom(given)), ...shown(settingsFrom(given)) })),
  asked: () => ASKED,
  answers: () => PRESETS.map(({ key, set, predict, after }) => {
    const found = { ...measure(set), Y: set.Y };
    return [key, [predict.right(found), after(found)]];
  }),
};
const answer = ([name, job]) => jobs[name](job);
"""
PAIRS = [
    [-1.1, 0.3, 0.0],
    [-0.7, -0.6, 0.2],
    [-0.4, 0.8, 0.0],
    [0.1, -0.2, -0.5],
    [0.6, 0.5, 0.0],
    [1.0, -0.9, 0.0],
]
S = np.exp(-abs(np.subtract.outer(*[np.array(PAIRS)[:, 0]] * 2)) / 0.5)
close = np.testing.assert_allclose

pytestmark = pytest.mark.usefixtures("x64")


def javascript(name: str, job: Any = None) -> Any:
    """The answer of one job of the bridge."""
    return node.reply(BRIDGE, [name, job])


def kernels(width):
    return {"laplace": Laplace(width), "gaussian": Gaussian(width**-2)}


def read(page, kernel, rule, at, divide):
    K = np.transpose(page["keys"])
    R = np.asarray(page["values"])[None]
    return interpolate(K, R, np.transpose(at), kernel, rule=rule, normalise=divide)[0]


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
@pytest.mark.parametrize("divide", [False, True])
def test_each_mark_of_the_slider_reads_the_same_as_the_library(kernel, divide):
    settings = {
        "pairs": PAIRS,
        "width": 0.5,
        "kernel": kernel,
        "divide": divide,
        "omega": 3.0,
        "view": "plane",
    }
    points = javascript("asked")["plane"]
    rules = (BatchStep(), InSequence(), Ridge(3.0), Exact())
    for mark, page in enumerate(
        javascript("measured", [settings | {"way": mark} for mark in range(4)])
    ):
        rule = rules[mark]
        K = jnp.asarray(page["keys"]).T
        instance = kernels(0.5)[kernel]
        close(page["S"], instance.inner(K, K), rtol=1e-12, err_msg=str(mark))
        close(
            page["X"],
            one_rule.matrix_of(rule, np.array(page["S"])),
            rtol=1e-8,
            atol=1e-10,
        )
        curve, at_keys = (
            read(page, instance, rule, at, divide) for at in (points, page["keys"])
        )
        close(page["curve"], curve, rtol=1e-9, atol=1e-10)
        close(page["read"], at_keys, rtol=1e-9, atol=1e-10)
        weights = np.asarray(page["X"]) @ page["S"]
        close(page["seen"], weights / weights.sum(0) if divide else weights, atol=1e-12)
        true = (
            0.8
            * np.sin(4 * np.array(points)[:, 0])
            * np.cos(2 * np.array(points)[:, 1])
        )
        close(
            page["errors"]["unseen"], np.sqrt(np.mean((curve - true) ** 2)), rtol=1e-9
        )
        close(
            page["errors"]["stored"],
            np.sqrt(np.mean((at_keys - np.array(page["values"])) ** 2)),
            atol=1e-12,
        )
        close(page["empty"], np.sqrt(np.mean(true**2)), rtol=1e-12)
        close(
            [each["unseen"] for each in page["along"]][20 * mark],
            page["errors"]["unseen"],
            rtol=1e-12,
        )
        close(
            np.reshape(page["field"], (65, 65))[::4, ::4].ravel(),
            page["curve"],
            atol=1e-12,
        )


def test_between_the_marks_the_page_uses_the_partial_solve():
    """The path of the slider, forward and backward, and the ends of its legs."""
    positions = [0, 0.35, 1, 1.6, 2, 2.8, 3]
    places = [
        (0, 0, 0),
        (0.35, 0, 0),
        (1, 0, 0),
        (1, 0.6, 0.2),
        (1, 1, 1 / 3),
        (1, 1, 0.2 / 3),
        (1, 1, 0),
    ]
    for backward in (False, True):
        all_ways = [
            {"omega": 3, "backward": backward, "way": position}
            for position in positions
        ]
        for X, (earlier, later, slack) in zip(
            javascript("matrices", {"S": S, "all": all_ways}), places, strict=True
        ):
            shares = (later, earlier) if backward else (earlier, later)
            close(X, one_rule.partial_solve(S, *shares, slack), rtol=1e-8, atol=1e-11)


def test_rounds_are_those_of_the_library():
    settings = [
        {"way": 1, "rounds": 2},
        {"way": 1, "rounds": 8},
        {"way": 1, "rounds": 64},
        {"way": 0, "rounds": 4},
    ]
    *sequences, steps = javascript("matrices", {"S": S, "all": settings})
    for rounds, X in zip((2, 8, 64), sequences, strict=True):
        close(X, one_rule.matrix_of(Cycled(rounds), S), rtol=1e-8, atol=1e-10)
    step = np.zeros((6, 6))
    for _ in range(4):
        step = step + (np.eye(6) - step @ S)
    close(steps, step, atol=1e-10)


def test_the_random_frequencies_equal_those_of_the_package():
    key = jax.random.key(3)
    points = np.array(PAIRS)[:, :2]
    by_kernel = {
        "laplace": laplace_features(2, 16, 0.5, key=key),
        "gaussian": ro.RandomFeatures(2, 16, key=key),
    }
    for name, features in by_kernel.items():
        scale = 0.5 if name == "gaussian" else 1.0
        page = javascript(
            "features",
            {"kernel": name, "width": 0.5, "Y": 16, "seed": 3, "points": points},
        )
        close(np.transpose(page["drawn"]) * scale, features.omega, rtol=3e-6, atol=1e-6)
        phi = np.asarray(page["phi"])
        close(
            phi @ phi.T, features.inner(points.T / scale, points.T / scale), atol=2e-4
        )


def test_the_measured_error_of_the_features_is_near_the_law():
    """The law is that of `ratio_error`, averaged over the line. The mean error over
    draws is near the law.
    """
    settings = {"pairs": PAIRS, "way": 0, "divide": True, "width": 0.8, "Y": 256}
    pages = javascript("measured", [settings | {"seed": seed} for seed in range(20)])
    K = np.transpose(pages[0]["keys"])
    R = np.asarray(pages[0]["values"])[None]
    points = np.transpose(javascript("asked")["line"])
    law = np.sqrt(ratio_error(K, R, points, 0.8, 256).mean())
    close([each["law"] for each in pages], law, rtol=1e-9)
    cost = np.sqrt(np.mean([each["cost"] ** 2 for each in pages]))
    assert 0.7 * law < cost < 1.4 * law


def test_values_are_the_truth_plus_an_offset_plus_the_noise_of_jax():
    page = javascript(
        "stored", {"view": "line", "pairs": PAIRS, "noise": 0.5, "seed": 4}
    )
    x, _, off = np.transpose(PAIRS)
    close(page["truth"], 0.8 * np.sin(4 * x), rtol=1e-12)
    normals = np.asarray(jax.random.normal(jax.random.key(4), (12,), jnp.float32))[:6]
    close(page["values"], 0.8 * np.sin(4 * x) + off + 0.5 * normals, atol=1e-6)
    assert np.allclose(np.transpose(page["keys"])[1], 0)


COPIED: list[dict[str, Any]] = [
    {"way": 1},
    {"way": 2, "divide": True, "kernel": "gaussian", "view": "plane"},
    {"way": 1, "rounds": 4},
    {"way": 1.5, "backward": True, "divide": True},
    {"way": 0, "rounds": 8, "width": 0.05},
    {"way": 0, "Y": 64, "divide": True, "width": 0.8},
    {"way": 2, "Y": 64, "kernel": "gaussian", "view": "plane"},
]


def test_the_copied_python_code_computes_what_the_page_shows(run_copied):
    for settings, page in zip(COPIED, javascript("copied", COPIED), strict=True):
        namespace = run_copied(page["text"])
        rtol = 1e-3 if settings.get("Y") else 1e-6
        close(
            namespace["read"], page["curve"], rtol=rtol, atol=rtol, err_msg=page["text"]
        )
    texts = [page["text"] for page in javascript("copied", COPIED)]
    words = [
        "rule=InSequence()",
        "normalise=True",
        "rule=Cycled(4)",
        "partial_solve",
        "partial_solve",
        "laplace_features",
    ]
    assert [
        word for word, text in zip(words, texts, strict=False) if word not in text
    ] == []


def test_each_question_is_answered_as_the_package_answers_it():
    """The right guesses, and the texts after them, from the package's own rules where
    they differ.
    """
    right = {key: answer for key, (answer, _) in javascript("answers")}
    assert right == {
        "crowd": "first",
        "apart": "hardly",
        "noise": "ridge",
        "off": "stays",
        "changed": "sequence",
        "rounds": "away",
        "features": "900",
    }
    x = np.array([-0.9, -0.8, -0.7, -0.6, -0.5, -0.4, -0.05, 0.25, 0.55, 0.85])
    values = 0.8 * np.sin(4 * x)[None]
    off = abs(
        interpolate(x[None], values, x[None], Laplace(0.3), rule=InSequence()) - values
    )[0]
    assert (
        f"off by {off[:5].mean():.2g} on average, the last half by {off[5:].mean():.2g}"
        in dict(javascript("answers"))["crowd"][1]
    )


def test_the_explorer_says_what_is_wrong():
    assert BenchExplorer(way=1.5, pairs=PAIRS, Y=64).settings["Y"] == 64
    for bad, name in [
        ({"way": 4}, "way"),
        ({"Y": 5}, "Y"),
        ({"pairs": [[0, 1]]}, "pairs"),
        ({"gamma": 1}, "gamma"),
    ]:
        with refused(ValueError, match=f"^{name}: got"):
            BenchExplorer(**bad)
