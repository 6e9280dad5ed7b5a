import assert from "node:assert/strict";
import { test } from "node:test";
import { initialSettings, nextSettings } from "../retrieval/change.js";
import { Keeper } from "../retrieval/keeper.js";
import { corrupt, isOccluded } from "../retrieval/math/corruption.js";
import { letterPictures, resize } from "../retrieval/math/patterns.js";
import { DEFAULTS, dab, Library, noPaint, prepare, SIDE } from "../retrieval/settings.js";

/** @import { Side } from "../retrieval/math/corruption.js" */
/** @import { Settings } from "../retrieval/settings.js" */

const length = 3 * SIDE * SIDE;
const bytes = Uint8Array.from(
  { length: 4 * length },
  (_, i) => (i * i * 31 + i * 7 + 57 * Math.floor(i / length)) % 256,
);
const library = () => new Library(bytes, ["a", "b", "c", "d"]);
const settings = { ...DEFAULTS, stored: [0, 1, 2] };
/** @param {Uint8Array} mask */
const share = (mask) => mask.reduce((n, v) => n + v, 0) / mask.length;

test("a picture of half the size holds the means of its blocks", () => {
  const picture = resize(bytes.subarray(0, length), SIDE, 32);
  /** @type {(row: number, column: number, c: number) => number} */
  const at = (row, column, c) => bytes[3 * (row * SIDE + column) + c] / 255;
  const mean = (at(10, 20, 1) + at(11, 20, 1) + at(10, 21, 1) + at(11, 21, 1)) / 4;
  assert.ok(Math.abs(picture[3 * (5 * 32 + 10) + 1] - mean) < 1e-6);
});

test("twenty-six letters, all different, upright and inside the frame", () => {
  const letters = letterPictures(32);
  assert.equal(new Set(letters.map((l) => l.join(""))).size, 26);
  for (const letter of letters) {
    assert.ok(letter.some((v) => v === 1));
    for (let i = 0; i < 32; i++) assert.equal(letter[3 * i] + letter[3 * (31 * 32 + i)], 0);
  }
  /** @param {Float32Array} letter */
  const rows = (letter) =>
    [...Array(32)].map((_, r) => letter.slice(96 * r, 96 * r + 96).reduce((a, b) => a + b, 0));
  const [top, bottom] = [rows(letters[11]).slice(0, 16), rows(letters[11]).slice(16)].map((part) =>
    Math.max(...part),
  );
  assert.ok(bottom > top, "the foot of L is at its bottom");
});

for (const side of /** @type {Side[]} */ (["top", "bottom", "left", "right", "box"])) {
  test(`covering a share from the ${side} covers that share`, () => {
    const truth = new Float32Array(3 * 32 * 32).fill(0.3);
    const { query, known } = corrupt(truth, 32, {
      fraction: 0.25,
      side,
      fill: "white",
      noise: 0,
      seed: 0,
    });
    assert.ok(Math.abs(share(known) - 0.75) < 0.02);
    assert.ok(query.every((v, i) => (known[i] ? v === truth[i] : v === 1)));
  });
}

test("the top is the top and the left is the left", () => {
  assert.ok(isOccluded(0, 31, 32, 0.5, "top") && !isOccluded(31, 0, 32, 0.5, "top"));
  assert.ok(isOccluded(31, 0, 32, 0.5, "left") && !isOccluded(0, 31, 32, 0.5, "left"));
});

test("paint hides, restoring shows again, and only what shows is known", () => {
  const truth = new Float32Array(3 * 32 * 32).fill(0.25);
  const paint = noPaint(32);
  dab(paint, 4, 4, 3, [255, 0, 51]);
  dab(paint, 30, 30, 1, null);
  const { query, known } = corrupt(truth, 32, { ...DEFAULTS, paint });
  /** @type {(row: number, column: number) => number[]} */
  const pixel = (r, c) => [...query.slice(3 * (r * 32 + c), 3 * (r * 32 + c) + 3)];
  assert.deepEqual(
    pixel(5, 5).map((v) => Math.round(v * 255)),
    [255, 0, 51],
  );
  assert.equal(known[3 * (5 * 32 + 5)], 0);
  assert.deepEqual(pixel(30, 30), [0.25, 0.25, 0.25]);
  assert.equal(known[3 * (30 * 32 + 30)], 1);
  assert.deepEqual(pixel(6, 8), [0.25, 0.25, 0.25]);
});

test("noise shakes what is visible only, and is the same for the same seed", () => {
  const truth = new Float32Array(3 * 32 * 32).fill(0.5);
  /** @type {Settings} */
  const options = { ...DEFAULTS, fill: "grey", noise: 0.1 };
  const { query, known } = corrupt(truth, 32, options);
  const shaken = query.filter((_, i) => known[i]);
  const spread = Math.sqrt(shaken.reduce((sum, v) => sum + (v - 0.5) ** 2, 0) / shaken.length);
  assert.ok(Math.abs(spread - 0.1) < 0.01);
  assert.ok(query.every((v, i) => known[i] || v === 0.5));
  assert.deepEqual(corrupt(truth, 32, options).query, query);
});

test("patches: first K, in and out, never empty, another collection, another seed", () => {
  const shelf = library();
  assert.deepEqual(nextSettings(settings, { first: 2 }, shelf).stored, [0, 1]);
  assert.deepEqual(nextSettings(settings, { store: 3, pressed: true }, shelf).stored, [0, 1, 2, 3]);
  assert.deepEqual(nextSettings(settings, { store: 1, pressed: false }, shelf).stored, [0, 2]);
  const lone = { ...settings, stored: [2] };
  assert.deepEqual(nextSettings(lone, { store: 2, pressed: false }, shelf).stored, [2]);
  const letters = nextSettings({ ...settings, target: 2 }, { collection: "letters" }, shelf);
  assert.deepEqual([letters.stored, letters.target], [[0, 1, 2], 0]);
  assert.equal(nextSettings(settings, { redraw: true }, shelf).seed, settings.seed + 1);
  assert.deepEqual(initialSettings({ beta: 3 }, shelf).stored, [0, 1, 2, 3]);
});

test("a picture of the reader's can be stored, or be the query of something not stored", () => {
  const shelf = library();
  const key = shelf.add(bytes.slice(length, 2 * length));
  assert.deepEqual(shelf.picture("photographs", key, 32), shelf.picture("letters", key, 32));
  const ready = prepare({ ...settings, target: key }, shelf, noPaint(32));
  assert.equal(ready.isStored, false);
  assert.equal(ready.wanted, 1, "it equals the second picture: that one is nearest");
});

test("the bill counts K·D numbers against 2Y, and the known pixels are held", () => {
  const ready = prepare(settings, library(), noPaint(32));
  assert.deepEqual(ready.numbers, { exact: 3 * 3072, distributed: 40000 });
  assert.equal(ready.freedom, 1536);
  const quarter = prepare({ ...settings, fraction: 0.25 }, library(), noPaint(32));
  assert.equal(quarter.freedom, 768);
  assert.ok(quarter.config.free?.every((f, i) => f === 1 - quarter.known[i]));
  const one = prepare({ ...settings, basis: "cos", clamp: false }, library(), noPaint(32));
  assert.deepEqual([one.numbers.distributed, one.freedom], [20000, 3072]);
});

test("changing K writes and erases only what changed, and ends at the same T", () => {
  const shelf = library();
  /** @param {number[]} stored */
  const at = (stored) => {
    const { config, patterns } = prepare({ ...settings, Y: 500, stored }, shelf, noPaint(32));
    return { ...config, patterns: patterns.map((values, i) => ({ id: config.ids[i], values })) };
  };
  const [walked, straight] = [new Keeper(), new Keeper()];
  for (const stored of [
    [0, 1, 2],
    [0, 1, 2, 3],
    [0, 2, 3],
  ])
    walked.begin(at(stored));
  const { memory } = straight.begin(at([0, 2, 3]));
  assert.ok(walked.held);
  assert.equal(walked.held.memory.K, 3);
  assert.ok(walked.held.memory.T.every((v, i) => Math.abs(v - memory.T[i]) < 1e-6));
});
