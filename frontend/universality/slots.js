// The values that the step wrote, as they are read at x*: one square per cell, one named bar per number, or the plane
// of two slots.

import { h, setText } from "../kit/dom.js";
import { bounded, cleared, figures } from "../kit/number.js";
import { CONSTANTS } from "./math/tables.js";
import { createPlane, planeInWords } from "./plane.js";
import { isPromised, isTable } from "./settings.js";

/** @import { Plane, Slot } from "./observe.js" */
/** @import { Settings } from "./settings.js" */

const SIDE = 200;
/** @type {Partial<Record<Settings["construction"], string>>} */
const FULL = { logdepth: "the value for a bit 1", constant: "Δ" };
/** @type {Partial<Record<Settings["construction"], string>>} */
const NOTES = { shallow: " κ₁, κ₂: kernels of layers 1 and 2." };
const EDGE = 22; // width of the margin for the axis labels

export function createSlots() {
  const svg = h("svg", {
    viewBox: `0 0 ${SIDE + 24} ${SIDE + 24}`,
    role: "img",
    class: "r1-cells",
  });
  const plane = createPlane();
  const bars = h("ul", { class: "r1-bars" });
  const note = h("p", { class: "r1-plot-note" });
  const caption = h("figcaption", {});
  const element = h(
    "figure",
    { class: "r1-plot r1-slots" },
    caption,
    svg,
    plane.element,
    bars,
    note,
  );
  /** @type {SVGElement[]} */
  let cells = [];
  return {
    element,
    /** @type {(shown: { slots: Slot[], plane: Plane | null }, settings: Settings) => void} */
    show({ slots, plane: written }, { construction, size: J, x, y, probe }) {
      const table = construction === "seed";
      svg.style.display = table ? "" : "none";
      plane.element.style.display = written ? "" : "none";
      bars.hidden = table || written !== null;
      if (written) {
        setText(caption, "What the step wrote: the plane of the slots");
        setText(note, planeInWords(written));
        return plane.show(written);
      }
      setText(caption, table ? "Which cells fired" : "What the step wrote");
      const fired = slots.filter(({ share }) => share > 0.5);
      const words = table
        ? `${fired.length} of ${slots.length} cells fired${fired.length === 1 ? `: ${fired[0].label}` : ""}.`
        : slots.map(({ label, value }) => `${label} = ${number(value)}`).join(", ");
      if (table && cells.length !== slots.length) {
        cells = squares(J);
        svg.replaceChildren(...cells, ...axes());
      }
      if (table) slots.forEach((slot, s) => void light(cells[s], slot));
      else bars.replaceChildren(...slots.map(bar), scale());
      svg.setAttribute("aria-label", words);
      const verdict = isPromised(y) ? `${words} The outlined one should.` : words;
      const advice = table
        ? verdict
        : `Values at x*, divided by ${CONSTANTS.alpha} and by the path’s weight w; a full bar is ${FULL[construction] ?? "2Δ"}.${NOTES[construction] ?? ""}`;
      const ramp = isTable(construction) && (onRamp(x, J) || onRamp(probe, J));
      setText(
        note,
        ramp ? `${advice} At the border of two cells the table is not promised.` : advice,
      );
    },
  };
}

/** @type {(v: number, J: number) => boolean} */
const onRamp = (v, J) => v > 0 && v < 1 && Math.abs(v * J - Math.round(v * J)) < 1e-6;
/** @param {number} v */
const number = (v) => figures(cleared(v, 1e-3));
/** @param {number} share */
const shade = (share) => bounded(share, 0, 1) || 0;

/** @type {(J: number) => SVGElement[]} */
function squares(J) {
  const side = SIDE / J;
  return Array.from({ length: J * J }, (_, s) =>
    h("rect", {
      x: EDGE + Math.floor(s / J) * side + 1,
      y: (J - 1 - (s % J)) * side + 1,
      width: side - 2,
      height: side - 2,
    }),
  );
}

/** @type {(cell: SVGElement, slot: Slot) => void} */
function light(cell, { share, expected }) {
  cell.setAttribute("class", expected ? "r1-cell r1-expected" : "r1-cell");
  cell.style.setProperty("--r1-fired", `${(100 * shade(share)).toFixed(0)}%`);
}

function axes() {
  const at = { x: 12, y: SIDE / 2, class: "r1-axis-label" };
  return [
    h("text", { ...at, x: EDGE + SIDE / 2, y: SIDE + 18 }, "cell of x*"),
    h("text", { ...at, transform: `rotate(-90 12 ${SIDE / 2})` }, "cell of x"),
  ];
}

/** The axis of the bars: 0, ½ and 1 times the value of a slot that fires. */
const scale = () =>
  h(
    "li",
    { class: "r1-bar-scale", "aria-hidden": "true" },
    h("span"),
    h(
      "span",
      {},
      ["0", "½", "1"].map((mark) => h("span", {}, mark)),
    ),
    h("span"),
  );

/** @param {Slot} slot */
const bar = ({ label, share, value }) =>
  h(
    "li",
    {},
    h("span", { class: "r1-bar-name" }, label),
    h(
      "span",
      { class: "r1-bar-track" },
      h("span", { class: "r1-bar-fill", style: `width:${(100 * shade(share)).toFixed(0)}%` }),
    ),
    h("span", { class: "r1-bar-value" }, number(value)),
  );
