// What the reader has chosen, and what it means: patterns, a query, a configuration for the simulation. No drawing.
import { corrupt, PAINTED, RESTORED, UNTOUCHED } from "./math/corruption.js";
import { nearest } from "./math/exact.js";
import { memorySize } from "./math/features.js";
import { letterPictures, randomPictures, resize, toBytes, toPattern } from "./math/patterns.js";

export const SIDE = 64; // pixels of the pictures as they come
const RANDOM = 32; // random patterns on offer
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

export const DEFAULTS = {
  collection: "photographs",
  size: 32,
  stored: [0, 1, 2, 3, 4, 5, 6, 7],
  target: 0,
  beta: 60,
  Y: 20000,
  eta: 0.1,
  steps: 200,
  basis: "sincos",
  seed: 0,
  fraction: 0.5,
  side: "bottom",
  fill: "grey",
  noise: 0,
  clamp: true,
};

/** The pictures a reader can store: a collection that came with the widget, and the reader's own after it. */
export class Library {
  /** photographs: bytes (n, 64, 64, 3); names: n strings. */
  constructor(photographs, names) {
    Object.assign(this, { photographs, names, own: [], cache: new Map() });
  }

  /** Items of a collection as { key, label }. Keys of the reader's own are negative. */
  items(collection) {
    const own = this.own.map((_, i) => ({ key: -1 - i, label: `your picture ${i + 1}` }));
    const labels = {
      photographs: this.names,
      letters: [...ALPHABET].map((letter) => `letter ${letter}`),
      random: Array.from({ length: RANDOM }, (_, i) => `random pattern ${i + 1}`),
    }[collection];
    return [...labels.map((label, key) => ({ key, label })), ...own];
  }

  label(collection, key) {
    return this.items(collection).find((item) => item.key === key)?.label ?? "nothing";
  }

  /** Adds a picture of the reader's (64 × 64 × 3 bytes); returns its key. */
  add(bytes) {
    this.own.push(bytes);
    return -this.own.length;
  }

  id(collection, key, size) {
    return `${key < 0 ? "own" : collection}/${key}/${size}`;
  }

  /** The picture in [0, 1]. */
  picture(collection, key, size) {
    return this.recall(`picture/${this.id(collection, key, size)}`, () => {
      if (key < 0) return resize(this.own[-1 - key], SIDE, size);
      if (collection === "letters") return this.all(letterPictures, size)[key];
      if (collection === "random") return this.all((n) => randomPictures(RANDOM, n, 0), size)[key];
      const length = 3 * SIDE * SIDE;
      return resize(this.photographs.subarray(key * length, (key + 1) * length), SIDE, size);
    });
  }

  pattern(collection, key, size) {
    const id = this.id(collection, key, size);
    return this.recall(id, () => toPattern(this.picture(collection, key, size)));
  }

  all(make, size) {
    return this.recall(`all/${make}/${size}`, () => make(size));
  }

  recall(name, make) {
    if (!this.cache.has(name)) this.cache.set(name, make());
    return this.cache.get(name);
  }
}

/** A paint layer over a size × size query: a mark a pixel and the colours of the painted ones. */
export const noPaint = (size) => ({
  size,
  marks: new Uint8Array(size * size).fill(UNTOUCHED),
  colours: new Uint8Array(3 * size * size),
});

/** One dab of a square brush; `colour` null restores the true picture. */
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

/** Everything the simulation needs for these settings, and what the page shows of it before the first step. */
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
  return {
    config: {
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
    },
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
