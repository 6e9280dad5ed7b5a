import assert from "node:assert/strict";
import { test } from "node:test";
import { roundNumbers } from "../kit/axis.js";
import { between } from "../kit/imagewell.js";
import { amount } from "../kit/number.js";
import { billOf, printedInWords } from "../retrieval/charts.js";
import { findings, inWords } from "../retrieval/report.js";

/** @import { Cell } from "../kit/imagewell.js" */

const found = {
  exact: { label: "coffee", right: true, outside: false },
  distributed: { label: "coffee", right: false, outside: true },
};

test("a run that leaves every scale is said to, with the same words for energy and distance", () => {
  for (const lost of [Number.NaN, Infinity, -Infinity, 1e30]) {
    const at = { energyExact: -0.03, energyDistributed: lost, distance: lost };
    const words = inWords(7, at, found);
    assert.match(words, /energy −0\.0300, nearest coffee \(right\)/);
    assert.match(words, /Distributed: off every scale, none/);
    if (lost !== -Infinity) assert.match(words, /Distance off every scale\./);
    assert.equal(amount(lost), "off every scale");
  }
});

test("noise that is nearest to the right picture is not right", () => {
  const at = { nearestExact: 0, nearestDistributed: 0, errorExact: 0.04, errorDistributed: 0.33 };
  /** @type {any[]} */
  const run = [at, { stored: [0] }, { isStored: true, wanted: 0 }, { label: () => "coffee" }];
  const both = findings(run[0], run[1], run[2], run[3]);
  assert.deepEqual([both.exact.right, both.distributed.right], [true, false]);
});

test("numbers are written out, without exponents of a program", () => {
  const bill = { numbers: { exact: 3072, distributed: 400_000 }, K: 1, Y: 200_000, freedom: 300 };
  const rows = billOf({ ...bill, flooredSteps: 0, steps: 1, speed: 0, roughness: null });
  assert.ok(rows.every(([, value]) => !/e\+/.test(value)));
});

test("a bound is off the top only where the plot does not reach it", () => {
  assert.equal(printedInWords(Math.log10(0.58)), "Printed: 0.58. ");
  assert.equal(printedInWords(1), "Printed: 10. ");
  assert.equal(printedInWords(Math.log10(7600)), "Printed: 7,600, off the top. ");
  assert.equal(printedInWords(31.2), "Printed: 10³¹, off the top. ");
});

test("a stroke in few events has no gaps, whichever way it goes", () => {
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

test("what is counted is marked in whole numbers, from the first", () => {
  assert.deepEqual(roundNumbers(1, 2, 1), [1, 2]);
  assert.deepEqual(roundNumbers(1, 1, 1), [1]);
  assert.deepEqual(roundNumbers(0, 1, 1), [0, 1]);
  assert.deepEqual(roundNumbers(0, 200, 1), [0, 50, 100, 150, 200]);
});
