import assert from "node:assert/strict";
import { test } from "node:test";
import { measure, POSITIONS } from "../bench/measure.js";
import { PRESETS } from "../bench/presets.js";
import {
  admits,
  crowd,
  DEFAULTS,
  MOST,
  moved,
  nextSettings,
  REACH,
  settingsFrom,
  truth,
  valuesOf,
  withOffset,
} from "../bench/settings.js";
import { here } from "../bench/words.js";
import { accepted, decode, encode } from "../kit/address.js";

/** @import { Settings } from "../bench/settings.js" */

test("an address restores the pairs and other settings, and invalid values are rejected", () => {
  const of = (/** @type {string} */ hash) => accepted(decode(hash)?.values ?? {}, DEFAULTS, admits);
  /** @type {Partial<Settings>} */
  const state = { view: "plane", pairs: [[0.1, -0.2, 0.5]], way: 2.35, Y: 64, divide: true };
  assert.deepEqual(of(encode("bench", state)), state);
  for (const bad of ["way=3.1", "Y=5", "rounds=3", "view=cube", "pairs=[[0,1]]", "pairs=[[0,1,9]]"])
    assert.deepEqual(of(`#r1:bench?${bad}`), {}, bad);
});

test("on the line a pair moves to where it is dragged, and snaps to the truth if near it", () => {
  const settings = settingsFrom({ noise: 0.5, seed: 3 });
  const at = /** @type {[number, number]} */ ([0.31, -0.9]);
  const after = nextSettings(settings, { pairs: moved(settings, 4, at) });
  assert.ok(Math.abs(valuesOf(after)[4] - -0.9) < 1e-12);
  assert.deepEqual(after.pairs[4].slice(0, 2), [0.31, settings.pairs[4][1]]);
  const clean = settingsFrom();
  assert.equal(moved(clean, 4, [0.2, truth([0.2, 0]) + 0.03])[4][2], 0);
  assert.notEqual(moved(clean, 4, [0.2, truth([0.2, 0]) + 0.3])[4][2], 0);
});

test("in the plane a dragged key keeps its value's offset from the truth", () => {
  const settings = settingsFrom({ view: "plane", pairs: withOffset(settingsFrom(), 0, 0.7) });
  const after = nextSettings(settings, { pairs: moved(settings, 0, [9, 0.4]) });
  assert.deepEqual(after.pairs[0], [REACH, 0.4, 0.7]);
  assert.ok(Math.abs(valuesOf(after)[0] - truth([REACH, 0.4]) - 0.7) < 1e-12);
});

test("pairs are added at free places and dropped from the end", () => {
  const many = nextSettings(DEFAULTS, { count: MOST }).pairs;
  assert.equal(new Set(many.map(String)).size, MOST);
  assert.deepEqual(nextSettings(DEFAULTS, { count: 3 }).pairs, crowd().slice(0, 3));
});

test("each question has X and a sentence at every position, and a singular S has no exact X", () => {
  for (const { key, set } of PRESETS) {
    const { along } = measure(set);
    assert.equal(along.filter((errors) => errors === null).length, 0, key);
    for (const way of POSITIONS) assert.ok(here({ ...set, way }).length > 20, `${key} ${way}`);
  }
  const pairs = /** @type {Settings["pairs"]} */ ([
    [0, 0, 0],
    [0, 0.5, 1],
    [0.5, 0, 0],
  ]);
  assert.equal(measure(settingsFrom({ pairs, way: 3 })).X, null);
  assert.notEqual(measure(settingsFrom({ pairs, way: 3, view: "plane" })).X, null);
  assert.equal(measure(settingsFrom({ Y: 4, way: 3 })).X, null); // eight features for ten pairs
});

test("exact storage reads back all values; for distant keys, the batch step does within a bound", () => {
  const { read, values, errors } = measure(settingsFrom({ way: 3, noise: 0.8 }));
  assert.ok(values.every((v, i) => Math.abs(v - (read?.[i] ?? 9)) < 1e-9));
  assert.ok((errors?.stored ?? 9) < 1e-9);
  const apart = PRESETS.find(({ key }) => key === "apart");
  if (!apart) throw new Error("no such question");
  const [one, other] = [0, 3].map((way) => measure({ ...apart.set, way }));
  const most = Math.max(...one.values.map(Math.abs));
  one.read?.forEach((v, i) => {
    assert.ok(Math.abs(v - (other.read?.[i] ?? 9)) <= one.bound * most + 1e-12);
  });
});
