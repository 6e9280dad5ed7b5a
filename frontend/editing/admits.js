// Which values a page's address may set: those that the controls and the hand can reach.
import { within } from "../kit/address.js";
import { MOST_PAIRS, MOST_STEPS, REACH } from "./settings.js";

const MOST_KEYS = 100;
const plane = [-REACH, REACH];
const known = within({
  bounds: {
    ridge: [0, 1e6],
    used: [1, MOST_KEYS],
    beta: [0, 1e9],
    dimension: [2, 64],
    edits: [2, 256],
    seed: [0, 2 ** 31],
    keys: [-10 * REACH, 10 * REACH], // a cloud may be stretched beyond the plane
    W: plane,
    k: plane,
    v: plane,
  },
  choices: { geometry: ["keys", "identity", "pinv"] },
});
const WHOLE = new Set(["used", "dimension", "edits", "seed"]);

/** @type {(name: string, value: any) => boolean} */
export function admits(name, value) {
  if (name === "pairs") return value.length <= MOST_PAIRS && value.every(isPair);
  if (name === "order") return value.length <= MOST_STEPS && value.every(isIndex);
  if (name === "keys" && !(value.length >= 1 && value.length <= MOST_KEYS)) return false;
  if (name === "W" && value.length !== 2) return false;
  return known(name, value) && (!WHOLE.has(name) || Number.isInteger(value));
}

/** @param {any} pair */
const isPair = (pair) => isPoint(pair?.k) && isPoint(pair?.v);
/** @param {any} at */
const isPoint = (at) =>
  Array.isArray(at) && at.length === 2 && at.every((v) => Math.abs(v) <= REACH && v !== null);
/** @param {any} i */
const isIndex = (i) => Number.isInteger(i) && i >= 0 && i < MOST_PAIRS;
