// The descents of both memories from one query, and what is recorded of each step.
import { DistributedMemory } from "../../math/distributed.js";
import { HadamardFeatures } from "../../math/features.js";
import { List } from "./list.js";
import { D, UNIT } from "./pictures.js";

/**
 * `free` marks the pixels that descend; `truth` is the picture that is asked for, in the unit of the patterns.
 *
 * @typedef {{
 *   K: number,
 *   beta: number,
 *   Y: number,
 *   seed: number,
 *   eta: number,
 *   steps: number,
 *   target: number,
 *   query: Float32Array,
 *   free: Uint8Array,
 *   truth: Float32Array,
 * }} Config
 */
/**
 * A state and the softmax weights of the pictures at it; the energy of the memory that made it; how many pictures the
 * weights are spread over, 1/Σp²; and how many of the free pixels are wrong.
 *
 * @typedef {{
 *   x: Float32Array<ArrayBuffer>,
 *   weights: Float32Array<ArrayBuffer>,
 *   energy: number,
 *   spread: number,
 *   wrong: number,
 * }} Frame
 */

/** @type {HadamardFeatures | null} */
let known = null;
let knownSeed = -1;

/**
 * Features of a seed; those of a smaller Y are a part of the last ones.
 *
 * @type {(Y: number, seed: number) => HadamardFeatures}
 */
function featuresOf(Y, seed) {
  if (!known || seed !== knownSeed || known.Y < Y) known = new HadamardFeatures({ D, Y, seed });
  knownSeed = seed;
  return known.first(Y);
}

/**
 * The distributed memory whose T is this: parts, with the numbers of their blocks.
 *
 * @param {Config} config
 * @param {{ blocks: number[], sums: Float32Array }[]} parts
 */
export function assembled({ K, beta, Y, seed }, parts) {
  const memory = new DistributedMemory(featuresOf(Y, seed), beta);
  const scale = Y ** -0.5;
  for (const { blocks, sums } of parts) {
    blocks.forEach((b, i) => {
      for (let j = 0; j < D; j++) {
        memory.T[b * D + j] = scale * sums[2 * D * i + j];
        memory.T[Y + b * D + j] = scale * sums[2 * D * i + D + j];
      }
    });
  }
  memory.K = K;
  return memory;
}

/**
 * One memory's descent, a frame a step; the exact memory's where no other is given.
 *
 * @param {Config} config
 * @param {List} list
 * @param {DistributedMemory | null} [memory]
 * @returns {Generator<Frame, void, void>}
 */
export function* descent(config, list, memory = null) {
  const { query, free, eta, steps } = config;
  const x = query.slice();
  const gradient = new Float32Array(D);
  const mean = new Float32Array(D);
  for (let step = 0; step <= steps; step++) {
    const weights = new Float32Array(config.K);
    let energy = list.weigh(x, weights);
    if (memory) energy = memory.energyGradient(x, gradient).energy;
    else {
      list.average(weights, mean);
      for (let i = 0; i < D; i++) gradient[i] = x[i] - mean[i];
    }
    yield { x: x.slice(), weights, energy, spread: spread(weights), wrong: wrong(x, config) };
    for (let i = 0; i < D; i++) if (free[i]) x[i] -= eta * gradient[i];
  }
}

/** @param {Float32Array} weights */
function spread(weights) {
  let sum = 0;
  for (let m = 0; m < weights.length; m++) sum += weights[m] * weights[m];
  return 1 / sum;
}

/**
 * Free pixels that are on the wrong side of grey.
 *
 * @type {(x: Float32Array, config: Config) => number}
 */
function wrong(x, { free, truth }) {
  let n = 0;
  for (let i = 0; i < D; i++) {
    if (free[i] && x[i] > UNIT / 2 !== truth[i] > UNIT / 2) n++;
  }
  return n;
}

export { List };
