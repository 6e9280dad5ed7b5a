// The methods of writing the pairs: the matrix X, from "at once" to "exactly" [W-rule, W-cycles].
import { dot, eliminate, identity } from "../../math/linear.js";

/** @import { Matrix } from "../../math/linear.js" */

/**
 * The fractions of the answers of earlier and later writes that a write subtracts, and what is added to the diagonal.
 *
 * @typedef {{ earlier: number, later: number, slack: number }} Place
 */

/** @typedef {"batch" | "sequence" | "ridge" | "exact"} Way */

/** The methods, with their positions on the slider. @type {[way: Way, at: number][]} */
export const MARKS = [
  ["batch", 0],
  ["sequence", 1],
  ["ridge", 2],
  ["exact", 3],
];

/** The method at a position, or null between two methods. @type {(at: number) => Way | null} */
export const wayAt = (at) => MARKS.find(([, mark]) => Math.abs(mark - at) < 1e-9)?.[0] ?? null;

/**
 * The place at a position from 0 to 3. Up to 1, a write subtracts more and more of the answers of earlier writes. Up to
 * 2, it also subtracts more and more of the answers of later writes, and the slack grows to 1/ω. Up to 3, the slack
 * falls to 0.
 *
 * @type {(at: number, omega: number) => Place}
 */
export function placeOf(at, omega) {
  if (at <= 1) return { earlier: at, later: 0, slack: 0 };
  if (at <= 2) return { earlier: 1, later: at - 1, slack: (at - 1) / omega };
  return { earlier: 1, later: 1, slack: (3 - at) / omega };
}

const LARGEST = 1e12; // a larger entry of X is due to rounding: there is no X

/**
 * X = (diag S + slack·I + earlier·U + later·Uᵀ)⁻¹, with U the part of S above its diagonal, as in `partial_solve` of
 * `rankone.theory.one_rule`; null if the matrix is singular.
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
 * The X of `rounds` rounds, a power of two. Each round writes the errors that the round before left, and
 * X ← X + (I − XS)X doubles the number of rounds.
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
