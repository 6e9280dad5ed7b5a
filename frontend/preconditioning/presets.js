// The explorer's questions with their settings, most of which lead to a failure. `after` gets the numbers of the run.
import { posed } from "../kit/explorer.js";
import { amount } from "../kit/number.js";
import { DEFAULTS, nextSettings } from "./settings.js";
import { FATES } from "./verdict.js";
import { stepsInWords } from "./words.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Counts } from "./math/paths.js" */
/** @import { Patch, Settings } from "./settings.js" */

/**
 * The numbers of a run at its end.
 *
 * @typedef {{
 *   counts: Counts,
 *   known: number | null,
 *   gap: number,
 *   widest: number,
 *   conditions: { plain: string, preconditioned: string },
 *   left: number,
 *   fate: string,
 *   shares: number,
 * }} Findings
 */

/** @param {number | null} n */
const inWords = (n) => stepsInWords(n).replace(">", "more than");
/** @param {Findings} r */
const plain = (r) =>
  `plain descent needs ${inWords(r.counts.plain)} ${r.counts.plain === 1 ? "step" : "steps"}, the other two ${inWords(r.counts.reparameterised)}`;
/** The prediction about the path of U and that of W with P. If they diverge, no option counts as right. */
const parting = {
  options: FATES,
  right: (/** @type {Findings} */ { fate }) => (fate === "away" ? null : fate),
};
const pure = { conditionT: 1, angleT: 30, conditionV: 1, angleV: 0 };

/** @type {Preset<Patch, Findings>[]} */
const QUESTIONS = [
  {
    key: "start",
    name: "Do the two paths separate?",
    ask: "One path trains U in W = TUV by gradient descent. The other trains W itself and steps along TTᵀGVᵀV in place of its gradient G; this is a fixed matrix P times G. What do the two paths do?",
    predict: parting,
    after: (r) =>
      `They stay together: the widest gap is ${amount(r.widest)}, which is rounding. And ${plain(r)}. Next: which T and V are best?`,
    set: {},
  },
  {
    key: "inputs",
    name: "Do white inputs suffice?",
    ask: "V = A⁻¹ᐟ² whitens the inputs, whose second moment is A; T is left at the identity. By which factor does the condition number of the loss fall?",
    predict: {
      options: [
        ["little", "Less than A’s condition number"],
        ["A", "A’s condition number"],
        ["all", "All of it, down to 1"],
      ],
      right: ({ shares }) => (shares < 10 ? "little" : shares < 50 ? "A" : "all"),
    },
    after: (r) =>
      `By A’s condition number: from ${r.conditions.plain} to ${r.conditions.preconditioned}, the condition number of D, the second moment of the output gradients. The two numbers multiply, and each factor corrects its own side. Here ${plain(r)}.`,
    set: { shape: "inputs", conditionT: 1, angleT: 0 },
  },
  {
    key: "both",
    name: "What is left after both factors?",
    ask: "Now V = A⁻¹ᐟ² and T = D⁻¹ᐟ². How many steps does gradient descent on U need?",
    predict: {
      options: [
        ["one", "One step"],
        ["some", "A few steps"],
        ["same", "As many as before"],
      ],
      right: ({ counts: { plain, reparameterised: own } }) => {
        if (own === null || plain === null) return null;
        return own === 1 ? "one" : own < plain / 2 ? "some" : "same";
      },
    },
    after: (r) =>
      `One. P is now the inverse of the Hessian H = A ⊗ D, as in Newton’s method. The paths on U and with P need ${stepsInWords(r.counts.reparameterised)} step, plain descent ${stepsInWords(r.counts.plain)}.`,
    set: { shape: "both" },
  },
  {
    key: "wrong",
    name: "Can P slow descent down?",
    ask: "V = A⁻¹ᐟ² is turned by a right angle, so it stretches the inputs where they are largest already. Is descent slower than without it?",
    predict: {
      options: [
        ["worse", "Yes"],
        ["better", "No, it is faster still"],
      ],
      right: ({ shares }) => (shares < 1 ? "worse" : "better"),
    },
    after: (r) =>
      `Yes: the condition number is now ${r.conditions.preconditioned} against ${r.conditions.plain}, and ${plain(r)}. The two paths still agree, and both are slow.`,
    set: { conditionT: 1, angleT: 0, conditionV: 5, angleV: 30 },
  },
  {
    key: "rank",
    name: "What does a V with one row reach?",
    ask: "V has a single row, so that W = W₀ + T(U − U₀)V moves along one direction in each row. Where does the run stop?",
    predict: {
      options: [
        ["minimum", "At the minimum, later"],
        ["short", "Short of the minimum"],
      ],
      right: ({ left }) => (left > 1e-3 ? "short" : "minimum"),
    },
    after: (r) =>
      `It stops where TᵀGVᵀ = 0, although the gradient G is not zero: the loss stays at ${amount(r.left)}. The part of W outside V’s row space never moves.`,
    set: { rankV: 1 },
  },
  {
    key: "heavy",
    name: "Momentum: do the paths agree?",
    ask: "One path takes momentum (heavy ball) on U, the other on W with P times the gradient. Each adds up gradients in its own coordinates. Do the paths still agree?",
    predict: parting,
    after: (r) =>
      `Yes: the widest gap is ${amount(r.widest)}. Momentum is a sum of gradients, and T and V stay fixed, so they can be taken out of the sum.`,
    set: { method: "heavy" },
  },
  {
    key: "decoupled",
    name: "Weight decay: do they agree?",
    ask: "Each step also multiplies the old U by 1 − ηλ, and on the other path the old W. Do the paths agree?",
    predict: parting,
    after: (r) =>
      `Yes: the widest gap is ${amount(r.widest)}, because TUV shrinks by the factor by which U shrinks. Both end at the minimum with the penalty ½λ‖U‖², not ½λ‖W‖².`,
    set: { method: "decoupled" },
  },
  {
    key: "penalty",
    name: "A penalty: do they agree?",
    ask: "Weight decay written as a penalty: ½λ‖U‖² on one path, ½λ‖W‖² on the other. Do they end in one place?",
    predict: parting,
    after: (r) =>
      `No: the ends, each the solution of a linear system, differ by ${amount(r.known)}; at the last step the gap is ${amount(r.gap)}. In terms of W the first penalty is ½λ wᵀP⁺w, with w = vec W.`,
    set: { method: "penalty", steps: 200 },
  },
  {
    key: "adam",
    name: "Adam: do the paths agree?",
    ask: "One path takes Adam on U, the other on W with P times the gradient. Do the paths agree?",
    predict: parting,
    after: (r) =>
      `No: the widest gap is ${amount(r.widest)}. Adam divides each entry by its own size, and the entries of U are not those of W. No fixed P does the same.`,
    set: { method: "adam" },
  },
  {
    key: "rotation",
    name: "Does Adam see a rotation?",
    ask: "T is a rotation and V the identity, so P = I, and the path with P is plain Adam. Is Adam on U the same?",
    predict: parting,
    after: (r) =>
      `No: the widest gap is ${amount(r.widest)}, although P is the identity. At 90° a rotation only renames entries: set T to that, and the paths agree.`,
    set: { method: "adam", ...pure },
  },
  {
    key: "muon",
    name: "Does Muon see a rotation?",
    ask: "T is a rotation and V the identity. Muon steps along the orthogonal matrix nearest to the momentum. Do the paths agree?",
    predict: parting,
    after: (r) =>
      `Yes: the widest gap is ${amount(r.widest)}, because that nearest matrix rotates with the momentum. Give T a condition number above 1, and the paths separate.`,
    set: { method: "muon", ...pure },
  },
];

export const PRESETS = posed(QUESTIONS, (patch) => nextSettings(DEFAULTS, patch));
