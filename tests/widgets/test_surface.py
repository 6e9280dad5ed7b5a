"""The surface explorer's mathematics in JavaScript equals the package's in JAX, and so
does the code it copies.
"""

import node
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone_book.widgets import SurfaceExplorer
from rankone_book.widgets.retrieval_explorer import _shipped

NAMES = ["astronaut", "coffee", "rocket"]
BRIDGE = """
import { Pictures } from "./surface/math/pictures.js";
import { presetsOf } from "./surface/presets.js";
import { python } from "./surface/python.js";
import { consequences, reachOf, settingsFrom, startOf } from "./surface/settings.js";
const storedOf = ({ vectors, names }) => {
  const pictures = new Pictures(vectors.map((vector) => Float64Array.from(vector)));
  return { names, pictures, side: 32, reach: reachOf(pictures) };
};
const jobs = {
  run({ settings, ...given }) {
    const stored = storedOf(given);
    const full = settingsFrom(settings);
    const { exact, run, ...found } = consequences(full, stored);
    const { states, ...lines } = run;
    const { places, mean, first, second } = stored.pictures;
    return { places, ...found, ...lines, start: [...startOf(full, stored)], end: [...states.at(-1)],
      basis: [[...first], [...second]], mean: [...mean] };
  },
  copied(given) {
    const stored = storedOf(given);
    return presetsOf(stored).map(({ set }) => ({ text: python(set, stored), ...consequences(set, stored) }))
      .map(({ text, nearest, apart, run }) => ({ text, nearest, apart, energies: run.energies }));
  },
};
const answer = ([name, job]) => jobs[name](job);
"""

pytestmark = pytest.mark.usefixtures("x64")


def stored():
    """The three photographs as the page gets them, in the memories' unit."""
    everything = ro.data.photograph_names()
    chosen = _shipped(32)[[everything.index(name) for name in NAMES]]
    vectors = chosen.reshape(3, -1) / 1020 / 3072**0.5
    return vectors


def javascript(name, **job):
    """The answer of one job of the bridge, about the three photographs."""
    return node.reply(BRIDGE, [name, {"vectors": stored(), "names": NAMES} | job])


@pytest.mark.parametrize(
    "settings",
    [
        {"beta": 120, "eta": 0.12, "steps": 20},
        {"beta": 25, "eta": 1.9, "steps": 10, "from": 2, "covered": 0.3},
        {"beta": 40, "start": "blend", "query": [0.05, -0.08], "steps": 20},
    ],
)
def test_the_run_on_all_pixels_equals_that_of_the_package(settings):
    page = javascript("run", settings=settings)
    memory = ro.MrDAM(stored(), settings["beta"])
    run = ro.retrieve(
        memory,
        np.asarray(page["start"]),
        step_size=settings.get("eta", 0.12),
        max_steps=settings["steps"],
        tol=0,
        progress=False,
    )
    # Both sum 3,072 entries in double precision: the difference is rounding.
    np.testing.assert_allclose(page["end"], run.x, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(page["energies"], run.energies, rtol=1e-9, atol=1e-12)


def test_the_plane_keeps_distances_and_the_rest_of_the_energy_is_half_a_square():
    page = javascript("run", settings={"beta": 60, "eta": 0.2, "steps": 15})
    vectors = stored()
    places = np.asarray(page["places"])
    for i in range(3):
        for j in range(i):
            np.testing.assert_allclose(
                np.linalg.norm(places[i] - places[j]),
                np.linalg.norm(vectors[i] - vectors[j]),
                rtol=1e-12,
            )
    heights = np.asarray(page["heights"])
    energies = np.asarray(page["energies"])
    ground = np.asarray(page["ground"])
    np.testing.assert_allclose(energies, ground + heights**2 / 2, rtol=0, atol=1e-13)
    # Off the plane, the gradient is the vector from the plane to the state.
    np.testing.assert_allclose(
        heights, heights[0] * 0.8 ** np.arange(16), rtol=1e-9, atol=1e-13
    )
    on_plane = ro.MrDAM(places, 60.0)
    np.testing.assert_allclose(
        on_plane.energy(np.asarray(page["path"])), ground, rtol=1e-9, atol=1e-12
    )
    flat = ro.retrieve(
        on_plane,
        np.asarray(page["path"][0]),
        step_size=0.2,
        max_steps=15,
        tol=0,
        progress=False,
    )
    np.testing.assert_allclose(flat.x, page["path"][-1], rtol=1e-9, atol=1e-12)


def test_the_wells_merge_as_beta_falls():
    count = [
        len(javascript("run", settings={"beta": beta, "steps": 1})["rests"])
        for beta in (120, 25)
    ]
    assert count == [3, 1]


def test_the_copied_python_code_prints_what_the_page_shows(run_copied, capsys):
    for page in javascript("copied"):
        run_copied(page["text"])
        name, apart, first, last = (
            capsys.readouterr()
            .out.replace("Nearest to the end: ", "")
            .replace(" away\nEnergy: from", ",")
            .replace(" to ", ", ")
            .split(", ")
        )
        assert name == NAMES[page["nearest"]]
        # The copied code is in single precision, and prints three figures.
        np.testing.assert_allclose(float(apart), page["apart"], rtol=0.01, atol=1e-5)
        np.testing.assert_allclose(float(first), page["energies"][0], rtol=0.01)
        np.testing.assert_allclose(
            float(last), page["energies"][-1], rtol=0.01, atol=1e-6
        )


def test_the_explorer_says_what_is_wrong():
    assert SurfaceExplorer(("cat", "rocket", "coffee"), beta=30).settings["beta"] == 30
    for bad, name in [
        ({"photographs": ("cat", "rocket")}, "photographs"),
        ({"photographs": ("cat", "cat", "rocket")}, "photographs"),
        ({"photographs": ("cat", "dog", "rocket")}, "photographs"),
        ({"photographs": "cat"}, "photographs"),
        ({"beta": 0.5}, "beta"),
        ({"start": "noise"}, "start"),
        ({"gamma": 1}, "gamma"),
    ]:
        with refused(ValueError, match=f"^{name}: got"):
            SurfaceExplorer(**bad)
