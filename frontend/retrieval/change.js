// From a patch of the reader's to the next settings. No drawing.
import { DEFAULTS } from "./settings.js";

/** @import { Library, Settings } from "./settings.js" */
/** @typedef {Partial<Settings> & { first?: number, store?: number, pressed?: boolean, redraw?: boolean }} Patch */

/** @type {(items: { key: number }[], n: number) => number[]} */
const firstOf = (items, n) => items.slice(0, n).map(({ key }) => key);

/**
 * Patches: any settings by name, and { first: K } (store the first K), { store: key, pressed } (one picture in or
 * out; one always stays), { redraw: true } (another seed).
 *
 * @type {(settings: Settings, patch: Patch, library: Library) => Settings}
 */
export function nextSettings(settings, { first, store, pressed, redraw, ...patch }, library) {
  const next = { ...settings, ...patch };
  const items = library.items(next.collection);
  if (patch.collection && patch.collection !== settings.collection) {
    next.stored = firstOf(items, Math.min(settings.stored.length, items.length));
    next.target = next.stored[0];
  }
  if (first) next.stored = firstOf(items, first);
  if (store !== undefined) {
    const rest = next.stored.filter((key) => key !== store);
    next.stored = pressed ? [...rest, store] : rest.length > 0 ? rest : next.stored;
  }
  if (redraw) next.seed = settings.seed + 1;
  return next;
}

/**
 * Initial settings: the defaults, what Python gave over them.
 *
 * @type {(given: Partial<Settings>, library: Library) => Settings}
 */
export function initialSettings(given, library) {
  const settings = { ...DEFAULTS, ...given };
  const items = library.items(settings.collection).map(({ key }) => key);
  const stored = settings.stored.filter((key) => items.includes(key));
  return { ...settings, stored: stored.length > 0 ? stored : items.slice(0, 1) };
}
