// Pictures as patterns: arrays in [0, 1] flattened height, width, colour, then divided by √D [D-eq11].
import { coin, key } from "./random.js";

/**
 * A square RGB picture of integers from 0 to `top`, reduced to size × size × 3 numbers in [0, 1] by means over blocks.
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
 * The pattern of a picture in [0, 1]: its entries divided by √D.
 *
 * @param {Float32Array} picture
 */
export const toPattern = (picture) => picture.map((v) => v / Math.sqrt(picture.length));

/**
 * The bytes (height, width, colour) that show a state, in grey if it consists of bits. `bytes` may be a view
 * into a longer array.
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
 * A colour picture in black and white, half the pixels each, so that a memory of bits can store it.
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
