"""The mosaic explorer's mathematics in JavaScript equals the package's in JAX, and so
does the code it copies.
"""

import base64
import zlib

import jax
import jax.numpy as jnp
import node
import numpy as np
import pytest
from refusals import refused

import rankone as ro
from rankone.theory import basin, thresholds
from rankone_book.characters import MOST, characters, packed_characters
from rankone_book.widgets import MosaicExplorer

BRIDGE = """
import { law } from "./mosaic/math/law.js";
import { unpacked } from "./mosaic/math/pictures.js";
import { assembled, descent, List } from "./mosaic/math/run.js";
import { Writer } from "./mosaic/math/writer.js";
import { python } from "./mosaic/python.js";
import { prepare, settingsFrom } from "./mosaic/settings.js";
const read = async (packed) => unpacked(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)));
const drained = (work) => { for (const _ of work); };
const written = (writer, { K, beta, seed, Y }) => {
  const blocks = Array.from({ length: Y / 256 }, (_, b) => b);
  const parts = [blocks.filter((b) => b % 2), blocks.filter((b) => b % 2 === 0)];
  return parts.map((blocks) => {
    drained(writer.write({ K, beta, seed, blocks }));
    return { blocks, sums: writer.collected(blocks) };
  });
};
const last = ({ x, weights, ...rest }) => ({ x: [...x], weights: [...weights], ...rest });
const jobs = {
  async pictures({ packed, places }) {
    const { codes, pixels } = await read(packed);
    return { codes: places.map((m) => codes[m]), pixels: [...pixels.subarray(0, 320)] };
  },
  async run({ packed, given }) {
    const pictures = await read(packed);
    const settings = settingsFrom(given);
    const { config, freedom, law } = prepare(settings, pictures);
    const list = new List(pictures.pixels, config.K, config.beta);
    const memory = assembled(config, written(new Writer(pictures.pixels), config));
    const gradient = new Float32Array(256);
    const read0 = memory.energyGradient(config.query, gradient);
    return { T: [...memory.T], query: [...config.query], free: [...config.free], freedom, law, read: read0,
      gradient: [...gradient], text: python(settings), exact: [...descent(config, list)].map(last),
      distributed: [...descent(config, list, memory)].map(last) };
  },
  async edited({ packed, K, more, beta, seed, Y }) {
    const { pixels } = await read(packed);
    const writer = new Writer(pixels);
    const sums = (k) => written(writer, { K: k, beta, seed, Y }).flatMap((part) => [...part.sums]);
    return { before: sums(K), more: sums(more), again: sums(K) };
  },
  law: (settings) => settings.map(law),
};
const answer = async ([name, job]) => jobs[name](job);
"""
SMALL = {"K": 40, "target": 7, "beta": 40, "Y": 2048, "seed": 3, "steps": 12}
# One float32 rounding of a sum of cosines, times the number of sums behind a figure:
# measured were 2e-6 for T, and 4e-5 for numbers divided by a small Ŝ.
CLOSE = 2e-4


def javascript(name, job):
    """The answer of one job of the bridge."""
    return node.reply(BRIDGE, [name, job])


def packed():
    """The file in base64."""
    return base64.b64encode(packed_characters()).decode()


@pytest.fixture(scope="module")
def run():
    """One small run of the page."""
    return javascript("run", {"packed": packed(), "given": SMALL})


def memories():
    Xi = characters(SMALL["K"]) / 16
    features = ro.RandomFeatures(
        256, SMALL["Y"], key=jax.random.key(SMALL["seed"]), projection="hadamard"
    )
    beta = SMALL["beta"]
    return ro.MrDAM(jnp.asarray(Xi), beta), ro.DrDAM.store(Xi, beta, features)


def test_the_page_reads_the_pictures_that_the_package_reads():
    places = [0, 1, 5000, MOST - 1]
    page = javascript("pictures", {"packed": packed(), "places": places})
    content = zlib.decompress(packed_characters())
    codes = np.frombuffer(content, "<u4", count=MOST)
    assert page["codes"] == codes[places].tolist()
    assert len(set(codes.tolist())) == MOST
    first = np.packbits(characters(10).astype(bool), axis=1).ravel()
    assert page["pixels"] == first.tolist()


def test_any_two_pictures_differ_in_48_pixels_or_more():
    pictures = characters().astype(np.float32)
    ink = pictures.sum(1)
    some = np.random.default_rng(0).choice(MOST, 500, replace=False)
    differ = ink[some, None] + ink - 2 * pictures[some] @ pictures.T
    differ[np.arange(500), some] = 256
    assert differ.min() >= 48


def test_both_memories_equal_those_of_the_package(run):
    exact, distributed = memories()
    query = jnp.asarray(run["query"])
    np.testing.assert_allclose(run["T"], distributed.T, atol=CLOSE)
    np.testing.assert_allclose(run["read"]["energy"], distributed.energy(query), CLOSE)
    gradient = np.asarray(distributed.gradient(query))
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(run["gradient"], gradient, atol=CLOSE * scale)
    np.testing.assert_allclose(run["exact"][0]["energy"], exact.energy(query), CLOSE)
    squares = ((exact.Xi - query) ** 2).sum(1)
    weights = jax.nn.softmax(-SMALL["beta"] / 2 * squares)
    np.testing.assert_allclose(run["exact"][0]["weights"], weights, rtol=CLOSE)
    spread = 1 / (weights**2).sum()
    np.testing.assert_allclose(run["exact"][0]["spread"], spread, rtol=CLOSE)


def test_both_descents_end_where_those_of_the_package_end(run):
    query = jnp.asarray(run["query"])
    clamp = ~np.asarray(run["free"], bool)
    assert (~clamp).sum() == run["freedom"] == 64
    for name, memory in zip(("exact", "distributed"), memories(), strict=True):
        end = ro.retrieve(
            memory,
            query,
            step_size=0.2,
            max_steps=SMALL["steps"],
            tol=0,
            clamp=clamp,
            progress=False,
        )
        assert len(run[name]) == SMALL["steps"] + 1
        # pixels are 1/16; steps add up the errors of their gradients
        np.testing.assert_allclose(run[name][-1]["x"], end.x, atol=10 * CLOSE / 16)


def test_taking_pictures_out_again_leaves_the_vector_as_it_was():
    job = {"packed": packed(), "K": 5, "more": 30, "beta": 50, "seed": 1, "Y": 512}
    page = javascript("edited", job)
    before, more, again = (np.asarray(page[k]) for k in ("before", "more", "again"))
    np.testing.assert_allclose(again, before, atol=1e-5 * 30)
    assert np.abs(more - before).max() > 1


def test_the_law_of_needed_features_equals_that_of_the_package():
    settings = [
        {"K": K, "Y": Y, "beta": beta, "eta": 0.2, "freedom": 64, "square": square}
        for K, Y, beta, square in (
            (900, 131072, 50.0, 0.0625),
            (10000, 65536, 70.0, 0.125),
            (2500, 8192, 20.0, 0.02),
        )
    ]
    for setting, page in zip(settings, javascript("law", settings), strict=True):
        at = {"D": setting["freedom"], "K": setting["K"]}
        c = thresholds.roughness(**at, Y=setting["Y"])
        np.testing.assert_allclose(page["roughness"], c, rtol=1e-6)
        # at the needed Y, the roughness equals the allowed one
        roughness = thresholds.roughness(**at, Y=page["needed"])
        np.testing.assert_allclose(roughness, page["allowed"], rtol=1e-6)
        r = np.sqrt(setting["beta"] * setting["square"])
        ratio = basin.slope_ratio(np.exp(-(r**2) / 2), page["allowed"])
        assert page["allowed"] <= np.exp(-0.5) * (1 + 1e-9)
        if r > 1:  # there the first step goes nearer, and no fixed point is lost
            assert ratio >= np.sqrt(0.2 / 1.8) * (1 - 1e-9)


@pytest.mark.parametrize("damage", ["quarter", "flips"])
def test_the_copied_code_runs_and_prints_what_the_page_shows(
    damage, run_copied, capsys
):
    settings = SMALL | {"damage": damage}
    page = javascript("run", {"packed": packed(), "given": settings})
    names = run_copied(page["text"])
    np.testing.assert_allclose(names["query"], page["query"], atol=1e-7)
    printed = capsys.readouterr().out.splitlines()
    for line, name in zip(printed, ("exact", "distributed"), strict=True):
        assert line.startswith(f"{name}: {page[name][-1]['wrong']} of")


def test_python_refuses_what_the_page_does_not_know():
    with refused(ValueError, match="damage"):
        MosaicExplorer(damage="all")
    with refused(ValueError, match="count"):
        characters(0)
