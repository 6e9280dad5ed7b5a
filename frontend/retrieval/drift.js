// Predictions, step by step, of the distance between the two descents: the sharper bound, the first-order law, and
// Theorem 2 as printed.
import { Geometry, printedBound } from "../math/bounds.js";
import { ExactMemory, squaredDistance } from "../math/exact.js";

/** @import { Simulation } from "./simulation.js" */

/** Names of the bounds recorded at a step, in their order. */
export const BOUNDS = /** @type {const} */ ([
  "local", // D ← ρ D + η e, with e measured at the distributed state and ρ on the segment [D-sharp1]
  "law", // the same along the exact descent, with e = √(M_A/Y) [D-sharp2]; null for features other than sincos
  "printed", // log₁₀ of Theorem 2 as printed [D-thm2]
]);

export const MOST = 64; // patterns at most, because each step costs their number squared many times over

export class Drift {
  local = 0;
  /** @type {number | null} */
  law = 0;

  /** @param {Simulation} simulation At its first step. */
  constructor(simulation) {
    const { config, patterns, at, exact } = simulation;
    const { beta, free, Y } = config;
    this.there = new ExactMemory(patterns, beta);
    this.geometry = new Geometry(patterns, beta, free);
    this.gradient = new Float32Array(config.D);
    this.energy = at.exact.energy;
    const noise = Math.sqrt(Math.max(this.geometry.variance(exact.distances), 0) / Y);
    this.relativeNoise = noise / at.exact.S;
  }

  /**
   * Advances each bound by one step; to be called before the simulation takes that step.
   *
   * @param {Simulation} simulation
   */
  advance({ config, exact, gradients, rests, x, xHat }) {
    const { eta, free, basis, Y } = config;
    const { geometry, there, gradient } = this;
    there.energyGradient(xHat, gradient);
    const rho = geometry.segmentContraction(exact.distances, there.distances, eta);
    const [g, gHat] = gradients;
    const error = Math.sqrt(squaredDistance(gHat, gradient, free));
    const unmade =
      (rests.exact ? length(g, free) : 0) + (rests.distributed ? length(gHat, free) : 0);
    this.local = rho * this.local + eta * (error + unmade); // unmade: small steps that a state at rest does not take
    if (basis !== "sincos" || this.law === null) {
      this.law = null;
      return;
    }
    const here = geometry.contraction(exact.weights, eta);
    const dFree = free ? geometry.freeDistances(x) : exact.distances;
    const expected = Math.sqrt(geometry.gradientError(exact.distances, dFree) / Y);
    this.law = here * this.law + eta * expected;
  }

  /**
   * The numbers of BOUNDS at a step.
   *
   * @param {Simulation} simulation
   * @returns {(number | null)[]}
   */
  record({ config, step, patterns }) {
    const setting = { ...config, K: patterns.length, energy: this.energy, steps: step };
    return [this.local, this.law, step === 0 ? -Infinity : printedBound(setting)];
  }
}

/** @type {(gradient: Float32Array, free: Uint8Array | null) => number} */
function length(gradient, free) {
  let total = 0;
  for (let i = 0; i < gradient.length; i++) if (!free || free[i]) total += gradient[i] ** 2;
  return Math.sqrt(total);
}
