// The timeline of a run: one record, its bounds and one frame for each step so far.
import { BOUNDS } from "./drift.js";
import { FIELDS } from "./simulation.js";

/** @import { Frame } from "./actor.js" */
/** @import { Field } from "./simulation.js" */

/** @typedef {Record<Field, number>} Numbers */
/** @typedef {Record<typeof BOUNDS[number], (number | null)[]>} Bounds */

/**
 * The numbers of a record by their names.
 *
 * @param {number[]} record
 * @returns {Numbers}
 */
export const named = (record) =>
  /** @type {Numbers} */ (Object.fromEntries(FIELDS.map((name, i) => [name, record[i]])));

export class Timeline {
  /** @type {Uint8ClampedArray[]} */
  frames = [];
  /** @type {number[][]} */
  records = [];
  /** @type {Float32Array[]} */
  weights = []; // of the exact memory: for each step, one weight per stored picture
  bounds = noBounds();

  clear() {
    this.frames = [];
    this.records = [];
    this.weights = [];
    this.bounds = noBounds();
  }

  /** @param {Frame} frame */
  push({ step, record, bounds, weights, bytes }) {
    this.frames[step] = bytes;
    this.records[step] = record;
    this.weights[step] = weights;
    BOUNDS.forEach((name, i) => {
      if (bounds.length > 0) this.bounds[name][step] = bounds[i];
    });
  }

  get last() {
    return this.frames.length - 1;
  }

  /**
   * The numbers of one step, by name.
   *
   * @param {number} step
   */
  at(step) {
    return named(this.records[step]);
  }
}

/** @returns {Bounds} */
const noBounds = () => ({ local: [], law: [], printed: [] });
