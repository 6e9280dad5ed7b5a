// Points that are spread evenly in the space of tasks (x, Δ, x*), and units whose kinks pass through such points.
import { dot } from "../../math/linear.js";
import { LOW } from "./tables.js";

/** @typedef {[number, number, number]} Triple */
/**
 * A unit: its direction `a` in the space of the two written values and x*, and its offset `c`.
 *
 * @typedef {{ a: Triple, c: number }} Unit
 */
/** @typedef {{ point(x: number, u: number, xs: number): Triple, jacobian(x: number, u: number, xs: number): Triple[] }} Space */

export const SPAN = 1 - LOW;

/**
 * Points 1 to n of the additive quasirandom sequence whose steps are negative powers of a generalised golden ratio.
 *
 * @type {(n: number, dimensions: number) => number[][]}
 */
export function quasirandom(n, dimensions) {
  let g = 2;
  for (let i = 0; i < 60; i++) g = (1 + g) ** (1 / (dimensions + 1));
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: dimensions }, (_, d) => (0.5 + (i + 1) * g ** -(d + 1)) % 1),
  );
}

/**
 * The inverse of the normal distribution function, by bisection on its series to rounding.
 *
 * @param {number} p
 */
export function normalQuantile(p) {
  let [low, high] = [-9, 9];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normal(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * The normal distribution function ½ + φ(x)(x + x³/3 + x⁵/15 + …), accurate enough for the bisection.
 *
 * @param {number} x
 */
function normal(x) {
  let [term, sum] = [x, x];
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum) && k < 400; k += 2) {
    term *= (x * x) / k;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/**
 * The solution a of the 3 × 3 system Jᵀ a = d, by Cramer's rule.
 *
 * @type {(J: Triple[], d: number[]) => Triple}
 */
function solveTransposed(J, d) {
  /** @param {number[][]} A */
  const det = (A) =>
    A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) -
    A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) +
    A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
  const T = [0, 1, 2].map((r) => [0, 1, 2].map((c) => J[c][r]));
  const whole = det(T);
  /** @param {number} k */
  const entry = (k) => det(T.map((row, r) => row.map((v, c) => (c === k ? d[r] : v)))) / whole;
  return [entry(0), entry(1), entry(2)];
}

/**
 * Units whose kinks are spread evenly over the space of tasks (x, Δ, x*).
 *
 * @type {(units: number, space: Space, margin: number) => Unit[]}
 */
export function kinks(units, { point, jacobian }, margin) {
  return quasirandom(units, 6).map((u) => {
    /** @type {Triple} */
    const task = [u[0], u[1] * SPAN + margin, u[2]];
    const direction = [3, 4, 5].map((i) => normalQuantile(u[i]) / (i === 4 ? SPAN : 1));
    const a = solveTransposed(jacobian(...task), direction);
    const length = Math.hypot(...a);
    /** @type {Triple} */
    const unit = [a[0] / length, a[1] / length, a[2] / length];
    return { a: unit, c: -dot(unit, point(...task)) };
  });
}
