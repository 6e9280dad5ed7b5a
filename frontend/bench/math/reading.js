// Readings of the memory, R X κ(K, q), undivided or divided by 1ᵀX κ(K, q): their values, the interference between
// pairs, and their errors [W-ratio].

/** @import { Matrix } from "../../math/linear.js" */

/** R X and 1ᵀX, one number per pair. @typedef {{ coefficients: Float64Array, ones: Float64Array }} Written */

/**
 * @param {ArrayLike<number>} R
 * @param {Matrix} X
 * @returns {Written}
 */
export function written(R, X) {
  const coefficients = new Float64Array(X.length);
  const ones = new Float64Array(X.length);
  X.forEach((row, i) => {
    row.forEach((v, j) => {
      coefficients[j] += R[i] * v;
      ones[j] += v;
    });
  });
  return { coefficients, ones };
}

/**
 * The reading at queries; `weights` are κ(K, q), one row per pair.
 *
 * @type {(written: Written, weights: Float64Array[], divide: boolean) => Float64Array}
 */
export function readings({ coefficients, ones }, weights, divide) {
  const out = summed(coefficients, weights);
  if (!divide) return out;
  const below = summed(ones, weights);
  return out.map((v, q) => v / below[q]);
}

/** @type {(coefficients: Float64Array, weights: Float64Array[]) => Float64Array} */
export function summed(coefficients, weights) {
  const out = new Float64Array(weights[0].length);
  weights.forEach((row, i) => {
    for (let q = 0; q < out.length; q++) out[q] += coefficients[i] * row[q];
  });
  return out;
}

/**
 * The fraction of a residual stored at one key (row) that is read at another (column): XS, with each column divided by
 * its sum if the reading is divided.
 *
 * @type {(XS: Matrix, divide: boolean) => Matrix}
 */
export function interference(XS, divide) {
  if (!divide) return XS;
  const sums = XS[0].map((_, j) => XS.reduce((sum, row) => sum + row[j], 0));
  return XS.map((row) => row.map((v, j) => v / sums[j]));
}

/** @type {(a: ArrayLike<number>, b: ArrayLike<number>) => number} */
export function rootMeanSquare(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum / a.length);
}

/**
 * ρ, the largest sum of |κ| between one key and all others [W-dilute].
 *
 * @param {ArrayLike<number>[]} S
 */
export const overlap = (S) =>
  Math.max(
    ...S.map((row, i) =>
      Array.from(row).reduce((sum, s, j) => sum + (i === j ? 0 : Math.abs(s)), 0),
    ),
  );

/**
 * The bound ρ/(1 − ρ) on the difference between writing at once and writing in sequence or exactly [W-dilute].
 *
 * @type {(rho: number) => number}
 */
export const diluteBound = (rho) => (rho < 1 ? rho / (1 - rho) : Number.POSITIVE_INFINITY);

/**
 * Root mean squared error that Y features add to the divided batch reading, to first order in 1/Y, averaged over the
 * queries. The law is `rankone.theory.soft_neighbours.ratio_error` [W-knn]. `mirrored(q)` is κ(kᵢ, 2q − kⱼ).
 *
 * @param {{
 *   R: ArrayLike<number>, S: Float64Array[], weights: Float64Array[], mirrored(q: number): Float64Array[], Y: number,
 * }} of
 */
export function ratioError({ R, S, weights, mirrored, Y }) {
  const n = weights[0].length;
  const one = { coefficients: Float64Array.from(R), ones: new Float64Array(S.length).fill(1) };
  const f = readings(one, weights, true);
  let sum = 0;
  for (let q = 0; q < n; q++) {
    const across = mirrored(q);
    const total = weights.reduce((all, row) => all + row[q], 0);
    let square = 0;
    for (let i = 0; i < S.length; i++) {
      for (let j = 0; j < S.length; j++) {
        square += (R[i] - f[q]) * (R[j] - f[q]) * (S[i][j] + across[i][j]);
      }
    }
    sum += square / (2 * Y * total * total);
  }
  return Math.sqrt(sum / n);
}
