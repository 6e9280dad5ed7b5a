// What the reader can set, and the network that the settings describe.
import { within } from "../kit/address.js";
import { fittedNetwork, fitWeights } from "./math/fitted.js";
import { CONSTANTS, tableNetwork } from "./math/tables.js";
import { TARGETS, TENT } from "./math/targets.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Fitted } from "./math/fitted.js" */
/** @import { TargetName } from "./math/targets.js" */

/** @typedef {"seed" | "logdepth" | Fitted} Construction */
/** @typedef {typeof DEFAULTS} Settings */
/** @typedef {Partial<Settings>} Patch */

/** @type {Record<Construction, { label: string, sizes: number[] }>} */
export const CONSTRUCTIONS = {
  seed: { label: "a layer a cell (published)", sizes: [2, 3, 4, 6, 8, 10, 12] },
  logdepth: { label: "a layer a bit", sizes: [2, 4, 8, 16, 32] },
  constant: { label: "constant depth, fitted", sizes: [50, 100, 200, 400] },
  shallow: { label: "four hidden layers, no θ_b", sizes: [50, 100, 200, 400] },
  two_layers: { label: "two hidden layers, no θ_b", sizes: [50, 100, 200, 400] },
};
/** @type {(construction: Construction) => construction is "seed" | "logdepth"} */
export const isTable = (construction) => construction === "seed" || construction === "logdepth";
/** @type {(construction: Construction) => construction is Fitted} */
export const isFitted = (construction) => !isTable(construction);
/** @param {Construction} construction */
export const hasSwitch = (construction) => isTable(construction) || construction === "constant";

export const RATIOS = [0.25, 0.5, 0.8, 0.9, 0.95, 0.99, 1, 1.01, 1.05, 1.1, 1.25, 1.5, 2];
export const OFFSETS = [0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1];
export const SWITCHES = [0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3];
/** @type {Point} */
export const Y_RANGE = [-2.5, 1.5];
/**
 * Whether the construction promises its table for this y.
 *
 * @param {number} y
 */
export const isPromised = (y) => Math.abs(y) <= 1 + 1e-9;

export const DEFAULTS = {
  target: /** @type {TargetName} */ ("sine"),
  construction: /** @type {Construction} */ ("seed"),
  size: 8,
  x: 0.3,
  y: 0.7,
  probe: 0.56,
  ratio: 1,
  offset: CONSTANTS.offset,
  switch: CONSTANTS.switch,
  profile: TENT,
};

/** @type {(values: number[], v: number) => number} */
const nearest = (values, v) =>
  values.reduce((best, w) => (Math.abs(w - v) < Math.abs(best - v) ? w : best));

/**
 * The settings after a patch: a new construction comes with a size that it has.
 *
 * @type {(settings: Settings, patch: Patch) => Settings}
 */
export function nextSettings(settings, patch) {
  const next = { ...settings, ...patch };
  const { sizes } = CONSTRUCTIONS[next.construction];
  if (sizes.includes(next.size)) return next;
  const own = patch.construction && !("size" in patch); // a new construction, at its usual size
  const usual = isTable(next.construction) ? 8 : 200;
  return { ...next, size: nearest(sizes, own ? usual : next.size) };
}

/** Which values a page's address may set: those that the controls can reach. */
export const admits = within({
  bounds: {
    size: [2, 400],
    x: [0, 1],
    y: Y_RANGE,
    probe: [0, 1],
    ratio: [0.25, 2],
    offset: [0, 0.1],
    switch: [0, 1e-3],
    profile: [-1, 1],
  },
  choices: { target: Object.keys(TARGETS), construction: Object.keys(CONSTRUCTIONS) },
});

/** @param {{ target: TargetName, profile: number[] }} settings */
export const targetOf = ({ target, profile }) => TARGETS[target].of(profile);

/**
 * What a fit depends on: the step's own constants are not in it.
 *
 * @param {Pick<Settings, "target" | "construction" | "size" | "profile">} settings
 */
export const fitKey = ({ target, construction, size, profile }) =>
  JSON.stringify([construction, size, target, target === "drawn" ? profile : null]);

/**
 * What a network depends on; two settings with the same key have the same network.
 *
 * @param {Settings} settings
 */
export const networkKey = ({ offset, switch: theta, ...settings }) =>
  JSON.stringify([fitKey(settings), offset, theta]);

/**
 * The network, with the weights of its fit where they are known.
 *
 * @param {Settings} settings
 * @param {number[]} [weights]
 */
export function buildNetwork(settings, weights) {
  const { construction, size, offset, switch: theta } = settings;
  const target = targetOf(settings);
  const given = { offset, switch: theta };
  if (isTable(construction)) return tableNetwork(target, size, construction, given);
  return fittedNetwork(weights ?? fitWeights(target, size, construction), construction, given);
}
