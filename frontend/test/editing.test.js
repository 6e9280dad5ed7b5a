import assert from "node:assert/strict";
import { test } from "node:test";
import {
  direction,
  interference,
  interferenceLaw,
  leastInterference,
  leverage,
  moments,
  rankOne,
  sumOfSquares,
} from "../editing/math/edit.js";
import { cosineSquared, forgettingLaw, inSequence, manyEdits } from "../editing/math/sequence.js";
import { PRESETS } from "../editing/presets.js";
import {
  cloud,
  cloudAxes,
  consequences,
  DEFAULTS,
  settingsFrom,
  stretched,
} from "../editing/settings.js";
import {
  dot,
  eigen2,
  identity,
  minus,
  norm,
  scaled,
  solvePositive,
  times,
} from "../math/linear.js";
import { key, normal } from "../math/random.js";

/** @import { Geometry } from "../editing/math/edit.js" */
/** @import { Cloud } from "../editing/settings.js" */
/** @import { Point } from "../kit/handle.js" */

/** @type {(a: number, b: number, tolerance?: number) => void} */
const near = (a, b, tolerance = 1e-10) =>
  assert.ok(Math.abs(a - b) <= tolerance * (1 + Math.abs(b)), `${a} ≠ ${b}`);
/** @type {(seed: number, n: number) => number[]} */
const draw = (seed, n) => [...normal(key(seed), n)];

/** @param {string} name */
function question(name) {
  const preset = PRESETS.find((p) => p.key === name);
  assert.ok(preset);
  return preset.set;
}

/** @param {string} name */
const preset = (name) => consequences(question(name));

test("solve inverts a positive definite matrix and refuses a singular one", () => {
  const keys = Array.from({ length: 9 }, (_, i) => draw(i, 5));
  const b = draw(20, 5);
  const x = solvePositive(moments(keys), b);
  assert.ok(x && norm(minus(times(moments(keys), x), b)) < 1e-9);
  assert.equal(solvePositive(moments(keys.slice(0, 3)), b), null);
});

test("the eigenvectors of a symmetric 2×2 matrix are orthogonal and satisfy Cv = λv", () => {
  const C = [
    [3, -1.2],
    [-1.2, 0.7],
  ];
  const { values, vectors } = eigen2(C);
  near(dot(vectors[0], vectors[1]), 0);
  values.forEach((value, i) => {
    times(C, vectors[i]).forEach((v, j) => {
      near(v, value * vectors[i][j]);
    });
  });
});

for (const geometry of /** @type {Geometry[]} */ (["keys", "identity", "pinv"])) {
  test(`an edit with ${geometry} answers k* with v*, and the formula is what the keys lose`, () => {
    const { keys, W, k, v } = DEFAULTS;
    const edit = rankOne(W, direction(moments(keys), k, { geometry }), k, v);
    assert.ok(edit);
    assert.ok(norm(minus(times(edit.W, k), v)) < 1e-12);
    const measured = interference(W, edit.W, keys);
    interferenceLaw(edit, keys).forEach((value, j) => {
      near(measured[j], value);
    });
    const least = leastInterference(keys, k, edit.residual);
    if (geometry === "identity") assert.ok(sumOfSquares(measured) > 1.2 * least);
    else near(sumOfSquares(measured), least);
  });
}

test("no edit along another direction does less damage", () => {
  const { keys, W, k, v } = DEFAULTS;
  const least = leastInterference(keys, k, minus(v, times(W, k)));
  for (let seed = 0; seed < 50; seed++) {
    const edit = rankOne(W, draw(seed, 2), k, v);
    assert.ok(edit);
    assert.ok(sumOfSquares(interference(W, edit.W, keys)) >= least * (1 - 1e-12));
  }
});

test("an edit at a stored key of leverage h has the interference ‖r‖²(1/h − 1) at the other keys", () => {
  const { keys, W, v } = DEFAULTS;
  const k = keys[3];
  const edit = rankOne(W, direction(moments(keys), k), k, v);
  assert.ok(edit);
  const paid = interference(W, edit.W, keys);
  const others = sumOfSquares(paid) - paid[3] ** 2;
  near(others, sumOfSquares(edit.residual) * (1 / leverage(keys, k) - 1));
});

test("keys on a line: the pseudo-inverse disturbs them, a vanishing ridge does not", () => {
  const shown = preset("line");
  assert.equal(shown.least, 0);
  assert.ok(shown.total > 1);
  const set = question("line");
  const ridged = consequences({ ...set, geometry: "keys", ridge: 0.001 });
  assert.ok(ridged.total < 1e-3, `${ridged.total}`);
  const { edit, why } = consequences({ ...set, geometry: "keys" });
  assert.equal(edit, null);
  assert.match(String(why), /line.*ridge/);
});

test("a zero key has no edit and says why", () => {
  const shown = consequences(settingsFrom({ k: [0, 0] }));
  assert.equal(shown.edit, null);
  assert.match(String(shown.why), /zero/);
});

test("each round of two alternating edits multiplies the residual by cos²θ", () => {
  const { past, cosine } = preset("cycle");
  assert.ok(cosine !== null);
  near(past[6][0] / past[4][0], cosine, 1e-9);
  near(past[8][0] / past[6][0], cosine, 1e-9);
});

test("a large β protects a kept pair, β = 0 does not", () => {
  const set = question("third");
  const [plain, spared] = [0, 1e6].map((beta) => consequences({ ...set, beta }).past[2][0]);
  assert.ok(plain > 0.5);
  assert.ok(spared < 1e-4 * plain);
});

test("the facts stated in the questions hold, and each right answer is one of the options", () => {
  near(preset("start").total, preset("start").least);
  assert.ok(preset("identity").total > 1.5 * preset("identity").least);
  assert.ok(preset("member").among >= 0);
  assert.ok(preset("few").total > 1.1 * preset("few").least);
  const ridge = preset("ridge");
  const { k } = DEFAULTS;
  assert.ok(ridge.edit);
  assert.ok(dot(ridge.edit.right, k) > 0.98 * norm(ridge.edit.right) * norm(k));
  assert.ok(ridge.total > 1.3 * ridge.least);
  const set = question("third");
  const three = consequences({
    ...set,
    pairs: [...set.pairs, { k: set.k, v: set.v }],
    order: [0, 1, 2],
  });
  assert.ok(three.past[3][0] > 0.2 && three.past[3][1] > 0.2);
  for (const { set: settings, after, predict } of PRESETS) {
    const shown = { ...consequences(settings), own: true };
    assert.doesNotMatch(after(shown), /NaN|undefined|Infinity/);
    const keys = predict?.options.map(([key]) => key);
    assert.ok(keys?.includes(String(predict?.right(shown))));
  }
  const right = PRESETS.map(({ set, predict }) =>
    predict?.right({ ...consequences(set), own: true }),
  );
  assert.deepEqual(right, [
    "line",
    "some",
    "more",
    "some",
    "missed",
    "gradient",
    "later",
    "settles",
  ]);
});

test("at a key on an axis of the cloud, the edit with C = I has the least interference", () => {
  const keys = cloud(12, 4);
  const k = cloudAxes(keys)[1];
  const shown = consequences(settingsFrom({ keys, k, geometry: "identity" }));
  near(shown.total, shown.least, 1e-9);
});

/** @type {(keys: Point[]) => Cloud} */
const withAxes = (keys) => ({ keys, axes: cloudAxes(keys) });
/** @type {(a: Point, b: Point) => void} */
const samePlace = (a, b) => assert.ok(norm(minus(a, b)) < 1e-9, `${a} ≠ ${b}`);

test("a dragged axis ends at the pointer; the other stays perpendicular and keeps its length", () => {
  for (const which of [0, 1]) {
    let shape = withAxes(cloud(12, 4));
    const length = norm(shape.axes[1 - which]);
    /** @type {Point[]} */
    const path = [
      [1, 2.2],
      [0.5, 2.3],
      [0, 2.3],
      [-1, 2],
      [-0.4, 0.3],
      [-0.01, 0.2],
      [0.6, -2],
    ];
    for (const to of path) {
      shape = stretched(shape, which, to);
      assert.deepEqual(shape.axes[which], to);
      near(norm(shape.axes[1 - which]), length);
      near(dot(shape.axes[0], shape.axes[1]), 0);
      cloudAxes(shape.keys, shape.axes).forEach((axis, i) => {
        samePlace(axis, shape.axes[i]);
      });
    }
  }
});

test("dragging an axis of the cloud through the origin and back restores the keys", () => {
  const start = withAxes(cloud(12, 4));
  let shape = start;
  const [x, y] = start.axes[0];
  for (let i = 1; i <= 40; i++) shape = stretched(shape, 0, [x - i * (x / 20), y - i * (y / 20)]);
  samePlace(shape.axes[0], [-x, -y]);
  shape = stretched(shape, 0, [x, y]);
  shape.keys.forEach((key, i) => {
    samePlace(key, start.keys[i]);
  });
  const flat = withAxes(start.keys.map(([a]) => [a, 0]));
  assert.equal(stretched(flat, 1, [0, 1]).keys, flat.keys);
});

test("axes computed anew keep the order and the signs of the previous axes", () => {
  const keys = cloud(12, 4);
  const [long, short] = cloudAxes(keys);
  const before = [scaled(short, -1), long];
  cloudAxes(keys, before).forEach((axis, i) => {
    samePlace(axis, before[i]);
  });
});

test("many edits follow the law of forgetting", () => {
  const [D, T] = [32, 96];
  const errors = manyEdits({ D, T, seed: 1, runs: 12, outputs: 40 });
  const law = errors.map((_, i) => forgettingLaw(i + 1, T, D));
  for (const [a, b] of [
    [0, 32],
    [32, 64],
    [64, 96],
  ]) {
    /** @param {number[]} values */
    const mean = (values) => values.slice(a, b).reduce((sum, v) => sum + v, 0) / (b - a);
    near(mean(errors), mean(law), 0.06);
  }
  assert.ok(errors[T - 1] < 1e-20);
});

test("cos²θ is null if C is singular, and 1/2 for keys at 45° with C = I", () => {
  assert.equal(
    cosineSquared(
      [
        [1, 0],
        [0, 0],
      ],
      [1, 0],
      [0, 1],
    ),
    null,
  );
  near(Number(cosineSquared(identity(2), [1, 0], [1, 1])), 0.5);
});

test("an edit that cannot be made leaves the memory as it was", () => {
  const W = [
    [1, 2],
    [3, 4],
  ];
  const { W: after, residuals } = inSequence(W, identity(2), [{ k: [0, 0], v: [1, 1] }], [0]);
  assert.deepEqual(after, W);
  assert.equal(residuals.length, 2);
});
