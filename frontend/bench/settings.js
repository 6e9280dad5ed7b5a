// The reader's settings: pairs of a key and a value, the way to write them, and the way to read them.
import RULES from "../../src/rankone_book/widgets/settings/bench.json" with { type: "json" };
import { within } from "../kit/address.js";
import { bounded } from "../kit/number.js";
import { key, normal } from "../math/random.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Kernel } from "./math/kernels.js" */

/** @typedef {"line" | "plane"} View */
/** A key, and its value's offset from the truth, without noise. @typedef {[x: number, y: number, off: number]} Pair */
/**
 * @typedef {{
 *   view: View, pairs: Pair[], way: number, divide: boolean, width: number, noise: number, kernel: Kernel, Y: number,
 *   omega: number, rounds: number, backward: boolean, seed: number,
 * }} Settings
 */
/** `count` adds pairs at free places or drops the last ones. @typedef {Partial<Settings> & { count?: number }} Patch */

export const REACH = 1.3;
export const HIGH = 2; // the largest value that can be set by dragging and that is drawn
export const MOST = RULES.points.pairs.most;
export const YS = RULES.choices.Y; // 0 is the kernel itself
export const ROUNDS = RULES.choices.rounds;
export const WIDTHS = RULES.numbers.width;

/** True if an address may set this value. */
export const admits = within(RULES);

/**
 * The function that the pairs are taken from, over the plane; on the line y = 0.
 *
 * @type {(at: Point) => number}
 */
export const truth = ([x, y]) => 0.8 * Math.sin(4 * x) * Math.cos(2 * y);

/** Six keys close together, and four far apart. @type {Pair[]} */
const CROWD = [
  [-0.9, -0.1, 0],
  [-0.8, 0.15, 0],
  [-0.7, -0.25, 0],
  [-0.6, 0.05, 0],
  [-0.5, 0.3, 0],
  [-0.4, -0.15, 0],
  [-0.05, 0.8, 0],
  [0.25, -0.7, 0],
  [0.55, 0.35, 0],
  [0.85, -0.3, 0],
];

export const crowd = () => CROWD.map((pair) => /** @type {Pair} */ ([...pair]));

const LONG = 8; // the number of values of y, which then repeat
/** n keys, evenly spaced in x and spread in y. @type {(n: number, from?: number, to?: number) => Pair[]} */
export const evenly = (n, from = -1.2, to = 1.2) =>
  Array.from({ length: n }, (_, i) => {
    const x = from + ((to - from) * i) / Math.max(n - 1, 1);
    return [Number(x.toFixed(2)), [-0.7, 0.5, -0.1, 0.9, -0.4, 0.2, -0.9, 0.7][i % LONG], 0];
  });

/** @type {Settings} */
export const DEFAULTS = {
  view: "line",
  pairs: crowd(),
  way: 1,
  divide: false,
  width: 0.3,
  noise: 0,
  kernel: "laplace",
  Y: 0,
  omega: 4,
  rounds: 1,
  backward: false,
  seed: 0,
};

/** @type {(pair: Pair) => Pair} */
const inside = ([x, y, off]) => [
  bounded(x, -REACH, REACH),
  bounded(y, -REACH, REACH),
  bounded(off, -3, 3),
];

/** The settings after a change. @type {(settings: Settings, patch: Patch) => Settings} */
export function nextSettings(settings, { count, ...patch }) {
  const next = { ...settings, ...patch };
  if (count !== undefined) next.pairs = counted(next.pairs, count);
  next.pairs = (next.pairs.length ? next.pairs : DEFAULTS.pairs).slice(0, MOST).map(inside);
  return next;
}

/** @type {(pairs: Pair[], count: number) => Pair[]} */
function counted(pairs, count) {
  const result = pairs.slice(0, count);
  for (const place of [...crowd(), ...evenly(13)]) {
    const free = result.every(([x, y]) => Math.hypot(x - place[0], y - place[1]) > 0.05);
    if (result.length < count && free) result.push(place);
  }
  return result;
}

/** @param {object} [given] */
export const settingsFrom = (given = {}) => nextSettings(DEFAULTS, given);

/** The keys; on the line their y is 0. @type {(settings: Pick<Settings, "view" | "pairs">) => Point[]} */
export const keysOf = ({ view, pairs }) => pairs.map(([x, y]) => [x, view === "line" ? 0 : y]);

/** Standard normal noise, one number per pair. @param {number} seed */
const noises = (seed) => normal(key(seed), MOST);

/** The value stored at each key: the truth, plus the reader's offset, plus noise. @param {Settings} settings */
export function valuesOf(settings) {
  const drawn = noises(settings.seed);
  return keysOf(settings).map(
    (at, i) => truth(at) + settings.pairs[i][2] + settings.noise * drawn[i],
  );
}

const NEAR = 0.05; // a value dragged this near to the truth snaps to it

/**
 * The pairs after the reader drags pair i to `to`. In the plane this moves its key, on the line its key and its value.
 *
 * @type {(settings: Settings, i: number, to: Point) => Pair[]}
 */
export function moved(settings, i, to) {
  const [x, y] = to;
  if (settings.view === "plane") return replaced(settings, i, ([, , off]) => [x, y, off]);
  const off = y - truth([x, 0]) - settings.noise * noises(settings.seed)[i];
  return replaced(settings, i, (pair) => [x, pair[1], Math.abs(off) < NEAR ? 0 : off]);
}

/** The pairs with another offset for pair i. @type {(settings: Settings, i: number, off: number) => Pair[]} */
export const withOffset = (settings, i, off) => replaced(settings, i, ([x, y]) => [x, y, off]);

/** @type {(settings: Settings, i: number, change: (pair: Pair) => Pair) => Pair[]} */
const replaced = ({ pairs }, i, change) => pairs.map((pair, j) => (i === j ? change(pair) : pair));
