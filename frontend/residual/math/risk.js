// Risks measured on random data: base, neighbours alone, and base plus memory, against the clean truth.
import { dot } from "../../kit/linear.js";
import * as random from "../../kit/random.js";
import { constrainedErm, logistic, probability } from "./bases.js";
import { Neighbours } from "./memory.js";
import { classOf, sampleBall, sampleSquare } from "./sample.js";

/** @import { Key } from "../../kit/random.js" */
/** @import { Settings } from "../settings.js" */

/** @typedef {"line" | "plane"} View */
/** @typedef {"base" | "neighbours" | "memory"} Model */
/** @typedef {Record<Model, number>} Risks */
/** @typedef {ReturnType<typeof drawLine>} LineSet */
/** @typedef {ReturnType<typeof drawPlane>} PlaneSet */
/** @typedef {ReturnType<typeof fitLine>} LineFit */
/** @typedef {ReturnType<typeof fitPlane>} PlaneFit */

const ALL = [
  2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072,
  4096,
];

/**
 * Numbers of examples that are measured: fewer in the plane, whose base model is slow to fit.
 *
 * @param {View} view
 */
export const sizesOf = (view) => (view === "line" ? ALL : ALL.filter((n) => n <= 1024));

const QUERIES = 50; // test points of one data set
const SIDE = 20; // test points along each side of the square
const WORK = { line: 8e6, plane: 4e6 }; // distances computed for one size
/** @type {Model[]} */
export const MODELS = ["base", "neighbours", "memory"];

/**
 * A data set of the line's model: n points in d dimensions, clean targets, and unit noise to scale.
 *
 * @param {Key} key
 * @param {number} n
 * @param {number} d
 */
export function drawLine(key, n, d) {
  const [points, noise] = random.split(key);
  const X = sampleBall(points, n, d);
  const truth = Float64Array.from({ length: n }, (_, i) => X[i * d]); // θ* is the first axis
  return { X, n, d, truth, unit: random.normal(noise, n) };
}

/**
 * The model fitted to a data set: θ, the labels, and the residuals that are stored.
 *
 * @param {LineSet} set
 * @param {{ L: number, noise: number }} settings
 */
export function fitLine({ X, n, d, truth, unit }, { L, noise }) {
  const y = truth.map((v, i) => v + Math.sqrt(noise) * unit[i]);
  const theta = constrainedErm(X, y, d, L);
  const residuals = y.map((v, i) => v - dot(theta, X, i * d));
  return { theta, y, residuals, n };
}

/**
 * A data set of the plane's: n points, clean classes, and the order in which noise flips them.
 *
 * @param {Key} key
 * @param {number} n
 */
export function drawPlane(key, n) {
  const [points, order] = random.split(key);
  const X = sampleSquare(points, n);
  const truth = Uint8Array.from({ length: n }, (_, i) => classOf(X[2 * i], X[2 * i + 1]));
  return { X, n, d: 2, truth, order: random.uniform(order, n) };
}

/**
 * @param {PlaneSet} set
 * @param {{ L: number, flips: number }} settings
 */
export function fitPlane({ X, n, truth, order }, { L, flips }) {
  const y = truth.map((c, i) => (order[i] < flips ? 1 - c : c));
  const w = logistic(X, y, L);
  const residuals = Float64Array.from(y, (c, i) => c - probability(w, X[2 * i], X[2 * i + 1]));
  return { w, y, residuals, n };
}

/**
 * Means over data sets of the three risks, for each level of noise on the same data: yields after each data set, and
 * returns [{ base, neighbours, memory, repetitions }, …].
 *
 * @param {Settings} settings
 * @param {number} n
 * @param {number[]} levels
 * @returns {Generator<void, (Risks & { repetitions: number })[], void>}
 */
export function* measure(settings, n, levels) {
  const { view, d, seed } = settings;
  const line = view === "line";
  const cost = line ? n * QUERIES * d : n * SIDE * SIDE * 2;
  const [least, most] = line ? [6, 40] : [4, 12];
  const repetitions = Math.round(Math.max(least, Math.min(most, WORK[view] / cost)));
  const totals = levels.map(() => ({ base: 0, neighbours: 0, memory: 0 }));
  const keys = random.split([n, seed], repetitions);
  for (const key of keys) {
    const found = line ? onceLine(key, n, settings, levels) : oncePlane(key, n, settings, levels);
    found.forEach((risks, i) => {
      for (const model of MODELS) totals[i][model] += risks[model] / repetitions;
    });
    yield;
  }
  return totals.map((risks) => ({ ...risks, repetitions }));
}

/** @type {(key: Key, n: number, settings: Settings, levels: number[]) => Risks[]} */
function onceLine(key, n, { d, L, k, sigma }, levels) {
  const [data, test] = random.split(key);
  const set = drawLine(data, n, d);
  const queries = sampleBall(test, QUERIES, d);
  const search = new Neighbours(set.X, n, d, k);
  const fits = levels.map((noise) => fitLine(set, { L, noise }));
  const risks = levels.map(() => ({ base: 0, neighbours: 0, memory: 0 }));
  for (let q = 0; q < QUERIES; q++) {
    search.find(queries, q * d).weigh(sigma);
    const truth = queries[q * d];
    fits.forEach(({ theta, y, residuals }, i) => {
      const base = dot(theta, queries, q * d);
      risks[i].base += (base - truth) ** 2 / QUERIES;
      risks[i].neighbours += (search.read(y) - truth) ** 2 / QUERIES;
      risks[i].memory += (base + search.read(residuals) - truth) ** 2 / QUERIES;
    });
  }
  return risks;
}

/** @type {(key: Key, n: number, settings: Settings, levels: number[]) => Risks[]} */
function oncePlane(key, n, { L, k, sigma }, levels) {
  const set = drawPlane(key, n);
  const search = new Neighbours(set.X, n, 2, k);
  const fits = levels.map((flips) => fitPlane(set, { L, flips }));
  const risks = levels.map(() => ({ base: 0, neighbours: 0, memory: 0 }));
  for (let q = 0; q < SIDE * SIDE; q++) {
    /** @type {[number, number]} */
    const at = [(2 * ((q % SIDE) + 0.5)) / SIDE - 1, (2 * (Math.floor(q / SIDE) + 0.5)) / SIDE - 1];
    search.find(at, 0).weigh(sigma);
    const truth = classOf(...at);
    /** @param {number} score */
    const wrong = (score) => Number(score > 0.5 !== (truth === 1)) / SIDE ** 2;
    fits.forEach(({ w, y, residuals }, i) => {
      const base = probability(w, ...at);
      risks[i].base += wrong(base);
      risks[i].neighbours += wrong(search.read(y));
      risks[i].memory += wrong(base + search.read(residuals));
    });
  }
  return risks;
}
