// The two descents, step by step until they rest, and what is recorded about them. No drawing, no messages.
import { ExactMemory, softmin, squaredDistance } from "../math/exact.js";
import { toBytes } from "../math/patterns.js";
import { gauge } from "./math/gauge.js";

/** @import { DistributedMemory } from "../math/distributed.js" */
/** @import { Basis } from "../math/features.js" */

/** @typedef {{ id: string | number, values: Float32Array }} Pattern */
/**
 * What the simulation is told: D entries, of which `free` descend (all, where it is null); the true picture, and which
 * of the patterns is wanted; `shown` bytes show a state.
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
 * What is known before the first step: roughness and pull from T and the query alone.
 *
 * @typedef {{ roughness: number | null, pull: number | null }} Info
 */

/** What is recorded at a step, in this order. */
export const FIELDS = /** @type {const} */ ([
  "energyExact",
  "energyDistributed",
  "distance", // between the two states
  "S",
  "floored",
  "nearestExact", // over the free entries, as all that follows; −1 where nothing is near
  "nearestDistributed",
  "errorExact", // mean absolute error in pixel units, or the share of wrong bits
  "errorDistributed",
  "leadExact", // distance to the wanted pattern over that to the runner-up
  "leadDistributed",
  "mixedExact", // 1/Σp²: how many patterns the state is a mean of
  "mixedDistributed",
  "grainExact", // mean distance, in pixel units, from the blend of patterns that the state is nearest to
  "grainDistributed",
]);

/** @typedef {(typeof FIELDS)[number]} Field */

/** At rest a step moves no free pixel by more than this, in pixel units: a quarter of a grey level. */
export const REST = 1e-3;

export class Simulation {
  step = 0;
  rests = { exact: false, distributed: false }; // each by itself: from then on it stays
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

  /** Evaluates both memories where the two states stand. */
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

  /** Whether there is no further step. */
  get done() {
    const { exact, distributed } = this.rests;
    return (exact && distributed) || this.overflow !== null || this.step >= this.config.steps;
  }

  /** One step of each memory that does not rest. */
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

  /** Energies and the distance of the two states: all that a drag draws of each step. */
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
   * What a state is near to, by the free entries; and of how many patterns it is a mean, by all.
   *
   * @param {Float32Array} x
   */
  judged(x) {
    const { patterns, config, begun } = this;
    const { free, wanted, beta } = config;
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
   * Both states as bytes, one after the other.
   *
   * @param {Uint8ClampedArray} bytes
   */
  pixels(bytes) {
    const { shown } = this.config;
    toBytes(this.x, bytes.subarray(0, shown));
    toBytes(this.xHat, bytes.subarray(shown, 2 * shown));
  }
}

/**
 * How many patterns weights p mix: 1/Σp².
 *
 * @param {ArrayLike<number>} p
 */
export function mixture(p) {
  let squares = 0;
  for (let m = 0; m < p.length; m++) squares += p[m] * p[m];
  return 1 / squares;
}

/**
 * One step; returns the largest move of a free entry.
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
 * How far a state is from the blend of patterns with weights p: on average over the free entries, in pixel units. A blend
 * has none; what random features add to one is noise.
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
  const all = !free || freedom === 0; // where nothing is free, what is held is what is judged
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
