// The reader's controls: the geometry of the edit, the keys, the kept pairs, and the run of many edits.
import { button, elementsOf, fill, group, resetButton, select } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { fieldsOf } from "../kit/fields.js";
import { figures } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { GEOMETRIES } from "./math/edit.js";

/** @import { Patch, Settings } from "./settings.js" */

/** @typedef {"keep" | "undo" | "repeat" | "clear"} Action */

const RIDGES = [0, 0.001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000];
const BETAS = [0, 0.1, 1, 3, 10, 30, 100, 1000, 1e6];

/**
 * `change(patch)` is called with new settings; `on` has the actions of the buttons.
 *
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 * @param {Record<Action | "redrawKeys" | "redrawEdits" | "reset", () => void>} on
 */
export function createPanel(settings, change, on) {
  const fields = makeFields(settings, change);
  /** @type {(label: string, name: string, action: () => void, title?: string) => HTMLButtonElement} */
  const press = (label, name, action, title = label) =>
    button({ label, title, onClick: action, "data-name": name });
  const buttons = {
    keep: press("Keep this edit", "keep", on.keep, "W becomes Ŵ; the pair stays in the table"),
    undo: press("Drop the last", "undo", on.undo, "Takes back the edit kept last"),
    repeat: press(
      "Repeat all once",
      "repeat",
      on.repeat,
      "Write every kept pair once more, in order",
    ),
    clear: press("Clear", "clear", on.clear),
  };
  const elements = elementsOf(fields);
  return {
    first: [
      ...elements("geometry", "ridge", "used", "count"),
      h("div", { class: "r1-tools" }, buttons.keep, buttons.undo, resetButton(on.reset)),
    ],
    rest: h(
      "div",
      { class: "r1-controls" },
      group("Edits in sequence", [
        ...elements("beta"),
        h("div", { class: "r1-tools" }, buttons.repeat, buttons.clear),
        press("Draw other keys", "redraw-keys", on.redrawKeys),
      ]),
      group("Many edits at random", [
        ...elements("dimension", "edits"),
        press("Draw others", "redraw-edits", on.redrawEdits),
      ]),
    ),
    /**
     * Writes the settings into every control; `can` says which buttons are enabled.
     *
     * @type {(next: Settings, can: Record<Action, boolean>) => void}
     */
    show(next, can) {
      fields.used.bound({ max: next.keys.length });
      fields.edits.bound({ max: 4 * next.dimension });
      fill(fields, { ...next, count: next.keys.length });
      fields.ridge.disabled = next.geometry !== "keys";
      fields.used.disabled = next.geometry === "identity";
      fields.beta.disabled = next.geometry === "identity" || next.order.length === 0;
      for (const [name, element] of Object.entries(buttons)) {
        element.disabled = !can[/** @type {Action} */ (name)];
      }
    },
  };
}

/**
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 */
function makeFields(settings, change) {
  const of = fieldsOf(settings, change);
  const n = settings.keys.length;
  return {
    geometry: select({
      ...of("geometry"),
      label: "geometry",
      options: GEOMETRIES,
      help: "Of all matrices that answer v* at k*, Ŵ is the nearest to W, and C measures the distance. C = Σkkᵀ gives the least interference on the stored keys; C = I gives a plain gradient step.",
    }),
    ridge: slider({
      ...of("ridge"),
      label: "ridge, C + λI",
      symbol: "λ",
      values: RIDGES,
      format: figures,
      help: "Added to the diagonal of C, so that it has an inverse. Only the choice C = Σkkᵀ uses it.",
    }),
    used: slider({
      ...of("used"),
      label: "keys used for C",
      min: 1,
      max: n,
      help: "C is estimated from this many keys, the first ones. Interference is counted on all.",
    }),
    count: slider({
      label: "stored keys",
      symbol: "n",
      name: "count",
      min: 2,
      max: 24,
      value: n,
      help: "The keys whose outputs an edit may disturb. Drag them, or the two dots at the ends of their cloud’s axes, which are no keys.",
      onInput: (count) => change({ count }),
    }),
    beta: slider({
      ...of("beta"),
      label: "weight of a kept key in C",
      symbol: "β",
      values: BETAS,
      format: figures,
      help: "C ← C + βkkᵀ after each kept edit, so that later edits move its output less.",
    }),
    dimension: slider({ ...of("dimension"), label: "dimensions", symbol: "D", min: 2, max: 64 }),
    edits: slider({
      ...of("edits"),
      label: "edits",
      symbol: "T",
      min: 2,
      max: 4 * settings.dimension,
      help: "Random pairs written one after another into a memory that begins empty, with C = I.",
    }),
  };
}
