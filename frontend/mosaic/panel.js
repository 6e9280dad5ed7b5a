// The reader's controls: `first` and `damage` are always visible, and `more` is under "More".
import { elementsOf, fill, select } from "../kit/controls.js";
import { fieldsOf } from "../kit/fields.js";
import { count, figures } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { KS, YS } from "./settings.js";

/** @import { Damage } from "./math/damage.js" */
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
      min: 10,
      max: 150,
      scale: "log",
      format: figures,
      title: "How sharply near pictures are distinguished from far ones",
    }),
    Y: slider({
      ...of("Y"),
      label: "frequencies",
      symbol: "Y",
      values: YS,
      format: count,
      title: "Random frequencies of the vector: it has 2Y numbers, a cosine and a sine for each",
    }),
    K: slider({
      ...of("K"),
      label: "pictures stored",
      symbol: "K",
      values: KS,
      format: count,
      title: "How many of the ten thousand pictures both memories hold",
    }),
    damage: select({
      ...of("damage"),
      onInput: (v) => change({ damage: /** @type {Damage} */ (v) }),
      label: "Damage to the query",
      options: [
        ["eighth", "an eighth hidden"],
        ["quarter", "a quarter hidden"],
        ["half", "half hidden"],
        ["flips", "5 % of pixels flipped"],
      ],
    }),
    eta: slider({
      ...of("eta"),
      label: "step size",
      symbol: "η",
      min: 0.05,
      max: 1,
      step: 0.05,
      format: figures,
      title: "A step is this multiple of the gradient",
    }),
    steps: slider({ ...of("steps"), label: "steps", min: 1, max: 80 }),
    seed: slider({
      ...of("seed"),
      label: "draw of the frequencies",
      min: 0,
      max: 50,
      title: "The seed of jax.random",
    }),
  };
  const elements = elementsOf(fields);
  return {
    first: elements("beta", "Y", "K"),
    damage: fields.damage.element,
    more: elements("eta", "steps", "seed"),
    /** @param {Settings} next */
    show(next) {
      const { target: _, ...rest } = next;
      fill(fields, rest);
    },
  };
}
