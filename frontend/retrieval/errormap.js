// The measured errors of many settings, one cell of the map after another, in small steps of work.

import { DistributedMemory } from "../math/distributed.js";
import { resize, toBytes } from "../math/patterns.js";
import { roughnessAllowed } from "./math/descent.js";
import { descend, meanError, REST } from "./simulation.js";

/** @import { Keeper } from "./keeper.js" */
/** @import { Descent } from "./math/descent.js" */
/** @import { Config, Pattern } from "./simulation.js" */

/**
 * The work for a map. Columns differ in what T stores (β, or the patterns), and the cells of a column in Y. `order`
 * lists the cells in the order of their measurement. If a column has a `descent`, its limit is computed too.
 *
 * @typedef {{ beta: number, ids: string[], descent: Descent | null }} Column
 * @typedef {{ config: Config, columns: Column[], Ys: number[], order: [column: number, row: number][] }} MapJob
 */
/**
 * The error of one cell, and a thumbnail of the answer.
 *
 * @typedef {[column: number, row: number, error: number, picture: Uint8Array]} Cell
 */
/** The roughness up to which runs of a column find the picture. @typedef {[column: number, roughness: number]} Limit */

const SMALL = 16; // pixels per side of an answer's thumbnail
const LOST = 1e3; // larger errors, of runs that diverge, are not distinguished

/**
 * Measures the cells. Yields after each small step, and calls `onCell` with each cell.
 *
 * @param {MapJob} job
 * @param {Keeper} keeper
 * @param {(id: string) => Pattern} patternOf
 * @param {(cell: Cell) => void} onCell
 * @returns {Generator<void, void, void>}
 */
export function* measured({ config, columns, Ys, order }, keeper, patternOf, onCell) {
  const features = keeper.drawing({ ...config, Y: Math.max(...Ys) });
  yield;
  let at = -1;
  let memory = new DistributedMemory(features, 1);
  for (const [column, row] of order) {
    const { beta, ids } = columns[column];
    if (column !== at) {
      memory = new DistributedMemory(features, beta);
      for (const id of ids) {
        memory.add(patternOf(id).values);
        yield;
      }
      at = column;
    }
    const part = memory.first(Ys[row]);
    const x = config.query.slice();
    for (const _ of descent(x, part, config)) yield;
    const error = meanError(x, config);
    onCell([column, row, error < LOST ? error : LOST, inSmall(x, config.shown)]);
  }
}

/**
 * Calls `onLimit` with the limit of each column that has a descent; yields after each column.
 *
 * @param {MapJob} job
 * @param {(limit: Limit) => void} onLimit
 * @returns {Generator<void, void, void>}
 */
export function* limitsOf({ columns }, onLimit) {
  for (const [i, { beta, descent }] of columns.entries()) {
    if (descent) onLimit([i, roughnessAllowed(descent, beta)]);
    yield;
  }
}

/** @type {(x: Float32Array, shown: number) => Uint8Array} */
function inSmall(x, shown) {
  const bytes = toBytes(x, new Uint8ClampedArray(shown));
  const side = Math.sqrt(shown / 3);
  return Uint8Array.from(side > SMALL ? resize(bytes, side, SMALL, 1) : bytes);
}

/** @type {(x: Float32Array, memory: DistributedMemory, config: Config) => Generator<void, void, void>} */
function* descent(x, memory, { eta, steps, free, D }) {
  const gradient = new Float32Array(D);
  for (let t = 0; t < steps; t++) {
    memory.energyGradient(x, gradient);
    const moved = descend(x, gradient, eta, free);
    yield;
    if (!(moved > REST / Math.sqrt(D) && moved < LOST)) return;
  }
}
