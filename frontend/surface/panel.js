// The reader's controls: `first` is always visible, and `more` is under "More".
import { elementsOf, fill, select } from "../kit/controls.js";
import { fieldsOf } from "../kit/fields.js";
import { figures, percent } from "../kit/number.js";
import { slider } from "../kit/slider.js";

/** @import { Patch, Settings, Start } from "./settings.js" */

/**
 * @param {Settings} settings
 * @param {string[]} names
 * @param {(patch: Patch) => void} change
 */
export function createPanel(settings, names, change) {
  const of = fieldsOf(settings, change);
  const fields = {
    beta: slider({
      ...of("beta"),
      label: "inverse temperature",
      symbol: "β",
      min: 1,
      max: 400,
      scale: "log",
      format: figures,
      title: "How strongly the memory prefers near pictures to far ones",
    }),
    covered: slider({
      ...of("covered"),
      label: "covered with grey",
      min: 0,
      max: 1,
      step: 0.05,
      format: percent,
      title: "How much of the picture is replaced by grey before the run starts",
    }),
    eta: slider({
      ...of("eta"),
      label: "step size",
      symbol: "η",
      min: 0.05,
      max: 2.4,
      step: 0.05,
      format: figures,
      title: "Each step moves the state by this multiple of the gradient",
    }),
    start: select({
      ...of("start"),
      onInput: (v) => change({ start: /** @type {Start} */ (v) }),
      label: "Start",
      options: [
        ["covered", "a picture with a part covered"],
        ["blend", "a blend of the three: a point of the plane"],
      ],
    }),
    from: select({
      ...of("from"),
      onInput: (v) => change({ from: Number(v) }),
      label: "Picture",
      options: names.map((name, i) => [i, name]),
    }),
    steps: slider({ ...of("steps"), label: "steps", symbol: "L", min: 1, max: 80 }),
    turn: slider({
      ...of("turn"),
      label: "turned by",
      min: -180,
      max: 180,
      step: 5,
      format: (v) => `${Math.round(v)}°`,
      title: "From which side the surface is seen; dragging the surface does the same",
    }),
  };
  const elements = elementsOf(fields);
  return {
    first: elements("beta", "from", "covered"),
    more: elements("start", "eta", "steps", "turn"),
    /** @param {Settings} next */
    show: (next) => fill(fields, next),
  };
}
