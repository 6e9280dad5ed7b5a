// The presets as a row of questions, what to look at, and what was found.
import { h, setText } from "./dom.js";

/**
 * @template {{ key: string, name: string }} P
 * @param {P[]} presets
 * @param {(preset: P) => void} choose
 */
export function createQuestions(presets, choose) {
  const buttons = presets.map((preset) =>
    h(
      "button",
      {
        type: "button",
        class: "r1-question",
        "data-preset": preset.key,
        onclick: () => choose(preset),
      },
      preset.name,
    ),
  );
  const ask = h("p", { class: "r1-ask" });
  const found = h("p", { class: "r1-found", "aria-live": "polite" });
  const row = h(
    "div",
    { class: "r1-questions", role: "group", "aria-label": "Questions" },
    buttons,
  );
  return {
    element: h("header", { class: "r1-header" }, row, h("div", { class: "r1-say" }, ask, found)),
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
