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
    return node.asked(BRIDGE, [name, job])


def kernels(width):
    return {"laplace": Laplace(width), "gaussian": Gaussian(width**-2)}


def read(found, kernel, rule, at, divide):
    K = np.transpose(found["keys"])
    R = np.asarray(found["values"])[None]
    return interpolate(K, R, np.transpose(at), kernel, rule=rule, normalise=divide)[0]


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
@pytest.mark.parametrize("divide", [False, True])
def test_at_each_mark_it_reads_what_the_library_reads(kernel, divide):
    given = {
        "pairs": PAIRS,
        "width": 0.5,
        "kernel": kernel,
        "divide": divide,
        "omega": 3.0,
        "view": "plane",
    }
    asked = javascript("asked")["plane"]
    rules = (BatchStep(), InSequence(), Ridge(3.0), Exact())
    for way, found in enumerate(
        javascript("measured", [given | {"way": way} for way in range(4)])
    ):
        rule = rules[way]
        K = jnp.asarray(found["keys"]).T
        made = kernels(0.5)[kernel]
        close(found["S"], made.inner(K, K), rtol=1e-12, err_msg=str(way))
        close(
            found["X"],
            one_rule.matrix_of(rule, np.array(found["S"])),
            rtol=1e-8,
            atol=1e-10,
        )
        curve, at_keys = (
            read(found, made, rule, at, divide) for at in (asked, found["keys"])
        )
        close(found["curve"], curve, rtol=1e-9, atol=1e-10)
        close(found["read"], at_keys, rtol=1e-9, atol=1e-10)
        seen = np.asarray(found["X"]) @ found["S"]
        close(found["seen"], seen / seen.sum(0) if divide else seen, atol=1e-12)
        true = (
            0.8 * np.sin(4 * np.array(asked)[:, 0]) * np.cos(2 * np.array(asked)[:, 1])
        )
        close(
            found["errors"]["unseen"], np.sqrt(np.mean((curve - true) ** 2)), rtol=1e-9
        )
        close(
            found["errors"]["stored"],
            np.sqrt(np.mean((at_keys - np.array(found["values"])) ** 2)),
            atol=1e-12,
        )
        close(found["empty"], np.sqrt(np.mean(true**2)), rtol=1e-12)
        close(
            [each["unseen"] for each in found["along"]][20 * way],
            found["errors"]["unseen"],
            rtol=1e-12,
        )
        close(
            np.reshape(found["field"], (65, 65))[::4, ::4].ravel(),
            found["curve"],
            atol=1e-12,
        )


def test_between_the_marks_it_is_the_partial_solve():
    """The path of the slider, forward and backward, and where each leg meets the
    next.
    """
    ways = [0, 0.35, 1, 1.6, 2, 2.8, 3]
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
        all_ways = [{"omega": 3, "backward": backward, "way": way} for way in ways]
        for X, (earlier, later, slack) in zip(
            javascript("matrices", {"S": S, "all": all_ways}), places, strict=True
        ):
            shares = (later, earlier) if backward else (earlier, later)
            close(X, one_rule.partial_solve(S, *shares, slack), rtol=1e-8, atol=1e-11)


def test_rounds_are_those_of_the_library():
    given = [
        {"way": 1, "rounds": 2},
        {"way": 1, "rounds": 8},
        {"way": 1, "rounds": 64},
        {"way": 0, "rounds": 4},
    ]
    *sequences, steps = javascript("matrices", {"S": S, "all": given})
    for rounds, X in zip((2, 8, 64), sequences, strict=True):
        close(X, one_rule.matrix_of(Cycled(rounds), S), rtol=1e-8, atol=1e-10)
    step = np.zeros((6, 6))
    for _ in range(4):
        step = step + (np.eye(6) - step @ S)
    close(steps, step, atol=1e-10)


def test_the_random_frequencies_are_the_packages():
    key = jax.random.key(3)
    points = np.array(PAIRS)[:, :2]
    made = {
        "laplace": laplace_features(2, 16, 0.5, key=key),
        "gaussian": ro.RandomFeatures(2, 16, key=key),
    }
    for name, features in made.items():
        scale = 0.5 if name == "gaussian" else 1.0
        found = javascript(
            "features",
            {"kernel": name, "width": 0.5, "Y": 16, "seed": 3, "points": points},
        )
        close(
            np.transpose(found["drawn"]) * scale, features.omega, rtol=3e-6, atol=1e-6
        )
        phi = np.asarray(found["phi"])
        close(
            phi @ phi.T, features.inner(points.T / scale, points.T / scale), atol=2e-4
        )


def test_features_cost_what_the_law_says_of_them():
    """The law is `ratio_error`'s, averaged over the line; over draws the cost is
    near it.
    """
    given = {"pairs": PAIRS, "way": 0, "divide": True, "width": 0.8, "Y": 256}
    found = javascript("measured", [given | {"seed": seed} for seed in range(20)])
    K = np.transpose(found[0]["keys"])
    R = np.asarray(found[0]["values"])[None]
    asked = np.transpose(javascript("asked")["line"])
    law = np.sqrt(ratio_error(K, R, asked, 0.8, 256).mean())
    close([each["law"] for each in found], law, rtol=1e-9)
    cost = np.sqrt(np.mean([each["cost"] ** 2 for each in found]))
    assert 0.7 * law < cost < 1.4 * law


def test_noise_is_jaxs_and_a_value_is_the_truth_and_what_is_added():
    found = javascript(
        "stored", {"view": "line", "pairs": PAIRS, "noise": 0.5, "seed": 4}
    )
    x, _, off = np.transpose(PAIRS)
    close(found["truth"], 0.8 * np.sin(4 * x), rtol=1e-12)
    drawn = np.asarray(jax.random.normal(jax.random.key(4), (12,), jnp.float32))[:6]
    close(found["values"], 0.8 * np.sin(4 * x) + off + 0.5 * drawn, atol=1e-6)
    assert np.allclose(np.transpose(found["keys"])[1], 0)


COPIED: list[dict[str, Any]] = [
    {"way": 1},
    {"way": 2, "divide": True, "kernel": "gaussian", "view": "plane"},
    {"way": 1, "rounds": 4},
    {"way": 1.5, "backward": True, "divide": True},
    {"way": 0, "rounds": 8, "width": 0.05},
    {"way": 0, "Y": 64, "divide": True, "width": 0.8},
    {"way": 2, "Y": 64, "kernel": "gaussian", "view": "plane"},
]


def test_what_is_copied_as_python_computes_what_is_shown(run_copied):
    for given, shown in zip(COPIED, javascript("copied", COPIED), strict=True):
        made = run_copied(shown["text"])
        rtol = 1e-3 if given.get("Y") else 1e-6
        close(made["read"], shown["curve"], rtol=rtol, atol=rtol, err_msg=shown["text"])
    texts = [shown["text"] for shown in javascript("copied", COPIED)]
    wanted = [
        "rule=InSequence()",
        "normalise=True",
        "rule=Cycled(4)",
        "partial_solve",
        "partial_solve",
        "laplace_features",
    ]
    assert [
        word for word, text in zip(wanted, texts, strict=False) if word not in text
    ] == []


def test_each_question_is_answered_as_the_package_answers_it():
    """The right guesses, and what is said after them, from the package's own rules
    where they differ.
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
    told = 0.8 * np.sin(4 * x)[None]
    off = abs(
        interpolate(x[None], told, x[None], Laplace(0.3), rule=InSequence()) - told
    )[0]
    assert (
        f"off by {off[:5].mean():.2g} on average, the last five by {off[5:].mean():.2g}"
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
