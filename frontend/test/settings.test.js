import assert from "node:assert/strict";
import { test } from "node:test";
import { accepted, decode, difference, encode } from "../kit/address.js";
import { corrupt, isOccluded } from "../math/corruption.js";
import { bitsOf, resize } from "../math/patterns.js";
import { admits, initialSettings, nextSettings } from "../retrieval/change.js";
import { Keeper } from "../retrieval/keeper.js";
import { Library } from "../retrieval/library.js";
import { placed, stepped } from "../retrieval/moves.js";
import { stops, through } from "../retrieval/panel.js";
import { coarseToFine } from "../retrieval/phasemap.js";
import { DEFAULTS, dab, noPaint, prepare, storedOf } from "../retrieval/settings.js";

/** @import { Side } from "../math/corruption.js" */
/** @import { Settings } from "../retrieval/settings.js" */

const SIDE = 64;
const length = 3 * SIDE * SIDE;
const bytes = Uint8Array.from(
  { length: 4 * length },
  (_, i) => (i * i * 31 + i * 7 + 57 * Math.floor(i / length)) % 256,
);
const library = () => {
  const sheet = { values: Int16Array.from(bytes), side: SIDE, top: 255 };
  return new Library(sheet, ["a", "b", "c", "d"]);
};
const settings = { ...DEFAULTS, K: 3 };
/** @param {Uint8Array} mask */
const share = (mask) => mask.reduce((n, v) => n + v, 0) / mask.length;

test("a picture of half the size holds the means of its blocks", () => {
  const picture = resize(bytes.subarray(0, length), SIDE, 32, 255);
  /** @type {(row: number, column: number, c: number) => number} */
  const at = (row, column, c) => bytes[3 * (row * SIDE + column) + c] / 255;
  const mean = (at(10, 20, 1) + at(11, 20, 1) + at(10, 21, 1) + at(11, 21, 1)) / 4;
  assert.ok(Math.abs(picture[3 * (5 * 32 + 10) + 1] - mean) < 1e-6);
});

test("a reader's picture becomes bits, about half of which are ones", () => {
  const bits = bitsOf(resize(bytes.subarray(0, length), SIDE, 10, 255));
  assert.equal(bits.length, 100);
  const ones = bits.reduce((a, b) => a + b, 0);
  assert.ok(ones >= 50 && ones < 60 && bits.every((v) => v === 0 || v === 1));
});

for (const side of /** @type {Side[]} */ (["top", "bottom", "left", "right", "box"])) {
  test(`covering a share from the ${side} covers that share`, () => {
    const truth = new Float32Array(3 * 32 * 32).fill(0.3);
    const { query, known } = corrupt(truth, 32, {
      fraction: 0.25,
      side,
      fill: "white",
      noise: 0,
      flips: 0,
      seed: 0,
    });
    assert.ok(Math.abs(share(known) - 0.75) < 0.02);
    assert.ok(query.every((v, i) => (known[i] ? v === truth[i] : v === 1)));
  });
}

test("covering the top hides upper rows, and covering the left hides left columns", () => {
  assert.ok(isOccluded(0, 31, 32, 0.5, "top") && !isOccluded(31, 0, 32, 0.5, "top"));
  assert.ok(isOccluded(31, 0, 32, 0.5, "left") && !isOccluded(0, 31, 32, 0.5, "left"));
});

test("painted pixels are hidden, restored ones are visible, and only visible ones are known", () => {
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

test("noise changes only visible pixels, and is the same for the same seed", () => {
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

test("K stores the first pictures, single ones can be added or removed, and one always stays", () => {
  const shelf = library();
  /** @type {(from: typeof settings, patch: import("../retrieval/change.js").Patch) => number[]} */
  const after = (from, patch) => storedOf(nextSettings(from, patch, shelf));
  assert.deepEqual(after(settings, { K: 2 }), [0, 1]);
  assert.deepEqual(after(settings, { store: 3, pressed: true }), [0, 1, 2, 3]);
  assert.deepEqual(after(settings, { store: 1, pressed: false }), [0, 2]);
  const out = nextSettings(settings, { store: 1, pressed: false }, shelf);
  assert.deepEqual(after(out, { store: 1, pressed: true }), [0, 1, 2]);
  const lone = { ...settings, K: 1 };
  assert.deepEqual(after(lone, { store: 0, pressed: false }), [0]);
  const bits = nextSettings({ ...settings, target: 2 }, { collection: "bits" }, shelf);
  assert.deepEqual([bits.size, bits.target, bits.clamp], [10, 0, false]);
  assert.equal(nextSettings(bits, { K: 500 }, shelf).K, 500);
  assert.equal(nextSettings(settings, { redraw: true }, shelf).seed, settings.seed + 1);
  assert.equal(initialSettings({ beta: 3 }, shelf).K, 4, "there are no more than four");
  assert.equal(initialSettings({ target: 9, also: [-1] }, shelf).also.length, 0);
});

test("a reader's picture stays stored when K or the collection changes", () => {
  const shelf = library();
  const key = shelf.add(bytes.slice(length, 2 * length));
  const own = nextSettings(settings, { store: key, pressed: true, target: key }, shelf);
  assert.deepEqual(storedOf(own), [0, 1, 2, -1]);
  for (const K of [4, 1]) {
    const moved = nextSettings(own, { K }, shelf);
    assert.ok(storedOf(moved).includes(-1) && moved.target === -1);
    assert.ok(prepare(moved, shelf, noPaint(32)).isStored);
  }
  const there = nextSettings(own, { collection: "bits" }, shelf);
  assert.ok(prepare(there, shelf, noPaint(there.size)).isStored);
  const back = nextSettings(there, { collection: "photographs" }, shelf);
  assert.ok(storedOf(back).includes(-1));
});

test("a reader's picture can be the query without being stored", () => {
  const shelf = library();
  const key = shelf.add(bytes.slice(length, 2 * length));
  const ready = prepare({ ...settings, target: key }, shelf, noPaint(32));
  assert.equal(ready.isStored, false);
  assert.equal(ready.wanted, 1, "it equals the second picture: that one is nearest");
});

test("an address leads to the same settings, whatever the reader has set", () => {
  const shelf = library();
  /** @type {(base: typeof settings, patch: Partial<typeof settings>) => typeof settings} */
  const next = (base, patch) => nextSettings(base, patch, shelf);
  const opening = initialSettings({}, shelf);
  /** @type {import("../retrieval/change.js").Patch[][]} */
  const all = [
    [{ beta: 38.2, Y: 13700 }],
    [{ K: 2 }, { store: 3, pressed: true }, { store: 0, pressed: false }],
    [
      { collection: /** @type {const} */ ("bits") },
      { K: 200 },
      { across: /** @type {const} */ ("K") },
    ],
    [{ collection: /** @type {const} */ ("bits") }, { clamp: true, fraction: 0.4 }],
  ];
  for (const patches of all) {
    const set = patches.reduce((at, patch) => nextSettings(at, patch, shelf), opening);
    const hash = encode("retrieval", difference(set, opening, next));
    const read = accepted(decode(hash)?.values ?? {}, opening, admits);
    assert.deepEqual(next(opening, read), set, hash);
  }
  assert.deepEqual(accepted({ K: 3.5, beta: 900, basis: "x", also: [0.5] }, opening, admits), {});
});

test("the stops of a slider strictly increase, and an arrow key always moves the map's point", () => {
  for (const all of [stops([1, 200]), stops([1000, 200000], 2), stops([0.02, 2], 2)]) {
    assert.ok(all.length > 60 && all.every((v, i) => i === 0 || v > all[i - 1]));
  }
  assert.equal(stops([1, 200]).at(-1), 200);
  const beta = through(stops([1, 200]), 75);
  assert.ok(beta.includes(75) && beta.every((v, i) => i === 0 || v > beta[i - 1]));
  assert.deepEqual(beta.toSpliced(beta.indexOf(75), 1, 75.7), stops([1, 200]));
  for (let beta = 1; beta < 200; beta = stepped({ ...settings, beta }, [1, 0], 24).beta ?? 1)
    assert.ok((stepped({ ...settings, beta }, [1, 0], 24).beta ?? 0) > beta);
  const K = { ...settings, across: /** @type {const} */ ("K") };
  assert.deepEqual(stepped(K, [1, 0], 24), { K: 4 });
  assert.deepEqual(placed({ beta: 1e9, K: 99.2, Y: 3 }, 24), { beta: 200, K: 24, Y: 1000 });
});

test("a map is filled coarse to fine, each cell once", () => {
  const order = coarseToFine(20, 10);
  assert.equal(new Set(order.map(String)).size, 200);
  assert.equal(order.length, 200);
  const early = order.slice(0, 10).map(([i, j]) => [i % 4, j % 4].join());
  assert.deepEqual(new Set(early), new Set(["2,2"]));
});

test("the exact memory has K·D numbers and T has 2Y, and only unknown pixels are free", () => {
  const ready = prepare(settings, library(), noPaint(32));
  assert.deepEqual(ready.numbers, { exact: 3 * 3072, distributed: 120000 });
  assert.equal(ready.freedom, 1536);
  const quarter = prepare({ ...settings, fraction: 0.25 }, library(), noPaint(32));
  assert.equal(quarter.freedom, 768);
  assert.ok(quarter.config.free?.every((f, i) => f === 1 - quarter.known[i]));
  const one = prepare({ ...settings, basis: "cos", clamp: false }, library(), noPaint(32));
  assert.deepEqual([one.numbers.distributed, one.freedom], [60000, 3072]);
});

test("after patterns are added and removed, T equals that of a memory stored at once", () => {
  const shelf = library();
  /** @param {number[]} stored */
  const at = (stored) => {
    const without = [0, 1, 2, 3].filter((key) => !stored.includes(key));
    const set = { ...settings, Y: 500, K: 4, without };
    const { config, patterns } = prepare(set, shelf, noPaint(32));
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
