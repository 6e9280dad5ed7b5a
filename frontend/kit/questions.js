// The presets as a row of questions, the words of the current question, a guess at its answer, and the answer.
import { h, setText } from "./dom.js";
import { keepHeight } from "./keepheight.js";
import { menu } from "./menu.js";
import { createPrediction } from "./prediction.js";

const MOST = 3; // questions that are buttons: readers do not read more, and more would take the stage’s space

/**
 * The keys of the questions that are buttons (if not given, the first three) and of those in the menu behind them.
 * Without an offer, the menu has all the others.
 *
 * @typedef {{ first?: string[], more?: string[] }} Offer
 */

/**
 * @template {{ key: string, name: string }} P
 * @param {P[]} presets
 * @param {{ choose(preset: P): void, guess(key: string | null): void }} on
 * @param {Offer} [offer]
 */
export function createQuestions(presets, on, offer) {
  /** @type {(keys: string[]) => P[]} */
  const named = (keys) => keys.flatMap((key) => presets.find((preset) => preset.key === key) ?? []);
  const offered = offer?.first ? named(offer.first) : presets.slice(0, MOST);
  const others = offer ? named(offer.more ?? []) : presets.slice(MOST);
  const buttons = offered.map((preset) =>
    h(
      "button",
      {
        type: "button",
        class: "r1-question",
        "data-preset": preset.key,
        onclick: () => on.choose(preset),
      },
      preset.name,
    ),
  );
  const ask = h("p", { class: "r1-ask" });
  const finding = h("p", { class: "r1-found", "aria-live": "polite" });
  const prediction = createPrediction(on.guess);
  const row = h(
    "div",
    { class: "r1-questions", role: "group", "aria-label": "Questions" },
    buttons,
    others.length > 0
      ? menu({
          label: "More questions",
          face: "More questions",
          name: "questions",
          items: () =>
            others.map((preset) => ({
              key: preset.key,
              label: preset.name,
              onClick: () => on.choose(preset),
            })),
        }).element
      : null,
  );
  const say = h("div", { class: "r1-say" }, ask, prediction.element, finding);
  keepHeight(say);
  return {
    row,
    say,
    prediction,
    /**
     * Marks the current question, and shows its words.
     *
     * @param {string | null} key
     * @param {string} words
     */
    mark(key, words) {
      buttons.forEach((b, i) => {
        b.setAttribute("aria-pressed", String(offered[i].key === key));
      });
      setText(ask, words);
      setText(finding, "");
    },
    /** @param {string} words */
    answer: (words) => setText(finding, words),
  };
}
