// The pictures: the true one, the query (which can be painted), the two memories' states, and those pinned to compare.
import { h, setText } from "../kit/dom.js";
import { droppable, paintable, picture } from "../kit/imagewell.js";
import { percent } from "../kit/number.js";
import { errorInWords, verdictOf } from "./report.js";

/** @import { Child } from "../kit/dom.js" */
/** @import { Cell } from "../kit/imagewell.js" */
/** @import { Both, Nearest } from "./report.js" */

const PAINT_HELP =
  "Query. Drag to paint. With the keyboard: arrow keys move the brush, space paints. Drop an image file to use it.";

const SMALL = 32; // pixels a side, where there is no picture

/** @type {(title: Child[], canvas: Element, name: string) => { element: HTMLElement, verdict: HTMLElement, note: HTMLElement }} */
function panel(title, canvas, name) {
  const verdict = h("span", { class: "r1-verdict" });
  const note = h("span", { class: "r1-muted" });
  const caption = h(
    "figcaption",
    {},
    h("strong", { class: `r1-ink-${name}` }, title),
    verdict,
    note,
  );
  return {
    element: h("figure", { class: `r1-panel r1-of-${name}` }, canvas, caption),
    verdict,
    note,
  };
}

/**
 * @param {number} size
 * @param {{ tool(): { brush: number, touch: boolean }, dab(cells: Cell[]): void, endStroke(): void, file(file: File): void }} on
 */
export function createStage(size, on) {
  const shown = {
    exact: picture({ label: "State of the exact memory", size }),
    distributed: picture({ label: "State of the distributed memory", size }),
    query: picture({ label: PAINT_HELP, size, className: "r1-query" }),
    truth: picture({ label: "True picture", size }),
    jax: picture({ label: "Result of the run in JAX", size }),
  };
  const pinned = {
    exact: picture({ label: "Pinned state of the exact memory", size }),
    distributed: picture({ label: "Pinned state of the distributed memory", size }),
  };
  shown.query.canvas.setAttribute("role", "application");
  const frame = paintable(shown.query.canvas, {
    tool: on.tool,
    onDab: on.dab,
    onEnd: on.endStroke,
  });
  droppable(frame, on.file);
  const panels = {
    exact: panel(
      ["Exact", h("span", { class: "r1-long" }, " memory")],
      shown.exact.canvas,
      "exact",
    ),
    distributed: panel(
      ["Distributed", h("span", { class: "r1-long" }, " memory")],
      shown.distributed.canvas,
      "distributed",
    ),
    query: panel(["Query"], frame, "query"),
    truth: panel(["True picture"], shown.truth.canvas, "truth"),
    jax: panel(["In JAX"], shown.jax.canvas, "jax"),
  };
  panels.jax.element.hidden = true;
  const words = h("p", { class: "r1-muted" });
  const ghosts = h(
    "figure",
    { class: "r1-ghosts", hidden: true },
    pinned.exact.canvas,
    pinned.distributed.canvas,
    h("figcaption", {}, h("strong", {}, "Pinned"), words),
  );
  const element = h(
    "div",
    { class: "r1-stage" },
    Object.values(panels).map((p) => p.element),
    ghosts,
  );
  /** @type {(name: "exact" | "distributed", nearest: Nearest, both: Both, sure: boolean) => void} */
  const verdict = (name, nearest, { overflow, bits, freedom }, sure) => {
    const over = name === "distributed" && overflow !== null;
    const told = over ? "✗ overflowed" : freedom === 0 ? "nothing to find" : verdictOf(nearest);
    const error = errorInWords(nearest.error, bits);
    setText(panels[name].verdict, told);
    panels[name].verdict.classList.toggle("r1-wrong", told.startsWith("✗"));
    setText(panels[name].note, over ? "no state to show" : sure ? error : `${error} so far`);
    shown[name].say(`State of the ${name} memory: ${told}, ${over ? "no state" : error}`);
  };
  return {
    element,
    /** @param {boolean} on Whether a finger paints on the query, and does not scroll. */
    touchable: (on) => shown.query.canvas.classList.toggle("r1-touch", on),
    /**
     * What stands before the first step.
     *
     * @param {{ truth: Uint8ClampedArray, query: Uint8ClampedArray, label: string, isStored: boolean, known: number, flips: number }} start
     */
    setQuery({ truth, query, label, isStored, known, flips }) {
      shown.truth.show(truth);
      shown.truth.say(`True picture: ${label}`);
      shown.query.show(query);
      setText(panels.truth.verdict, label);
      setText(panels.truth.note, isStored ? "stored" : "not stored");
      setText(
        panels.query.verdict,
        flips > 0 ? `${percent(flips)} flipped` : `${percent(known)} known`,
      );
      setText(panels.query.note, "paint on it");
    },
    /**
     * The two states of one step; `found` says how near each is to what, `sure` whether they are at the end.
     *
     * @type {(bytes: Uint8ClampedArray, found: Both, sure: boolean) => void}
     */
    show(bytes, found, sure) {
      const n = bytes.length / 2;
      shown.exact.show(bytes.subarray(0, n));
      shown.distributed.show(found.overflow === null ? bytes.subarray(n) : nothing(n));
      verdict("exact", found.exact, found, sure);
      verdict("distributed", found.distributed, found, sure);
    },
    /** Hides both states until the reader has said what they will be. */
    wait() {
      for (const name of /** @type {const} */ (["exact", "distributed"])) {
        shown[name].show(nothing(3 * SMALL * SMALL));
        shown[name].say(`State of the ${name} memory: hidden until you predict it`);
        setText(panels[name].verdict, "?");
        panels[name].verdict.classList.remove("r1-wrong");
        setText(panels[name].note, "what do you expect?");
      }
    },
    /**
     * Two states to compare with, in words; null takes them away.
     *
     * @param {{ bytes: Uint8ClampedArray, words: string } | null} pin
     */
    pin(pin) {
      ghosts.hidden = !pin;
      if (!pin) return;
      const n = pin.bytes.length / 2;
      pinned.exact.show(pin.bytes.subarray(0, n));
      pinned.distributed.show(pin.bytes.subarray(n));
      setText(words, pin.words);
    },
    /**
     * A result of Python's, or null to take it away.
     *
     * @param {Uint8ClampedArray | null} bytes
     * @param {[string, string]} [told]
     */
    showJax(bytes, told = ["", ""]) {
      panels.jax.element.hidden = !bytes;
      if (!bytes) return;
      shown.jax.show(bytes);
      setText(panels.jax.verdict, told[0]);
      setText(panels.jax.note, told[1]);
    },
  };
}

/**
 * Stripes: there is no picture.
 *
 * @param {number} n
 */
function nothing(n) {
  const side = Math.round(Math.sqrt(n / 3));
  const bytes = new Uint8ClampedArray(n);
  for (let i = 0; i < n; i++) {
    const pixel = Math.floor(i / 3);
    bytes[i] = (Math.floor(pixel / side) + (pixel % side)) % 8 < 4 ? 120 : 165;
  }
  return bytes;
}
