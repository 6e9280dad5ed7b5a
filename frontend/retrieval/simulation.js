// The two descents, step by step until they rest, and the numbers recorded at each step. No drawing, no messages.
import { ExactMemory, softmin, squaredDistance } from "../math/exact.js";
import { toBytes } from "../math/patterns.js";
import { gauge } from "./math/gauge.js";

/** @import { DistributedMemory } from "../math/distributed.js" */
/** @import { Basis } from "../math/features.js" */

/** @typedef {{ id: string | number, values: Float32Array }} Pattern */
/**
 * The settings of a simulation. Of the D entries, the `freedom` entries marked in `free` descend (all, if it is null).
 * `truth` is the true picture. `wanted` is its index among the stored patterns or, if it is not stored, that of the
 * pattern nearest to the query. `shown` is the number of bytes that show a state.
 *
 * @typedef {{
 *   D: number,
 *   Y: number,
 *   beta: number,
 *   eta: number,
 *   steps: number,
 *   basis: Basis,
 *   seed: number,
 *   bits: boolean,
 *   query: Float32Array,
 *   free: Uint8Array | null,
 *   freedom: number,
 *   truth: Float32Array,
 *   wanted: number,
 *   shown: number,
 * }} Config
 */
/**
 * Roughness and pull, which T and the query alone determine before the first step.
 *
 * @typedef {{ roughness: number | null, pull: number | null }} Info
 */

/** Names of the numbers recorded at a step, in their order. */
export const FIELDS = /** @type {const} */ ([
  "energyExact",
  "energyDistributed",
  "distance", // between the two states
  "S",
  "floored",
  "nearestExact", // index of the nearest pattern over the free entries; −1 if the state is NaN
  "nearestDistributed",
  "errorExact", // mean absolute error in pixel units, or the fraction of wrong bits
  "errorDistributed",
  "leadExact", // distance to the wanted pattern over the distance to the nearest other one, over the free entries
  "leadDistributed",
  "mixedExact", // 1/Σp² over all entries: the effective number of patterns that the state mixes
  "mixedDistributed",
  "grainExact", // mean distance of the free entries, in pixel units, from the blend with the state's weights p
  "grainDistributed",
]);

/** @typedef {(typeof FIELDS)[number]} Field */

/** A state rests when a step moves no free pixel by more than this, in pixel units: a quarter of a grey level. */
export const REST = 1e-3;

export class Simulation {
  step = 0;
  rests = { exact: false, distributed: false }; // each state rests individually, and stays from then on
  /** @type {number | null} */
  overflow = null; // the step at which numbers left the range of floats

  /**
   * @param {Config} config
   * @param {Pattern[]} patterns
   * @param {DistributedMemory} memory Holds the patterns already.
   */
  constructor(config, patterns, memory) {
    const { D, beta, query, free, wanted } = config;
    this.config = config;
    this.memory = memory;
    this.patterns = patterns.map((p) => p.values);
    this.exact = new ExactMemory(this.patterns, beta);
    this.gradients = [new Float32Array(D), new Float32Array(D)];
    this.x = query.slice();
    this.xHat = query.slice();
    this.begun = squaredDistance(query, this.patterns[wanted], free);
    this.at = this.look();
    /** @type {Info} */
    this.info = gauge({ ...config, T: memory.T, S: this.at.distributed.S, free: config.freedom });
  }

  /** Evaluates each memory at its own state. */
  look() {
    const [g, gHat] = this.gradients;
    const exact = this.exact.energyGradient(this.x, g);
    return this.noted({ exact, distributed: this.memory.energyGradient(this.xHat, gHat) });
  }

  /**
   * Marks the step at which numbers left the range of floats.
   *
   * @template {{ distributed: { energy: number } }} A
   * @param {A} at
   */
  noted(at) {
    const lost = !Number.isFinite(at.distributed.energy);
    if (lost && this.overflow === null) this.overflow = this.step;
    return at;
  }

  /** True if there is no further step. */
  get done() {
    const { exact, distributed } = this.rests;
    return (exact && distributed) || this.overflow !== null || this.step >= this.config.steps;
  }

  /** Takes one step in each memory whose state does not rest. */
  advance() {
    const { config, rests, at } = this;
    const { eta, free } = config;
    const [g, gHat] = this.gradients;
    const still = REST / Math.sqrt(config.D);
    this.step++;
    let { exact, distributed } = at;
    if (!rests.exact) {
      rests.exact = descend(this.x, g, eta, free) <= still;
      exact = this.exact.energyGradient(this.x, g);
    }
    if (!rests.distributed) {
      rests.distributed = descend(this.xHat, gHat, eta, free) <= still;
      distributed = this.memory.energyGradient(this.xHat, gHat);
    }
    this.at = this.noted({ exact, distributed });
  }

  /** The energies of the two states and the distance between them: during a drag, no more is drawn of each step. */
  trace() {
    const { exact, distributed } = this.at;
    return [exact.energy, distributed.energy, Math.sqrt(squaredDistance(this.x, this.xHat))];
  }

  /** The numbers of FIELDS at this step. */
  record() {
    const { S, floored } = this.at.distributed;
    const [here, there] = [this.judged(this.x), this.judged(this.xHat)];
    return [
      ...this.trace(),
      S,
      floored ? 1 : 0,
      ...[here.nearest, there.nearest],
      ...[here.error, there.error],
      ...[here.lead, there.lead],
      ...[here.mixed, there.mixed],
      ...[here.grain, there.grain],
    ];
  }

  /**
   * The pattern nearest to a state over the free entries (over all, if none is free), and the number of patterns that
   * the state mixes over all.
   *
   * @param {Float32Array} x
   */
  judged(x) {
    const { patterns, config, begun } = this;
    const { freedom, wanted, beta } = config;
    const free = freedom > 0 ? config.free : null; // if nothing is free, the clamped entries are judged
    const d = Float64Array.from(patterns, (xi) => squaredDistance(x, xi, free));
    const others = d.filter((_, m) => m !== wanted);
    const lead = Math.sqrt(d[wanted] / (others.length > 0 ? Math.min(...others) : begun));
    const p = new Float64Array(patterns.length);
    softmin(free ? Float64Array.from(patterns, (xi) => squaredDistance(x, xi)) : d, beta, p);
    return {
      nearest: d.indexOf(Math.min(...d)),
      lead: d[wanted] === 0 ? 0 : lead,
      mixed: mixture(p),
      grain: grain(x, p, patterns, config),
      error: meanError(x, config),
    };
  }

  /**
   * Writes both states as bytes, one after the other.
   *
   * @param {Uint8ClampedArray} bytes
   */
  pixels(bytes) {
    const { shown } = this.config;
    toBytes(this.x, bytes.subarray(0, shown));
    toBytes(this.xHat, bytes.subarray(shown, 2 * shown));
  }
}

const LONG = 200; // steps of size 1; far more than they take, except where two places are about to merge

/**
 * True if the exact memory stays at the true pattern when it starts there, that is, if β separates it from the others.
 *
 * @type {(config: Pick<Config, "D" | "beta" | "free" | "truth" | "wanted">, patterns: Float32Array[]) => boolean}
 */
export function stays({ D, beta, free, truth, wanted }, patterns) {
  const memory = new ExactMemory(patterns, beta);
  const x = truth.slice();
  const gradient = new Float32Array(D);
  for (let t = 0; t < LONG; t++) {
    memory.energyGradient(x, gradient);
    if (descend(x, gradient, 1, free) <= REST / Math.sqrt(D)) break;
  }
  const d = patterns.map((xi) => squaredDistance(x, xi, free));
  return 2 * d[wanted] < Math.min(...d.filter((_, m) => m !== wanted));
}

/**
 * The effective number of patterns that weights p mix: 1/Σp².
 *
 * @param {ArrayLike<number>} p
 */
export function mixture(p) {
  let squares = 0;
  for (let m = 0; m < p.length; m++) squares += p[m] * p[m];
  return 1 / squares;
}

/**
 * Takes one step in place; returns the largest move of a free entry.
 *
 * @type {(x: Float32Array, gradient: Float32Array, eta: number, free: Uint8Array | null) => number}
 */
export function descend(x, gradient, eta, free) {
  let largest = 0;
  for (let i = 0; i < x.length; i++) {
    if (free && !free[i]) continue;
    const move = eta * gradient[i];
    x[i] -= move;
    const size = Math.abs(move);
    if (!(size <= largest)) largest = size;
  }
  return largest;
}

/**
 * The distance of a state from the blend of patterns with weights p, on average over the free entries, in pixel units.
 * For a blend without noise it is 0, so it measures the noise that random features add.
 *
 * @type {(x: Float32Array, p: ArrayLike<number>, patterns: Float32Array[], config: Pick<Config, "free" | "freedom">) => number}
 */
function grain(x, p, patterns, { free, freedom }) {
  const blend = new Float32Array(x.length);
  patterns.forEach((xi, m) => {
    if (p[m] > 1e-3) for (let i = 0; i < x.length; i++) blend[i] += p[m] * xi[i];
  });
  let total = 0;
  for (let i = 0; i < x.length; i++) if (!free || free[i]) total += Math.abs(x[i] - blend[i]);
  return freedom > 0 ? (Math.sqrt(x.length) * total) / freedom : 0;
}

/** @type {(x: Float32Array, config: Pick<Config, "truth" | "free" | "freedom" | "bits">) => number} */
export function meanError(x, { truth, free, freedom, bits }) {
  const all = !free || freedom === 0; // if nothing is free, the clamped entries are judged
  const unit = Math.sqrt(x.length);
  const half = 0.5 / unit;
  let total = 0;
  for (let i = 0; i < x.length; i++) {
    if (!all && !free[i]) continue;
    if (!bits) total += unit * Math.abs(x[i] - truth[i]);
    else if (x[i] >= half !== truth[i] >= half) total += 1;
  }
  return total / (all ? x.length : freedom);
}
