// Computes the next settings from a change of the reader's. No drawing.
import { within } from "../kit/address.js";
import { BEGINNINGS, DEFAULTS, RULES, SIZES, storedOf } from "./settings.js";

/** @import { Library } from "./library.js" */
/** @import { Settings } from "./settings.js" */
/** @typedef {Partial<Settings> & { store?: number, pressed?: boolean, redraw?: boolean }} Patch */

/**
 * The settings after a patch. A patch has any settings by name, { store: key, pressed } (stores or removes one picture,
 * but never the last one), and { redraw: true } (another seed). Another K stores the first K, and the reader's own
 * pictures stay stored.
 *
 * @type {(settings: Settings, patch: Patch, library: Library) => Settings}
 */
export function nextSettings(settings, { store, pressed, redraw, ...patch }, library) {
  let next = { ...settings, ...patch };
  if (patch.collection && patch.collection !== settings.collection) {
    const also = settings.also.filter((key) => key < 0);
    const fresh = {
      also,
      without: [],
      target: also.includes(settings.target) ? settings.target : 0,
    };
    next = { ...settings, ...BEGINNINGS[patch.collection], ...fresh, ...patch };
  } else if (patch.K !== undefined && patch.K !== settings.K) {
    next.also = patch.also ?? settings.also.filter((key) => key < 0);
    next.without = patch.without ?? [];
  }
  if (store !== undefined) next = pressed ? withPicture(next, store) : withoutPicture(next, store);
  if (redraw) next.seed = settings.seed + 1;
  return sound(next, library);
}

/** @type {(settings: Settings, key: number) => Settings} */
function withPicture(settings, key) {
  if (storedOf(settings).includes(key)) return settings;
  const without = settings.without.filter((other) => other !== key);
  const also = key >= 0 && key < settings.K ? settings.also : [...settings.also, key];
  return { ...settings, without, also };
}

/** @type {(settings: Settings, key: number) => Settings} */
function withoutPicture(settings, key) {
  if (storedOf(settings).length === 1) return settings;
  const also = settings.also.filter((other) => other !== key);
  const without = key >= 0 && key < settings.K ? [...settings.without, key] : settings.without;
  return { ...settings, also, without };
}

/**
 * The settings made valid: an address or Python may have named pictures that the library does not have.
 *
 * @type {(settings: Settings, library: Library) => Settings}
 */
function sound(settings, library) {
  const { collection, target } = settings;
  const K = Math.min(settings.K, library.count(collection));
  const isThere = (/** @type {number} */ key) => library.has(collection, key);
  const also = [...new Set(settings.also)].filter((key) => isThere(key) && (key < 0 || key >= K));
  const without = [...new Set(settings.without)].filter((key) => key >= 0 && key < K);
  const sizes = SIZES[collection].filter((size) => collection === "bits" || size <= library.side);
  const next = { ...settings, K, also, without };
  if (storedOf(next).length === 0) next.without = without.slice(1);
  next.size = sizes.includes(settings.size) ? settings.size : sizes[0];
  next.target = isThere(target) ? target : 0;
  return next;
}

/**
 * The initial settings: the defaults, replaced by those that Python gave.
 *
 * @type {(given: Partial<Settings>, library: Library) => Settings}
 */
export function initialSettings(given, library) {
  const base = { ...DEFAULTS, ...(given.collection ? BEGINNINGS[given.collection] : {}) };
  return sound({ ...base, ...given }, library);
}

const known = within(RULES);
const PICTURES = ["target", "also", "without"]; // their numbers are negative for the reader's own pictures

/**
 * True if an address may set this value.
 *
 * @type {(name: string, value: any) => boolean}
 */
export const admits = (name, value) =>
  PICTURES.includes(name) ? [value].flat().every(Number.isInteger) : known(name, value);
