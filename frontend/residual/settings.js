// The reader's settings, and the effect of one choice on the others. No drawing.
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
  noise: 0, // variance of the labels on the line
  flips: 0, // share of wrong labels in the plane
  frequency: 8, // of the rough wave on the circle
  learns: /** @type {Part} */ ("smooth"), // which of the two waves the base knows
  n: 64,
  seed: 0,
};

export const NEIGHBOURS = RULES.choices.k;

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

/** Whether an address may set this. */
export const admits = within(RULES);

/**
 * What the measurements depend on: the number of examples is measured at every size anyway.
 *
 * @param {Settings} settings
 */
export const measured = ({ n, ...rest }) => JSON.stringify(rest);

/**
 * Where the settings stand among the levels of the second chart.
 *
 * @param {{ view: View, noise: number, flips: number, frequency: number }} settings
 */
export const levelOf = ({ view, noise, flips, frequency }) =>
  ({ line: noise, plane: flips, waves: frequency })[view];
