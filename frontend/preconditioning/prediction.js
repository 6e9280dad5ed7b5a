// The reader's guess before the look: do the two paths stay together, part by a known amount, or part for good?
import { button } from "../kit/controls.js";
import { h, setText } from "../kit/dom.js";

export const FATES = [
  ["together", "They stay together"],
  ["known", "They part, by an amount a formula gives"],
  ["apart", "They part for good"],
];

/** `onGuess(fate or null)`: null where the reader only wants to look. */
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
    ask(words) {
      element.hidden = false;
      choices.hidden = false;
      setText(ask, words);
      setText(verdict, "");
    },
    /** `guess` null: the reader only looked, or has changed something since. */
    answer(guess, fate, words) {
      element.hidden = false;
      choices.hidden = true;
      const heading = FATES.find(([key]) => key === fate)[1];
      const score =
        guess === null ? "" : guess === fate ? "✓ As you said. " : "✗ Not as you said. ";
      setText(ask, `${heading}.`);
      setText(verdict, score + words);
    },
  };
}
