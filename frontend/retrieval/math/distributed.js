// The distributed memory: one vector T, whatever the number of patterns written into it [D-eq9, D-eq10, D-alg1].
import { dot } from "../../kit/linear.js";
import { memorySize } from "./features.js";
import { sincos } from "./sincos.js";

/** @import { Basis, HadamardFeatures } from "./features.js" */

/** @typedef {{ first: Float32Array, second: Float32Array, square: number }} Values */
/**
 * @typedef {{
 *   scale(Y: number): number,
 *   values(h: Float32Array, n: number, f: Values): void,
 *   slopes(i: number, f: Values, t: number, u: number): number,
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

// Each basis reads h = Ω√β x in the scratch and gives the values of its one or two functions a frequency
// (`first`, `second`) and their derivatives by h, up to the constant factor `scale(Y)`.
/** @type {Record<Basis, Functions>} */
const functions = {
  sincos: {
    scale: (Y) => Y ** -0.5,
    values: (h, n, f) => sincos(h, f.first, f.second, n),
    slopes: (i, f, t, u) => u * f.first[i] - t * f.second[i],
  },
  cos: {
    scale: (Y) => (2 / Y) ** 0.5,
    values: (h, n, f) => sincos(h, f.first, f.second, n),
    slopes: (i, f, t) => -t * f.second[i],
  },
  exp: {
    scale: (Y) => Y ** -0.5,
    values(h, n, f) {
      for (let i = 0; i < n; i++) f.first[i] = Math.exp(h[i] - f.square);
    },
    slopes: (i, f, t) => t * f.first[i],
  },
  expexp: {
    scale: (Y) => (2 * Y) ** -0.5,
    values(h, n, f) {
      for (let i = 0; i < n; i++) {
        f.first[i] = Math.exp(h[i] - f.square);
        f.second[i] = Math.exp(-h[i] - f.square);
      }
    },
    slopes: (i, f, t, u) => t * f.first[i] - u * f.second[i],
  },
};

/** A memory of patterns in ℝ^D held as T ∈ ℝ^M, with the features' seed: O(Y + D) numbers in all. */
export class DistributedMemory {
  /**
   * @param {HadamardFeatures} features
   * @param {number} beta
   */
  constructor(features, beta) {
    const { P, D, Y, basis } = features;
    this.features = features;
    this.beta = beta;
    this.K = 0;
    this.paired = memorySize(basis, Y) > Y;
    this.T = new Float32Array(memorySize(basis, Y));
    this.basis = functions[basis];
    this.h = new Float32Array(P);
    this.f = { first: new Float32Array(P), second: new Float32Array(P), square: 0 };
    this.z = new Float32Array(P);
    this.sum = new Float32Array(P);
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

  get floor() {
    return floorOf(this.features.basis, Math.max(this.K, 1), this.features.Y);
  }

  /**
   * @param {ArrayLike<number>} pattern
   * @param {number} weight
   */
  write(pattern, weight) {
    const { features, T, f } = this;
    const scale = weight * this.basis.scale(features.Y);
    this.enter(pattern);
    for (let b = 0; b < features.blocks; b++) {
      const n = this.evaluate(b);
      const at = b * features.P;
      for (let i = 0; i < n; i++) T[at + i] += scale * f.first[i];
      if (!this.paired) continue;
      for (let i = 0; i < n; i++) T[features.Y + at + i] += scale * f.second[i];
    }
    this.K += weight;
  }

  /**
   * What all blocks need of x.
   *
   * @param {ArrayLike<number>} x
   */
  enter(x) {
    this.f.square = this.beta * dot(x, x);
    this.features.enter(x, Math.sqrt(this.beta), this.z);
  }

  /**
   * The features of block b at the state that entered, into the scratch; returns how many.
   *
   * @param {number} b
   */
  evaluate(b) {
    const { features, h, f } = this;
    const n = features.rows(b);
    features.project(b, this.z, h);
    if (features.phases) for (let i = 0; i < n; i++) h[i] += features.phases[b * features.P + i];
    this.basis.values(h, n, f);
    return n;
  }

  /**
   * Energy and gradient at x in one pass over the blocks; the gradient lands in `gradient` (length D).
   *
   * @param {ArrayLike<number>} x
   * @param {Float32Array} gradient
   */
  energyGradient(x, gradient) {
    const { features, beta, sum, slope } = this;
    const positive = features.phases === null && features.basis !== "sincos";
    let S = 0;
    sum.fill(0);
    this.enter(x);
    for (let b = 0; b < features.blocks; b++) S += this.block(b);
    features.leave(sum, slope);
    const scale = this.basis.scale(features.Y);
    S *= scale;
    const factor = -(Math.sqrt(beta) * scale) / (beta * Math.max(S, this.floor));
    const drift = positive ? (2 * S) / Math.max(S, this.floor) : 0; // the factor exp(−β|x|²) moves too
    for (let i = 0; i < slope.length; i++) gradient[i] = factor * slope[i] + drift * x[i];
    return { energy: this.energyOf(S), S, floored: S < this.floor };
  }

  /**
   * One block's share of S; adds its share of ∇S to the sum.
   *
   * @param {number} b
   */
  block(b) {
    const { features, T, h, f, basis } = this;
    const n = this.evaluate(b);
    const at = b * features.P;
    const second = this.paired ? at + features.Y : at;
    const weight = this.paired ? 1 : 0;
    let S = 0;
    for (let i = 0; i < n; i++) {
      const t = T[at + i];
      const u = weight * T[second + i];
      S += t * f.first[i] + u * f.second[i];
      h[i] = basis.slopes(i, f, t, u);
    }
    features.addBack(b, h, this.sum);
    return S;
  }

  /** @param {number} S */
  energyOf(S) {
    const { beta, floor } = this;
    return S >= floor ? -Math.log(S) / beta : -(Math.log(floor) + (S - floor) / floor) / beta;
  }
}
