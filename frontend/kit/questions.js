// The presets as a row of questions, what to look at, and what was found.
import { h, setText } from "./dom.js";

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
    /** Which question is being asked, and its words. */
    mark(key, words) {
      buttons.forEach((b, i) => {
        b.setAttribute("aria-pressed", String(presets[i].key === key));
      });
      setText(ask, words);
      setText(found, "");
    },
    answer: (words) => setText(found, words),
  };
}
