// What the two memories hold: a list, which grows with each picture, and one vector, which does not.
import { h, setText } from "../kit/dom.js";
import { count } from "../kit/number.js";
import { createStrip } from "./strip.js";

/** @import { End } from "./actor.js" */
/** @import { Ready, Settings } from "./settings.js" */

/**
 * @param {Element} grid The stored pictures, as toggles.
 * @param {Element} opener What leads into the vector.
 */
export function createMemories(grid, opener) {
  const strip = createStrip();
  const list = h("span", { class: "r1-muted" });
  return {
    elements: [
      h(
        "section",
        { class: "r1-memory r1-of-list" },
        h("p", {}, h("strong", {}, "A list"), " of all pictures ", list),
        grid,
      ),
      h(
        "section",
        { class: "r1-memory r1-of-vector" },
        h("p", {}, h("strong", {}, "One vector, ", h("i", {}, "T")), ", their sum ", strip.size),
        strip.canvas,
        opener,
      ),
    ],
    /** @param {Ready} ready */
    show({ stored, numbers }) {
      setText(
        list,
        `${count(stored.length)} × ${count(numbers.exact / stored.length)} = ${count(numbers.exact)} numbers`,
      );
    },
    /** @type {(end: End, settings: Settings, ready: Ready) => void} */
    showVector: (end, { Y }, { stored, numbers }) =>
      strip.show(end.strip, Y, numbers.distributed, stored.length),
  };
}
