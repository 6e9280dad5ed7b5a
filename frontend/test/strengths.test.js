import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { resize } from "../math/patterns.js";
import { Keeper } from "../retrieval/keeper.js";
import { Foresight } from "../retrieval/math/phase.js";
import { crossing } from "../retrieval/phasemap.js";
import { AHEAD } from "../retrieval/report.js";
import { DEFAULTS, noPaint, prepare } from "../retrieval/settings.js";
import { strength, strengthsOf, unknownOf, whereOf } from "../retrieval/strengths.js";

/** @import { Settings } from "../retrieval/settings.js" */

/** The shipped photographs (24, 64, 64, 3): the only array of a NumPy archive. */
function pixelsOf() {
  const url = new URL("../../src/rankone/data/photographs.npz", import.meta.url);
  const archive = readFileSync(url);
  const [name, extra] = [archive.readUInt16LE(26), archive.readUInt16LE(28)];
  const array = inflateRawSync(archive.subarray(30 + name + extra));
  return array.subarray(10 + array.readUInt16LE(8));
}

const pixels = pixelsOf();
const [LARGE, SIDE] = [64, 32];
const pictures = Array.from({ length: 24 }, (_, i) =>
  resize(pixels.subarray(3 * LARGE * LARGE * i, 3 * LARGE * LARGE * (i + 1)), LARGE, SIDE, 255),
);
const patterns = pictures.map((picture) => picture.map((v) => v / Math.sqrt(picture.length)));
/** @type {any} */
const library = {
  pattern: (/** @type {string} */ _, /** @type {number} */ key) => patterns[key],
  picture: (/** @type {string} */ _, /** @type {number} */ key) => pictures[key],
  id: (/** @type {string} */ _, /** @type {number} */ key) => String(key),
};
const keeper = new Keeper();

/** @param {Partial<Settings>} own */
function setting(own) {
  const settings = { ...DEFAULTS, ...own };
  const ready = prepare(settings, library, noPaint(SIDE));
  const foresight = new Foresight({ ...ready.config, patterns: ready.patterns });
  return { settings, ready, strengths: strengthsOf(settings, ready, foresight) };
}

/** @param {Partial<Settings>} own */
function both(own) {
  const { strengths } = setting(own);
  assert.ok(strengths);
  return strengths;
}

/** True, for each memory, if its run ends at the picture. @param {Partial<Settings>} own */
function outcome(own) {
  const { ready } = setting(own);
  const stored = ready.config.ids.map((id) => ({ id, values: ready.pictures.get(id) }));
  const run = keeper.begin(/** @type {any} */ ({ ...ready.config, patterns: stored }));
  while (!run.done) run.advance();
  const [exact, distributed] = [run.x, run.xHat].map((x) => run.judged(x).lead < AHEAD);
  return { exact, distributed };
}

test("a larger β lowers only the limit, a larger Y only the noise, and a larger K worsens both", () => {
  const at = both({});
  const [sharp, long, many] = [
    both({ beta: 150 }),
    both({ Y: 240_000 }),
    both({ K: 24, beta: 115 }),
  ];
  assert.ok(sharp.limit < at.limit / 2);
  assert.equal(sharp.noise, at.noise);
  assert.equal(long.limit, at.limit);
  assert.ok(Math.abs(long.noise - at.noise / 2) < 1e-9);
  const few = both({ K: 6, beta: 115 });
  assert.ok(Math.abs(many.noise - 2 * few.noise) < 1e-9);
  assert.ok(many.limit < few.limit);
  // √(D_free·K/2Y)
  assert.ok(Math.abs(at.noise - Math.sqrt((1536 * 6) / 120_000)) < 1e-12);
  assert.ok(Math.abs(both({ basis: "cos" }).noise - Math.SQRT2 * at.noise) < 1e-12);
});

const OFF = 1.5; // the factor in Y within which the law and the runs agree
const EDGES = [60, 75, 115, 160].flatMap((beta) => [3, 6, 12].map((K) => ({ beta, K })));

for (const { beta, K } of EDGES) {
  test(`at β = ${beta} and K = ${K} runs succeed from the Y on at which the noise is at the limit`, () => {
    const { limit, noise } = both({ beta, K });
    const edge = DEFAULTS.Y * (noise / limit) ** 2;
    assert.ok(!outcome({ beta, K, Y: Math.round(edge / OFF) }).distributed, String(edge));
    assert.ok(outcome({ beta, K, Y: Math.round(edge * OFF) }).distributed, String(edge));
  });
}

test("the limit for the noise is 0 exactly where the exact memory fails", () => {
  for (const own of [
    { beta: 20 },
    { K: 24 },
    { K: 24, beta: 115 },
    { fill: /** @type {const} */ ("black"), beta: 200 },
  ]) {
    assert.equal(both(own).limit > 0, outcome({ ...own, Y: 1000 }).exact, JSON.stringify(own));
  }
});

test("the limit is 0 for a picture not stored, and none is given if the law does not apply", () => {
  const { strengths, ready } = setting({ target: 9 });
  assert.equal(strengths?.limit, 0);
  assert.equal(whereOf({ limit: 0, noise: 1 }, ready.isStored), "This picture is not stored.");
  const none = setting({ fraction: 0, clamp: true });
  assert.equal(none.strengths, null);
  assert.equal(unknownOf(none.settings, none.ready.freedom), "Nothing is hidden.");
  const positive = setting({ basis: "exp" });
  assert.equal(positive.strengths, null);
  assert.match(unknownOf(positive.settings, positive.ready.freedom), /cosines/);
  assert.match(unknownOf({ collection: "bits", basis: "sincos" }, 100), /photographs/);
  const long = setting({ beta: 20, steps: 1000 }); // even the exact memory fails, but the law follows 100 steps only
  assert.equal(long.strengths, null);
  assert.match(unknownOf(long.settings, long.ready.freedom), /up to 100 steps/);
});

test("near the limit the words say only that the vector may work or may fail", () => {
  assert.equal(whereOf({ limit: 0.7, noise: 0.28 }, true), "Noise below limit: it should work.");
  assert.equal(whereOf({ limit: 0.3, noise: 0.28 }, true), "Noise just below limit: it may work.");
  assert.equal(whereOf({ limit: 0.25, noise: 0.28 }, true), "Noise just above limit: it may fail.");
  assert.equal(whereOf({ limit: 0.09, noise: 0.28 }, true), "Noise above limit: it should fail.");
  assert.equal(whereOf({ limit: 0, noise: 0.28 }, true), "The vector fails even without noise.");
  assert.deepEqual([0, 0.002, 0.7, 2.147].map(strength), ["0", "< 0.01", "0.70", "2.15"]);
});

test("noise wins above the last β at which the limit falls below the noise", () => {
  const points = (/** @type {number[]} */ ...ratios) =>
    ratios.map((ratio, i) => /** @type {[number, number]} */ ([10 ** i, ratio]));
  assert.equal(crossing(points(0, 2, 2)), null); // noise never wins
  assert.equal(crossing(points(0, 0.5, 0.2)), 10); // noise wins as soon as pictures do not mix
  assert.equal(crossing(points(0, 0, 0)), null);
  const at = crossing(points(0, 2, 0.5));
  assert.ok(at !== null && Math.abs(at - 10 ** 1.5) < 1e-9);
});

test("a larger β helps where the strengths say that the exact memory then finds the picture", () => {
  const near = { K: 24 };
  const far = { K: 24, fraction: 0.8 };
  assert.deepEqual([both(near).limit, both(near).higher], [0, true]);
  assert.deepEqual([both(far).limit, both(far).higher], [0, false]);
  const larger = (/** @type {any} */ own) =>
    [90, 112, 150, 200].some((beta) => outcome({ ...own, beta }).exact);
  assert.ok(larger(near));
  assert.ok(!larger(far));
});

test("a smaller β helps where the strengths say so, alone or together with the largest Y", () => {
  const sharp = { beta: 200 };
  const coarse = { fill: "black", K: 6, beta: 118, Y: 5_000 };
  const crowded = { fill: "black", K: 24, beta: 118, Y: 5_000 };
  /** @type {[any, "alone" | "with Y" | null][]} */
  const cases = [
    [{}, null],
    [sharp, "alone"],
    [coarse, "with Y"],
    [crowded, null],
  ];
  for (const [own, way] of cases) assert.equal(both(own).lower, way);
  const smaller = (/** @type {any} */ own) =>
    [0.85, 0.7, 0.5, 0.35].some((f) => outcome({ ...own, beta: f * own.beta }).distributed);
  assert.ok(!outcome(sharp).distributed && smaller(sharp));
  assert.ok(!smaller(coarse) && smaller({ ...coarse, Y: 200_000 }));
});
