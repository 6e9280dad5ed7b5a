// The verdict on the two paths, in words: they stay together, separate by a known amount, or go different ways.
import { amount, count } from "../kit/number.js";
import { MOST, widest } from "./math/paths.js";

/** @import { Counts, Run } from "./math/paths.js" */

/** @type {[key: string, words: string][]} */
export const FATES = [
  ["together", "Stay together"],
  ["known", "End at a computable gap"],
  ["apart", "Go different ways"],
];
/** @type {Record<string, string>} */
const HEADINGS = {
  together: "They stay together",
  known: "They separate, by an amount that a formula gives",
  apart: "They go different ways",
  away: "The step is too long, and a path runs away",
};

/** @type {(run: Run, counts: Counts | null) => string} */
export const fateInWords = (run, counts) => `${HEADINGS[run.fate]}. ${verdictOn(run, counts)}`;

/**
 * The measurement in words. `counts` is null while the steps are being counted.
 *
 * @type {(run: Pick<Run, "fate" | "gap" | "known">, counts: Pick<Counts, "reparameterised" | "explicit"> | null) => string}
 */
export function verdictOn({ fate, gap, known }, counts) {
  const most = `The widest gap shown is ${amount(widest(gap))}`;
  if (fate === "away") {
    return `${most}, which says nothing about the method. Shorten the step to less than 100 % of the largest stable one.`;
  }
  if (fate === "together") return `${most}: rounding, nothing else.`;
  if (fate === "apart")
    return `${most}. The step on U is not the step on W with P times the gradient.`;
  if (counts === null) return `${most}.`;
  const settled = counts.reparameterised !== null && counts.explicit !== null;
  const end = settled
    ? `the gap settles at ${amount(known)}`
    : `the gap has not settled in ${count(MOST)} steps. Its limit is ${amount(known)}`;
  return `${most}; ${end}, by linear equations (now ${amount(gap[gap.length - 1])}).`;
}
