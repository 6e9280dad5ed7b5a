// One pair written into a linear memory: the direction of the change, the change, and its interference with every key.
import {
  dot,
  eigen2,
  minus,
  norm,
  plusDiagonal,
  plusOuter,
  scaled,
  solvePositive,
  times,
} from "../../math/linear.js";

/** @import { Point } from "../../kit/handle.js" */
/** @import { Matrix, Vector } from "../../math/linear.js" */
/** @typedef {"keys" | "identity" | "pinv"} Geometry */
/** @typedef {{ geometry?: Geometry, ridge?: number }} Options */
/** @typedef {NonNullable<ReturnType<typeof rankOne>>} Edit */

/** @type {[Geometry, string][]} */
export const GEOMETRIES = [
  ["keys", "C = Σkkᵀ"],
  ["identity", "C = I"],
  ["pinv", "C⁺: pseudo-inverse"],
];
const FLAT = 1e-12; // fraction of the larger eigenvalue below which a 2×2 C is singular

/**
 * Σ kkᵀ of the first `used` keys, scaled up to stand for all of them.
 *
 * @type {(keys: Vector[], used?: number) => Matrix}
 */
export function moments(keys, used = keys.length) {
  const D = keys[0].length;
  /** @type {Matrix} */
  let C = Array.from({ length: D }, () => new Array(D).fill(0));
  for (const k of keys.slice(0, used)) C = plusOuter(C, scaled(k, keys.length / used), k);
  return C;
}

/**
 * u = C⁻¹k in the chosen geometry, or null if that needs an inverse and C + ridge·I is singular.
 *
 * @type {(C: Matrix, k: Vector, options?: Options) => Vector | null}
 */
export function direction(C, k, { geometry = "keys", ridge = 0 } = {}) {
  if (geometry === "identity") return k.slice();
  if (geometry === "pinv") return pseudoSolve(C, k);
  return solvePositive(plusDiagonal(C, ridge), k);
}

/**
 * (C⁺)k for a 2×2 C.
 *
 * @type {(C: Matrix, k: Vector) => Vector}
 */
export function pseudoSolve(C, k) {
  const { values, vectors } = eigen2(C);
  return values.reduce(
    (u, value, i) =>
      value > FLAT * values[0]
        ? u.map((v, j) => v + (dot(vectors[i], k) / value) * vectors[i][j])
        : u,
    k.map(() => 0),
  );
}

/**
 * The rank-one edit of W along u that answers k with v: { left, right, residual, reach, W }, or null if there is no u
 * or uᵀk = 0.
 *
 * @param {Matrix} W
 * @param {Vector | null} u
 * @param {Vector} k
 * @param {Vector} v
 */
export function rankOne(W, u, k, v) {
  if (!u) return null;
  const reach = dot(u, k);
  if (!(Math.abs(reach) > 1e-12 * norm(k) * norm(u))) return null;
  const residual = minus(v, times(W, k));
  const left = scaled(residual, 1 / reach);
  return { left, right: u, residual, reach, W: plusOuter(W, left, u) };
}

/**
 * ‖r‖·|uᵀk_j|/(uᵀk) for each key: the exact law of the interference.
 *
 * @type {(edit: Pick<Edit, "residual" | "right" | "reach">, keys: Vector[]) => Vector}
 */
export const interferenceLaw = (edit, keys) =>
  keys.map((key) => (norm(edit.residual) * Math.abs(dot(edit.right, key))) / Math.abs(edit.reach));

/**
 * ‖(Ŵ − W)k_j‖ for each key, from the two matrices.
 *
 * @type {(before: Matrix, after: Matrix, keys: Vector[]) => Vector}
 */
export const interference = (before, after, keys) =>
  keys.map((key) => norm(minus(times(after, key), times(before, key))));

/** @param {Vector} values */
export const sumOfSquares = (values) => dot(values, values);

/**
 * The least interference of any edit that writes this residual at k, on these keys: ‖r‖²/kᵀC⁻¹k, or 0 if k is not in
 * their span.
 *
 * @type {(keys: Vector[], k: Vector, residual: Vector) => number}
 */
export function leastInterference(keys, k, residual) {
  const C = moments(keys);
  const { values, vectors } = eigen2(C);
  const flat = values[1] <= FLAT * values[0];
  if (flat && Math.abs(dot(vectors[1], k)) > 1e-9 * norm(k)) return 0;
  const u = (flat ? null : solvePositive(C, k)) ?? pseudoSolve(C, k);
  return sumOfSquares(residual) / dot(k, u);
}

/**
 * h = kᵀC⁻¹k, with C from the keys: the leverage of k if it is one of them.
 *
 * @type {(keys: Vector[], k: Vector) => number}
 */
export function leverage(keys, k) {
  return dot(k, pseudoSolve(moments(keys), k));
}
