// Settings posed as questions.

/** @import { Prediction } from "./prediction.js" */

/**
 * Settings posed as a question; `predict` is a guess at its answer, asked before it is shown; `after` says what was found.
 *
 * @template S, F
 * @typedef {{
 *   key: string, name: string, ask: string, set: S, predict?: Prediction<F>, after: (found: F) => string,
 * }} Preset
 */

/**
 * Questions with their settings in full: `settle` makes them of what a question changes.
 *
 * @template P, S, F
 * @param {Preset<P, F>[]} questions
 * @param {(patch: P) => S} settle
 * @returns {Preset<S, F>[]}
 */
export const posed = (questions, settle) =>
  questions.map(({ set, ...rest }) => ({ ...rest, set: settle(set) }));
