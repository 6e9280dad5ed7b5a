// The reader's controls: what is stored, how it is remembered, what the query looks like.
import { button, fill, group, segments, select, toggle } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { fieldsOf } from "../kit/fields.js";
import { count, fixed, percent } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { FILLS, SIDES } from "./math/corruption.js";
import { BASES } from "./math/features.js";
import { storedPictures } from "./stored.js";

/** @import { Fill } from "./math/corruption.js" */
/** @import { Patch } from "./change.js" */
/** @import { Brush } from "./explorer.js" */
/** @import { Library, Settings } from "./settings.js" */

/** @typedef {(patch: Patch) => void} Change */
/** @typedef {{ fileToStore(file: File): void, clearPaint(): void, toolChanged(): void }} On */

/** @type {<W extends string>(words: W[]) => [W, string][]} */
const titled = (words) => words.map((word) => [word, word]);

/**
 * `change(patch)` takes new settings; `brush` is the paint tool's own state.
 *
 * @param {Settings} settings
 * @param {Library} library
 * @param {Brush} brush
 * @param {Change} change
 * @param {On} on
 */
export function createPanel(settings, library, brush, change, on) {
  const memory = memoryControls(settings, change);
  const query = queryControls(settings, change);
  const grid = storedPictures(library, change, on);
  const paint = paintControls(brush, on);
  const element = h(
    "div",
    { class: "r1-controls" },
    group("Stored pictures", [grid.bar, grid.element], "r1-wide"),
    group(
      "The memory",
      Object.values(memory).map((c) => c.element),
    ),
    group("The query", [...Object.values(query).map((c) => c.element), paint.elements]),
  );
  return {
    element,
    showBrush: paint.show,
    /**
     * Writes the settings into every control.
     *
     * @param {Settings} next
     */
    show(next) {
      const items = library.items(next.collection);
      const { target, ...shown } = query;
      const { K, redraw, ...rest } = memory;
      fill({ ...rest, ...shown }, next);
      K.bound({ max: items.length });
      K.value = next.stored.length;
      target.offer(
        items.map(({ key, label }) => [
          key,
          next.stored.includes(key) ? label : `${label} (not stored)`,
        ]),
        String(next.target),
      );
      grid.show(next);
    },
  };
}

/**
 * @param {Settings} settings
 * @param {Change} change
 */
function memoryControls(settings, change) {
  const of = fieldsOf(settings, change);
  return {
    K: slider({
      label: "pictures stored",
      symbol: "K",
      name: "K",
      min: 1,
      max: 24,
      value: 8,
      title: "Stores the first K pictures of the collection",
      onInput: (K) => change({ first: K }),
    }),
    beta: slider({
      ...of("beta"),
      label: "sharpness",
      symbol: "β",
      min: 1,
      max: 200,
      scale: "log",
    }),
    Y: slider({
      ...of("Y"),
      label: "frequencies",
      symbol: "Y",
      min: 1000,
      max: 200000,
      scale: "log",
      format: count,
    }),
    eta: slider({ ...of("eta"), label: "step size", symbol: "η", min: 0.02, max: 2, scale: "log" }),
    steps: slider({
      ...of("steps"),
      label: "steps",
      values: [10, 20, 50, 100, 200, 300, 500, 1000],
      format: count,
    }),
    redraw: {
      element: button({
        label: "Draw other features",
        onClick: () => change({ redraw: true }),
        title: "Another seed: other random frequencies, same law",
        "data-name": "redraw",
      }),
    },
    basis: select({ ...of("basis"), label: "Features", options: titled(BASES) }),
    size: select({
      ...of("size"),
      label: "Picture size",
      options: [
        [32, "32 × 32 × 3"],
        [64, "64 × 64 × 3"],
      ],
      onInput: (v) => change({ size: Number(v) }),
    }),
  };
}

/**
 * @param {Settings} settings
 * @param {Change} change
 */
function queryControls(settings, change) {
  const of = fieldsOf(settings, change);
  return {
    target: select({
      ...of("target"),
      label: "True picture",
      options: [],
      onInput: (v) => change({ target: Number(v) }),
    }),
    side: select({ ...of("side"), label: "Covered side", options: titled(SIDES) }),
    fill: select({
      ...of("fill"),
      label: "Covered with",
      options: titled(/** @type {Fill[]} */ (Object.keys(FILLS))),
    }),
    clamp: toggle({
      ...of("clamp"),
      label: "Hold the known pixels",
      title: "Known pixels keep the value they have in the query; only the others descend",
    }),
    fraction: slider({
      ...of("fraction"),
      label: "covered",
      min: 0,
      max: 1,
      step: 0.01,
      format: percent,
    }),
    noise: slider({
      ...of("noise"),
      label: "noise on the rest",
      symbol: "σ",
      min: 0,
      max: 0.5,
      step: 0.01,
      format: fixed,
    }),
  };
}

/**
 * @param {Brush} brush
 * @param {On} on
 */
function paintControls(brush, on) {
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
