// The reader's controls: `first` is always visible, and `more` is under "More".
import { elementsOf, fill, select } from "../kit/controls.js";
import { fieldsOf } from "../kit/fields.js";
import { count, figures } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { BASES } from "../math/plane/estimate.js";
import { MOST, YS } from "./settings.js";

/** @import { Basis } from "../math/plane/estimate.js" */
/** @import { Patch, Settings } from "./settings.js" */

/**
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 */
export function createPanel(settings, change) {
  const of = fieldsOf(settings, change);
  const fields = {
    beta: slider({
      ...of("beta"),
      label: "inverse temperature",
      symbol: "β",
      min: 1,
      max: 200,
      scale: "log",
      format: figures,
      title: "How sharply near patterns are distinguished from far ones",
    }),
    Y: slider({
      ...of("Y"),
      label: "random frequencies",
      symbol: "Y",
      values: YS,
      format: count,
      title: "How many frequencies Ŝ averages over",
    }),
    seed: slider({
      ...of("seed"),
      label: "draw of the frequencies",
      min: 0,
      max: 50,
      title: "The seed of jax.random; another seed draws other frequencies",
    }),
    basis: select({
      ...of("basis"),
      onInput: (v) => change({ basis: /** @type {Basis} */ (v) }),
      label: "Features",
      options: BASES,
    }),
    eta: slider({
      ...of("eta"),
      label: "step size",
      symbol: "η",
      min: 0.05,
      max: 2.4,
      step: 0.05,
      format: figures,
      title: "A step is this multiple of the gradient",
    }),
    steps: slider({ ...of("steps"), label: "steps", symbol: "L", min: 1, max: 80 }),
    count: slider({
      label: "patterns",
      symbol: "K",
      name: "count",
      min: 2,
      max: MOST,
      value: settings.patterns.length,
      onInput: (n) => change({ count: n }),
    }),
  };
  const elements = elementsOf(fields);
  const isAlone = settings.view === "exact";
  return {
    first: isAlone ? elements("beta", "eta", "count") : elements("beta", "Y", "seed"),
    more: isAlone ? elements("steps") : elements("basis", "eta", "steps", "count"),
    /** @param {Settings} next */
    show: (next) => fill(fields, { ...next, count: next.patterns.length }),
  };
}
