// The corruption of a picture before the memories retrieve it: occlusion, noise, paint.
import { bounded } from "../kit/number.js";
import { key, normal, split, uniform } from "./random.js";

/** @typedef {"grey" | "black" | "white" | "noise"} Fill */
/** @typedef {"top" | "bottom" | "left" | "right" | "box"} Side */
/** One mark per pixel (UNTOUCHED, PAINTED or RESTORED), and the colours of the painted pixels. */
/** @typedef {{ size: number, marks: Uint8Array, colours: Uint8Array }} Paint */

/** @type {Record<Fill, number | null>} */
export const FILLS = { grey: 0.5, black: 0, white: 1, noise: null };
/** @type {Side[]} */
export const SIDES = ["top", "bottom", "left", "right", "box"];
export const UNTOUCHED = 0;
export const PAINTED = 1;
export const RESTORED = 2;

/**
 * True if pixel (row, column) of a size × size picture is covered when the fraction `fraction` of the picture is.
 *
 * @type {(row: number, column: number, size: number, fraction: number, side: Side) => boolean}
 */
export function isOccluded(row, column, size, fraction, side) {
  const width = Math.round(fraction * size);
  if (side === "top") return row < width;
  if (side === "bottom") return row >= size - width;
  if (side === "left") return column < width;
  if (side === "right") return column >= size - width;
  const half = (Math.sqrt(fraction) * size) / 2;
  return Math.max(Math.abs(row + 0.5 - size / 2), Math.abs(column + 0.5 - size / 2)) < half;
}

/**
 * The query made from a true picture in [0, 1] (height, width, colour; or one bit per pixel), and which of its entries
 * are known. Of a picture of bits, the fraction `flips` is flipped first.
 *
 * @type {(truth: Float32Array, size: number, settings: { fraction: number, side: Side, fill: Fill, noise: number, flips: number, seed: number, paint?: Paint | null }) => { query: Float32Array, known: Uint8Array }}
 */
export function corrupt(truth, size, settings) {
  const { fraction, side, fill, noise, flips, seed, paint = null } = settings;
  const [fillKey, noiseKey, flipKey] = split(key(seed), 3);
  const channels = truth.length / (size * size);
  const shown = flips > 0 && channels === 1 ? flipped(truth, flips, flipKey) : truth;
  const static_ = fill === "noise" ? uniform(fillKey, truth.length) : null;
  const shake = noise > 0 ? normal(noiseKey, truth.length) : null;
  const query = new Float32Array(truth.length);
  const known = new Uint8Array(truth.length);
  for (let pixel = 0; pixel < size * size; pixel++) {
    const mark = paint ? paint.marks[pixel] : UNTOUCHED;
    const covered = isOccluded(Math.floor(pixel / size), pixel % size, size, fraction, side);
    for (let c = 0; c < channels; c++) {
      const i = channels * pixel + c;
      known[i] = mark === RESTORED || (mark === UNTOUCHED && !covered) ? 1 : 0;
      if (mark === RESTORED) query[i] = truth[i];
      else if (paint && mark === PAINTED) query[i] = paint.colours[3 * pixel + c] / 255;
      else if (covered) query[i] = static_ ? static_[i] : (FILLS[fill] ?? 0);
      else query[i] = bounded(shown[i] + (shake ? noise * shake[i] : 0), 0, 1);
    }
  }
  return { query, known };
}

/**
 * `bits` with round(share·D) of them flipped, at the places at which rankone.data.flip_bits flips them.
 *
 * @type {(bits: Float32Array, share: number, flipKey: import("./random.js").Key) => Float32Array}
 */
export function flipped(bits, share, flipKey) {
  const order = uniform(flipKey, bits.length);
  const places = Array.from(bits, (_, i) => i).sort((a, b) => order[a] - order[b]);
  const result = bits.slice();
  for (const i of places.slice(0, Math.round(share * bits.length))) result[i] = 1 - bits[i];
  return result;
}
