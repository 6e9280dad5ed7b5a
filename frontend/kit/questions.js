// The presets as a row of questions, what to look at, a guess at the answer, and what was found.
import { h, setText } from "./dom.js";
import { createPrediction } from "./prediction.js";

/**
 * @template {{ key: string, name: string }} P
 * @param {P[]} presets
 * @param {{ choose(preset: P): void, guess(key: string | null): void }} on
 */
export function createQuestions(presets, on) {
  const buttons = presets.map((preset) =>
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
  const found = h("p", { class: "r1-found", "aria-live": "polite" });
  const prediction = createPrediction(on.guess);
  const row = h(
    "div",
    { class: "r1-questions", role: "group", "aria-label": "Questions" },
    buttons,
  );
  return {
    row,
    say: h("div", { class: "r1-say" }, ask, prediction.element, found),
    prediction,
    /**
     * Which question is being asked, and its words.
     *
     * @param {string | null} key
     * @param {string} words
     */
    mark(key, words) {
      buttons.forEach((b, i) => {
        b.setAttribute("aria-pressed", String(presets[i].key === key));
      });
      setText(ask, words);
      setText(found, "");
    },
    /** @param {string} words */
    answer: (words) => setText(found, words),
  };
}
