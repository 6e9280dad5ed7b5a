"""Every setting that refutes a misconception is accepted by its widget, and gives the
claimed numbers.
"""

from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import node
import numpy as np
import optax
import pytest

import rankone as ro
from extensions.course.course_map import Course
from rankone import writes
from rankone.editing import pseudo_inverse_edit
from rankone.precision import double_precision
from rankone.printed import resmem_rate
from rankone.theory import commutation, resmem_rates
from rankone.theory.basin import critical_slope, gauge
from rankone.theory.conditioning import whitened_spectrum
from rankone.theory.edit_cost import sequential_residual
from rankone.universality import (
    Constants,
    adapt,
    lookup_table,
    predict,
    universal_learner,
)
from rankone_book import widgets

COURSE = Course(Path(__file__).parents[2])
SHOWN = {
    f"{chapter}-{entry['id']}": entry
    for chapter in COURSE.chapters
    for entry in COURSE.questions(chapter)
    if "widget" in entry
}
FOLDERS = {
    name: name.removesuffix("Explorer").lower()
    for name in widgets.__all__
    if name.endswith("Explorer")
}
BRIDGE = "\n".join(
    [
        *(
            f'import * as {name} from "./{name}/settings.js"; import * as {name}Asks from "./{name}/presets.js";'
            for name in FOLDERS.values()
        ),
        'const named = { names: ["a", "b", "c"] };',  # the pictures of a surface
        "const asked = (one) => one.PRESETS ?? one.presetsOf(named);",
        f"const all = {{ {', '.join(f'{n}: [{f}, asked({f}Asks)]' for n, f in FOLDERS.items())} }};",
        """const of = ([{ DEFAULTS }, presets]) => ({ defaults: DEFAULTS, presets: Object.fromEntries(presets.map(
          ({ key, name, set }) => [key, [name, typeof set === "function" ? set(DEFAULTS) : set]])) });
        const made = Object.fromEntries(Object.entries(all).map(([name, modules]) => [name, of(modules)]));
        process.stdout.write(JSON.stringify(made));""",
    ]
)


@cache
def pages() -> dict[str, Any]:
    """The defaults of each widget, and the settings of its buttons."""
    return node.answer(BRIDGE, None)


def started(entry: dict[str, Any]) -> dict[str, Any]:
    """All settings of the widget after it was started with those of an entry."""
    return pages()[entry["widget"]]["defaults"] | entry["settings"]


@pytest.mark.parametrize("name", SHOWN)
def test_the_explorer_accepts_the_settings_of_each_misconception(name: str) -> None:
    entry = SHOWN[name]
    assert set(entry["settings"]) <= set(pages()[entry["widget"]]["defaults"])
    explorer = getattr(widgets, entry["widget"])(**entry["settings"])
    assert set(explorer.settings) == set(entry["settings"])


@pytest.mark.parametrize(
    "name", [name for name, entry in SHOWN.items() if "question" in entry]
)
def test_the_button_of_a_question_sets_the_settings_of_the_misconception(
    name: str,
) -> None:
    entry = SHOWN[name]
    assert [COURSE.button(entry), started(entry)] == pages()[entry["widget"]][
        "presets"
    ][entry["question"]]


def test_widgets_have_two_misconceptions_each() -> None:
    for chapter in (
        "retrieval",
        "editing",
        "preconditioning",
        "universality",
        "residual",
        "one_rule",
    ):
        assert sum(name.startswith(f"{chapter}-") for name in SHOWN) >= 2, chapter


# --- the claimed numbers, computed by the package


def query(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Patterns, query, mask of the known pixels, and the true picture, whose bottom is
    covered in the query.
    """
    pictures = np.asarray(ro.data.photographs(s["size"]))
    truth = pictures[s["target"]]
    unit = pictures.shape[1] ** -0.5
    known = (
        np.arange(truth.size)
        < truth.size - round(s["fraction"] * s["size"]) * s["size"] * 3
    )
    start = np.where(known, truth, {"grey": 0.5, "black": 0.0}[s["fill"]])
    return pictures[: s["K"]] * unit, start * unit, known, truth * unit


def pull(s: dict[str, Any]) -> float:
    """The number that the gauge shows."""
    patterns, start, known, _ = query(s)
    features = ro.RandomFeatures(
        len(start), s["Y"], key=jax.random.key(s["seed"]), projection="hadamard"
    )
    read = gauge(
        ro.DrDAM.store(patterns, s["beta"], features), start, free=int((~known).sum())
    )
    return float(read.slope_ratio) / critical_slope(s["eta"])


def blend(s: dict[str, Any]) -> float:
    """Mean error of the exact memory over the hidden pixels, in grey levels from 0 to
    1.
    """
    patterns, start, known, truth = query(s)
    options = {
        "step_size": s["eta"],
        "max_steps": s["steps"],
        "tol": 0,
        "clamp": known,
        "progress": False,
    }
    retrieval = ro.retrieve(ro.MrDAM(patterns, s["beta"]), start, **options)
    return np.abs(retrieval.x - truth)[~known].mean() * truth.size**0.5


def size(s: dict[str, Any]) -> dict[str, float]:
    patterns = query(s)[0]
    features = ro.RandomFeatures(
        patterns.shape[1], s["Y"], key=jax.random.key(0), projection="hadamard"
    )
    entries = jax.eval_shape(features.phi, patterns[0]).size
    return {
        "entries": entries,
        "pictures": patterns.size,
        "ratio": entries / patterns.size,
    }


def geometry(s: dict[str, Any]) -> dict[str, float]:
    K = np.array(s["keys"]).T
    W = np.array(s["W"])
    k = np.array(s["k"])
    v = np.array(s["v"])
    change = ro.rank_one_edit(W, np.eye(2), k, v).apply(W) - W
    return {
        "factor": ((change @ K) ** 2).sum()
        / ro.rank_one_edit(W, K @ K.T, k, v).interference
    }


def free(s: dict[str, Any]) -> dict[str, float]:
    K = np.array(s["keys"]).T
    W = np.array(s["W"])
    k = np.array(s["k"])
    v = np.array(s["v"])
    pseudo = pseudo_inverse_edit(W, K, k, v)
    ridge = ro.rank_one_edit(W, K @ K.T, k, v, ridge=0.001)
    interferences = [(((edit.apply(W) - W) @ K) ** 2).sum() for edit in (pseudo, ridge)]
    assert interferences[1] < 0.001  # the entry claims this of the ridge
    return {"pseudo": interferences[0]}


def world(
    s: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Any]:
    """A, D, T, V and the loss of the explorer."""

    def turned(condition: float, angle: float) -> np.ndarray:
        c = np.cos(np.deg2rad(angle))
        si = np.sin(np.deg2rad(angle))
        return np.array([[c, -si], [si, c]]) @ np.diag(
            [condition**0.5, condition**-0.5]
        )

    explorer = widgets.PreconditioningExplorer(
        **{n: s[n] for n in ("conditionT", "angleT", "conditionV", "angleV")}
    )
    T = explorer.T[:, : s["rankT"]]
    V = explorer.V[: s["rankV"]]
    A = (
        turned(1, s["angleA"])
        @ np.diag([s["conditionA"] ** 0.5, s["conditionA"] ** -0.5])
        @ turned(1, s["angleA"]).T
    )
    D = np.diag([s["conditionD"] ** 0.5, s["conditionD"] ** -0.5])
    best = np.array([[0.9, 0.5], [-0.6, 0.8]])
    return A, D, T, V, lambda W: 0.5 * ((W - best) * (D @ (W - best) @ A)).sum()


def adam(s: dict[str, Any]) -> dict[str, float]:
    _, _, T, V, loss = world(s)
    # the setting must have P = I
    np.testing.assert_allclose(
        ro.kronecker_preconditioner(T, V).to_dense(), np.eye(4), atol=1e-12
    )
    U0 = np.linalg.solve(T, s["start"]) @ np.linalg.inv(V)
    return {
        "gap": commutation.gap(loss, U0, T, V, optax.adam(s["rate"]), steps=s["steps"])
    }


def rest(s: dict[str, Any]) -> dict[str, float]:
    A, D, T, V, loss = world(s)
    P = ro.kronecker_preconditioner(T, V)
    rate = 1 / np.linalg.eigvals(P.to_dense() @ np.kron(A, D)).real.max()
    stopped = commutation.descend(
        loss, np.array(s["start"]), optax.sgd(rate), steps=2000, before=P.apply
    )[-1]
    assert abs(jax.grad(loss)(stopped)).max() > 1  # the gradient does not vanish
    return {"loss": loss(stopped)}


def faster(s: dict[str, Any]) -> dict[str, float]:
    A, D, T, V, _ = world(s)
    plain, turned = (
        whitened_spectrum(A, D, *pair) for pair in ((np.eye(2), np.eye(2)), (T, V))
    )
    return {"plain": plain.max() / plain.min(), "turned": turned.max() / turned.min()}


def learned(s: dict[str, Any]) -> tuple[float, float]:
    """Root mean squares of two numbers: the error of the output after the step, and the
    change of the output by the step.
    """

    def target(x: Any, y: Any, x_star: Any) -> Any:
        return y * np.sin(2 * np.pi * (x_star - x))

    constants = Constants(offset=s["offset"], switch=s["switch"])
    grid = (np.arange(50) + 0.2) / 50
    network = universal_learner(
        target, cells=s["size"], construction=s["construction"], constants=constants
    )
    # Under jit, because a setting may lie outside the range of the network, where
    # `adapt` refuses a concrete y.
    step = jax.jit(
        lambda y: predict(
            adapt(network, s["x"], y, alpha=s["ratio"] * network.alpha), grid
        )
    )
    after = step(s["y"])
    table = np.array(
        [lookup_table(target, s["size"])(s["x"], s["y"], x_star) for x_star in grid]
    )
    moved = after - predict(network, grid)
    return float(np.sqrt(((after - table) ** 2).mean())), float(
        np.sqrt((moved**2).mean())
    )


def kink(s: dict[str, Any]) -> dict[str, float]:
    assert learned(s | {"offset": 1e-4})[0] < 1e-4  # the entry claims this of δ
    return {"error": learned(s)[0]}


def base(s: dict[str, Any]) -> dict[str, float]:
    with_base, alone = (
        [resmem_rates.resmem_law(n, s["d"], L) for n in (64, s["n"])]
        for L in (0.6, s["L"])
    )
    assert with_base[1] / with_base[0] == pytest.approx(alone[1] / alone[0])
    return {"factor": with_base[1] / alone[1], "fall": alone[1] / alone[0]}


def bench(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, Any]:
    """Keys and values that the bench stores, and a function that reads them at queries
    by a rule.
    """
    x, _, off = np.transpose(s["pairs"])
    normals = np.asarray(
        jax.random.normal(jax.random.key(s["seed"]), (12,), jnp.float32)
    )[: len(x)]
    keys = x[None]
    values = (0.8 * np.sin(4 * x) + off + s["noise"] * normals)[None]
    return (
        keys,
        values,
        lambda q, rule: writes.interpolate(
            keys, values, q, writes.Laplace(s["width"]), rule=rule
        ),
    )


def forgotten(s: dict[str, Any]) -> dict[str, float]:
    keys, values, read = bench(s)
    off = abs(read(keys, writes.InSequence()) - values)[0]
    return {"first": off[:5].mean(), "last": off[5:].mean()}


def between(s: dict[str, Any]) -> dict[str, float]:
    _, _, read = bench(s)
    queries = np.linspace(-1.3, 1.3, 261)[None]
    rules = {"exact": writes.Exact(), "ridge": writes.Ridge(s["omega"])}
    return {
        name: ((read(queries, rule) - 0.8 * np.sin(4 * queries)) ** 2).mean() ** 0.5
        for name, rule in rules.items()
    }


MEASURES = {
    "distributed-size": size,
    "distributed-cure": lambda s: {"many": blend(s), "few": blend(s | {"K": 6})},
    "retrieval-colour": lambda s: {
        "grey": pull(s | {"fill": "grey"}),
        "black": pull(s),
    },
    "retrieval-sharper": lambda s: {"before": pull(s | {"beta": 75}), "after": pull(s)},
    "editing-geometry": geometry,
    "editing-lasting": lambda s: {
        "first": sequential_residual(1, s["edits"], s["dimension"])
    },
    "editing-free": free,
    "preconditioning-adam": adam,
    "preconditioning-rest": rest,
    "preconditioning-faster": faster,
    "universality-kink": kink,
    "universality-rate": lambda s: {"error": learned(s)[0]},
    "universality-error": lambda s: {"moved": learned(s)[1]},
    "residual-rate": lambda s: {
        "ratio": resmem_rate.theorem_printed(s["n"], s["d"], s["L"])
        / resmem_rates.resmem_law(s["n"], s["d"], s["L"])
    },
    "residual-noise": lambda s: {
        "memory": resmem_rates.noisy_risk(s["n"], s["d"], s["L"], s["noise"]),
        "base": (1 - s["L"]) ** 2,
        "border": resmem_rates.helpful_noise(s["n"], s["d"], s["L"]),
    },
    "residual-base": base,
    "one_rule-forget": forgotten,
    "one_rule-exact": between,
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_settings_give_the_numbers_stated_for_the_misconception(name: str) -> None:
    entry = SHOWN[name]
    with double_precision():
        measured = MEASURES[name](started(entry))
    assert set(measured) == set(entry["numbers"])
    for key, text in entry["numbers"].items():
        digits = len(text.partition(".")[2])
        assert f"{float(measured[key]):{',' * (',' in text)}.{digits}f}" == text, key
        assert text in entry["seen"], key
