// Stores the states of the vector's run, and computes in the worker what the machine shows of one step.

import { ExactMemory } from "../math/exact.js";
import { toBytes } from "../math/patterns.js";
import { anatomy } from "./math/anatomy.js";
import { descend } from "./simulation.js";

/** @import { Simulation } from "./simulation.js" */

/** @typedef {NonNullable<ReturnType<typeof look>>} Look */

const MOST = 4e6; // numbers stored; for a longer run only every second state, then every fourth, and so on

export class States {
  /** @type {Map<number, Float32Array>} */
  kept = new Map();
  stride = 1;
  last = -1;
  rest = Number.POSITIVE_INFINITY; // the step from which the state no longer moves

  /** @param {number} [most] Numbers stored at most. */
  constructor(most = MOST) {
    this.most = most;
  }

  /** @param {Simulation} simulation At its newest step. */
  push({ step, xHat, rests }) {
    this.last = step;
    if (rests.distributed && step < this.rest) this.rest = step;
    if (step % this.stride === 0) this.kept.set(step, xHat.slice());
    if (this.kept.size * xHat.length <= this.most) return;
    this.stride *= 2;
    for (const key of this.kept.keys()) if (key % this.stride !== 0) this.kept.delete(key);
  }

  /**
   * The state at a step, recomputed from the last stored state before it; null if the run has not reached the step.
   *
   * @type {(step: number, simulation: Simulation) => Float32Array | null}
   */
  at(step, { memory, config }) {
    if (step > this.last) return null;
    const target = Math.min(step, this.rest);
    let from = Math.floor(target / this.stride) * this.stride;
    const x = /** @type {Float32Array} */ (this.kept.get(from)).slice();
    const gradient = new Float32Array(x.length);
    for (; from < target; from++) {
      memory.energyGradient(x, gradient);
      descend(x, gradient, config.eta, config.free);
    }
    return x;
  }
}

/**
 * The parts of a step that the machine shows, with pictures as bytes; null if the run has not reached the step, has
 * overflowed, or has features other than sincos.
 *
 * @param {Simulation} simulation
 * @param {States} states
 * @param {number} step
 * @param {number} frequency From 0.
 */
export function look(simulation, states, step, frequency) {
  const { config } = simulation;
  if (config.basis !== "sincos" || simulation.overflow !== null) return null;
  const x = states.at(step, simulation);
  return x && describe(simulation, states, x, step, Math.min(frequency, config.Y - 1));
}

/**
 * @param {Simulation} simulation
 * @param {States} states
 * @param {Float32Array} x
 * @param {number} step
 * @param {number} frequency
 */
function describe({ config, memory, patterns }, states, x, step, frequency) {
  const { D, beta, eta, free, shown } = config;
  const { weights, gradient, phaseOf, ...read } = anatomy(memory, patterns, x, frequency);
  const atRest = step >= states.rest;
  const next = x.slice();
  if (!atRest) descend(next, gradient, eta, free);
  const unit = Math.sqrt(D);
  const move = next.map((v, i) => unit * (v - x[i]));
  const weight = weights.map((w) => w / unit);
  const steps = [...states.kept.keys()].filter((key) => key <= step).sort((a, b) => a - b);
  return {
    ...read,
    step,
    frequency,
    atRest,
    exact: new ExactMemory(patterns, beta).energyGradient(x, new Float32Array(D)).S,
    trail: steps.map((key) => phaseOf(/** @type {Float32Array} */ (states.kept.get(key)))),
    state: toBytes(x, new Uint8ClampedArray(shown)),
    next: toBytes(next, new Uint8ClampedArray(shown)),
    weights: signed(weight, shown),
    products: signed(
      weights.map((w, i) => w * x[i]),
      shown,
    ),
    slope: signed(
      gradient.map((g, i) => (free && !free[i] ? 0 : -g)),
      shown,
    ),
    enlarged: signed(move, shown),
    // states and moves in units of the grey scale from 0 to 1; a weight multiplies a number of that scale
    numbers: { state: x.map((v) => unit * v), weights: weight, move },
  };
}

/**
 * Numbers of both signs as bytes: zero is the middle grey, and `top`, three times their root mean square, is white.
 *
 * @type {(values: Float32Array, shown: number) => { bytes: Uint8ClampedArray, top: number }}
 */
function signed(values, shown) {
  const top = 3 * Math.sqrt(values.reduce((total, v) => total + v * v, 0) / values.length) || 1;
  const bytes = new Uint8ClampedArray(shown);
  const repeat = shown / values.length;
  for (let i = 0; i < shown; i++) bytes[i] = 127.5 * (1 + values[Math.floor(i / repeat)] / top);
  return { bytes, top };
}
