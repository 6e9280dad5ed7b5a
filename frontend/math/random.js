// JAX's default generator, threefry2x32 in its partitionable layout, and the distributions the book draws from it.
// Keys are [high, low] pairs of 32-bit integers; every function equals the jax.random function of the same name.

/** @typedef {[number, number]} Key */

/** @type {(x: number, r: number) => number} */
const rotate = (x, r) => (x << r) | (x >>> (32 - r));

/**
 * Threefry-2x32, 20 rounds, of the counter (x0, x1); writes the two words into `out`.
 *
 * @type {(k0: number, k1: number, x0: number, x1: number, out: Key | Int32Array) => void}
 */
function threefry(k0, k1, x0, x1, out) {
  const k2 = k0 ^ k1 ^ 0x1bd11bda;
  let a = (x0 + k0) | 0;
  let b = (x1 + k1) | 0;
  for (let i = 0; i < 5; i++) {
    if (i & 1) {
      a = (a + b) | 0;
      b = a ^ rotate(b, 17);
      a = (a + b) | 0;
      b = a ^ rotate(b, 29);
      a = (a + b) | 0;
      b = a ^ rotate(b, 16);
      a = (a + b) | 0;
      b = a ^ rotate(b, 24);
    } else {
      a = (a + b) | 0;
      b = a ^ rotate(b, 13);
      a = (a + b) | 0;
      b = a ^ rotate(b, 15);
      a = (a + b) | 0;
      b = a ^ rotate(b, 26);
      a = (a + b) | 0;
      b = a ^ rotate(b, 6);
    }
    const next = i % 3;
    a = (a + (next === 0 ? k1 : next === 1 ? k2 : k0)) | 0;
    b = (b + (next === 0 ? k2 : next === 1 ? k0 : k1) + i + 1) | 0;
  }
  out[0] = a;
  out[1] = b;
}

/**
 * jax.random.key(seed), for 0 <= seed < 2^32.
 *
 * @type {(seed: number) => Key}
 */
export const key = (seed) => [0, seed | 0];

/**
 * jax.random.split(key, n).
 *
 * @type {(key: Key, n?: number) => Key[]}
 */
export function split([k0, k1], n = 2) {
  return Array.from({ length: n }, (_, i) => {
    /** @type {Key} */
    const words = [0, 0];
    threefry(k0, k1, 0, i, words);
    return words;
  });
}

/**
 * jax.random.bits(key, (n,), uint32); only the entries from `start` on.
 *
 * @type {(key: Key, n: number, start?: number) => Uint32Array}
 */
export function bits([k0, k1], n, start = 0) {
  const result = new Uint32Array(n - start);
  const words = new Int32Array(2);
  for (let i = start; i < n; i++) {
    threefry(k0, k1, 0, i, words);
    result[i - start] = words[0] ^ words[1];
  }
  return result;
}

/**
 * jax.random.uniform(key, (n,), float32) on [0, 1).
 *
 * @type {(key: Key, n: number, start?: number) => Float32Array}
 */
export function uniform(k, n, start = 0) {
  return Float32Array.from(bits(k, n, start), (word) => (word >>> 9) * 2 ** -23);
}

/**
 * jax.random.bernoulli(key, 0.5, (n,)) as zeros and ones.
 *
 * @type {(key: Key, n: number) => Uint8Array}
 */
export const coin = (k, n) => Uint8Array.from(uniform(k, n), (u) => (u < 0.5 ? 1 : 0));

const CENTRE = [
  2.81022636e-8, 3.43273939e-7, -3.5233877e-6, -4.39150654e-6, 0.00021858087, -0.00125372503,
  -0.00417768164, 0.246640727, 1.50140941,
];
const TAIL = [
  -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
  0.00943887047, 1.00167406, 2.83297682,
];

/**
 * Inverse error function: Giles' single-precision polynomials, the ones XLA evaluates.
 *
 * @param {number} x
 */
export function erfInv(x) {
  const w = -Math.log1p(-Math.fround(x * x)); // rounded as in XLA, which matters in the tails
  const [coefficients, t] = w < 5 ? [CENTRE, w - 2.5] : [TAIL, Math.sqrt(w) - 3];
  return x * coefficients.reduce((p, c) => p * t + c, 0);
}

const LOWEST = Math.fround(-1 + 2 ** -24); // the next float32 above -1, so that erfInv stays finite

/**
 * jax.random.normal(key, (n,), float32).
 *
 * @type {(key: Key, n: number, start?: number) => Float32Array}
 */
export function normal(k, n, start = 0) {
  const result = uniform(k, n, start);
  for (let i = 0; i < result.length; i++) {
    const u = Math.max(LOWEST, Math.fround(2 * result[i] + LOWEST));
    result[i] = Math.SQRT2 * erfInv(u);
  }
  return result;
}
