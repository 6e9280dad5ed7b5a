// The pictures that a reader can store: photographs that came with the widget, random bits, and the reader's own.
import { bitsOf, randomBits, resize, toPattern } from "../math/patterns.js";

/** @import { Sheet } from "../kit/sheet.js" */

/** @typedef {"photographs" | "bits"} Collection */

export const MOST_BITS = 500; // random patterns on offer
const OWN_TOP = 255;
export const FINER = 64; // pixels per side of the finer pictures, which are fetched on demand

export class Library {
  /** @type {Uint8Array[]} */
  own = []; // never shortened, because undo and redo may need a picture again
  /** @type {Map<string, Float32Array>} */
  pictures = new Map();
  /** @type {Map<string, Float32Array>} */
  patterns = new Map();
  /** @type {Map<number, Float32Array[]>} */
  bits = new Map();

  /** @type {Sheet | null} */
  finer = null;

  /**
   * @param {Sheet} sheet
   * @param {string[]} names
   * @param {(() => Promise<Sheet>) | null} [fetch] Gives the same pictures with `FINER` pixels a side.
   */
  constructor(sheet, names, fetch = null) {
    this.sheet = sheet;
    this.names = names;
    this.fetch = fetch;
  }

  /** Pixels per side of the pictures at their finest. */
  get side() {
    return this.fetch ? FINER : this.sheet.side;
  }

  /**
   * True if pictures of that size have yet to be fetched.
   *
   * @type {(collection: Collection, size: number) => boolean}
   */
  lacks(collection, size) {
    return collection === "photographs" && size > this.sheet.side && !this.finer && !!this.fetch;
  }

  /** Fetches the finer pictures. */
  async refine() {
    this.finer ??= (await this.fetch?.()) ?? null;
  }

  /**
   * The number of pictures in a collection, without the reader's own.
   *
   * @param {Collection} collection
   */
  count(collection) {
    return collection === "photographs" ? this.names.length : MOST_BITS;
  }

  /** Keys of the reader's own pictures: they are negative. */
  get ownKeys() {
    return this.own.map((_, i) => -1 - i);
  }

  /**
   * @param {Collection} collection
   * @param {number} key
   */
  has(collection, key) {
    return Number.isInteger(key) && key >= -this.own.length && key < this.count(collection);
  }

  /**
   * @param {Collection} collection
   * @param {number} key
   */
  label(collection, key) {
    if (!this.has(collection, key)) return "nothing";
    if (key < 0) return `your picture ${-key}`;
    return collection === "photographs" ? this.names[key] : `pattern ${key + 1}`;
  }

  /**
   * Adds a picture of the reader's (bytes, `side` × `side` × 3); returns its key.
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
    return `${collection}/${key}/${size}`;
  }

  /**
   * The picture in [0, 1]: size × size × 3, or size × size of bits.
   *
   * @param {Collection} collection
   * @param {number} key
   * @param {number} size
   */
  picture(collection, key, size) {
    return recalled(this.pictures, this.id(collection, key, size), () => {
      if (collection === "photographs") return this.photograph(key, size);
      if (key < 0) return bitsOf(this.photograph(key, size));
      return recalled(this.bits, size, () => randomBits(MOST_BITS, size * size, 0))[key];
    });
  }

  /** @type {(key: number, size: number) => Float32Array} */
  photograph(key, size) {
    if (key < 0) return resize(this.own[-1 - key], this.side, size, OWN_TOP);
    const { values, side, top } = (size > this.sheet.side && this.finer) || this.sheet;
    const length = 3 * side * side;
    return resize(values.subarray(key * length, (key + 1) * length), side, size, top);
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
}

/**
 * @template K, T
 * @param {Map<K, T>} cache
 * @param {K} name
 * @param {() => T} make
 */
function recalled(cache, name, make) {
  const known = cache.get(name);
  if (known !== undefined) return known;
  const data = make();
  cache.set(name, data);
  return data;
}
