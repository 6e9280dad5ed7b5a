// Numbers in words: counts of steps, and condition numbers.
import { count, figures } from "../kit/number.js";

const LOWEST = 1e-13; // fraction of the largest eigenvalue; below it an eigenvalue is 0 up to rounding: out of reach

/**
 * A number of steps in words. null means that there are more than were counted.
 *
 * @param {number | null} n
 */
export function stepsInWords(n) {
  if (n === null) return "> 20,000";
  if (Number.isNaN(n)) return "end unknown";
  return n === Number.POSITIVE_INFINITY ? "runs away" : count(n);
}

/** @type {(v: number, values: number[]) => boolean} */
export const isReached = (v, values) => v > LOWEST * values[0];

/**
 * The condition number in words, from eigenvalues in decreasing order.
 *
 * @param {number[]} values
 */
export function condition(values) {
  const low = values[values.length - 1];
  return isReached(low, values) ? figures(values[0] / low) : "singular";
}
