// The paint tool: its controls, and the effect of a stroke on the query.
import { button, segments } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { slider } from "../kit/slider.js";
import { dab } from "./settings.js";

/** What a stroke does, how wide and in which colour. */
/** @typedef {{ tool: "paint" | "restore" | null, size: number, colour: string }} Brush */

/** @import { Cell } from "../kit/imagewell.js" */
/** @import { Paint } from "../math/corruption.js" */

/** @type {Brush} */
export const BRUSH = { tool: null, size: 4, colour: "#808080" }; // the grey of a cover

/**
 * @param {Brush} brush
 * @param {{ clearPaint(): void, toolChanged(): void }} on
 */
export function paintControls(brush, on) {
  const colour = h("input", {
    type: "color",
    value: brush.colour,
    class: "r1-colour",
    "aria-label": "Brush colour",
    "data-name": "colour",
    oninput: () => {
      brush.colour = colour.value;
    },
  });
  const tool = segments({
    label: "Brush",
    options: /** @type {["paint" | "restore", string][]} */ ([
      ["paint", "Paint"],
      ["restore", "Restore"],
    ]),
    value: null,
    onInput: (key) => {
      brush.tool = key;
      on.toolChanged();
    },
  });
  const size = slider({
    label: "brush size",
    name: "brush",
    min: 1,
    max: 16,
    value: brush.size,
    format: (v) => `${v} px`,
    onInput: (v) => {
      brush.size = v;
    },
  });
  const clear = button({ label: "Clear paint", onClick: on.clearPaint, "data-name": "clear" });
  return {
    elements: [h("div", { class: "r1-tools" }, tool.element, colour, clear), size.element],
    show() {
      tool.value = brush.tool;
      size.value = brush.size;
      colour.value = brush.colour;
      on.toolChanged();
    },
  };
}

/**
 * Puts dabs of the brush on a layer of paint.
 *
 * @type {(paint: Paint, cells: Cell[], brush: Brush) => void}
 */
export function stroke(paint, cells, { tool, size, colour }) {
  const hex = Number.parseInt(colour.slice(1), 16);
  const rgb = tool === "restore" ? null : [hex >> 16, (hex >> 8) & 255, hex & 255];
  for (const [row, column] of cells) dab(paint, row, column, size, rgb);
}
