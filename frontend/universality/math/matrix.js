// Small dense matrices, stored by rows in a Float64Array, and sparse ones for the layers of a network.
import { eliminate } from "../../math/linear.js";

/** @typedef {{ rows: number, cols: number, data: Float64Array }} Dense */
/** @typedef {{ rows: number, cols: number, start: Int32Array, index: Int32Array, value: Float64Array }} Sparse */
/** @typedef {[row: number, col: number, value: number]} Entry */

/** @type {(rows: number, cols: number) => Dense} */
export const dense = (rows, cols) => ({ rows, cols, data: new Float64Array(rows * cols) });

/** @type {(n: number, scale?: number) => Dense} */
export function identity(n, scale = 1) {
  const eye = dense(n, n);
  for (let i = 0; i < n; i++) eye.data[i * n + i] = scale;
  return eye;
}

/**
 * The matrix X = A B⁻¹ for square A and B, by elimination in Bᵀ Xᵀ = Aᵀ with the largest pivot of each column.
 *
 * @type {(A: Dense, B: Dense) => Dense}
 */
export function rightDivide(A, B) {
  const n = A.cols;
  const rows = Array.from({ length: n }, (_, i) => {
    const row = new Float64Array(2 * n);
    for (let k = 0; k < n; k++) {
      row[k] = B.data[k * n + i];
      row[n + k] = A.data[k * n + i];
    }
    return row;
  });
  const X = dense(n, n);
  eliminate(rows).forEach((column, i) => {
    for (let k = 0; k < n; k++) X.data[k * n + i] = column[k];
  });
  return X;
}

/**
 * The sparse matrix with these entries [row, col, value], in compressed rows.
 *
 * @type {(rows: number, cols: number, entries: Entry[]) => Sparse}
 */
export function sparse(rows, cols, entries) {
  const start = new Int32Array(rows + 1);
  for (const [r, , v] of entries) if (v !== 0) start[r + 1]++;
  for (let r = 0; r < rows; r++) start[r + 1] += start[r];
  const [index, value] = [new Int32Array(start[rows]), new Float64Array(start[rows])];
  const at = start.slice();
  for (const [r, c, v] of entries) {
    if (v === 0) continue;
    index[at[r]] = c;
    value[at[r]++] = v;
  }
  return { rows, cols, start, index, value };
}

/**
 * The product W h.
 *
 * @type {(W: Sparse, h: ArrayLike<number>) => Float64Array}
 */
export function times(W, h) {
  const out = new Float64Array(W.rows);
  for (let r = 0; r < W.rows; r++) {
    let sum = 0;
    for (let k = W.start[r]; k < W.start[r + 1]; k++) sum += W.value[k] * h[W.index[k]];
    out[r] = sum;
  }
  return out;
}

/**
 * Writes the product W H into `out`; H has rows of n numbers.
 *
 * @type {(W: Sparse, H: Float64Array, n: number, out: Float64Array) => void}
 */
export function timesAll({ rows, start, index, value }, H, n, out) {
  out.fill(0, 0, rows * n);
  for (let r = 0; r < rows; r++) {
    for (let k = start[r]; k < start[r + 1]; k++) {
      const v = value[k];
      for (let p = 0, to = r * n, at = index[k] * n; p < n; p++, to++, at++) out[to] += v * H[at];
    }
  }
}

/**
 * The product Wᵀ a.
 *
 * @type {(W: Sparse, a: ArrayLike<number>) => Float64Array}
 */
export function transposedTimes(W, a) {
  const out = new Float64Array(W.cols);
  for (let r = 0; r < W.rows; r++) {
    if (a[r] === 0) continue;
    for (let k = W.start[r]; k < W.start[r + 1]; k++) out[W.index[k]] += W.value[k] * a[r];
  }
  return out;
}
