import assert from "node:assert/strict";
import { test } from "node:test";
import { roundNumbers } from "../kit/axis.js";
import { between } from "../kit/imagewell.js";
import { shade } from "../kit/map.js";
import { amount } from "../kit/number.js";
import { printedInWords } from "../retrieval/charts.js";
import { factsOf } from "../retrieval/facts.js";
import { createSketch } from "../retrieval/own.js";
import {
  errorInWords,
  findings,
  inWords,
  isSettled,
  overflowInWords,
  verdictOf,
} from "../retrieval/report.js";
import { explain, OPENING, playing } from "../retrieval/sentence.js";
import { DEFAULTS, RULES } from "../retrieval/settings.js";
import { columnsOf } from "../retrieval/strip.js";

/** @import { Cell } from "../kit/imagewell.js" */

/** @type {any} */
const library = { label: () => "coffee" };
/** @type {any} */
const settings = { collection: "photographs" };
/** @type {any} */
const ready = { isStored: true, wanted: 0, stored: [0], freedom: 10 };

/** @param {object} [own] */
const numbers = (own = {}) => ({
  ...{ energyExact: -0.03, energyDistributed: -0.02, distance: 0.1, S: 1, floored: 0 },
  ...{ nearestExact: 0, nearestDistributed: 0, errorExact: 0.04, errorDistributed: 0.05 },
  ...{ leadExact: 0.1, leadDistributed: 0.1, mixedExact: 1, mixedDistributed: 1 },
  ...{ grainExact: 0, grainDistributed: 0, ...own },
});

/** @type {(own?: object, overflow?: number | null) => ReturnType<typeof findings>} */
const outcome = (own, overflow = null) =>
  findings(numbers(own), settings, ready, library, overflow);

test("a picture counts as found only if its squared distance is under half the runner-up's", () => {
  for (const [lead, right] of /** @type {[number, boolean][]} */ ([
    [0, true],
    [0.7, true],
    [0.71, false],
    [0.98, false],
    [1.4, false],
    [Number.NaN, false],
  ])) {
    assert.equal(outcome({ leadExact: lead }).exact.right, right, String(lead));
  }
  assert.equal(outcome({ nearestExact: 1 }).exact.right, false);
});

test("a verdict says what a failure is: a blend, or noise", () => {
  assert.equal(verdictOf(outcome().exact), "✓ coffee");
  const blend = { leadExact: 0.9, mixedExact: 3.2 };
  assert.equal(verdictOf(outcome(blend).exact), "✗ a blend of about 3 pictures");
  const bits = findings(numbers(blend), { ...settings, collection: "bits" }, ready, library, null);
  assert.equal(verdictOf(bits.exact), "✗ a blend of about 3 patterns");
  assert.equal(verdictOf(outcome({ nearestExact: 1 }).exact), "✗ nearest: coffee");
  assert.equal(verdictOf(outcome({ grainDistributed: 0.1 }).distributed), "✓ coffee, grainy");
  assert.equal(verdictOf(outcome({ grainExact: 0.1 }).exact), "✓ coffee");
  const noise = { leadDistributed: 0.9, mixedDistributed: 3.2, grainDistributed: 0.2 };
  assert.equal(verdictOf(outcome(noise).distributed), "✗ lost in noise");
  assert.match(
    verdictOf(outcome({ leadExact: 0.9, errorExact: Number.NaN }).exact),
    /lost in noise/,
  );
});

test("the report says if values are off every scale, and gives advice after an overflow", () => {
  const words = inWords(7, numbers({ energyDistributed: 1e30, distance: 1e30 }), outcome());
  assert.match(words, /energy −0\.0300, right: coffee/);
  assert.match(words, /Distributed memory: energy off every scale.*distance off every scale\./);
  const over = inWords(7, numbers({ energyDistributed: Number.NaN }), outcome({}, 5));
  assert.match(over, /Distributed memory: overflowed\./);
  assert.match(overflowInWords(5, "exp", 60), /exp features overflowed at step 5.*lower β/);
  assert.doesNotMatch(over + overflowInWords(5, "exp", 60), /NaN/);
  assert.equal(amount(Number.NaN), "off every scale");
});

test("the facts contain no numbers in program notation, such as e+, NaN or Infinity", () => {
  /** @type {any} */
  const of = { config: { Y: 200_000 }, stored: [0], freedom: 300 };
  /** @type {any} */
  const end = { frame: { step: 40 }, info: { roughness: null, pull: null }, milliseconds: 20 };
  const rows = factsOf(end, { ...of, numbers: { exact: 3072, distributed: 400_000 } });
  assert.ok(rows.every(([, value]) => !/e\+|NaN|Infinity/.test(value)));
  assert.equal(rows.at(-1)?.[1], "2,000 steps a second");
});

test("one step is written in the singular, and an error beyond the grey scale in words", () => {
  assert.match(inWords(1, numbers(), outcome()), /^After 1 step\. /);
  assert.match(inWords(0, numbers(), outcome()), /^After 0 steps\. /);
  assert.equal(errorInWords(0.0419, false), "mean error per pixel 0.042");
  assert.equal(errorInWords(26, false), "values far beyond black and white");
  assert.equal(errorInWords(0.25, true), "25 % of the bits wrong");
});

const ROOM = 186; // letters of a sentence that fit in two lines beside the sliders, and in four on a phone

test("the sentence while a run plays depends on its end", () => {
  const lost = outcome({ leadDistributed: 0.9, grainDistributed: 0.3 });
  const blend = outcome({ leadExact: 0.9, mixedExact: 9.3 });
  assert.match(playing(lost), /distributed memory follows its noise/);
  assert.match(playing(blend), /a blend of several pictures/);
  assert.match(playing(outcome()), /both memories move the query towards what/);
});

test("a state counts as settled if it does not visibly differ from the end of the run", () => {
  const end = outcome({ errorExact: 0.013, grainExact: 0.001 }).exact;
  const at = (/** @type {object} */ own) => isSettled(outcome(own).exact, end);
  assert.ok(at({ errorExact: 0.016, grainExact: 0.004 }));
  assert.ok(!at({ errorExact: 0.02, grainExact: 0.001 }));
  assert.ok(!at({ errorExact: 0.013, grainExact: 0.02 }));
  assert.ok(!at({ errorExact: 0.013, grainExact: 0.001, leadExact: 0.9 }));
});

test("the sentence after a run explains the outcome, suggests a change and fits its space", () => {
  const set = { ...DEFAULTS, beta: 75, Y: 60000 };
  assert.ok(OPENING.length <= ROOM);
  /** @type {(own?: object, more?: object) => string} */
  const text = (own, more) => {
    const run = {
      closeness: 0.8,
      freedom: 10,
      K: 6,
      isStored: true,
      rests: { exact: true, distributed: true },
      isSeparate: false,
      isNearest: true,
      ...more,
    };
    const words = explain(
      { ...run, both: outcome(own), numbers: { exact: 1, distributed: 1 } },
      set,
    );
    assert.ok(words.length <= ROOM, `${words.length}: ${words}`);
    return words;
  };
  assert.match(
    text(),
    /^Both memories bring the picture back: the mean error per pixel is 0\.040 \(exact\)/,
  );
  assert.match(text({ grainDistributed: 0.1 }), /The grain is noise: 6 pictures share 60,000 f/);
  const lost = { leadDistributed: 0.9, grainDistributed: 0.3 };
  const cut = text(
    { leadExact: 0.9, mixedExact: 9, leadDistributed: 0.9 },
    { rests: { exact: false, distributed: false } },
  );
  assert.match(
    cut,
    /ended before the exact memory came to rest\. Raise “steps at most” or change η/,
  );
  assert.match(
    text(lost, { closeness: 0.1 }),
    /^At β = 75 even the right picture counts as far away.* noise hides this\. Raise Y\.$/,
  );
  assert.match(
    text(lost, { closeness: 0.5 }),
    /total closeness to 6 pictures; the mean of 60,000 estimates is too noisy\. Raise Y, or lower K/,
  );
  assert.match(text({ leadDistributed: 0.9 }), /ends nearest to it too, but not close enough/);
  assert.match(
    text({ leadDistributed: 1.4, nearestDistributed: 1 }),
    /The distributed memory is drawn to another one, coffee/,
  );
  const blend = { leadExact: 0.9, mixedExact: 9.3 };
  assert.match(text(blend), /β = 75 is too small to .* a blend of about 9 pictures\. Raise β/);
  assert.match(
    text({ ...blend, ...lost }),
    /Raise β and Y, or store fewer\. All 6 add their noise to T/,
  );
  assert.match(text({}, { freedom: 0 }), /Nothing is hidden\. Scribble/);
  assert.match(text({}, { isStored: false }), /not stored/);
});

test("the strip of the vector grows with Y, up to its full width", () => {
  const [low, high] = RULES.counts.Y;
  const widths = [low, 20_000, 60_000, high].map(columnsOf);
  assert.ok(widths.every((w, i) => i === 0 || w > widths[i - 1]));
  assert.deepEqual([widths[0] > 4, widths.at(-1)], [true, 128]);
});

test("a drawing is enlarged without a change", () => {
  const sketch = createSketch();
  sketch.clear();
  assert.ok(sketch.isEmpty);
  sketch.draw([[3, 5]]);
  const [small, large] = [sketch.bytes, sketch.enlarged(64)];
  assert.ok(!sketch.isEmpty);
  for (const [row, column] of [
    [3, 5],
    [4, 6],
    [20, 20],
  ]) {
    const at = 3 * (row * 32 + column);
    const there = 3 * (2 * row * 64 + 2 * column);
    assert.deepEqual([...large.slice(there, there + 3)], [...small.slice(at, at + 3)]);
  }
});

test("a bound is off the top only where the plot does not reach it", () => {
  assert.equal(printedInWords(Math.log10(0.58)), "Paper: 0.58. ");
  assert.equal(printedInWords(1), "Paper: 10. ");
  assert.equal(printedInWords(Math.log10(7600)), "Paper: 7,600, off the top. ");
  assert.equal(printedInWords(31.2), "Paper: 10³¹, off the top. ");
});

test("a map is bright where the error is small, dark where it is large, and never outside its colours", () => {
  const light = (/** @type {number} */ share) =>
    (shade(share).match(/\d+/g) ?? []).reduce((sum, v) => sum + Number(v), 0);
  const all = [0, 0.1, 0.3, 0.5, 0.7, 1].map(light);
  assert.ok(all.every((v, i) => i === 0 || v < all[i - 1]));
  assert.equal(shade(7), shade(1));
  assert.equal(shade(-1), shade(0));
});

test("a brush stroke has no gaps between pointer events, in any direction", () => {
  /** @type {[Cell, Cell][]} */
  const strokes = [
    [
      [3, 2],
      [9, 30],
    ],
    [
      [20, 5],
      [1, 4],
    ],
    [
      [0, 0],
      [7, 7],
    ],
  ];
  for (const [from, to] of strokes) {
    const cells = between(from, to);
    assert.deepEqual([cells[0], cells.at(-1)], [from, to]);
    cells.slice(1).forEach((cell, i) => {
      assert.equal(Math.max(...cell.map((v, j) => Math.abs(v - cells[i][j]))), 1);
    });
  }
  assert.deepEqual(between([4, 4], [4, 4]), [[4, 4]]);
});

test("an axis of counts is marked at whole numbers, starting with the lowest", () => {
  assert.deepEqual(roundNumbers(1, 2, 1), [1, 2]);
  assert.deepEqual(roundNumbers(1, 1, 1), [1]);
  assert.deepEqual(roundNumbers(0, 1, 1), [0, 1]);
  assert.deepEqual(roundNumbers(0, 200, 1), [0, 50, 100, 150, 200]);
});
