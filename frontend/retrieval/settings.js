// The reader's settings and their meaning: patterns, a query, a configuration for the simulation. No drawing.
import RULES from "../../src/rankone_book/widgets/settings/retrieval.json" with { type: "json" };
import { corrupt, PAINTED, RESTORED, UNTOUCHED } from "../math/corruption.js";
import { nearest } from "../math/exact.js";
import { memorySize } from "../math/features.js";
import { toBytes, toPattern } from "../math/patterns.js";

/** @import { Collection, Library } from "./library.js" */
/** @import { Fill, Paint, Side } from "../math/corruption.js" */
/** @import { Basis } from "../math/features.js" */
/** @import { Config } from "./simulation.js" */

/** @typedef {typeof DEFAULTS} Settings */
/** @typedef {ReturnType<typeof prepare>} Ready */

/** The stored pictures are the first K of the collection, less those in `without`, plus those in `also`. */
export const DEFAULTS = {
  collection: /** @type {Collection} */ ("photographs"),
  size: 32,
  K: 6,
  also: /** @type {number[]} */ ([]),
  without: /** @type {number[]} */ ([]),
  target: 0,
  beta: 75,
  Y: 60000,
  eta: 0.2,
  steps: 40,
  basis: /** @type {Basis} */ ("sincos"),
  seed: 0,
  fraction: 0.5,
  side: /** @type {Side} */ ("bottom"),
  fill: /** @type {Fill} */ ("grey"),
  noise: 0,
  flips: 0,
  clamp: true,
  across: /** @type {"beta" | "K"} */ ("beta"), // first axis of the map
  inside: -1, // level of the opened vector; −1 if it is closed
};

/** The settings with which each collection begins. */
export const BEGINNINGS = {
  photographs: { size: 32, K: 6, beta: 75, Y: 60000, fraction: 0.5, flips: 0, clamp: true },
  bits: { size: 10, K: 50, beta: 50, Y: 20000, fraction: 0, flips: 0.1, clamp: false },
};

/** @type {Record<Collection, number[]>} */
export const SIZES = { photographs: [32, 64], bits: [10, 16] };

/** The values allowed for each setting. */
export { RULES };

/**
 * Keys of the stored pictures, in order.
 *
 * @param {Pick<Settings, "K" | "also" | "without">} settings
 */
export function storedOf({ K, also, without }) {
  const first = Array.from({ length: K }, (_, key) => key);
  return [...first.filter((key) => !without.includes(key)), ...also];
}

/**
 * An empty paint layer over a size × size query: one mark per pixel, and the colours of the painted pixels.
 *
 * @type {(size: number) => Paint}
 */
export const noPaint = (size) => ({
  size,
  marks: new Uint8Array(size * size).fill(UNTOUCHED),
  colours: new Uint8Array(3 * size * size),
});

/** True if the reader has painted on the query. @param {Paint} paint */
export const isPainted = ({ marks }) => marks.some((mark) => mark !== UNTOUCHED);

/**
 * Paints one dab of a square brush; if `colour` is null, it restores the true picture.
 *
 * @type {(paint: Paint, row: number, column: number, brush: number, colour: number[] | null) => void}
 */
export function dab(paint, row, column, brush, colour) {
  const { size, marks, colours } = paint;
  const from = -Math.floor((brush - 1) / 2);
  for (let r = row + from; r < row + from + brush; r++) {
    for (let c = column + from; c < column + from + brush; c++) {
      if (r < 0 || c < 0 || r >= size || c >= size) continue;
      marks[r * size + c] = colour ? PAINTED : RESTORED;
      if (colour) colours.set(colour, 3 * (r * size + c));
    }
  }
}

/**
 * Everything that the simulation needs for these settings, and that the page shows before the first step.
 *
 * @param {Settings} settings
 * @param {Library} library
 * @param {Paint} paint
 */
export function prepare(settings, library, paint) {
  const { collection, size, target, clamp, beta, Y, eta, basis, seed, steps } = settings;
  const stored = storedOf(settings);
  const truth = library.pattern(collection, target, size);
  const picture = library.picture(collection, target, size);
  const layer = paint.size === size ? paint : null;
  const { query, known } = corrupt(picture, size, { ...settings, paint: layer });
  const start = toPattern(query);
  const ids = stored.map((key) => library.id(collection, key, size));
  const patterns = stored.map((key) => library.pattern(collection, key, size));
  const isStored = stored.includes(target);
  const wanted = isStored ? stored.indexOf(target) : nearest(start, patterns);
  const free = clamp && known.some((k) => k) ? known.map((k) => 1 - k) : null;
  const freedom = free ? free.reduce((n, f) => n + f, 0) : truth.length;
  const D = truth.length;
  const bits = collection === "bits";
  const shown = 3 * size * size;
  /** @type {Config & { ids: string[] }} */
  const config = {
    ...{ ids, D, Y, beta, eta, steps, basis, seed, bits, wanted },
    ...{ query: start, free, freedom, truth, shown },
  };
  return {
    config,
    pictures: new Map(ids.map((id, i) => [id, patterns[i]])),
    patterns,
    stored,
    known,
    freedom,
    isStored,
    wanted,
    bytes: {
      truth: toBytes(truth, new Uint8ClampedArray(shown)),
      query: toBytes(start, new Uint8ClampedArray(shown)),
    },
    numbers: { exact: stored.length * D, distributed: memorySize(basis, Y) },
  };
}
