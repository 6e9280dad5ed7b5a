// The reader's settings, and the effect of one choice on the others.
import RULES from "../../src/rankone_book/widgets/settings/residual.json" with { type: "json" };
import { within } from "../kit/address.js";
import { sizesOf } from "./math/risk.js";

/** @import { View } from "./math/risk.js" */
/** @import { Part } from "./math/waves.js" */
/** @typedef {typeof DEFAULTS} Settings */
/** @typedef {Partial<Settings> & { redraw?: boolean }} Patch */

export const DEFAULTS = {
  view: /** @type {View} */ ("line"),
  L: 0.6,
  d: 1,
  k: 1,
  sigma: 1,
  noise: 0, // variance of the labels' noise on the line
  flips: 0, // fraction of wrong labels in the plane
  frequency: 8, // frequency of the rough wave on the circle
  learns: /** @type {Part} */ ("smooth"), // the wave that the base learns
  n: 64,
  seed: 0,
};

export const NEIGHBOURS = RULES.choices.k;

/**
 * The index of n among the sizes that are measured; between two sizes, that of the smaller one.
 *
 * @param {{ view: View, n: number }} settings
 */
export function placeOf({ view, n }) {
  const sizes = sizesOf(view);
  return sizes.reduce((best, size, i) => (size <= n ? i : best), 0);
}

/**
 * The settings after a patch. `redraw` takes the next seed, and n becomes a size that the view measures.
 *
 * @type {(settings: Settings, patch: Patch) => Settings}
 */
export function nextSettings(settings, { redraw, ...patch }) {
  const next = { ...settings, ...patch };
  if (redraw) next.seed = settings.seed + 1;
  return { ...next, n: sizesOf(next.view)[placeOf(next)] };
}

/** True if an address may set this name to this value. */
export const admits = within(RULES);

/**
 * A key of the settings on which the measurements depend. n is not in it, because every size is measured.
 *
 * @param {Settings} settings
 */
export const measured = ({ n, ...rest }) => JSON.stringify(rest);

/**
 * The setting that is on the axis of the second chart.
 *
 * @param {{ view: View, noise: number, flips: number, frequency: number }} settings
 */
export const levelOf = ({ view, noise, flips, frequency }) =>
  ({ line: noise, plane: flips, waves: frequency })[view];
