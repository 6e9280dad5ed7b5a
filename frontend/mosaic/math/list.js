// The exact memory of black and white pictures. One table lookup sums eight pixels [D-eq11, D-eq18].
import { BYTES, D, UNIT } from "./pictures.js";

const VALUES = 256; // the number of values of a byte
const LEAST = 1e-12; // weights below it are skipped, because they change no pixel

/** The first K pictures, with methods for their softmax weights at a state and for their weighted mean. */
export class List {
  /**
   * @param {Uint8Array} pixels
   * @param {number} K
   * @param {number} beta
   */
  constructor(pixels, K, beta) {
    this.pixels = pixels;
    this.K = K;
    this.beta = beta;
    this.squares = new Float64Array(K);
    this.table = new Float64Array(BYTES * VALUES);
    const ones = Float32Array.from({ length: D }, () => UNIT);
    this.fill(ones);
    for (let m = 0; m < K; m++) this.squares[m] = UNIT * this.product(m);
  }

  /**
   * Fills the table for the state x: for each of the 32 byte positions and each byte, the sum of the entries of x at
   * the byte's set bits.
   *
   * @param {Float32Array} x
   */
  fill(x) {
    const { table } = this;
    for (let j = 0; j < BYTES; j++) {
      const at = j * VALUES;
      for (let v = 1; v < VALUES; v++) {
        const lowest = 31 - Math.clz32(v & -v);
        table[at + v] = table[at + (v & (v - 1))] + x[8 * j + 7 - lowest];
      }
    }
  }

  /**
   * The inner product ⟨x, bits of picture m⟩ for the state x in the table.
   *
   * @param {number} m
   */
  product(m) {
    const { pixels, table } = this;
    let sum = 0;
    for (let j = 0; j < BYTES; j++) sum += table[j * VALUES + pixels[m * BYTES + j]];
    return sum;
  }

  /**
   * Writes the softmax weights of all pictures at x into `weights`, and returns the energy at x.
   *
   * @param {Float32Array} x
   * @param {Float32Array} weights
   */
  weigh(x, weights) {
    const { K, beta, squares } = this;
    this.fill(x);
    let square = 0;
    for (let i = 0; i < D; i++) square += x[i] * x[i];
    const distances = new Float64Array(K);
    let nearest = Number.POSITIVE_INFINITY;
    for (let m = 0; m < K; m++) {
      distances[m] = square + squares[m] - 2 * UNIT * this.product(m);
      if (distances[m] < nearest) nearest = distances[m];
    }
    let total = 0;
    for (let m = 0; m < K; m++) {
      distances[m] = Math.exp((-beta / 2) * (distances[m] - nearest));
      total += distances[m];
    }
    for (let m = 0; m < K; m++) weights[m] = distances[m] / total;
    return nearest / 2 - Math.log(total) / beta;
  }

  /**
   * Writes the mean of the pictures with these weights into `mean`.
   *
   * @param {Float32Array} weights
   * @param {Float32Array} mean
   */
  average(weights, mean) {
    const { K, pixels } = this;
    const sums = new Float64Array(BYTES * VALUES);
    for (let m = 0; m < K; m++) {
      const p = weights[m];
      if (p < LEAST) continue;
      for (let j = 0; j < BYTES; j++) sums[j * VALUES + pixels[m * BYTES + j]] += p;
    }
    for (let i = 0; i < D; i++) {
      const at = (i >> 3) * VALUES;
      const bit = 1 << (7 - (i & 7));
      let sum = 0;
      for (let v = bit; v < VALUES; v++) if (v & bit) sum += sums[at + v];
      mean[i] = UNIT * sum;
    }
  }
}
