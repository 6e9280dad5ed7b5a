// The distributed memory: one vector T, whose length does not depend on the number of patterns [D-eq9, D-eq10, D-alg1].

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
 * The value of S below which the logarithm is replaced by its tangent: an eighth of the noise of the features. For
 * exponentials, whose S is positive, it only avoids log 0.
 *
 * @type {(basis: Basis, K: number, Y: number) => number}
 */
export function floorOf(basis, K, Y) {
  if (basis === "sincos") return Math.sqrt(K / (2 * Y)) / 8;
  if (basis === "cos") return Math.sqrt(K / Y) / 8;
  return 1e-30;
}

// For each basis, `values` reads h = Ω√β x in the block and writes the one or two functions of each frequency into
// `first` and `second`. With the block's part of T in t and u, `slopes` then returns their sum S and writes the
// derivatives of S by h in place of h. Both leave out the constant factor `scale(Y)`; `square` is β x·x.
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

/** A memory of patterns in ℝ^D, stored as T ∈ ℝ^M and the seed of the features: O(Y + D) numbers in all. */
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
    this.square = 0; // β x·x of the last state given to `enter`
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
   * T ← T − φ(√β ξ), which removes a stored pattern.
   *
   * @param {ArrayLike<number>} pattern
   */
  remove(pattern) {
    this.write(pattern, -1);
  }

  /**
   * The memory of the same patterns with only the first Y frequencies: a part of T, rescaled.
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
   * The first n entries of T (at most Y) without the factor `scale(Y)`: sums over the patterns that do not depend on Y.
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
   * Computes what all blocks need of x.
   *
   * @param {ArrayLike<number>} x
   */
  enter(x) {
    this.square = this.beta * dot(x, x);
    this.features.enter(x, Math.sqrt(this.beta));
  }

  /**
   * Writes the features of block b, at the state given to `enter`, into the block; returns their number of frequencies.
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
   * Energy and gradient at x in one pass over the blocks; writes the gradient into `gradient` (length D).
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
    const drift = positive ? (2 * S) / Math.max(S, this.floor) : 0; // the factor exp(−β|x|²) depends on x too
    for (let i = 0; i < slope.length; i++) gradient[i] = factor * slope[i] + drift * x[i];
    return { energy: this.energyOf(S), S, floored: S < this.floor };
  }

  /**
   * Block b's part of S; also adds its part of ∇S to the block's `sum`.
   *
   * @param {number} b
   */
  share(b) {
    const { features, T } = this;
    const { P, Y, block } = features;
    const n = this.evaluate(b);
    const at = b * P;
    block.t.set(T.subarray(at, at + n));
    block.t.fill(0, n); // `slopes` reads all P entries: they are 0 past the last frequency
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
