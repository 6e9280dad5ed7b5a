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
 * The number of steps by path. null means that there are more than were counted.
 *
 * @typedef {Record<Kind, number | null>} Counts
 */
/** @typedef {ReturnType<typeof run>} Run */

/** @type {Kind[]} */
export const PATHS = ["plain", "reparameterised", "explicit"];
export const MOST = 20_000; // largest number of steps that is counted
const SLICE = 200; // steps between two yields
// The largest gap of equal paths, relative to max(1, ‖W‖). Rounding is below 1e-12, true differences above 1e-4.
const TOGETHER = 1e-9;

/**
 * The meaning of each method: an update rule, a decay, and `linear`, true if its steps are linear in W.
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
 * The largest gap. NaN, the gap after a path has overflowed, counts as the largest.
 *
 * @param {number[]} gap
 */
export const widest = (gap) => gap.reduce((most, v) => (v <= most ? most : v), 0);

/**
 * The gradient for the update rule of a path, in the path's own coordinates.
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
 * One path. `w` is its current vec W, and `advance()` takes one step.
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
 * The step size of each path: the best fixed one, or the same fraction of the largest stable one of each path. Adam and
 * Muon have a given step size.
 *
 * @type {(settings: Settings, problem: Problem) => Record<Kind, number>}
 */
export function stepSizes(settings, problem) {
  const { method, momentum, lambda, share, best, rate } = settings;
  const { rule, decay, linear } = METHODS[method];
  if (!linear) return { plain: rate, reparameterised: rate, explicit: rate };
  const curvature = curvatures(problem, decay, lambda);
  /** @param {Vector} values */
  const size = (values) =>
    best ? bestStep(rule, momentum, values) : share * largestStep(rule, momentum, values);
  const shared = size(curvature.preconditioned);
  return { plain: size(curvature.plain), reparameterised: shared, explicit: shared };
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
 * The run of `steps` steps along the three paths, with the gap between the last two after each step.
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

const ROUNDED = 1e-12; // distance of a start that is the end, up to rounding errors

/**
 * True if no formula gives the end of the path: with a singular P, Adam with P times the gradient leaves the places
 * that U reaches.
 *
 * @type {(kind: Kind, settings: Settings) => boolean}
 */
export const isLost = (kind, { method, rankT, rankV }) =>
  kind === "explicit" && METHODS[method].rule === "adam" && Math.min(rankT, rankV) === 1;

/**
 * Counts the steps of each path until its distance from its end is at most the tolerance times the initial distance.
 * Yields every SLICE steps, then returns one count per path: null if there are more than MOST, Infinity if the path
 * diverges, and NaN if its end is not known.
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
    const here = start < ROUNDED ? 0 : null;
    counts[kind] = isLost(kind, settings) ? Number.NaN : here;
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
 * The fate of the two paths: "away" (the step is too long), "together", "known" (they separate, by an amount that a
 * formula gives) or "apart".
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
