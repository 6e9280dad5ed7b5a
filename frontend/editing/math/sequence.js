// Edits one after another, and the residual of each pair after every edit.
import { dot, minus, norm, plusOuter, scaled, times } from "../../math/linear.js";
import { key, normal, split } from "../../math/random.js";
import { direction, rankOne } from "./edit.js";

/** @import { Matrix, Vector } from "../../math/linear.js" */
/** @import { Options } from "./edit.js" */
/** @typedef {{ k: Vector, v: Vector }} Pair */

/**
 * Writes pairs[order[0]], pairs[order[1]], … into W with the direction that the options choose. Each written key enters
 * C with the weight `beta`. Returns { W, C, residuals }: residuals[t][i] is ‖v_i − W_t k_i‖ after t edits.
 * An edit that cannot be made changes nothing.
 *
 * @param {Matrix} W
 * @param {Matrix} C
 * @param {Pair[]} pairs
 * @param {number[]} order
 * @param {Options & { beta?: number }} [options]
 */
export function inSequence(W, C, pairs, order, { beta = 0, ...options } = {}) {
  const look = () => pairs.map(({ k, v }) => norm(minus(v, times(W, k))));
  const residuals = [look()];
  for (const i of order) {
    const { k, v } = pairs[i];
    const edit = rankOne(W, direction(C, k, options), k, v);
    if (edit) {
      W = edit.W;
      if (beta > 0) C = plusOuter(C, scaled(k, beta), k);
    }
    residuals.push(look());
  }
  return { W, C, residuals };
}

/**
 * cos²θ of two keys in the geometry of C⁻¹: the factor by which a round of two alternating edits shrinks the error.
 *
 * @type {(C: Matrix, a: Vector, b: Vector, options?: Options) => number | null}
 */
export function cosineSquared(C, a, b, options) {
  const [u, w] = [direction(C, a, options), direction(C, b, options)];
  return u && w ? dot(u, b) ** 2 / (dot(u, a) * dot(w, b)) : null;
}

/**
 * Mean squared residual of edit t of T, in D dimensions: (1 − e^(−(T−t)/D))(2 − e^(−T/D)).
 *
 * @type {(t: number, T: number, D: number) => number}
 */
export const forgettingLaw = (t, T, D) => (1 - Math.exp(-(T - t) / D)) * (2 - Math.exp(-T / D));

/**
 * T random pairs written one after another into an empty memory with C = I: the mean squared residual of each at
 * the end, per output. Keys are uniform on the unit sphere, values standard normal; the mean is over `runs` draws
 * of all keys and `outputs` rows of W in each.
 *
 * @param {{ D: number, T: number, seed: number, runs?: number, outputs?: number }} options
 */
export function manyEdits({ D, T, seed, runs = 6, outputs = 24 }) {
  /** @type {Vector} */
  const left = new Array(T).fill(0);
  for (const forRun of split(key(seed), runs)) {
    const [forKeys, forValues] = split(forRun);
    const K = rows(normal(forKeys, T * D), T, D).map((k) => scaled(k, 1 / norm(k)));
    const V = rows(normal(forValues, T * outputs), T, outputs);
    oneRun(K, V).forEach((square, t) => {
      left[t] += square / runs;
    });
  }
  return left;
}

/** @type {(K: Vector[], V: Vector[]) => Vector} */
function oneRun(K, V) {
  const [D, outputs] = [K[0].length, V[0].length];
  const W = Array.from({ length: outputs }, () => new Float64Array(D));
  K.forEach((k, t) => {
    W.forEach((row, h) => {
      const step = V[t][h] - dot(row, k); // ‖k‖ = 1
      for (let j = 0; j < D; j++) row[j] += step * k[j];
    });
  });
  return K.map(
    (k, t) => W.reduce((sum, row, h) => sum + (V[t][h] - dot(row, k)) ** 2, 0) / outputs,
  );
}

/** @type {(values: Float32Array, n: number, width: number) => Vector[]} */
const rows = (values, n, width) =>
  Array.from({ length: n }, (_, i) => [...values.subarray(i * width, (i + 1) * width)]);
