// Sentences about the run on show.
import { count, figures } from "../kit/number.js";

/** @import { Frame } from "./math/run.js" */
/** @import { Ready, Settings } from "./settings.js" */

const ONE = 1.5; // spread, in pictures, below which the weight counts as that of one picture
const NEAR = 0.25; // fraction of wrong free pixels below which a state is called near the picture

/**
 * A character with its Unicode number, because the reader's device may lack a typeface for the character.
 *
 * @param {number} code
 */
export const named = (code) =>
  `${String.fromCodePoint(code)} (U+${code.toString(16).toUpperCase().padStart(4, "0")})`;

/** @type {(n: number, noun: string) => string} */
export const several = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/** @param {Settings} settings */
export const free = ({ damage }) => (damage === "flips" ? "pixel" : "hidden pixel");

/**
 * True if a memory has retrieved the picture.
 *
 * @type {(frame: Frame) => boolean}
 */
export const isRight = ({ wrong }) => wrong === 0;

/** @type {(frame: Frame, settings: Settings, freedom: number) => string} */
export function verdict(frame, settings, freedom) {
  if (isRight(frame)) return `✓ all ${several(freedom, free(settings))} right`;
  return `✗ ${count(frame.wrong)} of ${several(freedom, free(settings))} wrong`;
}

/** @type {(frame: Frame, target: number) => string} */
export function weighed(frame, target) {
  if (frame.spread < ONE)
    return `weight on the right picture: ${figures(frame.weights[target], 2)}`;
  return `weight spread over ${count(frame.spread)} pictures`;
}

/**
 * One sentence about each memory, and one that compares Y with the law.
 *
 * @type {(exact: Frame, copy: Frame | null, settings: Settings, ready: Ready) => string}
 */
export function explain(exact, copy, settings, ready) {
  const { K, Y } = settings;
  const first = isRight(exact)
    ? `The exact memory found the picture among ${count(K)}.`
    : exact.spread < ONE
      ? exact.weights[settings.target] > 0.5
        ? "The exact memory is not there yet: allow more steps."
        : "The exact memory went to another picture."
      : "The exact memory still mixes pictures: try a higher β.";
  if (!copy) return `${first} The vector is still being written.`;
  if (!isRight(exact) && exact.spread >= ONE)
    return `${first} ${isRight(copy) ? "The vector found it." : "The vector, from the same pictures, can hardly do better."}`;
  const { needed } = ready.law;
  const second = isRight(copy)
    ? isRight(exact)
      ? "So did the vector."
      : "The vector found it."
    : copy.wrong < NEAR * ready.freedom
      ? "The vector is near the picture, with wrong pixels."
      : "The vector did not find it.";
  return `${first} ${second} By estimate it takes ${count(rounded(needed))} frequencies, ${Y < needed ? "more than the" : "and there are"} ${count(Y)}${Y < needed ? " here" : ""}.`;
}

/** The number n, rounded to two significant figures. @param {number} n */
export const rounded = (n) => Number(n.toPrecision(2));
