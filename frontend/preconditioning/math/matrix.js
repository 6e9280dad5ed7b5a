// Small dense matrices, at most 4 × 4: the operations for vecs and Kronecker products.
import { eliminate, times } from "../../math/linear.js";

/** @import { Matrix, Vector } from "../../math/linear.js" */

export { eigenvalues, identity, norm, times as apply } from "../../math/linear.js";

/** @type {(A: Matrix) => Matrix} */
export const transpose = (A) => A[0].map((_, j) => A.map((row) => row[j]));

/** @type {(A: Matrix, B: Matrix, ...more: Matrix[]) => Matrix} */
export function multiply(A, B, ...more) {
  const columns = transpose(B);
  const AB = A.map((row) => times(columns, row));
  const [next, ...others] = more;
  return next ? multiply(AB, next, ...others) : AB;
}

/** @type {(c: number, A: Matrix) => Matrix} */
export const scale = (c, A) => A.map((row) => row.map((a) => c * a));

/** @type {(A: Matrix, B: Matrix) => Matrix} */
export const add = (A, B) => A.map((row, i) => row.map((a, j) => a + B[i][j]));

/** @type {(values: Vector) => Matrix} */
export const diagonal = (values) => values.map((v, i) => values.map((_, j) => (i === j ? v : 0)));

/**
 * The Kronecker product B ⊗ A. It maps vec(X) to vec(A X Bᵀ), where vec stacks columns [K-vec].
 *
 * @type {(B: Matrix, A: Matrix) => Matrix}
 */
export const kron = (B, A) => B.flatMap((b) => A.map((a) => b.flatMap((x) => a.map((y) => x * y))));

/**
 * The columns of X, stacked.
 *
 * @type {(X: Matrix) => Vector}
 */
export const vec = (X) => transpose(X).flat();

/**
 * The matrix with `rows` rows whose vec is x.
 *
 * @type {(x: Vector, rows: number) => Matrix}
 */
export const unvec = (x, rows) =>
  Array.from({ length: rows }, (_, i) => x.filter((_, k) => k % rows === i));

/**
 * The rotation by `degrees`, counter-clockwise.
 *
 * @type {(degrees: number) => Matrix}
 */
export function rotation(degrees) {
  const turn = (((degrees % 360) + 360) % 360) / 90; // quarter turns are tabulated, because Math.sin(Math.PI) is not 0
  const [c, s] = Number.isInteger(turn)
    ? [[1, 0, -1, 0][turn], [0, 1, 0, -1][turn]]
    : [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return [
    [c, -s],
    [s, c],
  ];
}

/**
 * The solution x of A x = b.
 *
 * @type {(A: Matrix, b: Vector) => Vector}
 */
export const solve = (A, b) => eliminate(A.map((row, i) => [...row, b[i]])).flat();
