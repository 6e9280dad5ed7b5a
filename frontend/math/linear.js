// Small dense matrices as arrays of rows, in double precision.

/** @typedef {number[]} Vector */
/** @typedef {number[][]} Matrix */

/**
 * aᵀb, or aᵀ times the entries of b from index `at` on.
 *
 * @type {(a: ArrayLike<number>, b: ArrayLike<number>, at?: number) => number}
 */
export function dot(a, b, at = 0) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[at + i];
  return sum;
}

/** @type {(a: ArrayLike<number>) => number} */
export const norm = (a) => Math.sqrt(dot(a, a));
/** @type {(A: Matrix, x: Vector) => Vector} */
export const times = (A, x) => A.map((row) => dot(row, x));
/** @type {<V extends Vector>(a: V, b: V) => V} */
export const minus = (a, b) => /** @type {typeof a} */ (a.map((v, i) => v - b[i]));
/** @type {<V extends Vector>(a: V, b: V) => V} */
export const plus = (a, b) => /** @type {typeof a} */ (a.map((v, i) => v + b[i]));
/** @type {<V extends Vector>(a: V, factor: number) => V} */
export const scaled = (a, factor) => /** @type {typeof a} */ (a.map((v) => factor * v));

/** @type {(n: number) => Matrix} */
export const identity = (n) =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Number(i === j)));

/**
 * A + left·rightᵀ.
 *
 * @type {(A: Matrix, left: Vector, right: Vector) => Matrix}
 */
export const plusOuter = (A, left, right) =>
  A.map((row, i) => row.map((v, j) => v + left[i] * right[j]));

/**
 * A + size·I.
 *
 * @type {(A: Matrix, size: number) => Matrix}
 */
export const plusDiagonal = (A, size) =>
  A.map((row, i) => row.map((v, j) => (i === j ? v + size : v)));

/**
 * x with Ax = b for symmetric positive definite A by Cholesky factorisation, or null if A is singular to working
 * precision. Reads only the lower triangle of A.
 *
 * @param {ArrayLike<number>[]} A
 * @param {ArrayLike<number>} b
 * @returns {Vector | null}
 */
export function solvePositive(A, b) {
  const n = b.length;
  const L = A.map((row) => Float64Array.from(row));
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let v = L[i][j];
      for (let k = 0; k < j; k++) v -= L[i][k] * L[j][k];
      L[i][j] = v;
    }
    if (!(L[j][j] > 1e-13 * A[j][j])) return null;
    const pivot = Math.sqrt(L[j][j]);
    for (let i = j; i < n; i++) L[i][j] /= pivot;
  }
  const x = Array.from(b);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
    x[i] /= L[i][i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k];
    x[i] /= L[i][i];
  }
  return x;
}

/**
 * A⁻¹B from the rows of [A | B] for a square A, by elimination with the largest pivot of each column; overwrites the
 * rows.
 *
 * @template {Vector | Float64Array} R
 * @param {R[]} rows
 * @returns {R[]}
 */
export function eliminate(rows) {
  const n = rows.length;
  for (let c = 0; c < n; c++) {
    let best = c;
    for (let r = c + 1; r < n; r++) {
      if (Math.abs(rows[r][c]) > Math.abs(rows[best][c])) best = r;
    }
    [rows[c], rows[best]] = [rows[best], rows[c]];
    for (let r = 0; r < n; r++) {
      if (r === c || rows[r][c] === 0) continue;
      const factor = rows[r][c] / rows[c][c];
      for (let k = c; k < rows[c].length; k++) rows[r][k] -= factor * rows[c][k];
    }
  }
  return rows.map((row, i) => /** @type {R} */ (row.slice(n).map((v) => v / row[i])));
}

/**
 * Eigenvalues and unit eigenvectors of a symmetric matrix by Jacobi rotations, until the matrix is diagonal. Column
 * j of `vectors` belongs to values[j]; the values are not sorted.
 *
 * @param {Matrix} S
 */
export function eigen(S) {
  const A = S.map((row) => [...row]);
  const n = A.length;
  const vectors = identity(n);
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        off += A[p][q] ** 2;
        rotate(A, vectors, p, q);
      }
    }
    if (off === 0) break;
  }
  return { values: A.map((row, i) => row[i]), vectors };
}

/** @type {(A: Matrix, vectors: Matrix, p: number, q: number) => void} */
function rotate(A, vectors, p, q) {
  if (A[p][q] === 0) return;
  const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  for (const row of [...A, ...vectors]) {
    [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
  }
  for (let k = 0; k < A.length; k++) {
    [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
  }
  A[p][q] = 0;
  A[q][p] = 0;
}

/**
 * Eigenvalues of a symmetric matrix, the largest first.
 *
 * @param {Matrix} S
 */
export const eigenvalues = (S) => eigen(S).values.sort((a, b) => b - a);

/**
 * Eigenvalues, the larger first and none negative, and unit eigenvectors of a symmetric 2 × 2 matrix.
 *
 * @param {Matrix} S
 */
export function eigen2([[a, b], [, d]]) {
  const middle = (a + d) / 2;
  const spread = Math.hypot((a - d) / 2, b);
  const angle = 0.5 * Math.atan2(2 * b, a - d);
  /** @type {[number, number]} */
  const first = [Math.cos(angle), Math.sin(angle)];
  /** @type {[number, number]} */
  const second = [-first[1], first[0]];
  return { values: [middle + spread, Math.max(middle - spread, 0)], vectors: [first, second] };
}
