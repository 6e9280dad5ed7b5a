// The check of the values in a page's address: it admits those that the controls and the pointer can reach.
import RULES from "../../src/rankone_book/widgets/settings/editing.json" with { type: "json" };
import { within } from "../kit/address.js";
import { MOST_PAIRS, MOST_STEPS, REACH } from "./settings.js";

const known = within(RULES);

/** @type {(name: string, value: any) => boolean} */
export function admits(name, value) {
  if (name === "pairs") return value.length <= MOST_PAIRS && value.every(isPair);
  if (name === "order") return value.length <= MOST_STEPS && value.every(isIndex);
  return known(name, value);
}

/** @param {any} pair */
const isPair = (pair) => isPoint(pair?.k) && isPoint(pair?.v);
/** @param {any} at */
const isPoint = (at) =>
  Array.isArray(at) && at.length === 2 && at.every((v) => Math.abs(v) <= REACH && v !== null);
/** @param {any} i */
const isIndex = (i) => Number.isInteger(i) && i >= 0 && i < MOST_PAIRS;
