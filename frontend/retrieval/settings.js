// What the reader has chosen, and what it means: patterns, a query, a configuration for the simulation. No drawing.
import { corrupt, PAINTED, RESTORED, UNTOUCHED } from "./math/corruption.js";
import { nearest } from "./math/exact.js";
import { memorySize } from "./math/features.js";
import { letterPictures, randomPictures, resize, toBytes, toPattern } from "./math/patterns.js";

/** @import { Fill, Paint, Side } from "./math/corruption.js" */
/** @import { Basis } from "./math/features.js" */
/** @import { Config } from "./simulation.js" */

/** @typedef {"photographs" | "letters" | "random"} Collection */
/** @typedef {typeof DEFAULTS} Settings */
/** @typedef {ReturnType<typeof prepare>} Ready */

export const SIDE = 64; // pixels of the pictures as they come
const RANDOM = 32; // random patterns on offer
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export const DEFAULTS = {
  collection: /** @type {Collection} */ ("photographs"),
  size: 32,
  stored: [0, 1, 2, 3, 4, 5, 6, 7],
  target: 0,
  beta: 60,
  Y: 20000,
  eta: 0.1,
  steps: 200,
  basis: /** @type {Basis} */ ("sincos"),
  seed: 0,
  fraction: 0.5,
  side: /** @type {Side} */ ("bottom"),
  fill: /** @type {Fill} */ ("grey"),
  noise: 0,
  clamp: true,
};

/** The pictures a reader can store: a collection that came with the widget, and the reader's own after it. */
export class Library {
  /** @type {Uint8Array[]} */
  own = [];
  /** @type {Map<string, Float32Array>} */
  pictures = new Map();
  /** @type {Map<string, Float32Array>} */
  patterns = new Map();
  /** @type {Map<string, Float32Array[]>} */
  sets = new Map();

  /**
   * Bytes (n, 64, 64, 3) of n photographs, and their names.
   *
   * @param {Uint8Array} photographs
   * @param {string[]} names
   */
  constructor(photographs, names) {
    this.photographs = photographs;
    this.names = names;
  }

  /**
   * Items of a collection. Keys of the reader's own are negative.
   *
   * @param {Collection} collection
   * @returns {{ key: number, label: string }[]}
   */
  items(collection) {
    const own = this.own.map((_, i) => ({ key: -1 - i, label: `your picture ${i + 1}` }));
    const labels = {
      photographs: this.names,
      letters: [...ALPHABET].map((letter) => `letter ${letter}`),
      random: Array.from({ length: RANDOM }, (_, i) => `random pattern ${i + 1}`),
    }[collection];
    return [...labels.map((label, key) => ({ key, label })), ...own];
  }

  /**
   * @param {Collection} collection
   * @param {number} key
   */
  label(collection, key) {
    return this.items(collection).find((item) => item.key === key)?.label ?? "nothing";
  }

  /**
   * Adds a picture of the reader's (64 × 64 × 3 bytes); returns its key.
   *
   * @param {Uint8Array} bytes
   */
  add(bytes) {
    this.own.push(bytes);
    return -this.own.length;
  }

  /**
   * @param {Collection} collection
   * @param {number} key
   * @param {number} size
   */
  id(collection, key, size) {
    return `${key < 0 ? "own" : collection}/${key}/${size}`;
  }

  /**
   * The picture in [0, 1].
   *
   * @param {Collection} collection
   * @param {number} key
   * @param {number} size
   */
  picture(collection, key, size) {
    return recalled(this.pictures, this.id(collection, key, size), () => {
      if (key < 0) return resize(this.own[-1 - key], SIDE, size);
      if (collection !== "photographs") return this.drawn(collection, size)[key];
      const length = 3 * SIDE * SIDE;
      return resize(this.photographs.subarray(key * length, (key + 1) * length), SIDE, size);
    });
  }

  /**
   * The picture in the memories' unit.
   *
   * @param {Collection} collection
   * @param {number} key
   * @param {number} size
   */
  pattern(collection, key, size) {
    return recalled(this.patterns, this.id(collection, key, size), () =>
      toPattern(this.picture(collection, key, size)),
    );
  }

  /**
   * A collection that is made, not carried.
   *
   * @param {"letters" | "random"} collection
   * @param {number} size
   */
  drawn(collection, size) {
    return recalled(this.sets, `${collection}/${size}`, () =>
      collection === "letters" ? letterPictures(size) : randomPictures(RANDOM, size, 0),
    );
  }
}

/**
 * @template T
 * @param {Map<string, T>} cache
 * @param {string} name
 * @param {() => T} make
 */
function recalled(cache, name, make) {
  const known = cache.get(name);
  if (known !== undefined) return known;
  const made = make();
  cache.set(name, made);
  return made;
}

/**
 * A paint layer over a size × size query: a mark a pixel and the colours of the painted ones.
 *
 * @type {(size: number) => Paint}
 */
export const noPaint = (size) => ({
  size,
  marks: new Uint8Array(size * size).fill(UNTOUCHED),
  colours: new Uint8Array(3 * size * size),
});

/**
 * One dab of a square brush; `colour` null restores the true picture.
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
 * Everything the simulation needs for these settings, and what the page shows of it before the first step.
 *
 * @param {Settings} settings
 * @param {Library} library
 * @param {Paint} paint
 */
export function prepare(settings, library, paint) {
  const { collection, size, stored, target, clamp } = settings;
  const truth = library.pattern(collection, target, size);
  const { query, known } = corrupt(library.picture(collection, target, size), size, {
    ...settings,
    paint: paint.size === size ? paint : null,
  });
  const start = toPattern(query);
  const ids = stored.map((key) => library.id(collection, key, size));
  const patterns = stored.map((key) => library.pattern(collection, key, size));
  const isStored = stored.includes(target);
  const wanted = isStored ? stored.indexOf(target) : nearest(start, patterns);
  const free = clamp && known.some((k) => k) ? known.map((k) => 1 - k) : null;
  const freedom = free ? free.reduce((n, f) => n + f, 0) : truth.length;
  const { beta, Y, eta, basis, seed } = settings;
  const D = truth.length;
  /** @type {Config & { ids: string[] }} */
  const config = {
    ids,
    D,
    Y,
    beta,
    eta,
    basis,
    seed,
    query: start,
    free,
    target: patterns[wanted],
    truth,
  };
  return {
    config,
    pictures: new Map(ids.map((id, i) => [id, patterns[i]])),
    patterns,
    known,
    freedom,
    isStored,
    wanted,
    bytes: {
      truth: toBytes(truth, new Uint8ClampedArray(D)),
      query: toBytes(start, new Uint8ClampedArray(D)),
    },
    numbers: { exact: stored.length * D, distributed: memorySize(basis, Y) },
  };
}
