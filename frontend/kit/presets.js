// Settings posed as questions.

/** @import { Prediction } from "./prediction.js" */

/**
 * Settings posed as a question. `predict` asks for a guess before the answer is shown; `after` writes the answer from
 * the results.
 *
 * @template S, F
 * @typedef {{
 *   key: string, name: string, ask: string, set: S, predict?: Prediction<F>, after: (found: F) => string,
 * }} Preset
 */

/**
 * Questions with complete settings, which `settle` makes from the settings that a question changes.
 *
 * @template P, S, F
 * @param {Preset<P, F>[]} questions
 * @param {(patch: P) => S} settle
 * @returns {Preset<S, F>[]}
 */
export const posed = (questions, settle) =>
  questions.map(({ set, ...rest }) => ({ ...rest, set: settle(set) }));
