// The three paths: plain steps on W, steps on U with W = TUV, and steps on W with the gradient multiplied by P.
import { minus, norm } from "../../math/linear.js";
import { apply } from "./matrix.js";
import { createProblem, curvatures, gradient, limits, loss, spectra } from "./problem.js";
import { bestStep, createRule, largestStep } from "./rules.js";

/** @import { Decay, Problem, Vector } from "./problem.js" */
/** @import { RuleName } from "./rules.js" */
/** @import { Settings } from "../settings.js" */

/** @typedef {"plain" | "reparameterised" | "explicit"} Kind */
/** @typedef {"gd" | "heavy" | "nesterov" | "decoupled" | "penalty" | "adam" | "muon"} Method */
/**
 * Steps by path; null is more than were counted.
 *
 * @typedef {Record<Kind, number | null>} Counts
 */
/** @typedef {ReturnType<typeof run>} Run */

/** @type {Kind[]} */
export const PATHS = ["plain", "reparameterised", "explicit"];
export const MOST = 20_000; // steps counted at most
const SLICE = 200; // steps between two pauses
const TOGETHER = 1e-9; // of the way made: rounding stays under 1e-12, what differs is above 1e-4

/**
 * What each choice of the reader's means: an update rule, a decay, and whether its steps are linear in W.
 *
 * @type {Record<Method, { rule: RuleName, decay: Decay, linear: boolean }>}
 */
export const METHODS = {
  gd: { rule: "gd", decay: "none", linear: true },
  heavy: { rule: "heavy", decay: "none", linear: true },
  nesterov: { rule: "nesterov", decay: "none", linear: true },
  decoupled: { rule: "gd", decay: "decoupled", linear: true },
  penalty: { rule: "gd", decay: "penalty", linear: true },
  adam: { rule: "adam", decay: "none", linear: false },
  muon: { rule: "muon", decay: "none", linear: false },
};

/** @type {(a: Vector, b: Vector) => number} */
const difference = (a, b) => norm(minus(a, b));

/**
 * The largest entry; NaN, where a path has run off every scale, counts as largest.
 *
 * @param {number[]} gap
 */
export const widest = (gap) => gap.reduce((most, v) => (v <= most ? most : v), 0);

/**
 * The gradient that a path's rule is given, in the path's own coordinates.
 *
 * @type {(kind: Kind, problem: Problem, penalty: number) => (x: Vector) => Vector}
 */
function gradientOf(kind, problem, penalty) {
  const { J, Jt, P, rest } = problem;
  /** @type {(g: Vector, x: Vector) => Vector} */
  const decayed = (g, x) => (penalty ? g.map((v, i) => v + penalty * x[i]) : g);
  /** @type {Record<Kind, (x: Vector) => Vector>} */
  const gradients = {
    plain: (w) => decayed(gradient(problem, w), w),
    explicit: (w) => apply(P, decayed(gradient(problem, w), w)),
    reparameterised: (u) => {
      const w = apply(J, u).map((v, i) => v + rest[i]);
      return decayed(apply(Jt, gradient(problem, w)), u);
    },
  };
  return gradients[kind];
}

/**
 * One path: `w` where it stands, `advance()` one step.
 *
 * @type {(kind: Kind, problem: Problem, settings: Settings & { eta: number }) => { readonly w: Vector, advance(): void }}
 */
function createPath(kind, problem, { method, eta, momentum, lambda }) {
  const { rule, decay } = METHODS[method];
  const { J, T, rest } = problem;
  const onU = kind === "reparameterised";
  let x = [...(onU ? problem.u0 : problem.w0)];
  const step = createRule(rule, { momentum, size: x.length, rows: onU ? T[0].length : 2 });
  const slope = gradientOf(kind, problem, decay === "penalty" ? lambda : 0);
  const keep = decay === "decoupled" ? 1 - eta * lambda : 1;
  return {
    get w() {
      return onU ? apply(J, x).map((v, i) => v + rest[i]) : [...x];
    },
    advance() {
      const direction = step(slope(x));
      x = x.map((v, i) => keep * v - eta * direction[i]);
    },
  };
}

/**
 * The step of each path: the same share of what its curvature allows, or the best fixed one; a given one for Adam.
 *
 * @type {(settings: Settings, problem: Problem) => Record<Kind, number>}
 */
export function stepSizes(settings, problem) {
  const { method, momentum, lambda, share, best, rate } = settings;
  const { rule, decay, linear } = METHODS[method];
  if (!linear) return { plain: rate, reparameterised: rate, explicit: rate };
  const found = curvatures(problem, decay, lambda);
  /** @param {Vector} values */
  const size = (values) =>
    best ? bestStep(rule, momentum, values) : share * largestStep(rule, momentum, values);
  const shared = size(found.preconditioned);
  return { plain: size(found.plain), reparameterised: shared, explicit: shared };
}

/** @param {Settings} settings */
function createPaths(settings) {
  const problem = createProblem(settings);
  const ends = limits(problem, METHODS[settings.method].decay, settings.lambda);
  const etas = stepSizes(settings, problem);
  const paths = PATHS.map((kind) => createPath(kind, problem, { ...settings, eta: etas[kind] }));
  return { problem, ends, etas, paths };
}

/**
 * Runs the three paths `steps` steps, and says how far the last two came apart.
 *
 * @param {Settings} settings
 */
export function run(settings) {
  const { problem, ends, etas, paths } = createPaths(settings);
  const [plain, reparameterised, explicit] = paths.map((path) =>
    record(path, problem, settings.steps),
  );
  const recorded = { plain, reparameterised, explicit };
  const [a, b] = [recorded.reparameterised.w, recorded.explicit.w];
  const gap = a.map((w, t) => difference(w, b[t]));
  const { linear } = METHODS[settings.method];
  return {
    problem,
    ends,
    etas,
    paths: recorded,
    gap,
    known: linear ? difference(ends.reparameterised, ends.explicit) : null,
    fate: fateOf(gap, a, settings),
    spectra: spectra(problem),
  };
}

/** @type {(path: { readonly w: Vector, advance(): void }, problem: Problem, steps: number) => { w: Vector[], loss: Vector }} */
function record(path, problem, steps) {
  const w = [path.w];
  for (let t = 1; t <= steps; t++) {
    path.advance();
    w.push(path.w);
  }
  return { w, loss: w.map((here) => loss(problem, here)) };
}

/**
 * Counts each path's steps until it is within the tolerance of where it ends, a slice at a time: yields until all is
 * known, then returns one count a path; null where there are more than MOST, Infinity where it runs away.
 *
 * @param {Settings} settings
 * @returns {Generator<void, Counts, void>}
 */
export function* counting(settings) {
  const { ends, paths } = createPaths(settings);
  /** @type {Counts} */
  const counts = { plain: null, reparameterised: null, explicit: null };
  for (const [i, kind] of PATHS.entries()) {
    const start = difference(paths[i].w, ends[kind]);
    counts[kind] = start === 0 ? 0 : null;
    for (let t = 1; t <= MOST && counts[kind] === null; t++) {
      paths[i].advance();
      const away = difference(paths[i].w, ends[kind]);
      if (away <= settings.tolerance * start) counts[kind] = t;
      else if (!(away < 1e6 * start)) counts[kind] = Number.POSITIVE_INFINITY;
      if (t % SLICE === 0) yield;
    }
  }
  return counts;
}

/**
 * "away" (the step is too long), "together", "known" (they part by what a formula gives) or "apart".
 *
 * @type {(gap: Vector, w: Vector[], settings: Settings) => string}
 */
function fateOf(gap, w, { method, best, share }) {
  const { linear } = METHODS[method];
  if (linear && !best && share > 1) return "away";
  const way = w.reduce((most, here) => Math.max(most, norm(here)), 1);
  if (widest(gap) <= TOGETHER * way) return "together";
  return linear ? "known" : "apart";
}
