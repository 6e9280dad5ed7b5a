// What the reader has chosen, and how one choice changes others. No drawing.
import { within } from "../kit/address.js";
import { sizesOf } from "./math/risk.js";

/** @import { View } from "./math/risk.js" */
/** @typedef {typeof DEFAULTS} Settings */
/** @typedef {Partial<Settings> & { redraw?: boolean }} Patch */

export const DEFAULTS = {
  view: /** @type {View} */ ("line"),
  L: 0.6,
  d: 1,
  k: 1,
  sigma: 1,
  noise: 0, // variance of the labels on the line
  flips: 0, // share of wrong labels in the plane
  n: 64,
  seed: 0,
};

export const NEIGHBOURS = [1, 2, 3, 5, 8, 12, 20, 32, 64];

/**
 * Where n stands among the sizes that are measured.
 *
 * @param {{ view: View, n: number }} settings
 */
export function placeOf({ view, n }) {
  const sizes = sizesOf(view);
  return sizes.reduce((best, size, i) => (size <= n ? i : best), 0);
}

/**
 * A patch of the reader's; the plane has two dimensions and fewer sizes.
 *
 * @type {(settings: Settings, patch: Patch) => Settings}
 */
export function nextSettings(settings, { redraw, ...patch }) {
  const next = { ...settings, ...patch };
  if (redraw) next.seed = settings.seed + 1;
  return { ...next, n: sizesOf(next.view)[placeOf(next)] };
}

const numbers = within({
  bounds: {
    L: [0, 1.2],
    d: [1, 8],
    sigma: [0.01, 10],
    noise: [0, 1],
    flips: [0, 0.5],
    n: [2, 4096],
    seed: [0, 2 ** 31 - 1],
  },
  choices: { view: ["line", "plane"], k: NEIGHBOURS },
});

/**
 * Which values a page's address may set: those that the controls can reach.
 *
 * @type {(name: string, value: any) => boolean}
 */
export const admits = (name, value) =>
  numbers(name, value) && (!["d", "n", "seed"].includes(name) || Number.isInteger(value));

/**
 * What the measurements depend on: the number of examples is measured at every size anyway.
 *
 * @param {Settings} settings
 */
export const measured = ({ n, ...rest }) => JSON.stringify(rest);

/** @param {{ view: View, noise: number, flips: number }} settings */
export const levelOf = ({ view, noise, flips }) => (view === "line" ? noise : flips);
