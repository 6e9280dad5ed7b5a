// The distance between the runs of the two memories: the printed bound, the first-order law, and the local contraction.

import { softmin, squaredDistance } from "./exact.js";
import { dot } from "./linear.js";

/** @import { State } from "./exact.js" */

/**
 * The uniform kernel error ε₀ = C₁√(D/Y) on the ball of radius √β, at confidence 1 − δ: the smaller of two bounds, of
 * which `contraction` is the smaller one on small balls [D-U0].
 *
 * @type {(setting: { beta: number, D: number, Y: number, delta: number }) => number}
 */
export function kernelError({ beta, D, Y, delta }) {
  const tail = Math.sqrt((2 * Math.log(2 / delta)) / Y);
  const contraction = 2 * Math.sqrt((beta * D) / Y) + tail;
  const points = D * Math.log(1 + 8 * Math.sqrt(beta * Y)) + Math.log(4 / delta);
  const slope = (Math.sqrt(D) + 1 + tail) / (4 * Math.sqrt(Y));
  return Math.min(contraction, Math.sqrt(points / Y) + (2 * points) / (3 * Y) + slope);
}

/**
 * log₁₀ of the bound of Theorem 2 as printed, after L steps from a query of energy E [D-thm2]. The logarithms of its
 * factors are added, because the factors overflow.
 *
 * @param {{ D: number, K: number, Y: number, beta: number, eta: number, energy: number, steps: number, delta?: number }} setting
 */
export function printedBound({ D, K, Y, beta, eta, energy, steps, delta = 0.05 }) {
  const L = steps;
  const slope = Math.log(2 * K * beta) + beta / 2;
  const logB = slope + Math.log1p(Math.exp(-slope)); // log(1 + 2Kβe^(β/2))
  const first = Math.log(2 * eta * L * K * kernelError({ beta, D, Y, delta }));
  return (first + beta * energy + logSeries(Math.log(eta * L) + logB, L)) / Math.LN10;
}

/** log Σ qʲ over 0 ≤ j < L, from log q. @type {(logQ: number, L: number) => number} */
function logSeries(logQ, L) {
  const a = Math.abs(logQ); // the largest term, factored out, leaves Σ e^(−aj)
  const terms = a === 0 ? L : Math.expm1(-L * a) / Math.expm1(-a);
  return Math.max(logQ, 0) * (L - 1) + Math.log(terms);
}

/**
 * The quantities of one set of patterns that do not change from step to step. `free` marks the entries that descend,
 * and in which the two runs can drift apart; null marks all.
 */
export class Geometry {
  /**
   * @param {State[]} patterns
   * @param {number} beta
   * @param {Uint8Array | null} [free]
   */
  constructor(patterns, beta, free = null) {
    this.patterns = patterns;
    this.beta = beta;
    this.free = free;
    this.K = patterns.length;
    this.freedom = free ? free.reduce((n, f) => n + (f ? 1 : 0), 0) : patterns[0].length;
    this.all = pairwise(patterns, null);
    this.moving = free ? pairwise(patterns, free) : this.all;
  }

  /**
   * |x − ξ|² over the free entries, for each pattern ξ.
   *
   * @param {State} x
   */
  freeDistances(x) {
    return Float64Array.from(this.patterns, (xi) => squaredDistance(x, xi, this.free));
  }

  /**
   * Y Var Ŝ at a state with squared distances d, sincos features: V of D-sharp2.
   *
   * @param {Float64Array} d
   */
  variance(d) {
    const { K, beta, all } = this;
    let total = 0;
    let S = 0;
    for (let m = 0; m < K; m++) {
      S += Math.exp((-beta / 2) * d[m]);
      for (let n = 0; n < K; n++) {
        const k = all[m * K + n];
        total += Math.exp((-beta / 2) * k) + Math.exp((-beta / 2) * (2 * d[m] + 2 * d[n] - k));
      }
    }
    return total / 2 - S * S;
  }

  /**
   * Y E|ĝ − ∇E|² to first order in 1/√Y: M_A of D-sharp2, over the free entries.
   *
   * @param {Float64Array} d
   * @param {Float64Array} dFree
   */
  gradientError(d, dFree) {
    const { K, beta, all, moving, freedom } = this;
    const p = new Float64Array(K);
    const { energy } = softmin(d, beta, p);
    const slopes = slopesAlong(p, dFree, moving); // ⟨∇E, x − ξ⟩
    const square = dot(p, slopes); // |∇E|²
    let total = 0;
    for (let m = 0; m < K; m++) {
      for (let n = 0; n < K; n++) {
        const at = m * K + n;
        const minus = Math.exp((-beta / 2) * all[at]);
        const plus = Math.exp((-beta / 2) * (2 * d[m] + 2 * d[n] - all[at]));
        const reach = 2 * dFree[m] + 2 * dFree[n] - moving[at];
        total +=
          (beta / 2) * ((freedom - beta * moving[at]) * minus - (freedom - beta * reach) * plus) +
          beta * beta * (square * 0.5 * (minus + plus) - (slopes[m] + slopes[n]) * plus);
      }
    }
    return Math.max(total, 0) * (Math.exp(beta * energy) / beta) ** 2;
  }

  /**
   * Lipschitz constant of x ↦ x − η∇E(x) at softmax weights p: max |1 − ηλ| over 1 − βλ(Cov) and 1 [D-sharp1].
   *
   * @param {Float64Array} p
   * @param {number} eta
   */
  contraction(p, eta) {
    const curvature = 1 - this.beta * largestVariance(p, this.moving);
    return Math.max(Math.abs(1 - eta), Math.abs(1 - eta * curvature));
  }

  /**
   * The largest contraction at `points` states of the segment between two states. Along the segment the log-weights are
   * linear, up to a constant that the softmax cancels.
   *
   * @param {Float64Array} d0
   * @param {Float64Array} d1
   * @param {number} eta
   * @param {number} [points]
   */
  segmentContraction(d0, d1, eta, points = 9) {
    const p = new Float64Array(this.K);
    let largest = 0;
    for (let i = 0; i < points; i++) {
      const s = i / (points - 1);
      softmin(
        d0.map((d, m) => (1 - s) * d + s * d1[m]),
        this.beta,
        p,
      );
      largest = Math.max(largest, this.contraction(p, eta));
    }
    return largest;
  }
}

/** @type {(patterns: State[], mask: Uint8Array | null) => Float64Array} */
function pairwise(patterns, mask) {
  const K = patterns.length;
  const result = new Float64Array(K * K);
  for (let m = 0; m < K; m++) {
    for (let n = 0; n < m; n++) {
      result[m * K + n] = squaredDistance(patterns[m], patterns[n], mask);
      result[n * K + m] = result[m * K + n];
    }
  }
  return result;
}

/**
 * ⟨∇E, x − ξ^μ⟩ for every μ, from distances alone: ∇E = Σ p (x − ξ).
 *
 * @type {(p: Float64Array, d: Float64Array, squares: Float64Array) => Float64Array}
 */
function slopesAlong(p, d, squares) {
  const K = p.length;
  return d.map((dm, m) => {
    let total = 0;
    for (let k = 0; k < K; k++) total += (p[k] * (d[k] + dm - squares[k * K + m])) / 2;
    return total;
  });
}

/**
 * Largest eigenvalue of Cov_p(ξ) from the patterns' squared distances, by power iteration on its `twin`: the K×K matrix
 * with the same nonzero eigenvalues.
 *
 * @type {(p: Float64Array, squares: Float64Array, iterations?: number) => number}
 */
export function largestVariance(p, squares, iterations = 60) {
  const K = p.length;
  const row = multiply(squares, p, new Float64Array(K));
  const mean = dot(p, row);
  const twin = new Float64Array(K * K);
  for (let m = 0; m < K; m++) {
    for (let n = 0; n < K; n++) {
      const inner = (row[m] + row[n] - squares[m * K + n] - mean) / 2;
      twin[m * K + n] = Math.sqrt(p[m] * p[n]) * inner;
    }
  }
  return powerIteration(twin, K, iterations);
}

/** @type {(matrix: Float64Array, K: number, iterations: number) => number} */
function powerIteration(matrix, K, iterations) {
  const v = Float64Array.from({ length: K }, (_, i) => 1 + 0.1 * Math.sin(i + 1));
  const w = new Float64Array(K);
  let value = 0;
  for (let step = 0; step < iterations; step++) {
    multiply(matrix, v, w);
    const norm = Math.sqrt(dot(w, w));
    if (norm < 1e-300 || Math.abs(norm - value) < 1e-9 * norm) return norm;
    value = norm;
    for (let m = 0; m < K; m++) v[m] = w[m] / norm;
  }
  return value;
}

/** @type {(matrix: Float64Array, v: Float64Array, out: Float64Array) => Float64Array} */
function multiply(matrix, v, out) {
  const K = v.length;
  for (let m = 0; m < K; m++) {
    let total = 0;
    for (let n = 0; n < K; n++) total += matrix[m * K + n] * v[n];
    out[m] = total;
  }
  return out;
}
