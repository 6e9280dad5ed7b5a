// The reader's controls: the geometry of the edit, the keys, the kept pairs, and the run of many edits.
import { button, fill, group, select } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { figures } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { GEOMETRIES } from "./math/edit.js";

/** @import { Geometry } from "./math/edit.js" */
/** @import { Patch, Settings } from "./settings.js" */

/** @typedef {"ridge" | "used" | "count" | "beta" | "dimension" | "edits"} Field */
/** @typedef {"keep" | "undo" | "repeat" | "clear"} Action */

const RIDGES = [0, 0.001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000];
const BETAS = [0, 0.1, 1, 3, 10, 30, 100, 1000, 1e6];

/**
 * `change(patch)` takes new settings; `on` are what the buttons do.
 *
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 * @param {Record<Action | "redrawKeys" | "redrawEdits", () => void>} on
 */
export function createPanel(settings, change, on) {
  const fields = makeFields(settings, change);
  /** @type {(label: string, name: string, action: () => void, title?: string) => HTMLButtonElement} */
  const press = (label, name, action, title = label) =>
    button({ label, title, onClick: action, "data-name": name });
  const buttons = {
    keep: press("Keep this edit", "keep", on.keep, "W becomes Ŵ; the pair stays in the table"),
    undo: press("Undo last", "undo", on.undo),
    repeat: press(
      "Repeat all once",
      "repeat",
      on.repeat,
      "Write every kept pair once more, in order",
    ),
    clear: press("Clear", "clear", on.clear),
  };
  /** @type {(...names: (keyof typeof fields)[]) => Element[]} */
  const elements = (...names) => names.map((name) => fields[name].element);
  const element = h(
    "div",
    { class: "r1-controls" },
    group("The geometry of the edit", elements("geometry", "ridge", "used"), "r1-wide"),
    group("The keys", [
      ...elements("count"),
      press("Draw other keys", "redraw-keys", on.redrawKeys),
    ]),
    group("Edits in sequence", [
      h("div", { class: "r1-tools" }, Object.values(buttons)),
      ...elements("beta"),
    ]),
    group("Many edits at random", [
      ...elements("dimension", "edits"),
      press("Draw others", "redraw-edits", on.redrawEdits),
    ]),
  );
  return {
    element,
    /**
     * Writes the settings into every control; `can` says which buttons do something.
     *
     * @type {(next: Settings, can: Record<Action, boolean>) => void}
     */
    show(next, can) {
      fields.used.bound({ max: next.keys.length });
      fields.edits.bound({ max: 4 * next.dimension });
      fill(fields, { ...next, count: next.keys.length });
      fields.ridge.disabled = next.geometry !== "keys";
      for (const [name, element] of Object.entries(buttons)) {
        element.disabled = !can[/** @type {Action} */ (name)];
      }
    },
  };
}

/** @type {(settings: Settings, change: (patch: Patch) => void) => Record<Field, ReturnType<typeof slider>> & { geometry: ReturnType<typeof select> }} */
function makeFields(settings, change) {
  /** @type {(label: string, symbol: string, name: "ridge" | "beta", values: number[], title: string) => ReturnType<typeof slider>} */
  const list = (label, symbol, name, values, title) =>
    slider({
      label,
      symbol,
      name,
      values,
      title,
      value: settings[name],
      format: figures,
      onInput: (v) => change({ [name]: v }),
    });
  /** @type {(label: string, symbol: string | null, name: Field, min: number, max: number, value: number) => ReturnType<typeof slider>} */
  const range = (label, symbol, name, min, max, value) =>
    slider({ label, symbol, name, min, max, value, onInput: (v) => change({ [name]: v }) });
  return {
    geometry: select({
      label: "Length of a change is measured by",
      name: "geometry",
      options: GEOMETRIES,
      value: settings.geometry,
      onInput: (v) => change({ geometry: /** @type {Geometry} */ (v) }),
    }),
    ridge: list("ridge, C + λI", "λ", "ridge", RIDGES, "Added to the diagonal of C"),
    used: range("keys behind C", null, "used", 1, settings.keys.length, settings.used),
    count: range("stored keys", "n", "count", 2, 24, settings.keys.length),
    beta: list(
      "weight of a kept key in C",
      "β",
      "beta",
      BETAS,
      "C ← C + βkkᵀ after each kept edit",
    ),
    dimension: range("dimensions", "D", "dimension", 2, 64, settings.dimension),
    edits: range("edits", "T", "edits", 2, 4 * settings.dimension, settings.edits),
  };
}
