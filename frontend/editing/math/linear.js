// Small dense matrices as arrays of rows, in double precision.

export const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
export const norm = (a) => Math.sqrt(dot(a, a));
export const times = (A, x) => A.map((row) => dot(row, x));
export const minus = (a, b) => a.map((v, i) => v - b[i]);
export const scaled = (a, factor) => a.map((v) => factor * v);

/** A + left·rightᵀ. */
export const plusOuter = (A, left, right) =>
  A.map((row, i) => row.map((v, j) => v + left[i] * right[j]));

/** A + size·I. */
export const plusDiagonal = (A, size) =>
  A.map((row, i) => row.map((v, j) => (i === j ? v + size : v)));

export const identity = (D) =>
  Array.from({ length: D }, (_, i) => Array.from({ length: D }, (_, j) => Number(i === j)));

/** x with Ax = b for symmetric positive definite A, or null where A is singular to working precision. */
export function solve(A, b) {
  const n = b.length;
  const L = A.map((row) => row.slice());
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      for (let k = 0; k < j; k++) L[i][j] -= L[i][k] * L[j][k];
    }
    if (!(L[j][j] > 1e-13 * A[j][j])) return null;
    const pivot = Math.sqrt(L[j][j]);
    for (let i = j; i < n; i++) L[i][j] /= pivot;
  }
  const x = b.slice();
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

/** Eigenvalues, the larger first, and unit eigenvectors of a symmetric 2×2 matrix. */
export function eigen2([[a, b], [, d]]) {
  const middle = (a + d) / 2;
  const spread = Math.hypot((a - d) / 2, b);
  const angle = 0.5 * Math.atan2(2 * b, a - d);
  const first = [Math.cos(angle), Math.sin(angle)];
  const values = [middle + spread, Math.max(middle - spread, 0)];
  return { values, vectors: [first, [-first[1], first[0]]] };
}
