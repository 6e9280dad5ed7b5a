// The reader's guess before the answer is shown: one of two or three answers, or none.
import { button } from "./controls.js";
import { h, setText } from "./dom.js";

/**
 * The options of a guess, and `right`, the key of the option that the results confirm; null if the run decides nothing.
 *
 * @template F
 * @typedef {{ options: [key: string, words: string][], right(found: F): string | null }} Prediction
 */

/**
 * `onGuess(key)` is called with a guess, or with null if the reader only wants to see the answer.
 *
 * @param {(guess: string | null) => void} onGuess
 */
export function createPrediction(onGuess) {
  const invitation = h("span", { class: "r1-muted" }, "Predict:");
  const choices = h("span", { class: "r1-choices" });
  const element = h(
    "div",
    { class: "r1-predict", role: "group", "aria-label": "Your prediction", hidden: true },
    invitation,
    choices,
  );
  const skip = button({
    label: "Just show me",
    onClick: () => onGuess(null),
    "data-skip": true,
  });
  return {
    element,
    /** @param {[key: string, words: string][] | null} options */
    pose(options) {
      element.hidden = !options;
      if (!options) return;
      const buttons = options.map(([key, words]) =>
        button({ label: words, onClick: () => onGuess(key), "data-guess": key }),
      );
      choices.replaceChildren(...buttons, skip);
    },
    /** @param {string} words */
    invite: (words) => setText(invitation, words),
  };
}

/** @type {(guess: string | null, right: string | null) => string} */
export function score(guess, right) {
  if (guess === null || right === null) return "";
  return guess === right ? "✓ As you said. " : "✗ Not as you said. ";
}
