// The pictures side by side: the true one, the query (which can be painted), and the two memories' states.
import { h, setText } from "../kit/dom.js";
import { droppable, paintable, picture } from "../kit/imagewell.js";
import { figures, fixed, percent } from "../kit/number.js";

/** @import { Cell } from "../kit/imagewell.js" */
/** @import { Both, Nearest } from "./report.js" */

const PAINT_HELP =
  "Query. Drag to paint. With the keyboard: arrow keys move the brush, space paints. Drop an image file to use it.";

/** @type {(title: string, canvas: Element, tone?: string) => { element: HTMLElement, verdict: HTMLElement, note: HTMLElement }} */
function panel(title, canvas, tone = "") {
  const verdict = h("span", { class: "r1-verdict" });
  const note = h("span", { class: "r1-muted" });
  const caption = h("figcaption", {}, h("strong", { class: tone }, title), verdict, note);
  return { element: h("figure", { class: "r1-panel" }, canvas, caption), verdict, note };
}

/** @param {number} v */
const inFigures = (v) => (v < 10 ? fixed(v, 3) : figures(v, 2));

/**
 * @param {number} size
 * @param {{ tool(): { brush: number, touch: boolean }, dab(cells: Cell[]): void, endStroke(): void, file(file: File): void }} on
 */
export function createStage(size, on) {
  const shown = {
    truth: picture({ label: "True picture", size }),
    query: picture({ label: PAINT_HELP, size, className: "r1-query" }),
    exact: picture({ label: "State of the exact memory", size }),
    distributed: picture({ label: "State of the distributed memory", size }),
    jax: picture({ label: "Result of the run in JAX", size }),
  };
  shown.query.canvas.setAttribute("role", "application");
  const frame = paintable(shown.query.canvas, {
    tool: on.tool,
    onDab: on.dab,
    onEnd: on.endStroke,
  });
  droppable(frame, on.file);
  const panels = {
    truth: panel("True picture", shown.truth.canvas),
    query: panel("Query", frame),
    exact: panel("Exact memory", shown.exact.canvas, "r1-ink-exact"),
    distributed: panel("Distributed memory", shown.distributed.canvas, "r1-ink-distributed"),
    jax: panel("In JAX", shown.jax.canvas),
  };
  panels.jax.element.hidden = true;
  const element = h(
    "div",
    { class: "r1-stage" },
    Object.values(panels).map((p) => p.element),
  );
  /** @type {(name: "exact" | "distributed", nearest: Nearest) => void} */
  const verdict = (name, { label, right, outside, error }) => {
    const words = outside ? "outside the range of pictures" : `nearest: ${label}`;
    setText(panels[name].verdict, `${right ? "✓" : "✗"} ${words}`);
    panels[name].verdict.classList.toggle("r1-wrong", !right);
    setText(panels[name].note, `mean error ${inFigures(error)}`);
    shown[name].say(`State of the ${name} memory; ${words}, ${right ? "the right one" : "wrong"}`);
  };
  return {
    element,
    queryCanvas: shown.query.canvas,
    /**
     * What stands before the first step.
     *
     * @param {{ truth: Uint8ClampedArray, query: Uint8ClampedArray, label: string, isStored: boolean, known: number }} start
     */
    setQuery({ truth, query, label, isStored, known }) {
      shown.truth.show(truth);
      shown.truth.say(`True picture: ${label}`);
      shown.query.show(query);
      setText(panels.truth.verdict, label);
      setText(panels.truth.note, isStored ? "stored" : "not stored");
      setText(panels.query.verdict, `${percent(known)} known`);
      setText(panels.query.note, "paint on it");
    },
    /**
     * The two states of one step; `found` says how near each is to what.
     *
     * @type {(bytes: Uint8ClampedArray, found: Both) => void}
     */
    show(bytes, found) {
      const D = bytes.length / 2;
      shown.exact.show(bytes.subarray(0, D));
      shown.distributed.show(bytes.subarray(D));
      verdict("exact", found.exact);
      verdict("distributed", found.distributed);
    },
    /**
     * A result of Python's, or null to take it away.
     *
     * @param {Uint8ClampedArray | null} bytes
     * @param {[string, string]} [words]
     */
    showJax(bytes, words = ["", ""]) {
      panels.jax.element.hidden = !bytes;
      element.classList.toggle("r1-five", Boolean(bytes));
      if (!bytes) return;
      shown.jax.show(bytes);
      setText(panels.jax.verdict, words[0]);
      setText(panels.jax.note, words[1]);
    },
  };
}
