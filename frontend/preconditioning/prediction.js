// The reader's guess before the look: do the two paths stay together, part by a known amount, or part for good?
import { button } from "../kit/controls.js";
import { h, setText } from "../kit/dom.js";
import { amount, count } from "../kit/number.js";
import { MOST, widest } from "./math/paths.js";

/** @import { Counts, Run } from "./math/paths.js" */

/** @type {[key: string, words: string][]} */
export const FATES = [
  ["together", "They stay together"],
  ["known", "They part, by an amount a formula gives"],
  ["apart", "They part for good"],
];
const AWAY = "The step is too long, and the paths run away";

/**
 * The guess is null where the reader only wants to look.
 *
 * @param {(fate: string | null) => void} onGuess
 */
export function createPrediction(onGuess) {
  const ask = h("p", { class: "r1-ask" });
  const buttons = FATES.map(([key, words]) =>
    button({ label: words, onClick: () => onGuess(key), "data-guess": key }),
  );
  const skip = button({
    label: "Just show me",
    onClick: () => onGuess(null),
    "data-guess": "none",
  });
  const choices = h(
    "div",
    { class: "r1-guesses", role: "group", "aria-label": "Your prediction" },
    buttons,
    skip,
  );
  const verdict = h("p", { class: "r1-verdict", role: "status" });
  const element = h("div", { class: "r1-prediction" }, ask, choices, verdict);
  return {
    element,
    hide() {
      element.hidden = true;
    },
    /** @param {string} words */
    ask(words) {
      element.hidden = false;
      choices.hidden = false;
      setText(ask, words);
      setText(verdict, "");
    },
    /**
     * `guess` null: the reader only looked, or has changed something since. A runaway proves no guess.
     *
     * @type {(guess: string | null, run: Run, counts: Counts | null) => void}
     */
    answer(guess, run, counts) {
      element.hidden = false;
      choices.hidden = true;
      const heading = FATES.find(([key]) => key === run.fate)?.[1] ?? AWAY;
      setText(ask, `${heading}.`);
      setText(verdict, score(guess, run.fate) + verdictOn(run, counts));
    },
  };
}

/** @type {(guess: string | null, fate: string) => string} */
function score(guess, fate) {
  if (guess === null || fate === "away") return "";
  return guess === fate ? "✓ As you said. " : "✗ Not as you said. ";
}

/**
 * What was measured, in words; `counts` null while the steps are being counted.
 *
 * @type {(run: Pick<Run, "fate" | "gap" | "known">, counts: Pick<Counts, "reparameterised" | "explicit"> | null) => string}
 */
export function verdictOn({ fate, gap, known }, counts) {
  const most = `The widest gap is ${amount(widest(gap))}`;
  if (fate === "away") {
    return `${most}, which says nothing about the rule. Shorten the step to less than 100 % of the longest stable one.`;
  }
  if (fate === "together") return `${most}: rounding, nothing else.`;
  if (fate === "apart") return `${most}. The one rule is not the other with a P before it.`;
  if (counts === null) return `${most}.`;
  const settled = counts.reparameterised !== null && counts.explicit !== null;
  const end = settled
    ? `it settles at ${amount(known)}`
    : `it has not settled in ${count(MOST)} steps. Settled it would be ${amount(known)}`;
  return `${most}; ${end}, which two linear systems give beforehand (now ${amount(gap[gap.length - 1])}).`;
}
