// Pictures as patterns: arrays in [0, 1] flattened height, width, colour, then divided by √D [D-eq11].
import { coin, key } from "./random.js";

/**
 * The size × size × 3 picture in [0, 1] of a square RGB picture of whole numbers up to `top`, by the means of blocks.
 *
 * @type {(pixels: ArrayLike<number>, from: number, size: number, top: number) => Float32Array}
 */
export function resize(pixels, from, size, top) {
  const sums = new Float32Array(3 * size * size);
  const counts = new Float32Array(size * size);
  for (let row = 0; row < from; row++) {
    for (let column = 0; column < from; column++) {
      const at = Math.floor((row * size) / from) * size + Math.floor((column * size) / from);
      counts[at] += top;
      for (let c = 0; c < 3; c++) sums[3 * at + c] += pixels[3 * (row * from + column) + c];
    }
  }
  return sums.map((v, i) => v / counts[Math.floor(i / 3)]);
}

/**
 * A pattern in the memories' unit from a picture in [0, 1].
 *
 * @param {Float32Array} picture
 */
export const toPattern = (picture) => picture.map((v) => v / Math.sqrt(picture.length));

/**
 * The bytes (height, width, colour) that show a state; one of bits is grey. `bytes` may be a view into a longer array.
 *
 * @param {Float32Array} state
 * @param {Uint8ClampedArray} bytes
 */
export function toBytes(state, bytes) {
  const scale = 255 * Math.sqrt(state.length);
  const repeat = bytes.length / state.length;
  for (let i = 0; i < bytes.length; i++) bytes[i] = state[Math.floor(i / repeat)] * scale;
  return bytes;
}

/**
 * K random patterns of n bits: every entry 0 or 1 by a fair coin, jax.random.bernoulli(key(seed), 0.5, (K, n)).
 *
 * @type {(K: number, n: number, seed: number) => Float32Array[]}
 */
export function randomBits(K, n, seed) {
  const all = coin(key(seed), K * n);
  return Array.from({ length: K }, (_, i) => Float32Array.from(all.subarray(i * n, (i + 1) * n)));
}

/**
 * A colour picture as black and white, as many of each: what a memory of bits can hold of it.
 *
 * @param {Float32Array} picture
 */
export function bitsOf(picture) {
  const grey = Float32Array.from(
    { length: picture.length / 3 },
    (_, i) => picture[3 * i] + picture[3 * i + 1] + picture[3 * i + 2],
  );
  const middle = grey.toSorted()[grey.length >> 1];
  return grey.map((v) => (v >= middle ? 1 : 0));
}
