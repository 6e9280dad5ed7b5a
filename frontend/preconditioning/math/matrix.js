// Small dense matrices as arrays of rows, in double precision. Nothing here is larger than 4 × 4.

export const identity = (n) =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));

export const transpose = (A) => A[0].map((_, j) => A.map((row) => row[j]));

/** A x for a vector x. */
export const apply = (A, x) => A.map((row) => row.reduce((sum, a, j) => sum + a * x[j], 0));

export function multiply(A, B, ...more) {
  const columns = transpose(B);
  const AB = A.map((row) => apply(columns, row));
  return more.length > 0 ? multiply(AB, ...more) : AB;
}

export const scale = (c, A) => A.map((row) => row.map((a) => c * a));

export const add = (A, B) => A.map((row, i) => row.map((a, j) => a + B[i][j]));

export const diagonal = (values) => values.map((v, i) => values.map((_, j) => (i === j ? v : 0)));

/** B ⊗ A: what multiplies vec(X) when A X Bᵀ is formed and vec stacks columns [K-vec]. */
export const kron = (B, A) => B.flatMap((b) => A.map((a) => b.flatMap((x) => a.map((y) => x * y))));

/** The columns of X, one below the other. */
export const vec = (X) => transpose(X).flat();

/** The matrix of `rows` rows whose vec is x. */
export const unvec = (x, rows) =>
  Array.from({ length: rows }, (_, i) => x.filter((_, k) => k % rows === i));

export const norm = (x) => Math.hypot(...x);

/** The rotation by `degrees`, counter-clockwise. */
export function rotation(degrees) {
  const turn = (((degrees % 360) + 360) % 360) / 90; // quarter turns are exact: no sin π = 1e-16
  const [c, s] = Number.isInteger(turn)
    ? [[1, 0, -1, 0][turn], [0, 1, 0, -1][turn]]
    : [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return [
    [c, -s],
    [s, c],
  ];
}

/** Eigenvalues of a symmetric matrix, falling: Jacobi's rotations until nothing is left off the diagonal. */
export function eigenvalues(S) {
  const A = S.map((row) => [...row]);
  const n = A.length;
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        off += A[p][q] ** 2;
        annihilate(A, p, q);
      }
    }
    if (off === 0) break;
  }
  return A.map((row, i) => row[i]).sort((a, b) => b - a);
}

function annihilate(A, p, q) {
  if (A[p][q] === 0) return;
  const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  for (const row of A) [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
  for (let k = 0; k < A.length; k++) {
    [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
  }
  A[p][q] = 0;
  A[q][p] = 0;
}

/** x with A x = b: elimination with the largest pivot of each column. */
export function solve(A, b) {
  const rows = A.map((row, i) => [...row, b[i]]);
  const n = rows.length;
  for (let k = 0; k < n; k++) {
    const best = rows.slice(k).reduce((i, row, j) => {
      return Math.abs(row[k]) > Math.abs(rows[i][k]) ? k + j : i;
    }, k);
    [rows[k], rows[best]] = [rows[best], rows[k]];
    for (let i = k + 1; i < n; i++) {
      const ratio = rows[i][k] / rows[k][k];
      for (let j = k; j <= n; j++) rows[i][j] -= ratio * rows[k][j];
    }
  }
  const x = Array(n).fill(0);
  for (let k = n - 1; k >= 0; k--) {
    const known = x.reduce((sum, v, j) => (j > k ? sum + rows[k][j] * v : sum), 0);
    x[k] = (rows[k][n] - known) / rows[k][k];
  }
  return x;
}
