// The distributed memory: one vector T, whatever the number of patterns written into it [D-eq9, D-eq10, D-alg1].

import { memorySize } from "./features.js";
import { dot } from "./linear.js";

/** @import { Block } from "./block/block.js" */
/** @import { Basis, HadamardFeatures } from "./features.js" */

/**
 * @typedef {{
 *   scale(Y: number): number,
 *   values(block: Block, n: number, x: { square: number }): void,
 *   slopes(block: Block, n: number): number,
 * }} Functions
 */

/**
 * Where the logarithm is replaced by its tangent: an eighth of the features' own noise.
 *
 * @type {(basis: Basis, K: number, Y: number) => number}
 */
export function floorOf(basis, K, Y) {
  if (basis === "sincos") return Math.sqrt(K / (2 * Y)) / 8;
  if (basis === "cos") return Math.sqrt(K / Y) / 8;
  return 1e-30;
}

// Each basis reads h = Ω√β x in the block and gives the values of its one or two functions a frequency (`first`,
// `second`); then, with T's part in t and u, their sum S and, in place of h, its derivatives by h: up to the constant
// factor `scale(Y)`, `square` is β x·x.
/** @type {Record<Basis, Functions>} */
const functions = {
  sincos: {
    scale: (Y) => Y ** -0.5,
    values: (block) => block.waves(),
    slopes: (block) => block.slopes(),
  },
  cos: {
    scale: (Y) => (2 / Y) ** 0.5,
    values: (block) => block.waves(),
    slopes: (block, n) => summed(block, n, ({ second, t }, i) => -t[i] * second[i]),
  },
  exp: {
    scale: (Y) => Y ** -0.5,
    values({ h, first }, n, { square }) {
      for (let i = 0; i < n; i++) first[i] = Math.exp(h[i] - square);
    },
    slopes: (block, n) => summed(block, n, ({ first, t }, i) => t[i] * first[i]),
  },
  expexp: {
    scale: (Y) => (2 * Y) ** -0.5,
    values({ h, first, second }, n, { square }) {
      for (let i = 0; i < n; i++) {
        first[i] = Math.exp(h[i] - square);
        second[i] = Math.exp(-h[i] - square);
      }
    },
    slopes: (block, n) =>
      summed(block, n, ({ first, second, t, u }, i) => t[i] * first[i] - u[i] * second[i]),
  },
};

/** @type {(block: Block, n: number, slope: (block: Block, i: number) => number) => number} */
function summed(block, n, slope) {
  const { h, first, second, t, u } = block;
  let S = 0;
  for (let i = 0; i < n; i++) {
    S += t[i] * first[i] + (u[i] && u[i] * second[i]);
    h[i] = slope(block, i);
  }
  h.fill(0, n);
  return S;
}

/** A memory of patterns in ℝ^D held as T ∈ ℝ^M, with the features' seed: O(Y + D) numbers in all. */
export class DistributedMemory {
  /**
   * @param {HadamardFeatures} features
   * @param {number} beta
   */
  constructor(features, beta) {
    const { D, Y, basis } = features;
    this.features = features;
    this.beta = beta;
    this.K = 0;
    this.paired = memorySize(basis, Y) > Y;
    this.T = new Float32Array(memorySize(basis, Y));
    this.basis = functions[basis];
    this.square = 0; // β x·x of the state that entered
    this.slope = new Float32Array(D);
  }

  /**
   * @param {ArrayLike<number>[]} patterns
   * @param {number} beta
   * @param {HadamardFeatures} features
   */
  static store(patterns, beta, features) {
    const memory = new DistributedMemory(features, beta);
    for (const pattern of patterns) memory.add(pattern);
    return memory;
  }

  /**
   * T ← T + φ(√β ξ); the cost does not depend on what is stored.
   *
   * @param {ArrayLike<number>} pattern
   */
  add(pattern) {
    this.write(pattern, 1);
  }

  /**
   * T ← T − φ(√β ξ): the pattern is gone.
   *
   * @param {ArrayLike<number>} pattern
   */
  remove(pattern) {
    this.write(pattern, -1);
  }

  /**
   * The memory of the same patterns by the first Y of its frequencies: a part of T, in another scale.
   *
   * @param {number} Y
   */
  first(Y) {
    const { features, beta, T, paired } = this;
    const memory = new DistributedMemory(features.first(Y), beta);
    const scale = this.basis.scale(Y) / this.basis.scale(features.Y);
    for (let i = 0; i < Y; i++) memory.T[i] = scale * T[i];
    if (paired) for (let i = 0; i < Y; i++) memory.T[Y + i] = scale * T[features.Y + i];
    memory.K = this.K;
    return memory;
  }

  /**
   * T's first entries without their common factor: sums of cosines, which another Y leaves as they are.
   *
   * @param {number} n
   */
  part(n) {
    const scale = this.basis.scale(this.features.Y);
    return this.T.slice(0, Math.min(n, this.features.Y)).map((t) => t / scale);
  }

  get floor() {
    return floorOf(this.features.basis, Math.max(this.K, 1), this.features.Y);
  }

  /**
   * @param {ArrayLike<number>} pattern
   * @param {number} weight
   */
  write(pattern, weight) {
    const { features, T } = this;
    const { first, second } = features.block;
    const scale = weight * this.basis.scale(features.Y);
    this.enter(pattern);
    for (let b = 0; b < features.blocks; b++) {
      const n = this.evaluate(b);
      const at = b * features.P;
      for (let i = 0; i < n; i++) T[at + i] += scale * first[i];
      if (!this.paired) continue;
      for (let i = 0; i < n; i++) T[features.Y + at + i] += scale * second[i];
    }
    this.K += weight;
  }

  /**
   * What all blocks need of x.
   *
   * @param {ArrayLike<number>} x
   */
  enter(x) {
    this.square = this.beta * dot(x, x);
    this.features.enter(x, Math.sqrt(this.beta));
  }

  /**
   * The features of block b at the state that entered; returns how many.
   *
   * @param {number} b
   */
  evaluate(b) {
    const { features } = this;
    const { P, block, phases } = features;
    const n = features.rows(b);
    features.project(b);
    if (phases) for (let i = 0; i < n; i++) block.h[i] += phases[b * P + i];
    this.basis.values(block, n, this);
    return n;
  }

  /**
   * Energy and gradient at x in one pass over the blocks; the gradient lands in `gradient` (length D).
   *
   * @param {ArrayLike<number>} x
   * @param {Float32Array} gradient
   */
  energyGradient(x, gradient) {
    const { features, beta, slope } = this;
    const positive = features.phases === null && features.basis !== "sincos";
    let S = 0;
    this.enter(x);
    for (let b = 0; b < features.blocks; b++) S += this.share(b);
    features.leave(slope);
    const scale = this.basis.scale(features.Y);
    S *= scale;
    const factor = -(Math.sqrt(beta) * scale) / (beta * Math.max(S, this.floor));
    const drift = positive ? (2 * S) / Math.max(S, this.floor) : 0; // the factor exp(−β|x|²) moves too
    for (let i = 0; i < slope.length; i++) gradient[i] = factor * slope[i] + drift * x[i];
    return { energy: this.energyOf(S), S, floored: S < this.floor };
  }

  /**
   * Block b's share of S; adds its share of ∇S to the sum.
   *
   * @param {number} b
   */
  share(b) {
    const { features, T } = this;
    const { P, Y, block } = features;
    const n = this.evaluate(b);
    const at = b * P;
    block.t.set(T.subarray(at, at + n));
    block.t.fill(0, n); // beyond the last frequency there is nothing
    if (this.paired) block.u.set(T.subarray(Y + at, Y + at + n));
    block.u.fill(0, this.paired ? n : 0);
    const S = this.basis.slopes(block, n);
    block.addBack();
    return S;
  }

  /** @param {number} S */
  energyOf(S) {
    const { beta, floor } = this;
    return S >= floor ? -Math.log(S) / beta : -(Math.log(floor) + (S - floor) / floor) / beta;
  }
}
