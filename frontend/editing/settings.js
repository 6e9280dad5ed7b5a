// The reader's settings, and everything that follows from them.

import { bounded } from "../kit/number.js";
import { dot, eigen2, identity, minus, norm, plusDiagonal, scaled, times } from "../math/linear.js";
import { key, normal } from "../math/random.js";
import {
  direction,
  interference,
  interferenceLaw,
  leastInterference,
  leverage,
  moments,
  rankOne,
  sumOfSquares,
} from "./math/edit.js";
import { cosineSquared, inSequence } from "./math/sequence.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Matrix } from "../math/linear.js" */
/** @import { Edit, Geometry } from "./math/edit.js" */

/** @typedef {typeof DEFAULTS} Settings */
/** @typedef {Partial<Settings> & { count?: number }} Patch */
/** @typedef {ReturnType<typeof consequences>} Consequences */
/** @typedef {{ keys: Point[], axes: Point[] }} Cloud */

export const REACH = 3;
export const MOST_PAIRS = 8;
export const MOST_STEPS = 16;
const SHORTEST = 0.03; // the reader cannot drag an axis shorter
const NOTHING = 1e-9; // length below which a key is zero

/**
 * n random keys in an oblong cloud.
 *
 * @type {(n: number, seed: number, axes?: Point, tilt?: number) => Point[]}
 */
export function cloud(n, seed, [long, short] = [1.5, 0.5], tilt = 0.5) {
  const draws = normal(key(seed), 2 * n);
  const [c, s] = [Math.cos(tilt), Math.sin(tilt)];
  return Array.from({ length: n }, (_, i) => {
    const [a, b] = [long * draws[2 * i], short * draws[2 * i + 1]];
    return [clip(c * a - s * b), clip(s * a + c * b)];
  });
}

/** @param {number} v */
const clip = (v) => Math.round(1000 * bounded(v, 0.1 - REACH, REACH - 0.1)) / 1000;

export const DEFAULTS = {
  keys: cloud(12, 4),
  W: [
    [0.7, -0.5],
    [0.3, 0.9],
  ],
  k: /** @type {Point} */ ([0.6, 1.4]),
  v: /** @type {Point} */ ([1.2, 0.4]),
  geometry: /** @type {Geometry} */ ("keys"),
  ridge: 0,
  used: 12,
  beta: 0,
  pairs: /** @type {{ k: Point, v: Point }[]} */ ([]),
  order: /** @type {number[]} */ ([]),
  dimension: 16,
  edits: 48,
  seed: 0,
};

/**
 * The defaults with a patch applied. If the patch sets the keys, C is computed from all of them unless it sets `used`.
 *
 * @param {Partial<Settings> | null} [given]
 */
export function settingsFrom(given) {
  const patch = given ?? {};
  const settings = { ...DEFAULTS, ...patch };
  if (patch.keys && !patch.used) settings.used = settings.keys.length;
  return settings;
}

/**
 * The settings after a patch: any settings by name, and `count`, the number of keys. New keys are drawn with the seed
 * `draws`. If C was computed from all keys, it still is.
 *
 * @type {(settings: Settings, patch: Patch, draws: number) => Settings}
 */
export function nextSettings(settings, { count, ...patch }, draws) {
  const next = { ...settings, ...patch };
  if (count) next.keys = resized(settings.keys, count, draws);
  const n = next.keys.length;
  const all = settings.used === settings.keys.length && patch.used === undefined;
  next.used = all ? n : Math.min(next.used, n);
  next.edits = Math.min(next.edits, 4 * next.dimension);
  next.order = next.order.filter((i) => i < next.pairs.length);
  return next;
}

/** @type {(keys: Point[], n: number, draws: number) => Point[]} */
const resized = (keys, n, draws) =>
  n <= keys.length ? keys.slice(0, n) : [...keys, ...cloud(n, draws).slice(keys.length)];

/**
 * All that the widget shows for one setting.
 *
 * @param {Settings} settings
 */
export function consequences(settings) {
  const { keys, k, v, used, geometry, ridge, beta, pairs, order } = settings;
  const options = { geometry, ridge };
  const C = moments(keys, used);
  const past = inSequence(settings.W, C, pairs, order, { ...options, beta });
  const u = direction(past.C, k, options);
  const edit = norm(k) < NOTHING ? null : rankOne(past.W, u, k, v);
  const residual = minus(v, times(past.W, k));
  const least = leastInterference(keys, k, residual);
  return {
    k,
    C: past.C,
    ellipse: geometry === "identity" ? identity(2) : plusDiagonal(past.C, ridge),
    W: past.W,
    past: past.residuals,
    residual,
    least,
    leverage: leverage(keys, k),
    among: keys.findIndex((other) => norm(minus(other, k)) < 1e-9),
    cosine: pairs.length === 2 ? cosineSquared(C, pairs[0].k, pairs[1].k, options) : null,
    edit,
    why: edit ? null : reason(settings, past.C, k),
    ...damage(edit, past.W, keys),
  };
}

/**
 * What is shown before the reader has predicted: the memory before any edit.
 *
 * @type {(settings: Settings, shown: Consequences) => Consequences}
 */
export const unseen = ({ W, k, v }, shown) => ({
  ...shown,
  W,
  residual: minus(v, times(W, k)),
  edit: null,
  past: shown.past.slice(0, 1),
  why: "Predict first, or press “Just show me”.",
  measured: [],
  law: [],
});

/** @type {(edit: Edit | null, before: Matrix, keys: Point[]) => { measured: number[], law: number[], total: number, lawTotal: number }} */
function damage(edit, before, keys) {
  if (!edit) return { measured: [], law: [], total: 0, lawTotal: 0 };
  const measured = interference(before, edit.W, keys);
  const law = interferenceLaw(edit, keys);
  return { measured, law, total: sumOfSquares(measured), lawTotal: sumOfSquares(law) };
}

/** @type {(settings: Settings, C: Matrix, k: Point) => string} */
function reason({ geometry, used, ridge }, C, k) {
  if (norm(k) < NOTHING) return "k* is zero: every linear memory answers zero with zero.";
  if (geometry === "pinv")
    return "k* is orthogonal to every key: the pseudo-inverse divides by zero.";
  const { values } = eigen2(C);
  if (values[1] < 1e-12 * values[0] && ridge === 0) {
    return `C is singular: ${used === 1 ? "it comes from a single key" : "the keys lie on a line"}. Add a ridge.`;
  }
  return "uᵀk* vanishes: no step along u can answer k*.";
}

/**
 * True if an axis is long enough to be dragged; if all keys lie on a line, only one is.
 *
 * @param {Point} axis
 */
export const isHeld = (axis) => norm(axis) > 0.6 * SHORTEST;

/**
 * The cloud, stretched and turned so that axis `which` ends at `to`. The other axis keeps its length and stays
 * perpendicular.
 *
 * @type {(cloud: Cloud, which: number, to: Point) => Cloud}
 */
export function stretched({ keys, axes }, which, to) {
  const [axis, other] = [axes[which], axes[1 - which]];
  if (!isHeld(axis)) return { keys, axes };
  const end = awayFromOrigin(to, axis);
  /** @type {Point} */
  const across = scaled([-end[1], end[0]], norm(other) / norm(end));
  const side = dot(across, other) < 0 ? scaled(across, -1) : across;
  /** @type {(key: Point, along: Point) => number} */
  const share = (key, along) => dot(key, along) / (dot(along, along) || 1);
  /** @type {Point[]} */
  const moved = keys.map((key) => {
    const [a, b] = [share(key, axis), share(key, other)];
    return [a * end[0] + b * side[0], a * end[1] + b * side[1]];
  });
  return { keys: moved, axes: which === 0 ? [end, side] : [side, end] };
}

/**
 * The new end of an axis. An end too near the origin would flatten the cloud, so it is moved off the origin, in the
 * direction of the drag.
 *
 * @type {(to: Point, from: Point) => Point}
 */
function awayFromOrigin(to, from) {
  if (norm(to) >= SHORTEST) return to;
  const way = minus(to, from);
  return scaled(way, SHORTEST / norm(way));
}

/**
 * Ends of the cloud's axes: its principal directions, two standard deviations long. The longer is the first, or, with
 * `before`, each has the index and the sign of the axis in `before` that it continues.
 *
 * @type {(keys: Point[], before?: Point[] | null) => Point[]}
 */
export function cloudAxes(keys, before = null) {
  const { values, vectors } = eigen2(moments(keys));
  const axes = vectors.map((vector, i) => scaled(vector, 2 * Math.sqrt(values[i] / keys.length)));
  if (!before) return axes;
  const [along, across] = before.map((axis) => Math.abs(dot(vectors[0], axis)) / (norm(axis) || 1));
  const placed = along < across ? axes.toReversed() : axes;
  return placed.map((axis, i) => (dot(axis, before[i]) < 0 ? scaled(axis, -1) : axis));
}
