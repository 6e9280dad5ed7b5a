// Pictures as patterns: arrays in [0, 1] flattened height, width, colour, then divided by √D [D-eq11].
import { coin, key } from "../../kit/random.js";

/**
 * The size × size × 3 picture in [0, 1] of a square uint8 RGB picture, by averaging blocks of pixels.
 *
 * @type {(pixels: ArrayLike<number>, from: number, size: number) => Float32Array}
 */
export function resize(pixels, from, size) {
  const step = from / size;
  const result = new Float32Array(3 * size * size);
  for (let row = 0; row < from; row++) {
    for (let column = 0; column < from; column++) {
      const at = 3 * (Math.floor(row / step) * size + Math.floor(column / step));
      for (let c = 0; c < 3; c++) {
        result[at + c] += pixels[3 * (row * from + column) + c] / (255 * step * step);
      }
    }
  }
  return result;
}

/**
 * A pattern in the memories' unit from a picture in [0, 1].
 *
 * @param {Float32Array} picture
 */
export const toPattern = (picture) => picture.map((v) => v / Math.sqrt(picture.length));

/**
 * The bytes that show a state; `bytes` may be a view into a longer array.
 *
 * @param {Float32Array} state
 * @param {Uint8ClampedArray} bytes
 */
export function toBytes(state, bytes) {
  const scale = 255 * Math.sqrt(state.length);
  for (let i = 0; i < state.length; i++) bytes[i] = state[i] * scale;
  return bytes;
}

// A 5 × 7 capital alphabet, a row a base-32 digit.
const FONT =
  "ehhvhhh uhhuhhu ehggghe uhhhhhu vgguggv vgguggg ehgnhhf hhhvhhh e44444e 72222ic hikokih ggggggv hrllhhh " +
  "hhpljhh ehhhhhe uhhuggg ehhhlid uhhukih fgge11u v444444 hhhhhhe hhhhha4 hhhllla hha4ahh hhha444 v1248gv";

/**
 * The capitals A–Z as white on black pictures in [0, 1], size 32 or 64.
 *
 * @param {number} size
 */
export function letterPictures(size) {
  const scale = size / 8;
  return FONT.split(" ").map((rows) => {
    const picture = new Float32Array(3 * size * size);
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < size; column++) {
        const y = Math.floor((row - scale / 2) / scale);
        const x = Math.floor((column - 1.5 * scale) / scale);
        const bits = x >= 0 && x < 5 && y >= 0 && y < 7 ? Number.parseInt(rows[y], 32) : 0;
        if ((bits >> (4 - x)) & 1)
          picture.fill(1, 3 * (row * size + column), 3 * (row * size + column) + 3);
      }
    }
    return picture;
  });
}

/**
 * n random binary pictures: every entry 0 or 1 by a fair coin, jax.random.bernoulli(key(seed), 0.5, (n, D)).
 *
 * @type {(n: number, size: number, seed: number) => Float32Array[]}
 */
export function randomPictures(n, size, seed) {
  const D = 3 * size * size;
  const all = coin(key(seed), n * D);
  return Array.from({ length: n }, (_, i) => Float32Array.from(all.subarray(i * D, (i + 1) * D)));
}
