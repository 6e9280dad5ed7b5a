// The reader's settings, and the quantities that follow from them.
import RULES from "../../src/rankone_book/widgets/settings/landscape.json" with { type: "json" };
import { within } from "../kit/address.js";
import { bounded } from "../kit/number.js";
import { Estimate, frequenciesOf } from "../math/plane/estimate.js";
import { Exact } from "../math/plane/exact.js";
import { descend } from "./math/runs.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Basis, Frequencies } from "../math/plane/estimate.js" */
/** @import { Runs } from "./math/runs.js" */

/**
 * The view: the exact landscape, both landscapes, or both with the tube around the exact run.
 *
 * @typedef {"exact" | "both" | "tube"} View
 */
/**
 * @typedef {{
 *   view: View, patterns: Point[], query: Point, beta: number, Y: number, seed: number, basis: Basis, eta: number,
 *   steps: number,
 * }} Settings
 */
/** @typedef {Partial<Settings> & { count?: number }} Patch */
/** The consequences of the settings. `rests` is the number of minima found, `least` the lowest energy at one. */
/** @typedef {{ exact: Exact, copy: Estimate | null, runs: Runs, rests: number, least: number, kappa: number }} Consequences */

export const REACH = 1.3;
export const MOST = RULES.points.patterns.most;
export const YS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

const known = within(RULES);

/**
 * True if an address may set this name to this value. It may not set the view, which each place in the book fixes.
 *
 * @type {(name: string, value: any) => boolean}
 */
export const admits = (name, value) => name !== "view" && known(name, value);

/** @type {Point[]} */
const PLACES = [
  [0.5, 0],
  [-0.5, 0],
  [0, 0.85],
  [0.1, -0.8],
  [-0.9, 0.75],
  [0.95, 0.8],
  [-0.85, -0.85],
  [0.95, -0.75],
];

/** @type {(n: number) => Point[]} */
export const places = (n) => PLACES.slice(0, n);

/** @type {Settings} */
export const DEFAULTS = {
  view: "both",
  patterns: places(4),
  query: [-0.15, 0.35],
  beta: 12,
  Y: 256,
  seed: 0,
  basis: "sincos",
  eta: 0.2,
  steps: 40,
};

/** @type {(p: Point) => Point} */
const inside = ([x, y]) => [bounded(x, -REACH, REACH), bounded(y, -REACH, REACH)];

/**
 * The settings after a change. `count` adds patterns at free places, or removes the last ones.
 *
 * @type {(settings: Settings, patch: Patch) => Settings}
 */
export function nextSettings(settings, { count, ...patch }) {
  const next = { ...settings, ...patch };
  if (count !== undefined) next.patterns = counted(next.patterns, count);
  next.patterns = next.patterns.slice(0, MOST).map(inside);
  next.query = inside(next.query);
  return next;
}

/** @type {(patterns: Point[], count: number) => Point[]} */
function counted(patterns, count) {
  const chosen = patterns.slice(0, count);
  for (const place of PLACES) {
    const free = chosen.every((p) => Math.hypot(p[0] - place[0], p[1] - place[1]) > 0.25);
    if (chosen.length < count && free) chosen.push(place);
  }
  return chosen;
}

/** @param {object} [given] */
export const settingsFrom = (given = {}) => nextSettings(DEFAULTS, given);

/** @type {{ key: string, frequencies: Frequencies }} */
let last = {
  key: "",
  frequencies: { x: new Float64Array(), y: new Float64Array(), phase: new Float32Array() },
};

/**
 * The Y frequencies of a seed; the latest ones are cached.
 *
 * @type {(Y: number, seed: number) => Frequencies}
 */
function frequencies(Y, seed) {
  const key = `${Y} ${seed}`;
  if (key !== last.key) last = { key, frequencies: frequenciesOf(Y, seed) };
  return last.frequencies;
}

/**
 * @param {Settings} settings
 * @returns {Consequences}
 */
export function consequences({ view, patterns, query, beta, Y, seed, basis, eta, steps }) {
  const exact = new Exact(patterns, beta);
  const common = { patterns, beta, basis };
  const copy =
    view === "exact" ? null : new Estimate({ ...common, frequencies: frequencies(Y, seed) });
  return {
    exact,
    copy,
    runs: descend({ exact, copy, query, eta, steps }),
    ...restsOf(exact),
    kappa: (beta * diameterOf(patterns) ** 2) / 4,
  };
}

/** @param {Point[]} patterns */
export function diameterOf(patterns) {
  let diameter = 0;
  for (const a of patterns) {
    for (const b of patterns) diameter = Math.max(diameter, Math.hypot(a[0] - b[0], a[1] - b[1]));
  }
  return diameter;
}

/** @type {(a: Point, b: Point) => number} */
const between = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

/**
 * The place where the descent from x ends, with steps of size 1. Near a merger of two basins these steps are very
 * short, so Newton's step is taken where it is short too and lowers the energy.
 *
 * @type {(exact: Exact, x: Point) => Point}
 */
function restFrom(exact, x) {
  for (let t = 0; t < 500; t++) {
    const [u, v] = exact.gradient(x);
    if (Math.hypot(u, v) < 1e-9) break;
    const [a, b, d] = exact.hessian(x);
    const det = a * d - b * b;
    /** @type {Point} */
    const newton = [x[0] - (d * u - b * v) / det, x[1] - (a * v - b * u) / det];
    const isSafe = a > 0 && det > 0 && between(newton, x) < 0.1;
    x = isSafe && exact.energy(newton) <= exact.energy(x) ? newton : [x[0] - u, x[1] - v];
  }
  return x;
}

/**
 * The number of places where descents from the patterns end, and the lowest energy there.
 *
 * @param {Exact} exact
 */
function restsOf(exact) {
  /** @type {Point[]} */
  const rests = [];
  for (const pattern of exact.patterns) {
    const x = restFrom(exact, pattern);
    if (rests.every((other) => between(other, x) > 0.01)) rests.push(x);
  }
  return { rests: rests.length, least: Math.min(...rests.map((x) => exact.energy(x))) };
}
