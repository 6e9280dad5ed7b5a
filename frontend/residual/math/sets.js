// The data sets of the line and of the plane, and the model fitted to one: the base, and the residuals for the memory.
import { dot } from "../../math/linear.js";
import * as random from "../../math/random.js";
import { constrainedErm, logistic, probability } from "./bases.js";
import { classOf, sampleBall, sampleSquare } from "./sample.js";

/** @import { Key } from "../../math/random.js" */

/** @typedef {ReturnType<typeof drawLine>} LineSet */
/** @typedef {ReturnType<typeof drawPlane>} PlaneSet */
/** @typedef {ReturnType<typeof fitLine>} LineFit */
/** @typedef {ReturnType<typeof fitPlane>} PlaneFit */

/**
 * A data set of the line: n points in d dimensions, clean targets, and noise of variance 1, which the settings scale.
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
 * A data set of the plane: n points, their true classes, and `order`, uniform numbers; a label is flipped if its number
 * is below the fraction of flips.
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
