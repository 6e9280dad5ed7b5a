// The reader's controls: the data, T and V, the method, the run.
import { button, elementsOf, fill, group, select, toggle } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { fieldsOf } from "../kit/fields.js";
import { figures, percent, power } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { METHODS } from "./math/paths.js";
import { BOUNDS } from "./settings.js";

/** @import { Method } from "./math/paths.js" */
/** @import { Patch, Settings, Shape } from "./settings.js" */

/** @param {number} v */
const degrees = (v) => `${v}°`;
/** @type {[Method, string][]} */
const METHOD_NAMES = [
  ["gd", "Gradient descent"],
  ["heavy", "Momentum: heavy ball"],
  ["nesterov", "Momentum: Nesterov"],
  ["decoupled", "Weight decay: weights × (1 − ηλ)"],
  ["penalty", "Weight decay: penalty ½λ‖weights‖²"],
  ["adam", "Adam"],
  ["muon", "Muon"],
];

/** @type {Record<string, string>} */
const HELP = {
  conditionV: "Ratio κ of V’s singular values, V = diag(√κ, 1/√κ) Rᵀ with a rotation R.",
  angleV: "Angle of R in V: the direction of the inputs that V stretches most.",
  conditionT: "Ratio κ of T’s singular values, T = R diag(√κ, 1/√κ) with a rotation R.",
  angleT: "Angle of R in T: the direction of the outputs that T stretches most.",
  conditionA: "Ratio of the eigenvalues of A, the second moment of the inputs.",
  angleA: "Direction of A’s larger eigenvalue.",
  conditionD: "Ratio of the eigenvalues of D, the second moment of the gradients at the output.",
  momentum: "How much of the last direction a step keeps.",
  lambda: "Strength of the weight decay.",
  rate: "The factor η of the steps of Adam and Muon, one for all paths.",
  share:
    "Fraction of the largest stable step (with a penalty, of the smaller of blue’s and orange’s); beyond 100 % a path runs away.",
};

/**
 * The controls of all settings. `change(patch)` is called with the settings that the reader changes.
 *
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 */
export function createPanel(settings, change) {
  const of = fieldsOf(settings, change);
  /** @type {(name: keyof typeof BOUNDS, label: string, look?: object) => ReturnType<typeof slider>} */
  const field = (name, label, look) => {
    const [min, max] = BOUNDS[name];
    return slider({ ...of(name), label, min, max, format: figures, help: HELP[name], ...look });
  };
  const log = { scale: "log" };
  const turn = { format: degrees, step: 1 };
  /** @type {(name: "rankT" | "rankV", words: string) => ReturnType<typeof toggle>} */
  const rank = (name, words) =>
    toggle({
      label: words,
      name,
      value: settings[name] === 1,
      onInput: (on) => change({ [name]: on ? 1 : 2 }),
    });
  const controls = {
    conditionV: field("conditionV", "condition of V", log),
    angleV: field("angleV", "rotation of V", turn),
    conditionT: field("conditionT", "condition of T", log),
    angleT: field("angleT", "rotation of T", turn),
    conditionA: field("conditionA", "condition of A (inputs)", log),
    angleA: field("angleA", "rotation of A", turn),
    conditionD: field("conditionD", "condition of D (outputs)", log),
    method: select({ ...of("method"), label: "Method on each path", options: METHOD_NAMES }),
    momentum: field("momentum", "momentum", { symbol: "β", step: 0.01 }),
    lambda: field("lambda", "decay", { ...log, symbol: "λ" }),
    rate: field("rate", "step size", { ...log, symbol: "η" }),
    best: toggle({
      ...of("best"),
      label: "Best fixed step for each path",
      title: "If off: the fraction of the largest stable step that is set here",
    }),
    share: field("share", "step / largest stable", { step: 0.01, format: percent }),
    tolerance: slider({
      ...of("tolerance"),
      label: "relative distance",
      help: "Steps are counted until the distance from the path’s end is this fraction of the distance at the start.",
      values: [1e-2, 1e-4, 1e-6, 1e-8],
      format: (v) => power(Math.log10(v)),
    }),
    steps: slider({ ...of("steps"), label: "steps shown", values: [10, 20, 50, 100, 200, 500] }),
  };
  const ranks = { rankV: rank("rankV", "V has one row"), rankT: rank("rankT", "T has one column") };
  /** @type {[Shape, string, string][]} */
  const named = [
    ["inputs", "V = A⁻¹ᐟ²", "Whitens the inputs"],
    ["outputs", "T = D⁻¹ᐟ²", "Whitens the gradients at the output"],
    ["none", "T = V = I", "No preconditioning"],
  ];
  const shapes = named.map(([shape, label, title]) =>
    button({ label, title, onClick: () => change({ shape }), "data-shape": shape }),
  );
  const elements = elementsOf(controls);
  return {
    first: [
      controls.method.element,
      ...elements("conditionV", "angleV", "conditionT", "angleT"),
      ...elements("momentum", "lambda", "rate", "share", "best"),
    ],
    rest: h(
      "div",
      { class: "r1-controls" },
      group("T and V", [
        h("div", { class: "r1-tools" }, shapes),
        ranks.rankV.element,
        ranks.rankT.element,
      ]),
      group("The loss: H = A ⊗ D", elements("conditionA", "angleA", "conditionD")),
      group("The run", elements("steps", "tolerance")),
    ),
    /**
     * Writes the settings into every control, and hides the controls that the method does not use.
     *
     * @param {Settings} next
     */
    show(next) {
      fill(controls, next);
      ranks.rankV.value = next.rankV === 1;
      ranks.rankT.value = next.rankT === 1;
      const { rule, decay, linear } = METHODS[next.method];
      const used = {
        momentum: ["heavy", "nesterov", "muon"].includes(rule),
        lambda: decay !== "none",
        rate: !linear,
        best: linear,
        share: linear && !next.best,
      };
      for (const [name, on] of Object.entries(used)) {
        controls[/** @type {keyof typeof used} */ (name)].element.hidden = !on;
      }
    },
  };
}
