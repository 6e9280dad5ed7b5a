// The two base models, each deliberately too small: least squares in a ball, and a logistic model in a ball.
import { dot, eigen } from "../../math/linear.js";

/** @import { Matrix, Vector } from "../../math/linear.js" */

const HALVINGS = 80;
const STEPS = 200;
const STILL = 1e-6; // fraction of the radius; a step shorter than it ends the descent
const REACH = 14; // the logistic model's norm at capacity 1

/**
 * argmin ‖Xθ − y‖² over ‖θ‖ ≤ L, from the constraint's multiplier [S-eq28,29]. X has n rows of d numbers.
 *
 * @type {(X: ArrayLike<number>, y: ArrayLike<number>, d: number, L: number) => Vector}
 */
export function constrainedErm(X, y, d, L) {
  const n = y.length;
  /** @type {Matrix} */
  const Sigma = Array.from({ length: d }, () => Array(d).fill(0));
  /** @type {Vector} */
  const moment = Array(d).fill(0);
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < d; a++) {
      const v = X[i * d + a] / n;
      moment[a] += v * y[i];
      for (let b = 0; b <= a; b++) Sigma[a][b] += v * X[i * d + b];
    }
  }
  for (let a = 0; a < d; a++) for (let b = 0; b < a; b++) Sigma[b][a] = Sigma[a][b];
  const { values, vectors } = eigen(Sigma);
  const along = values.map((_, j) => moment.reduce((sum, m, i) => sum + m * vectors[i][j], 0));
  const least = 1e-12 * Math.max(...values); // directions without data, if there are fewer points than dimensions
  /** @param {number} lambda */
  const at = (lambda) =>
    along.map((v, j) => (values[j] <= least && lambda <= 0 ? 0 : v / (values[j] + lambda)));
  const theta = at(multiplier(at, Math.hypot(...along), L));
  return vectors.map((row) => row.reduce((sum, v, j) => sum + v * theta[j], 0));
}

/**
 * The least λ ≥ 0 at which ‖at(λ)‖ ≤ L, by bisection, because ‖at(λ)‖ decreases in λ.
 *
 * @type {(at: (lambda: number) => Vector, size: number, L: number) => number}
 */
function multiplier(at, size, L) {
  if (Math.hypot(...at(0)) <= L) return 0;
  if (L === 0) return Number.POSITIVE_INFINITY;
  let [low, high] = [0, size / L];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (Math.hypot(...at(middle)) > L) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * The features of a point in the logistic model: all monomials of its coordinates up to degree three.
 *
 * @type {(x: number, y: number) => Vector}
 */
export const featuresOf = (x, y) => [
  1,
  x,
  y,
  x * x,
  x * y,
  y * y,
  x ** 3,
  x * x * y,
  x * y * y,
  y ** 3,
];

/**
 * The weights w of a logistic regression on these features over ‖w‖ ≤ 14 L, by 200 steps of accelerated projected
 * gradient, or fewer if a step becomes invisibly short.
 *
 * @type {(X: ArrayLike<number>, labels: ArrayLike<number>, L: number) => Vector}
 */
export function logistic(X, labels, L) {
  const n = labels.length;
  const Phi = new Float64Array(10 * n);
  for (let i = 0; i < n; i++) Phi.set(featuresOf(X[2 * i], X[2 * i + 1]), 10 * i);
  const radius = REACH * L;
  const size = dot(Phi, Phi) / n;
  /** @type {Vector} */
  let w = Array(10).fill(0);
  let z = w;
  for (let t = 0; t < STEPS && radius > 0; t++) {
    const slope = slopeAt(Phi, labels, z);
    const next = project(
      z.map((v, j) => v - (4 / size) * slope[j]),
      radius,
    );
    const moved = Math.hypot(...next.map((v, j) => v - w[j]));
    z = next.map((v, j) => v + (t / (t + 3)) * (v - w[j]));
    w = next;
    if (moved < STILL * radius) break;
  }
  return w;
}

/** @type {(Phi: Float64Array, labels: ArrayLike<number>, w: Vector) => Float64Array} */
function slopeAt(Phi, labels, w) {
  const n = labels.length;
  const slope = new Float64Array(10);
  for (let i = 0; i < n; i++) {
    let score = 0;
    for (let j = 0; j < 10; j++) score += Phi[10 * i + j] * w[j];
    const error = (1 / (1 + Math.exp(-score)) - labels[i]) / n;
    for (let j = 0; j < 10; j++) slope[j] += error * Phi[10 * i + j];
  }
  return slope;
}

/** @type {(w: Vector, radius: number) => Vector} */
function project(w, radius) {
  const length = Math.hypot(...w);
  return length <= radius ? w : w.map((v) => (v * radius) / length);
}

/**
 * The probability of class 1 at a point.
 *
 * @type {(w: Vector, x: number, y: number) => number}
 */
export function probability(w, x, y) {
  const score = featuresOf(x, y).reduce((sum, v, j) => sum + v * w[j], 0);
  return 1 / (1 + Math.exp(-score));
}
