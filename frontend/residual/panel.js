// The reader's controls: which picture, the base, the memory, the labels.
import { button, elementsOf, fill, group, segments } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { fieldsOf } from "../kit/fields.js";
import { count, figures, percent } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { sizesOf } from "./math/risk.js";
import { NEIGHBOURS } from "./settings.js";

/** @import { View } from "./math/risk.js" */
/** @import { Patch, Settings } from "./settings.js" */

/**
 * `change(patch)` takes new settings; `seek(place)` moves to another number of examples.
 *
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 * @param {(place: number) => void} seek
 */
export function createPanel(settings, change, seek) {
  const views = segments({
    label: "Picture",
    options: /** @type {[View, string][]} */ ([
      ["line", "A line"],
      ["plane", "A plane"],
    ]),
    value: settings.view,
    onInput: (view) => {
      if (view === null)
        views.value = settings.view; // one of them is always on
      else change({ view });
    },
  });
  const of = fieldsOf(settings, change);
  const controls = {
    L: slider({
      ...of("L"),
      label: "capacity of the base",
      symbol: "L",
      min: 0,
      max: 1.2,
      step: 0.05,
      format: figures,
    }),
    k: slider({ ...of("k"), label: "neighbours", symbol: "k", values: NEIGHBOURS }),
    sigma: slider({
      ...of("sigma"),
      label: "width of the weights",
      symbol: "σ",
      min: 0.01,
      max: 10,
      scale: "log",
      format: figures,
    }),
    d: slider({ ...of("d"), label: "dimensions", symbol: "d", min: 1, max: 8 }),
    noise: slider({
      ...of("noise"),
      label: "label noise (variance)",
      min: 0,
      max: 1,
      step: 0.01,
      format: figures,
    }),
    flips: slider({
      ...of("flips"),
      label: "wrong labels",
      min: 0,
      max: 0.5,
      step: 0.01,
      format: percent,
    }),
  };
  const n = slider({
    label: "examples",
    symbol: "n",
    name: "n",
    values: sizesOf(settings.view),
    value: settings.n,
    format: count,
    onInput: (v) => seek(sizesOf(settings.view).indexOf(v)),
  });
  const redraw = button({
    label: "Draw other examples",
    title: "Another seed, the same law",
    onClick: () => change({ redraw: true }),
    "data-name": "redraw",
  });
  const elements = elementsOf(controls);
  const element = h(
    "div",
    { class: "r1-controls" },
    group("The picture", [h("div", { class: "r1-tools" }, views.element)]),
    group("Base and memory", elements("L", "k", "sigma")),
    group("The examples", [n.element, ...elements("d", "noise", "flips"), redraw]),
  );
  return {
    element,
    /**
     * Writes the settings into every control, and offers only those that the picture has.
     *
     * @param {Settings} next
     */
    show(next) {
      settings = next;
      views.value = next.view;
      fill(controls, next);
      n.bound({ values: sizesOf(next.view) });
      n.value = next.n;
      controls.sigma.disabled = next.k === 1;
      const line = next.view === "line";
      controls.d.element.hidden = !line;
      controls.noise.element.hidden = !line;
      controls.flips.element.hidden = line;
    },
  };
}
