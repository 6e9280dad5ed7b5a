// The two descents, step by step, and what is recorded about them. No drawing, no messages.
import { Geometry, printedBound } from "./math/bounds.js";
import { ExactMemory, squaredDistance } from "./math/exact.js";
import { gauge } from "./math/gauge.js";
import { toBytes } from "./math/patterns.js";

/** @import { DistributedMemory } from "./math/distributed.js" */
/** @import { Basis } from "./math/features.js" */

/** @typedef {{ id: string | number, values: Float32Array }} Pattern */
/**
 * What the simulation is told: D entries, of which `free` descend (all, where it is null), and the true picture.
 *
 * @typedef {{
 *   D: number,
 *   Y: number,
 *   beta: number,
 *   eta: number,
 *   basis: Basis,
 *   seed: number,
 *   query: Float32Array,
 *   free: Uint8Array | null,
 *   target: Float32Array,
 *   truth: Float32Array,
 * }} Config
 */
/**
 * What is known before the first step: roughness and pull from T and the query alone.
 *
 * @typedef {{ roughness: number | null, pull: number | null, relativeNoise: number }} Info
 */

/** What is recorded at each step, in this order. */
export const FIELDS = /** @type {const} */ ([
  "energyExact",
  "energyDistributed",
  "distance", // between the two states
  "local", // D ← ρ D + η e, with e measured at the distributed state and ρ on the segment [D-sharp1]
  "law", // the same along the exact descent, with e = √(M_A/Y) [D-sharp2]; null where there is none
  "printed", // log₁₀ of Theorem 2 as printed [D-thm2]
  "S",
  "floored",
  "nearestExact",
  "nearestDistributed",
  "errorExact", // mean absolute error over the free entries (all, where none is), in pixel units
  "errorDistributed",
]);

/** @typedef {(typeof FIELDS)[number]} Field */

export class Simulation {
  step = 0;
  /** @type {{ local: number, law: number | null }} */
  drift = { local: 0, law: 0 };

  /**
   * @param {Config} config
   * @param {Pattern[]} patterns
   * @param {DistributedMemory} memory Holds the patterns already.
   */
  constructor(config, patterns, memory) {
    const { D, Y, beta, free, query } = config;
    this.config = config;
    this.memory = memory;
    this.patterns = patterns.map((p) => p.values);
    this.exact = new ExactMemory(this.patterns, beta);
    this.geometry = new Geometry(this.patterns, beta, free);
    this.gradients = [new Float32Array(D), new Float32Array(D), new Float32Array(D)];
    this.x = query.slice();
    this.xHat = query.slice();
    this.at = this.look();
    this.startEnergy = this.at.exact.energy;
    const noise = Math.sqrt(Math.max(this.geometry.variance(this.at.dx), 0) / Y);
    /** @type {Info} */
    this.info = {
      ...gauge({ ...config, T: memory.T, S: this.at.distributed.S, free: this.geometry.freedom }),
      relativeNoise: noise / this.at.exact.S,
    };
  }

  /** Evaluates both memories where the two states stand. */
  look() {
    const [g, gHat, gThere] = this.gradients;
    this.exact.energyGradient(this.xHat, gThere); // the exact gradient at the distributed state
    const dHat = this.exact.distances.slice();
    const exact = this.exact.energyGradient(this.x, g);
    const dx = this.exact.distances.slice();
    return { exact, dx, dHat, distributed: this.memory.energyGradient(this.xHat, gHat) };
  }

  /** One step of each memory, and of each bound. */
  advance() {
    const { eta, free, basis, Y } = this.config;
    const [g, gHat, gThere] = this.gradients;
    const { geometry, drift } = this;
    const { dx, dHat } = this.at;
    const rho = geometry.segmentContraction(dx, dHat, eta);
    drift.local = rho * drift.local + eta * Math.sqrt(squaredDistance(gHat, gThere, free));
    if (basis === "sincos" && drift.law !== null) {
      const here = geometry.contraction(this.exact.weights, eta);
      const dFree = free ? geometry.freeDistances(this.x) : dx;
      drift.law = here * drift.law + eta * Math.sqrt(geometry.gradientError(dx, dFree) / Y);
    } else drift.law = null;
    descend(this.x, g, eta, free);
    descend(this.xHat, gHat, eta, free);
    this.step++;
    this.at = this.look();
  }

  /**
   * The numbers of FIELDS at this step.
   *
   * @returns {(number | null)[]}
   */
  record() {
    const { config, step, geometry } = this;
    const { exact, distributed, dx, dHat } = this.at;
    const K = this.patterns.length;
    const energy = this.startEnergy;
    return [
      exact.energy,
      distributed.energy,
      Math.sqrt(squaredDistance(this.x, this.xHat)),
      this.drift.local,
      this.drift.law,
      step === 0 ? -Infinity : printedBound({ ...config, K, energy, steps: step }),
      distributed.S,
      distributed.floored ? 1 : 0,
      argmin(dx),
      argmin(dHat),
      meanError(this.x, config.truth, config.free, geometry.freedom),
      meanError(this.xHat, config.truth, config.free, geometry.freedom),
    ];
  }

  /**
   * Both states as bytes, one after the other.
   *
   * @param {Uint8ClampedArray} bytes
   */
  pixels(bytes) {
    const { D } = this.config;
    toBytes(this.x, bytes.subarray(0, D));
    toBytes(this.xHat, bytes.subarray(D, 2 * D));
  }
}

/** @type {(x: Float32Array, gradient: Float32Array, eta: number, free: Uint8Array | null) => void} */
function descend(x, gradient, eta, free) {
  for (let i = 0; i < x.length; i++) if (!free || free[i]) x[i] -= eta * gradient[i];
}

/** @param {Float64Array} d */
const argmin = (d) => d.indexOf(Math.min(...d));

/** @type {(x: Float32Array, truth: Float32Array, free: Uint8Array | null, freedom: number) => number} */
function meanError(x, truth, free, freedom) {
  const all = !free || freedom === 0; // where nothing is free, what is held is what is judged
  let total = 0;
  for (let i = 0; i < x.length; i++) if (all || free[i]) total += Math.abs(x[i] - truth[i]);
  return (total / (all ? x.length : freedom)) * Math.sqrt(x.length);
}
