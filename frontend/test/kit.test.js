import assert from "node:assert/strict";
import { test } from "node:test";
import { axisAround, axisBetween } from "../kit/axis.js";
import { createBackground } from "../kit/background.js";
import { posed, same } from "../kit/explorer.js";
import { fieldsOf } from "../kit/fields.js";
import { onKeys } from "../kit/keys.js";
import { pathOf } from "../kit/line.js";
import { parsed } from "../kit/typed.js";
import { dot, eliminate } from "../math/linear.js";

/** @import { Axis } from "../kit/axis.js" */
/** @import { Point } from "../kit/handle.js" */

test("an axis converts values to shares and back, on linear and logarithmic scales", () => {
  /** @type {[Axis, number[]][]} */
  const cases = [
    [axisBetween([-2.7, 1.8]), [-2.7, 0, 1.8]],
    [axisBetween([2, 4096], "log"), [2, 64, 4096]],
  ];
  for (const [axis, inside] of cases)
    for (const v of inside) assert.ok(Math.abs(axis.value(axis.share(v)) - v) < 1e-9);
  assert.deepEqual(axisBetween([2, 4096], "log").marks, [10, 100, 1000]);
});

test("an axis around values ignores NaN, values above its ceiling, and 0 on a log scale", () => {
  const log = axisAround([0, Number.NaN, 2e-3, 0.5, 1e9], "log", 1e6);
  assert.ok(Math.abs(log.share(1e-3)) < 1e-12 && Math.abs(log.share(1) - 1) < 1e-12);
  const none = axisAround([]);
  assert.ok(none.share(0) > 0 && none.share(1) < 1);
});

test("a rounding error adds no empty decade to a logarithmic axis", () => {
  const { marks, share } = axisAround([1 - 1e-12, 1 + 1e-12], "log");
  assert.deepEqual(marks, [1, 10]);
  assert.ok(Math.abs(share(1)) < 1e-9);
});

test("elimination solves for many right-hand sides, also where the first pivot is 0", () => {
  const A = [
    [0, 2, 1],
    [1, 0, 3],
    [4, 1, 0],
  ];
  const X = [
    [1, -2],
    [3, 0.5],
    [-1, 7],
  ];
  const rows = A.map((row) => [
    ...row,
    ...[0, 1].map((j) => dot(row, [X[0][j], X[1][j], X[2][j]])),
  ]);
  eliminate(rows).forEach((row, i) => {
    row.forEach((v, j) => {
      assert.ok(Math.abs(v - X[i][j]) < 1e-12, `${v} is not ${X[i][j]}`);
    });
  });
});

test("dot multiplies a vector with a slice of a longer one", () => {
  assert.equal(dot([1, 2], [9, 9, 3, 4], 2), 11);
});

test("keyboard shortcuts work, except in a field or with Ctrl", () => {
  let pressed = 0;
  const listen = onKeys({ k: () => pressed++ });
  /** @type {(key: string, more?: object, field?: boolean) => void} */
  const press = (key, more = {}, field = false) => {
    const target = { matches: () => field };
    listen(/** @type {any} */ ({ key, target, preventDefault() {}, ...more }));
  };
  press("k");
  assert.equal(pressed, 1);
  press("k", { ctrlKey: true });
  press("k", {}, true);
  press("x");
  assert.equal(pressed, 1);
});

test("a field shows the setting of its name and changes only that setting", () => {
  /** @type {object[]} */
  const asked = [];
  const of = fieldsOf({ beta: 60, clamp: true }, (patch) => asked.push(patch));
  const { name, value, onInput } = of("beta");
  assert.deepEqual([name, value], ["beta", 60]);
  onInput(3);
  of("clamp").onInput(false);
  assert.deepEqual(asked, [{ beta: 3 }, { clamp: false }]);
});

test("a question comes with its settings in full", () => {
  const question = { key: "k", name: "n", ask: "a", set: { b: 2 }, after: () => "" };
  const [preset] = posed([question], (given) => ({ a: 1, ...given }));
  assert.deepEqual([preset.set, preset.key, preset.after], [{ a: 1, b: 2 }, "k", question.after]);
});

test("a line has a gap where a value is missing, and a short stroke for a point alone", () => {
  /** @type {(Point | null)[]} */
  const points = [[0, 1], [1, 2], null, [3, 4]];
  assert.equal(pathOf(points), "M0.0 1.0L1.0 2.0M3.0 4.0m-2 0h4");
});

test("settings are the same whatever the order of their names", () => {
  assert.ok(same({ a: 1, b: [2] }, { b: [2], a: 1 }));
  assert.ok(same({ b: [2], a: 1 }, { a: 1, b: [2] }));
  assert.ok(!same({ a: 1, b: [2] }, { a: 1, b: [3] }));
});

test("new background work stops the previous work, and returns its own result", async () => {
  /** @param {string} name */
  function* work(name) {
    for (let i = 0; i < 3; i++) yield;
    return name;
  }
  /** @type {string[]} */
  const results = [];
  let slices = 0;
  await new Promise((/** @type {(done: void) => void} */ resolve) => {
    const background = createBackground({
      budget: 0, // one step per slice
      pause: 0,
      onSlice(done) {
        slices++;
        if (done) results.push(done.value);
        if (done) resolve();
      },
    });
    background.start(work("first"));
    background.start(work("second"));
  });
  assert.deepEqual(results, ["second"]);
  assert.equal(slices, 4);
});

test("a typed number may have an exponent, spaces and commas; other text gives null", () => {
  const said = ["1e9", "1,000,000", " 1 000 000 ", "2.5", "-3", "", " ", "many", "1e999", "10⁹"];
  const meant = [1e9, 1e6, 1e6, 2.5, -3, null, null, null, null, null];
  assert.deepEqual(said.map(parsed), meant);
});
