// What the step wrote, slot by slot, as x* sees it: a square a cell, or a named bar a number.
import { h, setText } from "../kit/dom.js";
import { bounded, cleared, figures } from "../kit/number.js";
import { isPromised, isTable } from "./settings.js";

/** @import { Slot } from "./observe.js" */
/** @import { Settings } from "./settings.js" */

const SIDE = 200;

export function createSlots() {
  const svg = h("svg", {
    viewBox: `0 0 ${SIDE + 24} ${SIDE + 24}`,
    role: "img",
    class: "r1-cells",
  });
  const bars = h("ul", { class: "r1-bars" });
  const note = h("p", { class: "r1-plot-note" });
  const element = h(
    "figure",
    { class: "r1-plot" },
    h("figcaption", {}, "Which cells fired"),
    svg,
    bars,
    note,
  );
  return {
    element,
    /** @type {(slots: Slot[], settings: Settings) => void} */
    show(slots, { construction, size: J, x, y, probe }) {
      const table = construction === "seed";
      svg.style.display = table ? "" : "none";
      bars.hidden = table;
      const fired = slots.filter(({ share }) => share > 0.5);
      const words = table
        ? `${fired.length} of ${slots.length} cells fired${fired.length === 1 ? `: ${fired[0].label}` : ""}.`
        : slots.map(({ label, value }) => `${label} = ${number(value)}`).join(", ");
      if (table) svg.replaceChildren(...squares(slots, J));
      else bars.replaceChildren(...slots.map(bar));
      svg.setAttribute("aria-label", words);
      const found = isPromised(y) ? `${words} The outlined one should.` : words;
      const advice = table ? found : "Numbers in units of αw, as x* reads them.";
      const ramp = isTable(construction) && (onRamp(x, J) || onRamp(probe, J));
      setText(note, ramp ? `${advice} On the ramp between two cells neither is sure.` : advice);
    },
  };
}

/** @type {(v: number, J: number) => boolean} */
const onRamp = (v, J) => v > 0 && v < 1 && Math.abs(v * J - Math.round(v * J)) < 1e-6;
/** @param {number} v */
const number = (v) => figures(cleared(v, 1e-3));
/** @param {number} share */
const shade = (share) => bounded(share, 0, 1) || 0;

/** @type {(slots: Slot[], J: number) => SVGElement[]} */
function squares(slots, J) {
  const side = SIDE / J;
  const rects = slots.map(({ share, expected }, s) =>
    h("rect", {
      x: 22 + Math.floor(s / J) * side + 1,
      y: (J - 1 - (s % J)) * side + 1,
      width: side - 2,
      height: side - 2,
      class: expected ? "r1-cell r1-expected" : "r1-cell",
      style: `--r1-fired:${(100 * shade(share)).toFixed(0)}%`,
    }),
  );
  const middle = 22 + SIDE / 2;
  return [
    ...rects,
    h("text", { x: middle, y: SIDE + 18, class: "r1-axis-label" }, "cell of x*"),
    h(
      "text",
      { x: 12, y: SIDE / 2, class: "r1-axis-label", transform: `rotate(-90 12 ${SIDE / 2})` },
      "cell of x",
    ),
  ];
}

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
