import assert from "node:assert/strict";
import { test } from "node:test";
import { inOrder, lectureIn } from "../kit/address.js";
import { clipped } from "../kit/clip.js";
import { csv, table } from "../kit/export.js";
import { score } from "../kit/prediction.js";
import { literal } from "../kit/python.js";
import { placed } from "../kit/words.js";

/** @import { Point } from "../kit/handle.js" */

test("a line is clipped to its square, and counts as cut only if its end lies outside", () => {
  assert.deepEqual(clipped([0, 0], [1, 2], 3), { from: [0, 0], to: [1, 2], cut: false });
  assert.deepEqual(clipped([0, 0], [6, 3], 3), { from: [0, 0], to: [3, 1.5], cut: true });
  assert.deepEqual(clipped([-6, 0], [0, 0], 3), { from: [-3, 0], to: [0, 0], cut: false });
  assert.deepEqual(clipped([0, -9], [0, 9], 3), { from: [0, -3], to: [0, 3], cut: true });
  assert.equal(clipped([4, 0], [4, 1], 3), null);
  assert.equal(clipped([0, 7], [7, 0], 3), null);
});

test("labels of nearby points do not overlap and stay inside the picture", () => {
  /** @type {Point[]} */
  const points = [
    [100, 100],
    [104, 98],
    [96, 104],
    [100, 108],
    [1, 1],
    [319, 319],
    [319, 1],
  ];
  const words = points.map((at) => ({ at, text: "Wk*" }));
  const places = placed(words, points, 320);
  const width = 24;
  places.forEach(([x, y], i) => {
    assert.ok(x >= 0 && x + width <= 320 && y >= 12 && y <= 320, `${x} ${y}`);
    for (const [u, v] of places.slice(0, i))
      assert.ok(Math.abs(x - u) >= width || Math.abs(y - v) >= 16, `${i}: ${x} ${y} on ${u} ${v}`);
  });
  assert.deepEqual(placed([{ at: [100, 100], text: "r", dx: 3, dy: -4 }], [], 320), [[103, 96]]);
});

test("a CSV table quotes commas, quotes and line breaks, and leaves missing values empty", () => {
  const rows = [[1, 'a "b", c', null]];
  assert.equal(csv({ columns: ["x", "y\nz", "w"], rows }), 'x,"y\nz",w\n1,"a ""b"", c",\n');
  assert.deepEqual(table("step", { a: [5, 6], b: [7] }, 1).rows, [
    [1, 5, 7],
    [2, 6, null],
  ]);
});

test("values are written as Python literals", () => {
  const value = [1.5, -2, true, null, "k", [Number.POSITIVE_INFINITY]];
  assert.equal(literal(value), '[1.5, -2, True, None, "k", [np.inf]]');
});

test("a guess is right, wrong, or not counted", () => {
  assert.match(score("a", "a"), /^✓/);
  assert.match(score("a", "b"), /^✗/);
  assert.equal(score(null, "b") + score("a", null), "");
});

test("a lecture asks the questions that its address lists, in order, or all if none is known", () => {
  const presets = ["a", "b", "c"].map((key) => ({ key }));
  /** @param {string} search */
  const asked = (search) =>
    inOrder(presets, lectureIn(search, "editing") ?? ["none"])
      .map(({ key }) => key)
      .join("");
  assert.equal(lectureIn("?lecture=residual:a", "editing"), null);
  assert.equal(lectureIn("?q=1", "editing"), null);
  assert.equal(asked("?lecture=editing:c,x,a"), "ca");
  assert.equal(asked("?lecture=editing%3Ac%2Ca"), "ca");
  assert.equal(asked("?lecture=editing"), "abc");
});
