import assert from "node:assert/strict";
import { test } from "node:test";
import * as m from "../preconditioning/math/matrix.js";
import { counting, METHODS, run } from "../preconditioning/math/paths.js";
import { createProblem, factor, shaped } from "../preconditioning/math/problem.js";
import { polar } from "../preconditioning/math/rules.js";
import { PRESETS } from "../preconditioning/presets.js";
import { DEFAULTS, initialSettings, nextSettings } from "../preconditioning/settings.js";
import { verdictOn } from "../preconditioning/verdict.js";
import { condition } from "../preconditioning/words.js";

/** @import { Counts, Method } from "../preconditioning/math/paths.js" */
/** @import { Settings } from "../preconditioning/settings.js" */

const METHOD_NAMES = /** @type {Method[]} */ (Object.keys(METHODS));

/** @type {(a: number | number[] | number[][], b: number | number[] | number[][], tolerance?: number) => void} */
const near = (a, b, tolerance = 1e-12) => {
  const [x, y] = [a, b].map((v) => /** @type {number[]} */ ([v].flat(2)));
  assert.equal(x.length, y.length);
  for (const [i, v] of x.entries())
    assert.ok(Math.abs(v - y[i]) <= tolerance, `${v} is not ${y[i]}`);
};

/**
 * @param {Settings} settings
 * @returns {Counts}
 */
function counted(settings) {
  const work = counting(settings);
  let next = work.next();
  while (!next.done) next = work.next();
  return next.value;
}

test("vec(AXB) is (Bᵀ ⊗ A) vec(X), and unvec undoes vec", () => {
  const [A, X, B] = [
    [
      [1, 2],
      [3, 5],
    ],
    [
      [-1, 0.5],
      [2, 7],
    ],
    [
      [0, 1],
      [4, -3],
    ],
  ];
  near(m.apply(m.kron(m.transpose(B), A), m.vec(X)), m.vec(m.multiply(A, X, B)));
  near(m.unvec(m.vec(X), 2), X);
  near(m.solve(A, m.apply(A, [0.3, -2])), [0.3, -2]);
});

test("quarter turns are exact, and a factor has the given condition number and direction", () => {
  assert.deepEqual(m.rotation(90), [
    [0, -1],
    [1, 0],
  ]);
  const T = factor(9, 25);
  const [high, low] = m.eigenvalues(m.multiply(T, m.transpose(T)));
  near([high, low], [9, 1 / 9]);
  const along = [[Math.cos((25 * Math.PI) / 180)], [Math.sin((25 * Math.PI) / 180)]];
  near(m.multiply(m.multiply(T, m.transpose(T)), along), m.scale(9, along));
  assert.equal(factor(9, 25, 1)[0].length, 1);
});

test("shaping both factors makes P H the identity, and shaping none makes P the identity", () => {
  const settings = nextSettings({ ...DEFAULTS, conditionA: 50, conditionD: 7 }, { shape: "both" });
  const { P, H } = createProblem(settings);
  near(m.multiply(P, H), m.identity(4));
  const one = createProblem(nextSettings(settings, { shape: "none" }));
  near(one.P, m.identity(4));
  near(shaped(50, 30), createProblem(settings).A);
});

test("the polar factor Q is orthogonal, and QᵀX is symmetric and positive definite", () => {
  const X = [
    [3, 1],
    [-2, 0.5],
  ];
  const Q = m.unvec([...polar(m.vec(X), 2)], 2);
  near(m.multiply(m.transpose(Q), Q), m.identity(2));
  const S = m.multiply(m.transpose(Q), X); // symmetric and positive for the polar factor
  near(S[0][1], S[1][0]);
  assert.ok(m.eigenvalues(S)[1] > 0);
  near([...polar([3, 4], 1)], [0.6, 0.8]);
  near([...polar([0, 0, 0, 0], 2)], [0, 0, 0, 0]);
});

test("linear methods keep the two paths together, except with a penalty; Adam and Muon do not", () => {
  for (const method of METHOD_NAMES) {
    const { decay, linear } = METHODS[method];
    const { fate } = run({ ...DEFAULTS, method });
    const expected = !linear ? "apart" : decay === "penalty" ? "known" : "together";
    assert.equal(fate, expected, method);
  }
});

test("the paths agree for Adam under a quarter turn, and for Muon under every rotation", () => {
  const pure = { ...DEFAULTS, conditionT: 1, conditionV: 1, angleV: 0 };
  assert.equal(run({ ...pure, method: "adam", angleT: 90 }).fate, "together");
  assert.equal(run({ ...pure, method: "adam", angleT: 89 }).fate, "apart");
  for (const angleT of [17, 89, 90, 140]) {
    assert.equal(run({ ...pure, method: "muon", angleT, angleV: 33 }).fate, "together");
  }
});

test("with one row in V, W moves only along it, and stops short", () => {
  const { paths, problem, ends } = run({ ...DEFAULTS, rankV: 1, steps: 500 });
  const across = [problem.V[0][1], -problem.V[0][0]];
  for (const w of paths.reparameterised.w) {
    const moved = w.map((v, i) => v - problem.w0[i]);
    near(m.apply(m.unvec(moved, 2), across), [0, 0], 1e-12);
  }
  near(paths.reparameterised.w[500], ends.reparameterised, 1e-9);
  assert.ok(paths.reparameterised.loss[500] > 1);
  assert.equal(condition(run({ ...DEFAULTS, rankV: 1 }).spectra.P), "singular");
});

test("above the largest stable step size the counts of steps are infinite", () => {
  const counts = counted({ ...DEFAULTS, share: 1.05 });
  assert.deepEqual(Object.values(counts), [Infinity, Infinity, Infinity]);
  assert.equal(counted(nextSettings(DEFAULTS, { shape: "both" })).explicit, 1);
});

test("a linear method with too long a step is called divergent, however few steps are shown", () => {
  for (const method of METHOD_NAMES) {
    const { linear } = METHODS[method];
    const settings = { ...DEFAULTS, method, share: 1.1, steps: 500 };
    const { fate, paths } = run(settings);
    if (linear) assert.ok(m.norm(paths.explicit.w[500]) > 1e20, method);
    assert.equal(fate, linear ? "away" : "apart", method);
    assert.equal(run({ ...settings, steps: 10 }).fate, fate, method);
    for (const tamed of [{ share: 1 }, { best: true }])
      assert.notEqual(run({ ...settings, ...tamed }).fate, "away", method);
  }
  const verdict = verdictOn(run({ ...DEFAULTS, method: "heavy", share: 1.1, steps: 500 }), null);
  assert.match(verdict, /off every scale.*Shorten the step/);
  assert.doesNotMatch(verdict, /rounding|settle/);
});

test("a run with a penalty is said to settle only if it does", () => {
  /** @param {number} share */
  const verdict = (share) => {
    /** @type {Settings} */
    const settings = { ...DEFAULTS, method: "penalty", share, steps: 500 };
    return verdictOn(run(settings), counted(settings));
  };
  assert.match(verdict(0.5), /the gap settles at 0\.617.*\(now 0\.617\)/);
  assert.match(verdict(1), /not settled in 20,000 steps.*limit is 0\.617.*\(now 2\.88\)/);
  assert.doesNotMatch(verdictOn(run({ ...DEFAULTS, method: "penalty" }), null), /settle/);
});

test("no two questions have equal settings, and an unknown method from Python is replaced", () => {
  const settings = new Set(PRESETS.map(({ set }) => JSON.stringify(set)));
  assert.equal(settings.size, PRESETS.length);
  assert.equal(initialSettings({ conditionV: 7 }).conditionV, 7);
  assert.equal(initialSettings(JSON.parse('{ "method": "nothing" }')).method, "gd");
});
