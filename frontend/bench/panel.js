// The reader's controls: those beside the pictures, and the rest.
import { elementsOf, fill, segments, select, toggle } from "../kit/controls.js";
import { fieldsOf } from "../kit/fields.js";
import { count, figures, fixed } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { MOST, ROUNDS, WIDTHS, YS } from "./settings.js";

/** @import { Kernel } from "./math/kernels.js" */
/** @import { Patch, Settings, View } from "./settings.js" */

/**
 * `onOff` is called with the offset from the truth that the reader sets for the chosen pair's value.
 *
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 * @param {(off: number) => void} onOff
 */
export function createPanel(settings, change, onOff) {
  const of = fieldsOf(settings, change);
  const [min, max] = WIDTHS;
  /** @type {[View, string][]} */
  const views = [
    ["line", "On the line"],
    ["plane", "In the plane"],
  ];
  const view = segments({
    label: "Where the keys are",
    options: views,
    value: settings.view,
    onInput: (chosen) => change(chosen ? { view: chosen } : {}),
  });
  const fields = {
    divide: toggle({
      ...of("divide"),
      label: "divide by a memory of ones",
      title: "Divides the reading by that of a memory with the value 1 at every key",
    }),
    width: slider({
      ...of("width"),
      label: "width of the kernel",
      symbol: "σ",
      scale: "log",
      format: figures,
      title: "How far a write is seen from its key: the σ of the kernel under More",
      ...{ min, max },
    }),
    noise: slider({
      ...of("noise"),
      label: "noise in the values",
      symbol: "s",
      max: 1,
      step: 0.05,
      format: figures,
      title: "Standard deviation of the stored values around the truth",
    }),
    omega: slider({
      ...of("omega"),
      label: "of the ridge",
      symbol: "ω",
      min: 0.1,
      max: 1000,
      scale: "log",
      format: figures,
      title:
        "The ridge is (S + I/ω)⁻¹; with noise of variance s², ω = 1/s² is best for values drawn from a Gaussian process with this kernel",
    }),
    rounds: slider({
      ...of("rounds"),
      label: "rounds",
      values: ROUNDS,
      title: "How often all pairs are written; each round writes the errors that the last one left",
    }),
    Y: slider({
      ...of("Y"),
      label: "random frequencies",
      symbol: "Y",
      values: YS,
      format: (Y) => (Y ? count(Y) : "none (a list)"),
      title:
        "The kernel from Y cosines and sines: the memory is then a vector of 2Y numbers, however many pairs there are",
    }),
    kernel: select({
      ...of("kernel"),
      onInput: (v) => change({ kernel: /** @type {Kernel} */ (v) }),
      label: "Kernel",
      options: [
        ["laplace", "e^(−distance/σ)"],
        ["gaussian", "e^(−distance²/2σ²)"],
      ],
      title: "How strongly a pair stored at one key is read at another",
    }),
    seed: slider({
      ...of("seed"),
      label: "random draw",
      max: 50,
      title: "The seed of jax.random",
    }),
    count: slider({
      label: "pairs",
      symbol: "m",
      name: "count",
      min: 2,
      max: MOST,
      value: settings.pairs.length,
      onInput: (n) => change({ count: n }),
    }),
    off: slider({
      label: "last pair touched: off the truth by",
      name: "off",
      min: -2,
      max: 2,
      step: 0.05,
      value: settings.pairs[0][2],
      format: (v) => fixed(v),
      onInput: onOff,
    }),
    backward: toggle({
      ...of("backward"),
      label: "the last pair is written first",
      title: "Reverses the order of the writes: U is then the part below the diagonal",
    }),
  };
  const elements = elementsOf(fields);
  return {
    first: [view.element, ...elements("divide", "width", "noise")],
    more: elements("omega", "rounds", "Y", "kernel", "count", "off", "seed", "backward"),
    /** @type {(next: Settings, chosen: number) => void} */
    show(next, chosen) {
      view.value = next.view;
      const [, , off] = next.pairs[chosen] ?? next.pairs[0];
      fill(fields, { ...next, count: next.pairs.length, off });
    },
  };
}
