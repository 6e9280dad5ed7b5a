// The descents of both memories from one query, with a record of each step.
import { DistributedMemory } from "../../math/distributed.js";
import { HadamardFeatures } from "../../math/features.js";
import { List } from "./list.js";
import { D, UNIT } from "./pictures.js";

/**
 * The configuration of a run. `free` marks the pixels that descend; `truth` is the target picture, in the unit of the
 * patterns.
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
 * A state x and the softmax weights of the pictures at x; the energy at x of the memory that descends; `spread`, the
 * effective number 1/Σp² of pictures that have weight; and `wrong`, the number of free pixels that are wrong.
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
 * The first Y features of a seed. Fewer features are a prefix of the cached ones, so that they are not drawn again.
 *
 * @type {(Y: number, seed: number) => HadamardFeatures}
 */
function featuresOf(Y, seed) {
  if (!known || seed !== knownSeed || known.Y < Y) known = new HadamardFeatures({ D, Y, seed });
  knownSeed = seed;
  return known.first(Y);
}

/**
 * The distributed memory whose T is assembled from `parts`, the sums of some blocks with the numbers of those blocks.
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
 * The descent of `memory`, or of the exact memory `list` if none is given; yields one frame per step.
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
 * The number of free pixels that are on the wrong side of grey.
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
