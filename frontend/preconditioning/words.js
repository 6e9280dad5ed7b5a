// Numbers that have a word of their own here: steps that were counted, and condition numbers.
import { count, figures } from "../kit/number.js";

const LOWEST = 1e-13; // of the largest eigenvalue; below: that of a direction that is out of reach

/**
 * A number of steps; null is more than were counted.
 *
 * @param {number | null} n
 */
export function stepsInWords(n) {
  if (n === null) return "> 20,000";
  return n === Number.POSITIVE_INFINITY ? "runs away" : count(n);
}

/** @type {(v: number, values: number[]) => boolean} */
export const isReached = (v, values) => v > LOWEST * values[0];

/**
 * A condition number, of eigenvalues that fall.
 *
 * @param {number[]} values
 */
export function condition(values) {
  const low = values[values.length - 1];
  return isReached(low, values) ? figures(values[0] / low) : "singular";
}
