// The reader's controls: the geometry of the edit, the keys, the kept pairs, and the run of many edits.
import { button, group, select } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { slider } from "../kit/slider.js";
import { GEOMETRIES } from "./math/edit.js";

const RIDGES = [0, 0.001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000];
const BETAS = [0, 0.1, 1, 3, 10, 30, 100, 1000, 1e6];

/** `change(patch)` takes new settings; `on`: { keep(), undo(), repeat(), clear(), redrawKeys(), redrawEdits() }. */
export function createPanel(settings, change, on) {
  const fields = makeFields(settings, change);
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
    /** Writes the settings into every control; `can` says which buttons do something. */
    show(next, can) {
      fields.used.bound({ max: next.keys.length });
      fields.edits.bound({ max: 4 * next.dimension });
      for (const name of ["geometry", "ridge", "used", "beta", "dimension", "edits"]) {
        fields[name].value = next[name];
      }
      fields.count.value = next.keys.length;
      fields.ridge.disabled = next.geometry !== "keys";
      for (const [name, element] of Object.entries(buttons)) element.disabled = !can[name];
    },
  };
}

function makeFields(settings, change) {
  const list = (label, symbol, name, values, title) =>
    slider({
      label,
      symbol,
      name,
      values,
      title,
      value: settings[name],
      format: (v) => (v >= 1e6 ? "10⁶" : String(v)),
      onInput: (v) => change({ [name]: v }),
    });
  const range = (label, symbol, name, min, max, value = settings[name], key = name) =>
    slider({ label, symbol, name, min, max, value, onInput: (v) => change({ [key]: v }) });
  return {
    geometry: select({
      label: "Length of a change is measured by",
      name: "geometry",
      options: GEOMETRIES,
      value: settings.geometry,
      onInput: (v) => change({ geometry: v }),
    }),
    ridge: list("ridge, C + λI", "λ", "ridge", RIDGES, "Added to the diagonal of C"),
    used: range("keys behind C", null, "used", 1, settings.keys.length),
    count: range("stored keys", "n", "count", 2, 24, settings.keys.length),
    beta: list(
      "weight of a kept key in C",
      "β",
      "beta",
      BETAS,
      "C ← C + βkkᵀ after each kept edit",
    ),
    dimension: range("dimensions", "D", "dimension", 2, 64),
    edits: range("edits", "T", "edits", 2, 4 * settings.dimension),
  };
}
