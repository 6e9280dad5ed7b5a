import assert from "node:assert/strict";
import { test } from "node:test";
import { eigen } from "../math/linear.js";
import * as random from "../math/random.js";
import { crossing, levelsOf } from "../residual/levels.js";
import { createBank } from "../residual/math/bank.js";
import { constrainedErm, logistic, probability } from "../residual/math/bases.js";
import { Neighbours } from "../residual/math/memory.js";
import { measure, sizesOf } from "../residual/math/risk.js";
import { classOf } from "../residual/math/sample.js";
import { drawLine, drawPlane, fitLine, fitPlane } from "../residual/math/sets.js";
import { createMeasurer } from "../residual/measurer.js";
import { PRESETS } from "../residual/presets.js";
import { DEFAULTS, measured, nextSettings, placeOf } from "../residual/settings.js";
import { verdict } from "../residual/words.js";

/** @import { View } from "../residual/math/risk.js" */

/** @type {(a: number, b: number, tolerance?: number) => void} */
const near = (a, b, tolerance = 1e-9) =>
  assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

test("eigenvalues and eigenvectors reconstruct a symmetric matrix", () => {
  const S = [
    [4, 1, 0.5],
    [1, 3, -2],
    [0.5, -2, 1],
  ];
  const { values, vectors } = eigen(S);
  for (const [i, row] of S.entries()) {
    for (const [j, v] of row.entries()) {
      near(
        values.reduce((sum, value, k) => sum + value * vectors[i][k] * vectors[j][k], 0),
        v,
      );
    }
  }
});

test("the first n points are the same whatever n", () => {
  const key = random.key(3);
  const [few, many] = [drawLine(key, 5, 3), drawLine(key, 50, 3)];
  assert.deepEqual([...few.X], [...many.X.subarray(0, 15)]);
  assert.deepEqual([...few.unit], [...many.unit.subarray(0, 5)]);
  assert.deepEqual([...drawPlane(key, 5).X], [...drawPlane(key, 50).X.subarray(0, 10)]);
});

test("the k nearest are those of a full sort, and their weights add to one", () => {
  const { X } = drawLine(random.key(1), 200, 4);
  const query = [0.1, -0.4, 0.9, 0.2];
  const search = new Neighbours(X, 200, 4, 7).find(query, 0).weigh(0.3);
  /** @param {number} i */
  const far = (i) => Math.hypot(...query.map((v, j) => v - X[4 * i + j]));
  const sorted = Array.from({ length: 200 }, (_, i) => i).sort((a, b) => far(a) - far(b));
  assert.deepEqual([...search.indices], sorted.slice(0, 7));
  near(
    search.weights.reduce((sum, w) => sum + w, 0),
    1,
  );
  near(Math.log(search.weights[0] / search.weights[6]), (far(sorted[6]) - far(sorted[0])) / 0.3);
  assert.equal(new Neighbours(X, 3, 4, 64).find(query, 0).weigh(1).k, 3);
});

test("weights stay finite where exp(−distance/σ) underflows to 0", () => {
  const search = new Neighbours(Float64Array.of(1000, 1001), 2, 1, 2).find([0], 0).weigh(0.01);
  near(search.read([5, 7]), 5);
});

test("with one neighbour, base and memory together reproduce every noisy example exactly", () => {
  const settings = { L: 0.4, noise: 0.3, flips: 0.3 };
  const line = drawLine(random.key(4), 60, 3);
  const plane = drawPlane(random.key(4), 60);
  const [onLine, inPlane] = [fitLine(line, settings), fitPlane(plane, settings)];
  for (const { X, n, d, y, residuals, base } of [
    { ...line, ...onLine, base: (/** @type {number} */ i) => onLine.y[i] - onLine.residuals[i] },
    {
      ...plane,
      ...inPlane,
      base: (/** @type {number} */ i) => probability(inPlane.w, plane.X[2 * i], plane.X[2 * i + 1]),
    },
  ]) {
    const search = new Neighbours(X, n, d, 1);
    for (let i = 0; i < n; i++) {
      const remembered = search
        .find(X, i * d)
        .weigh(1)
        .read(residuals);
      near(base(i) + remembered, y[i], 1e-6);
    }
  }
});

test("the base has norm L, unless the unconstrained minimum lies inside its ball", () => {
  const { X, truth } = drawLine(random.key(5), 40, 3);
  for (const L of [0, 0.3, 0.9]) near(Math.hypot(...constrainedErm(X, truth, 3, L)), L);
  const free = constrainedErm(X, truth, 3, 1.2);
  near(free[0], 1, 1e-6);
  near(Math.hypot(free[1], free[2]), 0, 1e-6);
});

test("no nearby point on the sphere of its ball has a lower loss than the logistic base", () => {
  const set = drawPlane(random.key(6), 300);
  const w = logistic(set.X, set.truth, 0.5);
  near(Math.hypot(...w), 7, 1e-9);
  /** @param {number[]} v */
  const loss = (v) =>
    set.truth.reduce((sum, c, i) => {
      const p = probability(v, set.X[2 * i], set.X[2 * i + 1]);
      return sum - Math.log(c ? p : 1 - p) / set.n;
    }, 0);
  for (let seed = 0; seed < 20; seed++) {
    const step = random.normal(random.key(seed), 10);
    const moved = w.map((v, j) => v + 0.05 * step[j]);
    const scale = 7 / Math.hypot(...moved);
    assert.ok(loss(moved.map((v) => v * scale)) > loss(w) - 1e-6);
  }
  assert.ok(logistic(set.X, set.truth, 0).every((v) => v === 0));
});

test("classes lie on the correct sides of the boundary, and flips change the given fraction", () => {
  assert.deepEqual([classOf(0.5, 0.7), classOf(0.5, 0.3), classOf(-0.5, 0)], [1, 0, 1]);
  const set = drawPlane(random.key(7), 1000);
  const { y } = fitPlane(set, { L: 0.2, flips: 0.2 });
  const wrong = y.filter((c, i) => c !== set.truth[i]).length;
  assert.ok(Math.abs(wrong - 200) < 60);
});

test("n is limited to the sizes of its view, and a change of k, not of n, is measured anew", () => {
  assert.equal(nextSettings(DEFAULTS, { n: 4096, view: "plane" }).n, sizesOf("plane").at(-1));
  assert.equal(nextSettings(DEFAULTS, { n: 100 }).n, 96);
  assert.equal(placeOf({ view: "line", n: 2 }), 0);
  assert.equal(measured({ ...DEFAULTS, n: 8 }), measured(DEFAULTS));
  assert.notEqual(measured({ ...DEFAULTS, k: 8 }), measured(DEFAULTS));
  assert.equal(nextSettings(DEFAULTS, { redraw: true }).seed, 1);
  const settings = new Set(PRESETS.map(({ set }) => JSON.stringify(set)));
  assert.equal(settings.size, PRESETS.length);
});

test("measured risks do not depend on earlier measurements or on the data kept from them", () => {
  /** @type {(work: Generator<void, any, void>) => any} */
  const finish = (work) => {
    let next = work.next();
    while (!next.done) next = work.next();
    return next.value;
  };
  for (const view of /** @type {View[]} */ (["line", "plane", "waves"])) {
    const settings = { ...DEFAULTS, view, L: 0.3, d: 2 };
    const bank = createBank();
    const reused = [6, 64, 256, 24].map((n) => finish(measure(settings, n, [0.1], bank)));
    const fresh = [6, 64, 256, 24].map((n) => finish(measure(settings, n, [0.1])));
    assert.deepEqual(reused, fresh);
    const other = finish(measure({ ...settings, seed: 1 }, 6, [0.1], bank));
    assert.notDeepEqual(other, fresh[0]);
    assert.deepEqual(finish(measure(settings, 6, [0.1], bank)), fresh[0]);
  }
});

test("a race measures sizes up to n, then noise levels, then the rest; a new race stops it", async () => {
  /** @type {any[]} */
  const heard = [];
  const ask = createMeasurer(5)((answer) => heard.push(answer));
  const settings = { ...DEFAULTS, n: 8, k: 2 };
  ask({ type: "race", id: 1, settings: { ...settings, d: 8 }, levels: [0], done: 0 });
  ask({ type: "race", id: 2, settings, levels: [0, 0.1], done: 2 });
  while (!heard.some(({ type }) => type === "done")) await new Promise((r) => setTimeout(r, 5));
  assert.ok(heard.every(({ id }) => id === 2));
  const order = heard.filter(({ type }) => type !== "progress").map(({ type }) => type);
  assert.deepEqual(order.slice(0, 4), ["size", "size", "size", "sweep"]); // n = 4, 6, 8 were still to be measured
  assert.equal(order.filter((type) => type === "size").length, sizesOf("line").length - 2);
  const shares = heard.filter(({ type }) => type === "progress").map(({ share }) => share);
  assert.ok(shares.every((v, i) => v > (shares[i - 1] ?? 0) && v <= 1));
});

test("the crossing of the curves is interpolated between levels, or null if there is none", () => {
  const sweep = [-1, -0.5, 0.5, 1].map((v) => ({ base: 0, memory: v }));
  near(Number(crossing([0, 1, 2, 3], sweep)), 1.5);
  assert.equal(crossing([0, 1], sweep.slice(0, 2)), null);
  assert.equal(crossing([0, 1], sweep.slice(2)), 0);
  assert.ok(Math.max(...levelsOf({ ...DEFAULTS, noise: 0.9 }, 0.16)) >= 0.9);
});

test("a memory whose risk differs only by rounding is said to change nothing", () => {
  assert.match(verdict({ base: 0, memory: 0 }), /changes nothing/);
  assert.match(verdict({ base: 1.1e-31, memory: 1.8e-32 }), /changes nothing/);
  assert.match(verdict({ base: 0.2, memory: 0.1 }), /helps/);
  assert.match(verdict({ base: 0.1, memory: 0.2 }), /hurts/);
});
