// The contents of the two memories: a list, which grows with each picture, and one vector, which does not.
import { h } from "../kit/dom.js";
import { count } from "../kit/number.js";
import { createStrip } from "./strip.js";

/** @import { End } from "./actor.js" */
/** @import { Ready, Settings } from "./settings.js" */

/**
 * @param {Element} grid The stored pictures, as toggles.
 * @param {Element} opener The button that opens the vector.
 */
export function createMemories(grid, opener) {
  const strip = createStrip();
  const list = h("span", { class: "r1-muted" });
  const vector = h("span", { class: "r1-muted" });
  /** Words left out where there is no room. @param {string} text */
  const long = (text) => h("span", { class: "r1-long" }, text);
  /** Shorter words for those left out. @param {string} text */
  const short = (text) => h("span", { class: "r1-short" }, text);
  return {
    elements: [
      h(
        "section",
        { class: "r1-memory r1-of-list" },
        h(
          "p",
          {},
          h("strong", { class: "r1-ink-exact" }, "Exact", long(" memory"), ": "),
          "a list, ",
          list,
        ),
        grid,
      ),
      h(
        "section",
        { class: "r1-memory r1-of-vector" },
        h(
          "p",
          {},
          h("strong", { class: "r1-ink-distributed" }, "Distributed", long(" memory"), ": "),
          long("one "),
          "vector ",
          h("i", {}, "T"),
          vector,
        ),
        strip.canvas,
        opener,
      ),
    ],
    /**
     * Describes what both memories store, before any run; `hide` leaves out the vector's entries.
     *
     * @type {(settings: Settings, ready: Ready, hide: boolean) => void}
     */
    show({ Y }, { stored, numbers, config }, hide) {
      const each = numbers.exact / stored.length;
      const pattern = config.bits ? "pattern" : "picture";
      list.replaceChildren(
        long(`${count(stored.length)} × ${count(each)} = `),
        `${count(numbers.exact)} numbers; blue: `,
        short("weight"),
        long("weight in answer"),
      );
      vector.replaceChildren(
        short(", "),
        long(`: each ${pattern} becomes `),
        long(numbers.distributed === 2 * Y ? "2Y = " : ""),
        `${count(numbers.distributed)} numbers`,
        short(" for any K"),
        long(`; T sums all ${count(stored.length)}; fixed length`),
      );
      if (hide) strip.wait(Y, numbers.distributed);
    },
    /** @type {(end: End, settings: Settings, ready: Ready) => void} */
    showVector: (end, { Y }, { stored, numbers }) =>
      strip.show(end.strip, Y, numbers.distributed, stored.length),
  };
}
