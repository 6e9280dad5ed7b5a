// One reading of the distributed memory, taken apart: one frequency, its entry of T, the sum Ŝ, its slope and one step.
// The features are cosines and sines. [D-eq8, D-eq9, D-eq10]
import { dot } from "../../math/linear.js";

/** @import { DistributedMemory } from "../../math/distributed.js" */

const POINTS = 120; // points of the running sum, at equal ratios

/**
 * The weights of one frequency, a row of Ω (length D).
 *
 * @type {(memory: DistributedMemory, frequency: number) => Float32Array<ArrayBuffer>}
 */
export function weightsOf({ features }, frequency) {
  const { P, D, block } = features;
  const b = Math.floor(frequency / P);
  features.project(b); // loads the signs and norms of block b
  block.h.fill(0);
  block.h[frequency - b * P] = 1;
  block.sum.fill(0);
  block.addBack();
  const weights = new Float32Array(D);
  features.leave(weights);
  return weights;
}

/**
 * Ŝ from the first n frequencies alone, as pairs n, Ŝ, for a growing series of n up to Y.
 *
 * @type {(memory: DistributedMemory, x: ArrayLike<number>) => Float64Array<ArrayBuffer>}
 */
export function runningSum(memory, x) {
  const { features, T } = memory;
  const { P, Y, block } = features;
  const ratio = Y ** (1 / POINTS);
  /** @type {number[]} */
  const pairs = [];
  let [total, next] = [0, 1];
  memory.enter(x);
  for (let b = 0; b < features.blocks; b++) {
    const rows = memory.evaluate(b);
    const at = b * P;
    for (let i = 0; i < rows; i++) {
      total += T[at + i] * block.first[i] + T[Y + at + i] * block.second[i];
      const n = at + i + 1;
      if (n < next && n < Y) continue;
      pairs.push(n, (total * Math.sqrt(Y)) / n);
      next = Math.max(n + 1, next * ratio);
    }
  }
  return Float64Array.from(pairs);
}

/**
 * Everything that the vector does with a state x at one step, as seen from one frequency.
 *
 * @param {DistributedMemory} memory
 * @param {Float32Array[]} patterns The stored patterns.
 * @param {Float32Array} x
 * @param {number} frequency From 0.
 */
export function anatomy(memory, patterns, x, frequency) {
  const { beta, T, features } = memory;
  const root = Math.sqrt(features.Y);
  const weights = weightsOf(memory, frequency);
  /** @param {ArrayLike<number>} state */
  const phaseOf = (state) => Math.sqrt(beta) * dot(weights, state);
  const phase = phaseOf(x);
  const entry = { cos: root * T[frequency], sin: root * T[features.Y + frequency] };
  const gradient = new Float32Array(x.length);
  const { S, floored } = memory.energyGradient(x, gradient);
  return {
    weights,
    phase,
    phases: Float64Array.from(patterns, phaseOf), // of each stored picture
    phaseOf,
    entry, // sums of cosines and of sines over the stored pictures: √Y times the two entries of T
    part: entry.cos * Math.cos(phase) + entry.sin * Math.sin(phase), // Ŝ is the mean of this part over all frequencies
    running: runningSum(memory, x),
    S,
    floored,
    gradient,
  };
}
