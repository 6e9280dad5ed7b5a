// The reader's settings, and the effect of one choice on the others.
import RULES from "../../src/rankone_book/widgets/settings/preconditioning.json" with {
  type: "json",
};
import { within } from "../kit/address.js";
import { METHODS } from "./math/paths.js";

/** @import { Method } from "./math/paths.js" */
/** @typedef {typeof DEFAULTS} Settings */
/** @typedef {keyof typeof SHAPES | "both"} Shape */
/** @typedef {Partial<Settings> & { shape?: Shape }} Patch */

export const DEFAULTS = {
  conditionA: 25, // condition number of A, the second moment of the inputs
  angleA: 30, // degrees
  conditionD: 4, // condition number of D, the second moment of the gradients at the output
  conditionT: 2,
  angleT: 60,
  rankT: 2,
  conditionV: 3,
  angleV: 135,
  rankV: 2,
  method: /** @type {Method} */ ("gd"),
  best: false,
  share: 0.5,
  momentum: 0.7,
  lambda: 0.2,
  rate: 0.1,
  tolerance: 1e-6,
  steps: 100,
  start: [
    [-1.8, 1.5],
    [1.6, -0.8],
  ],
};

/** The bounds [lowest, highest] of each setting with a slider. */
export const BOUNDS = RULES.numbers;

/** True if an address may set this name to this value. */
export const admits = within(RULES);

export const EDGE = 3; // each entry of the start lies between −EDGE and EDGE

const SHAPES = {
  /** T = V = I: P is the identity. */
  none: () => ({ conditionT: 1, angleT: 0, conditionV: 1, angleV: 0 }),
  /**
   * V = A⁻¹ᐟ²: V whitens the inputs.
   *
   * @param {{ conditionA: number, angleA: number }} data
   */
  inputs: ({ conditionA, angleA }) => ({
    conditionV: Math.sqrt(conditionA),
    angleV: (angleA + 90) % 180,
  }),
  /**
   * T = D⁻¹ᐟ²: T whitens the gradients at the output.
   *
   * @param {{ conditionD: number }} data
   */
  outputs: ({ conditionD }) => ({ conditionT: Math.sqrt(conditionD), angleT: 90 }),
};

/**
 * The settings after a patch, which has any settings by name, and a `shape`: "none", "inputs", "outputs" or "both",
 * which sets T and V.
 *
 * @type {(settings: Settings, patch: Patch) => Settings}
 */
export function nextSettings(settings, { shape, ...patch }) {
  const next = { ...settings, ...patch };
  /** @type {(keyof typeof SHAPES)[]} */
  const names = shape === "both" ? ["inputs", "outputs"] : shape ? [shape] : [];
  for (const name of names) Object.assign(next, SHAPES[name](next));
  if (shape && shape !== "outputs") next.rankV = 2;
  if (shape && shape !== "inputs") next.rankT = 2;
  return next;
}

/**
 * The defaults, overridden by the settings from Python. An unknown method is replaced by the default.
 *
 * @param {Partial<Settings>} given
 * @returns {Settings}
 */
export function initialSettings(given) {
  const settings = { ...DEFAULTS, ...given };
  return settings.method in METHODS ? settings : { ...settings, method: DEFAULTS.method };
}
