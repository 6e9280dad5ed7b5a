// Random features whose frequencies Ω are Hadamard blocks. Python makes the same ones from a seed [D-eq8, D-alg1].
// Block b has P rows, the padded length:  Ω_b x = norms_b · H (s₃ · H (s₂ · z)),  z = H (s₁ · pad x) for all blocks.

import { blockOf } from "./block/block.js";
import { bits, key, normal, split, uniform } from "./random.js";

/** @typedef {"sincos" | "cos" | "exp" | "expexp"} Basis */

/** @type {Basis[]} */
export const BASES = ["sincos", "cos", "exp", "expexp"];

/**
 * Number of features in T for Y frequencies: 2Y if the basis has two functions per frequency.
 *
 * @type {(basis: Basis, Y: number) => number}
 */
export const memorySize = (basis, Y) => (basis === "sincos" || basis === "expexp" ? 2 * Y : Y);

/** @param {number} D */
export const paddedLength = (D) => Math.max(64, 2 ** Math.ceil(Math.log2(D)));

/** Signs, row norms and phases. A larger Y draws the same numbers and more, so a smaller Y is a prefix of it. */
export class HadamardFeatures {
  /** @param {{ D: number, Y: number, seed: number, basis?: Basis }} options */
  constructor({ D, Y, seed, basis = "sincos" }) {
    this.D = D;
    this.Y = Y;
    this.basis = basis;
    this.P = paddedLength(D);
    this.blocks = Math.ceil(Y / this.P);
    const [projection, phase] = split(key(seed));
    const [signs, norms] = split(projection);
    this.signs = Float32Array.from(
      bits(signs, (1 + 2 * this.blocks) * this.P),
      (word) => 1 - 2 * (word >>> 31),
    );
    this.norms = rowNorms(normal(norms, this.blocks * this.P), this.P);
    this.phases = basis === "cos" ? uniform(phase, Y).map((u) => 2 * Math.PI * u) : null;
  }

  /**
   * The features of the first Y frequencies: those that the same seed gives for this Y.
   *
   * @param {number} Y
   * @returns {HadamardFeatures}
   */
  first(Y) {
    const blocks = Math.ceil(Y / this.P);
    const phases = this.phases?.subarray(0, Y) ?? null;
    return Object.assign(Object.create(HadamardFeatures.prototype), this, { Y, blocks, phases });
  }

  /**
   * Number of frequencies in block b: P, or fewer in the last block.
   *
   * @param {number} b
   */
  rows(b) {
    return Math.min(this.P, this.Y - b * this.P);
  }

  /** The arrays in which all blocks are computed, one after another. */
  get block() {
    return blockOf(this.P);
  }

  /**
   * Sets z ← scale · H (s₁ · pad x) for x of length D, from which all blocks start, and the block's sum to 0.
   *
   * @param {ArrayLike<number>} x
   * @param {number} scale
   */
  enter(x, scale) {
    const { z } = this.block;
    for (let i = 0; i < this.D; i++) z[i] = this.signs[i] * x[i] * scale;
    z.fill(0, this.D);
    this.block.transform("z");
    this.block.sum.fill(0);
  }

  /**
   * Applies the transpose of `enter` (at scale 1) to the block's sum, and writes D entries to x; overwrites the sum.
   *
   * @param {Float32Array} x
   */
  leave(x) {
    const { sum } = this.block;
    this.block.transform("sum");
    for (let i = 0; i < this.D; i++) x[i] = this.signs[i] * sum[i];
  }

  /**
   * Loads block b into the arrays, and sets h ← Ω_b x for the x given to `enter`.
   *
   * @param {number} b
   */
  project(b) {
    const { P, signs, norms, block } = this;
    const at = (1 + 2 * b) * P;
    block.before.set(signs.subarray(at, at + P));
    block.between.set(signs.subarray(at + P, at + 2 * P));
    block.norms.set(norms.subarray(b * P, (b + 1) * P));
    block.project();
  }
}

/**
 * Lengths distributed as χ(P), by Wilson and Hilferty's cube, divided by P^(3/2): by this factor the three unnormalised
 * transforms lengthen a vector.
 *
 * @type {(z: Float32Array, P: number) => Float32Array}
 */
export function rowNorms(z, P) {
  const v = 2 / (9 * P);
  const scale = P ** -1.5;
  return z.map((g) => scale * Math.sqrt(P * Math.max(1 - v + g * Math.sqrt(v), 0) ** 3));
}
