// The pictures from left to right: the query, which can be painted, and the answers of the two memories. The true
// picture covers the query on request, and pinned answers are shown for comparison.
import { h, setText } from "../kit/dom.js";
import { droppable, paintable, picture } from "../kit/imagewell.js";
import { percent } from "../kit/number.js";
import { errorInWords, verdictOf } from "./report.js";

/** @import { Child } from "../kit/dom.js" */
/** @import { Cell } from "../kit/imagewell.js" */
/** @import { Both, Nearest } from "./report.js" */

const PAINT_HELP =
  "Query. Drag to paint over it. With the keyboard: arrow keys move the brush, space paints. Drop an image file to use it.";
const SMALL = 32; // pixels per side of the placeholder for a picture
/** A word left out where there is no room. */
const long = () => h("span", { class: "r1-long" }, " memory");
const ON_ITS_WAY = "on its way";
const NAMES = /** @type {const} */ (["exact", "distributed"]);

/** @type {(title: Child[], canvas: Element, name: string) => { element: HTMLElement, verdict: HTMLElement, note: HTMLElement }} */
function panel(title, canvas, name) {
  const verdict = h("span", { class: "r1-verdict" });
  const note = h("span", { class: "r1-muted" });
  const heading = h("strong", { class: `r1-ink-${name}` }, title);
  const caption = h("figcaption", {}, heading, verdict, note);
  const later = name === "query" ? null : h("span", { class: "r1-later" }, "after your guess");
  const answer = later ? h("div", { class: "r1-answer" }, canvas, later) : canvas;
  const element = h("figure", { class: `r1-panel r1-of-${name}` }, answer, caption);
  return { element, verdict, note };
}

/**
 * @param {number} size
 * @param {{ tool(): { brush: number, touch: boolean }, dab(cells: Cell[]): void, endStroke(): void, file(file: File): void }} on
 */
export function createStage(size, on) {
  const shown = {
    query: picture({ label: PAINT_HELP, size, className: "r1-query" }),
    truth: picture({ label: "Original", size, className: "r1-truth" }),
    exact: picture({ label: "Answer of the exact memory", size }),
    distributed: picture({ label: "Answer of the distributed memory", size }),
  };
  const pinned = {
    exact: picture({ label: "Pinned answer of the exact memory", size }),
    distributed: picture({ label: "Pinned answer of the distributed memory", size }),
  };
  shown.query.canvas.setAttribute("role", "application");
  shown.truth.canvas.hidden = true;
  const frame = paintable(shown.query.canvas, {
    tool: on.tool,
    onDab: on.dab,
    onEnd: on.endStroke,
  });
  frame.append(shown.truth.canvas);
  droppable(frame, on.file);
  const panels = {
    query: panel(["Query"], frame, "query"),
    exact: panel(["Exact", long()], shown.exact.canvas, "exact"),
    distributed: panel(["Distributed", long()], shown.distributed.canvas, "distributed"),
  };
  const words = h("p", { class: "r1-muted" });
  const ghosts = h(
    "figure",
    { class: "r1-ghosts", hidden: true },
    pinned.exact.canvas,
    pinned.distributed.canvas,
    h("figcaption", {}, h("strong", {}, "Pinned"), words),
  );

  /** @type {(name: "exact" | "distributed", verdict: string, note: string) => void} */
  const say = (name, verdict, note) => {
    panels[name].element.classList.remove("r1-waiting");
    setText(panels[name].verdict, verdict);
    panels[name].verdict.classList.toggle("r1-wrong", verdict.startsWith("✗"));
    setText(panels[name].note, note);
    shown[name].say(`Answer of the ${name} memory: ${verdict}, ${note}`);
  };
  /** @type {(name: "exact" | "distributed", nearest: Nearest, both: Both, sure: boolean) => void} */
  const judge = (name, nearest, { overflow, bits, freedom }, sure) => {
    const error = errorInWords(nearest.error, bits);
    if (name === "distributed" && overflow !== null)
      return say(name, "✗ overflowed", "no picture to show");
    if (freedom === 0) return say(name, "nothing to find", error);
    say(name, sure ? verdictOf(nearest) : ON_ITS_WAY, error);
  };
  return {
    pictures: h(
      "div",
      { class: "r1-pictures" },
      Object.values(panels).map((p) => p.element),
    ),
    ghosts,
    /** @param {boolean} on True if a finger paints on the query instead of scrolling. */
    touchable: (on) => shown.query.canvas.classList.toggle("r1-touch", on),
    /**
     * Sets the query and the true picture, with words on how much is hidden or flipped.
     *
     * @param {{ truth: Uint8ClampedArray, query: Uint8ClampedArray, label: string, isStored: boolean, known: number, flips: number }} start
     */
    setQuery({ truth, query, label, isStored, known, flips }) {
      shown.truth.show(truth);
      shown.truth.say(`Original: ${label}`);
      shown.query.show(query);
      const hidden = flips > 0 ? `${percent(flips)} flipped` : `${percent(1 - known)} hidden`;
      setText(panels.query.verdict, isStored ? label : `${label}, not stored`);
      setText(panels.query.note, hidden);
    },
    /**
     * Shows the unfinished drawing in the query's place.
     *
     * @param {Uint8Array} bytes
     */
    sketch(bytes) {
      shown.query.show(bytes);
      setText(panels.query.verdict, "your drawing");
      setText(panels.query.note, "draw here");
    },
    /** @param {boolean} on True if the true picture covers the query. */
    reveal(on) {
      shown.truth.canvas.hidden = !on;
    },
    /** @param {Uint8ClampedArray} query Where both memories begin. */
    begin(query) {
      for (const name of NAMES) {
        shown[name].show(query);
        say(name, ON_ITS_WAY, "step 0");
      }
    },
    /**
     * Shows the two states of one step; `both` reports on each, and `sure` says which of them will not change any more.
     *
     * @type {(bytes: Uint8ClampedArray, both: Both, sure: { exact: boolean, distributed: boolean }) => void}
     */
    show(bytes, both, sure) {
      const n = bytes.length / 2;
      shown.exact.show(bytes.subarray(0, n));
      shown.distributed.show(both.overflow === null ? bytes.subarray(n) : nothing(n));
      for (const name of NAMES) judge(name, both[name], both, sure[name]);
    },
    /** Hides both states until the reader has made a prediction. */
    wait() {
      for (const name of NAMES) {
        shown[name].show(new Uint8Array(3 * SMALL * SMALL).fill(128));
        say(name, "?", "what do you expect?");
        panels[name].element.classList.add("r1-waiting");
      }
    },
    /**
     * Shows two pinned states, with words on them, for comparison; null removes them.
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
  };
}

/**
 * Stripes, shown if there is no picture.
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
