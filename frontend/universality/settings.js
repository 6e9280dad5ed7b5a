// The reader's settings, and the network that they describe.
import RULES from "../../src/rankone_book/widgets/settings/universality.json" with { type: "json" };
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
  seed: { label: "one layer per cell (published)", sizes: RULES.sizes.seed },
  logdepth: { label: "one layer per bit", sizes: RULES.sizes.logdepth },
  constant: { label: "constant depth, fitted", sizes: RULES.sizes.constant },
  shallow: { label: "four hidden layers, no switch", sizes: RULES.sizes.shallow },
  two_layers: { label: "two hidden layers, no switch", sizes: RULES.sizes.two_layers },
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
export const Y_RANGE = /** @type {Point} */ (RULES.numbers.y);
/**
 * True if the construction promises its table for this y.
 *
 * @param {number} y
 */
export const isPromised = (y) => Math.abs(y) <= 1 + 1e-9;

export const DEFAULTS = {
  target: /** @type {TargetName} */ ("sine"),
  construction: /** @type {Construction} */ ("two_layers"),
  size: 200,
  x: 0.3,
  y: 0.7,
  probe: 0.56,
  ratio: 1,
  offset: CONSTANTS.offset,
  switch: CONSTANTS.switch,
  profile: TENT,
};

/**
 * The settings of the published network: a layer for each cell of a table.
 *
 * @type {Settings}
 */
export const PUBLISHED = { ...DEFAULTS, construction: "seed", size: 8 };

/** @type {(values: number[], v: number) => number} */
const nearest = (values, v) =>
  values.reduce((best, w) => (Math.abs(w - v) < Math.abs(best - v) ? w : best));

/**
 * The settings after a patch. If the construction does not have the size, the size is replaced by one that it has.
 *
 * @type {(settings: Settings, patch: Patch) => Settings}
 */
export function nextSettings(settings, patch) {
  const next = { ...settings, ...patch };
  const { sizes } = CONSTRUCTIONS[next.construction];
  if (sizes.includes(next.size)) return next;
  const own = patch.construction && !("size" in patch); // a new construction starts at its usual size
  const usual = isTable(next.construction) ? 8 : 200;
  return { ...next, size: nearest(sizes, own ? usual : next.size) };
}

/** True if an address may set this name to this value. The profile's rule is here, because Python does not set it. */
export const admits = within({ ...RULES, points: { profile: { shape: [null], reach: 1 } } });

/** @param {{ target: TargetName, profile: number[] }} settings */
export const targetOf = ({ target, profile }) => TARGETS[target].of(profile);

/**
 * A key of the settings on which a fit depends. The offset and the switch are not in it.
 *
 * @param {Pick<Settings, "target" | "construction" | "size" | "profile">} settings
 */
export const fitKey = ({ target, construction, size, profile }) =>
  JSON.stringify([construction, size, target, target === "drawn" ? profile : null]);

/**
 * A key of the settings on which a network depends: settings with equal keys have the same network.
 *
 * @param {Settings} settings
 */
export const networkKey = ({ offset, switch: theta, ...settings }) =>
  JSON.stringify([fitKey(settings), offset, theta]);

/**
 * The network of the settings. `weights` are the output weights of a fitted network, which is fitted here without them.
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
