// The reader's settings, and what follows from them: a query, and a configuration for the two descents.
import RULES from "../../src/rankone_book/widgets/settings/mosaic.json" with { type: "json" };
import { within } from "../kit/address.js";
import { bounded } from "../kit/number.js";
import { damaged } from "./math/damage.js";
import { law } from "./math/law.js";
import { bitsOf, D, UNIT } from "./math/pictures.js";

/** @import { Damage } from "./math/damage.js" */
/** @import { Pictures } from "./math/pictures.js" */
/** @import { Config } from "./math/run.js" */

/**
 * @typedef {{
 *   K: number, target: number, damage: Damage, beta: number, Y: number, eta: number, steps: number, seed: number,
 * }} Settings
 */
/** @typedef {Partial<Settings>} Patch */
/** @typedef {ReturnType<typeof prepare>} Ready */

export const KS = [25, 100, 225, 400, 900, 1600, 2500, 4900, 10000];
export const YS = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288];

/** True if an address may set this name to this value. */
export const admits = within(RULES);

/** @type {Settings} */
export const DEFAULTS = {
  K: 900,
  target: 582, // the anchor, U+2693
  damage: "quarter",
  beta: 50,
  Y: 262144,
  eta: 0.2,
  steps: 40,
  seed: 0,
};

/**
 * The settings after a change. The target stays one of the K stored pictures, and Y a multiple of the block size D.
 *
 * @type {(settings: Settings, patch: Patch) => Settings}
 */
export function nextSettings(settings, patch) {
  const next = { ...settings, ...patch };
  next.target = bounded(next.target, 0, next.K - 1);
  next.Y = Math.max(1, Math.round(next.Y / D)) * D;
  return next;
}

export const settingsFrom = (/** @type {Patch} */ given = {}) => nextSettings(DEFAULTS, given);

/**
 * The configuration of the two descents, the number of free pixels, the character's code point, and the prediction of
 * the law.
 *
 * @param {Settings} settings
 * @param {Pictures} pictures
 */
export function prepare(settings, { pixels, codes }) {
  const { target, damage, K, Y, beta, eta, steps, seed } = settings;
  const bits = bitsOf(pixels, target);
  const truth = bits.map((bit) => UNIT * bit);
  const { query, free } = damaged(bits, damage, seed);
  const freedom = free.reduce((n, f) => n + f, 0);
  let square = 0;
  for (let i = 0; i < D; i++) square += (query[i] - truth[i]) ** 2;
  /** @type {Config} */
  const config = { K, Y, beta, eta, steps, seed, target, query, free, truth };
  return {
    config,
    freedom,
    code: codes[target],
    law: law({ K, Y, beta, eta, freedom, square }),
  };
}
