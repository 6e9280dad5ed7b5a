// Predictions for a whole map of settings, from distances alone: the settings at which a memory mixes patterns or noise
// hides the patterns in T [D-sharp11], and the error of each memory.
import { Geometry } from "../../math/bounds.js";
import { softmin, squaredDistance } from "../../math/exact.js";
import { criticalSlope, slopeRatio } from "./gauge.js";

const ROUNDS = 12; // of mean shift, after which the exact memory is visibly at rest
const FEWER = 3; // for many patterns, which mean shift separates at once or not at all
const SAMPLED = 64; // patterns, whose pairs stand for all pairs

/**
 * The predictions for one column of the map, for every Y: `S`, the value of Ŝ(q) without noise; `grain`, E‖T‖²;
 * `mixed`, the number of patterns mixed where the exact memory rests; and `blend`, its error there.
 *
 * @typedef {{ beta: number, S: number, grain: number, mixed: number, blend: number }} Foreseen
 */

export class Foresight {
  /**
   * @param {{ patterns: Float32Array[], query: Float32Array, free: Uint8Array | null, truth: Float32Array, bits: boolean }} setting
   */
  constructor({ patterns, query, free, truth, bits }) {
    const K = patterns.length;
    this.patterns = patterns;
    this.truth = truth;
    this.free = free;
    this.bits = bits;
    this.sample = Math.min(K, SAMPLED);
    this.geometry = new Geometry(patterns, 1, free);
    this.start = Float64Array.from(patterns, (xi) => squaredDistance(query, xi));
    this.held = this.start.map((d, m) =>
      free ? d - squaredDistance(query, patterns[m], free) : 0,
    );
  }

  /**
   * @param {number} beta
   * @returns {Foreseen}
   */
  column(beta) {
    const p = new Float64Array(this.patterns.length);
    const { energy } = softmin(this.start, beta, p);
    for (let round = 0; round < (p.length > SAMPLED ? FEWER : ROUNDS); round++)
      softmin(this.distances(p), beta, p);
    let squares = 0;
    for (const share of p) squares += share * share;
    const grain = this.grain(beta);
    return { beta, S: Math.exp(-beta * energy), grain, mixed: 1 / squares, blend: this.blend(p) };
  }

  /**
   * |x − ξ|² for each pattern, where x is the query in the clamped entries, and in the free ones the mean of the
   * patterns with weights p.
   *
   * @param {Float64Array} p
   */
  distances(p) {
    const { geometry, held } = this;
    const { moving, K } = geometry;
    const rows = new Float64Array(K);
    let mean = 0;
    for (let m = 0; m < K; m++) {
      for (let n = 0; n < K; n++) rows[m] += p[n] * moving[m * K + n];
      mean += p[m] * rows[m];
    }
    return rows.map((d, m) => held[m] + d - mean / 2);
  }

  /**
   * E‖T‖² = Σ k(ξ, ξ′) over all pairs, which is K if no two patterns are near each other.
   *
   * @param {number} beta
   */
  grain(beta) {
    const { geometry, sample } = this;
    const { all, K } = geometry;
    let pairs = 0;
    for (let m = 0; m < sample; m++) {
      for (let n = 0; n < m; n++) pairs += Math.exp((-beta / 2) * all[m * K + n]);
    }
    return K + (K * (K - 1) * pairs) / Math.max((sample * (sample - 1)) / 2, 1);
  }

  /**
   * The error of the mean with weights p: on the grey scale, or the fraction of wrong bits.
   *
   * @param {Float64Array} p
   */
  blend(p) {
    const { patterns, truth, free, bits } = this;
    const x = new Float64Array(truth.length);
    for (let m = 0; m < p.length; m++) {
      if (p[m] < 1e-6) continue;
      const xi = patterns[m];
      for (let i = 0; i < x.length; i++) x[i] += p[m] * xi[i];
    }
    const unit = Math.sqrt(x.length);
    let [total, n] = [0, 0];
    for (let i = 0; i < x.length; i++) {
      if (free && !free[i]) continue;
      const off = unit * Math.abs(x[i] - truth[i]);
      total += bits ? Number(off > 0.5) : off;
      n++;
    }
    return n > 0 ? total / n : 0;
  }
}

/**
 * The critical Y of the first step. For a larger Y, the pull at the query exceeds the critical pull, and the first step
 * leads nearer.
 *
 * @type {(column: Foreseen, setting: { freedom: number, eta: number, paired: boolean }) => number}
 */
export function noiseEdge({ S, grain }, { freedom, eta, paired }) {
  const c = slopeRatio(S, 1) / criticalSlope(eta);
  return (freedom * grain) / ((paired ? 2 : 1) * c * c);
}

/**
 * The error predicted at Y: a mean of the error `lost` of a run lost in noise, and the error of a run that works, with
 * equal weights at the critical Y. A run that works ends at the blend, with noise of squared length c²/β on the free
 * entries [D-sharp5].
 *
 * @type {(column: Foreseen, Y: number, setting: { D: number, freedom: number, eta: number, paired: boolean, lost: number }) => number}
 */
export function foreseenError(column, Y, { D, lost, ...setting }) {
  const { beta, grain, blend } = column;
  const edge = noiseEdge(column, setting);
  const grey = Math.sqrt(((2 / Math.PI) * D * grain) / ((setting.paired ? 2 : 1) * Y * beta));
  const share = 1 / (1 + (Y / edge) ** 2);
  return share * lost + (1 - share) * Math.min(Math.hypot(blend, grey), lost);
}
