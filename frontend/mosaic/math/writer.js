// Writes pictures into blocks of T. The sums are cached, so that adding a picture costs only the work for that picture
// [D-eq9, D-alg1].

import { blockOf } from "../../math/block/block.js";
import { rowNorms } from "../../math/features.js";
import { bits, key, normal, split } from "../../math/random.js";
import { BYTES, D, UNIT } from "./pictures.js";

/** The number of pictures written into a block, and the sums of their cosines and of their sines. */
/** @typedef {{ count: number, cosines: Float32Array, sines: Float32Array }} Sums */

export class Writer {
  /** @type {Map<number, Sums>} */
  sums = new Map();
  entered = { count: 0, values: new Float32Array() }; // the first transform of each picture, the same for all blocks
  seed = -1;
  beta = 0;

  /** @param {Uint8Array} pixels */
  constructor(pixels) {
    this.pixels = pixels;
  }

  /**
   * Makes these blocks hold exactly the first K pictures; yields after each block.
   *
   * @param {{ K: number, beta: number, seed: number, blocks: number[] }} job
   */
  *write({ K, beta, seed, blocks }) {
    if (seed !== this.seed) this.entered = { count: 0, values: new Float32Array() };
    if (seed !== this.seed || beta !== this.beta) this.sums.clear();
    this.seed = seed;
    this.beta = beta;
    this.enter(K);
    for (const b of blocks) {
      this.bring(b, K);
      yield b;
    }
  }

  /**
   * The sums of these blocks in one array: the cosines of the first block, its sines, the cosines of the second, …
   *
   * @param {number[]} blocks
   */
  collected(blocks) {
    const all = new Float32Array(2 * D * blocks.length);
    blocks.forEach((b, i) => {
      const block = this.sums.get(b);
      if (!block) return;
      all.set(block.cosines, 2 * D * i);
      all.set(block.sines, 2 * D * i + D);
    });
    return all;
  }

  /** @param {number} K */
  enter(K) {
    const { pixels, entered, seed } = this;
    if (entered.count >= K) return;
    const block = blockOf(D);
    const [signs] = split(split(key(seed))[0]);
    const first = bits(signs, D);
    const values = new Float32Array(K * D);
    values.set(entered.values);
    for (let m = entered.count; m < K; m++) {
      for (let i = 0; i < D; i++) {
        const ink = (pixels[BYTES * m + (i >> 3)] >> (7 - (i & 7))) & 1;
        block.z[i] = first[i] >>> 31 ? -UNIT * ink : UNIT * ink;
      }
      block.transform("z");
      values.set(block.z, m * D);
    }
    this.entered = { count: K, values };
  }

  /**
   * Adds to block b the pictures that are missing among its first K, or subtracts those beyond K.
   *
   * @type {(b: number, K: number) => void}
   */
  bring(b, K) {
    const { seed, beta, entered } = this;
    const sums = this.sums.get(b) ?? {
      count: 0,
      cosines: new Float32Array(D),
      sines: new Float32Array(D),
    };
    this.sums.set(b, sums);
    if (sums.count === K) return;
    const block = blockOf(D);
    const [signs, norms] = split(split(key(seed))[0]);
    const at = (1 + 2 * b) * D;
    const drawn = Float32Array.from(bits(signs, at + 2 * D, at), (word) => 1 - 2 * (word >>> 31));
    block.before.set(drawn.subarray(0, D));
    block.between.set(drawn.subarray(D));
    const root = Math.sqrt(beta);
    block.norms.set(rowNorms(normal(norms, (b + 1) * D, b * D), D).map((norm) => root * norm));
    const { first, second } = block;
    const { cosines, sines } = sums;
    const sign = K > sums.count ? 1 : -1;
    const [from, to] = K > sums.count ? [sums.count, K] : [K, sums.count];
    for (let m = from; m < to; m++) {
      block.z.set(entered.values.subarray(m * D, (m + 1) * D));
      block.project();
      block.waves();
      for (let i = 0; i < D; i++) {
        cosines[i] += sign * first[i];
        sines[i] += sign * second[i];
      }
    }
    sums.count = K;
  }
}
