// The ways to write the pairs: the matrix X, from all pairs at once to exactly [W-rule, W-cycles].
import { dot, eliminate, identity } from "../../math/linear.js";

/** @import { Matrix } from "../../math/linear.js" */

/** What a write knows of the earlier and of the later ones, and what is added to the diagonal. @typedef {{ earlier: number, later: number, slack: number }} Place */

/** @typedef {"batch" | "sequence" | "ridge" | "exact"} Way */

/** Where the ways stand on the slider. @type {[way: Way, at: number][]} */
export const MARKS = [
  ["batch", 0],
  ["sequence", 1],
  ["ridge", 2],
  ["exact", 3],
];

/** The way that a position is, null between two of them. @type {(at: number) => Way | null} */
export const wayAt = (at) => MARKS.find(([, mark]) => Math.abs(mark - at) < 1e-9)?.[0] ?? null;

/**
 * A position from 0 to 3: first more and more of what earlier writes answer is taken into account, then of what later
 * ones will answer, with a slack that grows to 1/ω, and at last the slack goes.
 *
 * @type {(at: number, omega: number) => Place}
 */
export function placeOf(at, omega) {
  if (at <= 1) return { earlier: at, later: 0, slack: 0 };
  if (at <= 2) return { earlier: 1, later: at - 1, slack: (at - 1) / omega };
  return { earlier: 1, later: 1, slack: (3 - at) / omega };
}

const LARGEST = 1e12; // an entry of X beyond it is rounding: there is no X

/**
 * X = (diag S + slack·I + earlier·U + later·Uᵀ)⁻¹, U the part of S above its diagonal, `rankone.theory.one_rule`'s
 * `partial_solve`; null where there is none.
 *
 * @type {(S: ArrayLike<number>[], place: Place) => Matrix | null}
 */
export function partialSolve(S, { earlier, later, slack }) {
  const rows = identity(S.length).map((unit, i) => [
    ...Array.from(S[i], (s, j) => (i === j ? s + slack : (i < j ? earlier : later) * s)),
    ...unit,
  ]);
  const X = eliminate(rows);
  return X.every((row) => row.every((v) => Math.abs(v) < LARGEST)) ? X : null;
}

/**
 * A·B.
 *
 * @type {(A: ArrayLike<number>[], B: ArrayLike<number>[]) => Matrix}
 */
export function product(A, B) {
  const columns = Array.from(B[0], (_, j) => B.map((row) => row[j]));
  return A.map((row) => columns.map((column) => dot(row, column)));
}

/**
 * The X of as many rounds, a power of two: each writes what the last has left, X ← X + (I − XS)X for twice as many.
 *
 * @type {(X: Matrix, S: ArrayLike<number>[], rounds: number) => Matrix}
 */
export function inRounds(X, S, rounds) {
  let all = X;
  for (let n = 1; n < rounds; n *= 2) {
    const missed = product(product(all, S), all);
    all = all.map((row, i) => row.map((v, j) => 2 * v - missed[i][j]));
  }
  return all;
}
