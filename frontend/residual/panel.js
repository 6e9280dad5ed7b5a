// The reader's controls: the choice of the picture, the base, the memory, the labels.
import { button, elementsOf, fill, segments } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { fieldsOf } from "../kit/fields.js";
import { count, figures, percent } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { sizesOf } from "./math/risk.js";
import { NEIGHBOURS } from "./settings.js";

/** @import { View } from "./math/risk.js" */
/** @import { Part } from "./math/waves.js" */
/** @import { Patch, Settings } from "./settings.js" */

/**
 * The controls. `change(patch)` is called with the settings that the reader changes, `seek(place)` with the index of
 * another number of examples.
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
      ["waves", "Two waves"],
    ]),
    value: settings.view,
    onInput: (view) => {
      if (view === null)
        views.value = settings.view; // one of them is always on
      else change({ view });
    },
  });
  const learns = segments({
    label: "The base learns",
    options: /** @type {[Part, string][]} */ ([
      ["smooth", "base: smooth"],
      ["rough", "base: rough"],
    ]),
    value: settings.learns,
    onInput: (part) => {
      if (part === null)
        learns.value = settings.learns; // one of them is always on
      else change({ learns: part });
    },
  });
  const of = fieldsOf(settings, change);
  const controls = {
    L: slider({
      ...of("L"),
      label: "capacity",
      symbol: "L",
      min: 0,
      max: 1.2,
      step: 0.05,
      format: figures,
      help: "Largest norm of the base’s weights: L on the line, where the truth has norm 1, and 14·L in the plane.",
    }),
    k: slider({
      ...of("k"),
      label: "neighbours",
      symbol: "k",
      values: NEIGHBOURS,
      help: "How many of the nearest examples the memory takes a weighted mean of.",
    }),
    sigma: slider({
      ...of("sigma"),
      label: "width",
      symbol: "σ",
      min: 0.01,
      max: 10,
      scale: "log",
      format: figures,
      help: "σ in the weights exp(−distance/σ) of the neighbours: if σ is small, the nearest has nearly all the weight.",
    }),
    d: slider({
      ...of("d"),
      label: "dimensions",
      symbol: "d",
      min: 1,
      max: 8,
      help: "Dimensions of the ball that the examples lie in; the truth varies along the first alone.",
    }),
    noise: slider({
      ...of("noise"),
      label: "label noise (variance)",
      min: 0,
      max: 1,
      step: 0.01,
      format: figures,
      help: "Variance of the noise on the labels that are learnt from. Risks are against the clean truth.",
    }),
    flips: slider({
      ...of("flips"),
      label: "wrong labels",
      min: 0,
      max: 0.5,
      step: 0.01,
      format: percent,
      help: "Fraction of the labels that are flipped. Errors are against the true classes.",
    }),
    frequency: slider({
      ...of("frequency"),
      label: "frequency of the rough wave",
      symbol: "ν",
      min: 2,
      max: 16,
      help: "Periods around the circle. The smooth wave has one period, and twice the height.",
    }),
  };
  const n = slider({
    label: "examples",
    symbol: "n",
    name: "n",
    help: "Examples that the base is fitted to and the memory stores.",
    values: sizesOf(settings.view),
    value: settings.n,
    format: count,
    onInput: (v) => seek(sizesOf(settings.view).indexOf(v)),
  });
  const redraw = button({
    label: "Draw other examples",
    title: "Another seed, the same distribution",
    onClick: () => change({ redraw: true }),
    "data-name": "redraw",
  });
  const elements = elementsOf(controls);
  return {
    first: [
      h("div", { class: "r1-tools" }, views.element),
      h("div", { class: "r1-tools r1-learns" }, learns.element),
      n.element,
      ...elements("frequency", "L", "k", "d", "sigma", "noise", "flips"),
    ],
    rest: h("div", { class: "r1-tools" }, redraw),
    /**
     * Writes the settings into every control, and hides the controls that the picture does not use.
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
      const waves = next.view === "waves";
      learns.value = next.learns;
      learns.element.hidden = !waves;
      controls.frequency.element.hidden = !waves;
      controls.L.element.hidden = waves;
      controls.d.element.hidden = !line;
      controls.noise.element.hidden = !line;
      controls.flips.element.hidden = next.view !== "plane";
    },
  };
}
