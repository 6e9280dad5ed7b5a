// The reader's controls: what is stored, how it is remembered, what the query looks like.
import { button, fill, group, segments, select, toggle } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { count, fixed, percent } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { FILLS, SIDES } from "./math/corruption.js";
import { BASES } from "./math/features.js";
import { storedPictures } from "./stored.js";

/** @import { Fill, Side } from "./math/corruption.js" */
/** @import { Basis } from "./math/features.js" */
/** @import { Patch } from "./change.js" */
/** @import { Brush } from "./explorer.js" */
/** @import { Library, Settings } from "./settings.js" */

/** @typedef {(patch: Patch) => void} Change */
/** @typedef {{ fileToStore(file: File): void, clearPaint(): void, toolChanged(): void }} On */

/** @type {(words: string[]) => [string, string][]} */
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
function memoryControls({ beta, Y, eta, steps, basis, size }, change) {
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
      label: "sharpness",
      symbol: "β",
      name: "beta",
      min: 1,
      max: 200,
      scale: "log",
      value: beta,
      onInput: (v) => change({ beta: v }),
    }),
    Y: slider({
      label: "frequencies",
      symbol: "Y",
      name: "Y",
      min: 1000,
      max: 200000,
      scale: "log",
      value: Y,
      format: count,
      onInput: (v) => change({ Y: v }),
    }),
    eta: slider({
      label: "step size",
      symbol: "η",
      name: "eta",
      min: 0.02,
      max: 2,
      scale: "log",
      value: eta,
      onInput: (v) => change({ eta: v }),
    }),
    steps: slider({
      label: "steps",
      name: "steps",
      values: [10, 20, 50, 100, 200, 300, 500, 1000],
      value: steps,
      format: count,
      onInput: (v) => change({ steps: v }),
    }),
    redraw: {
      element: button({
        label: "Draw other features",
        onClick: () => change({ redraw: true }),
        title: "Another seed: other random frequencies, same law",
        "data-name": "redraw",
      }),
    },
    basis: select({
      label: "Features",
      name: "basis",
      options: titled(BASES),
      value: basis,
      onInput: (v) => change({ basis: /** @type {Basis} */ (v) }),
    }),
    size: select({
      label: "Picture size",
      name: "size",
      options: [
        ["32", "32 × 32 × 3"],
        ["64", "64 × 64 × 3"],
      ],
      value: String(size),
      onInput: (v) => change({ size: Number(v) }),
    }),
  };
}

/**
 * @param {Settings} settings
 * @param {Change} change
 */
function queryControls({ fraction, side, fill, noise, clamp }, change) {
  return {
    target: select({
      label: "True picture",
      name: "target",
      options: [],
      value: "",
      onInput: (v) => change({ target: Number(v) }),
    }),
    side: select({
      label: "Covered side",
      name: "side",
      options: titled(SIDES),
      value: side,
      onInput: (v) => change({ side: /** @type {Side} */ (v) }),
    }),
    fill: select({
      label: "Covered with",
      name: "fill",
      options: titled(Object.keys(FILLS)),
      value: fill,
      onInput: (v) => change({ fill: /** @type {Fill} */ (v) }),
    }),
    clamp: toggle({
      label: "Hold the known pixels",
      name: "clamp",
      value: clamp,
      title: "Known pixels keep the value they have in the query; only the others descend",
      onInput: (v) => change({ clamp: v }),
    }),
    fraction: slider({
      label: "covered",
      name: "fraction",
      min: 0,
      max: 1,
      step: 0.01,
      value: fraction,
      format: percent,
      onInput: (v) => change({ fraction: v }),
    }),
    noise: slider({
      label: "noise on the rest",
      symbol: "σ",
      name: "noise",
      min: 0,
      max: 0.5,
      step: 0.01,
      value: noise,
      format: fixed,
      onInput: (v) => change({ noise: v }),
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
