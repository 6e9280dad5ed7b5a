// The words for each position of the slider: the formula of its X, the method of writing, and the result of the
// book that uses the method.
import { figures } from "../kit/number.js";
import { placeOf, wayAt } from "./math/writing.js";

/** @import { Way } from "./math/writing.js" */
/** @import { Settings } from "./settings.js" */

/** @type {Record<Way, string>} */
export const NAMES = {
  batch: "at once",
  sequence: "in sequence",
  ridge: "ridge",
  exact: "exactly",
};

/** @type {Record<Way, string>} */
const MATRICES = {
  batch: "X = D",
  sequence: "X = (D⁻¹ + U)⁻¹",
  ridge: "X = (S + I/ω)⁻¹",
  exact: "X = S⁻¹",
};

/** The book's results by their method of writing, where the reading is not divided. @type {Record<Way, string>} */
const RESULTS = {
  batch: "MAML, factor step",
  sequence: "ROME, in turn",
  ridge: "MEMIT",
  exact: "ROME, jointly",
};

/** @type {(way: Way, settings: Pick<Settings, "divide" | "Y">) => string} */
export function resultOf(way, { divide, Y }) {
  if (divide) return way === "batch" ? "ResMem" : "";
  return way === "batch" && Y ? "DrDAM" : RESULTS[way];
}

/** @type {(settings: Pick<Settings, "way" | "omega" | "rounds">) => string} */
export const formula = ({ way, omega, rounds }) =>
  `${rounds > 1 ? "each round: " : ""}${matrix(way, omega)}`;

/** The matrix X of one round. @type {(way: number, omega: number) => string} */
function matrix(way, omega) {
  const named = wayAt(way);
  if (named) return MATRICES[named];
  const { earlier, later, slack } = placeOf(way, omega);
  const term = (/** @type {number} */ times, /** @type {string} */ of) =>
    times === 0 ? "" : ` + ${times === 1 ? "" : `${figures(times, 2)} `}${of}`;
  return `X = (D⁻¹${term(earlier, "U")}${term(later, "Uᵀ")}${slack ? ` + ${figures(slack, 2)} I` : ""})⁻¹`;
}

export const HELP =
  "The reading is the residuals, times X, times the kernel between keys and query. X = (D⁻¹ + a·U + b·Uᵀ + d·I)⁻¹: S holds the kernel between all keys, " +
  "D⁻¹ is its diagonal, U the part above it. First a goes from 0 to 1: a write subtracts more and more of what earlier writes " +
  "answer at its key. Then b goes from 0 to 1 (a write allows for later ones too) and d from 0 to 1/ω; at last d returns to 0.";

/** @type {Record<Way, string>} */
const HERE = {
  batch:
    "Each pair as if it were alone: one step of gradient descent, as in a step of MAML, a step on one factor of a product, and a layer of linear attention.",
  sequence:
    "One after another, each time only the missing part: the delta rule, as in DeltaNet and in ROME edit by edit.",
  ridge:
    "Ridge regression: recursive least squares, MEMIT, the mean of a Gaussian process. The order no longer matters.",
  exact:
    "Every pair exactly, with the least change: many of ROME’s edits solved jointly, or rounds without end.",
};

/** The words for more than one round. @type {Partial<Record<Way, (rounds: number) => string>>} */
const AGAIN = {
  batch: (n) =>
    `${n} steps of gradient descent, each on all pairs: an inner loop of MAML with ${n} steps.`,
  ridge: (n) => `${n} rounds of ridge regression: on the way to the exact one.`,
  sequence: (n) => `${n} rounds of the delta rule, Kaczmarz’s method: on the way to the exact one.`,
};

const DIVIDED = {
  batch: "A mean of the values, the nearer ones counting more: soft neighbours, as in ResMem.",
  other: "A ratio of two linear memories. None of the five results writes this way and divides.",
};

/** One line about the method on show. @param {Pick<Settings, "way" | "divide" | "Y" | "rounds">} settings */
export function here({ way, divide, Y, rounds }) {
  const named = wayAt(way);
  if (divide) return named === "batch" && rounds === 1 ? DIVIDED.batch : DIVIDED.other;
  const again = rounds > 1 && named && AGAIN[named];
  if (again) return again(rounds);
  if (named === "batch" && Y)
    return "Each pair adds its features, whatever is stored: the vector of a distributed memory.";
  if (named) return HERE[named];
  if (way < 1)
    return `A write subtracts ${figures(way, 2)} of what the earlier ones answer at its key.`;
  if (way < 2)
    return `A write subtracts the earlier answers, and ${figures(way - 1, 2)} of the later ones.`;
  return "Between ridge and exact: a multiple of I is left, so values are not read exactly.";
}
