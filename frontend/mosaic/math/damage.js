// The damage to a picture that the two memories then retrieve.

import { flipped } from "../../math/corruption.js";
import { key } from "../../math/random.js";
import { D, SIDE, UNIT } from "./pictures.js";

/** @typedef {"eighth" | "quarter" | "half" | "flips"} Damage */

export const FLIPS = 0.05; // fraction of the pixels
/** @type {Record<Damage, number>} */
export const HIDDEN = { eighth: 1 / 8, quarter: 1 / 4, half: 1 / 2, flips: 0 };

/**
 * The query, in the unit of the patterns, and the mask of the pixels that descend: the hidden ones, or all of them
 * where any pixel may be flipped.
 *
 * @param {Float32Array} bits The picture, zeros and ones.
 * @param {Damage} damage
 * @param {number} seed
 */
export function damaged(bits, damage, seed) {
  const visible = SIDE - Math.round(HIDDEN[damage] * SIDE); // rows
  const shown = damage === "flips" ? flipped(bits, FLIPS, key(seed)) : bits;
  const free = new Uint8Array(D);
  const query = new Float32Array(D);
  for (let i = 0; i < D; i++) {
    const hidden = i >= visible * SIDE;
    free[i] = hidden || damage === "flips" ? 1 : 0;
    query[i] = UNIT * (hidden ? 0.5 : shown[i]);
  }
  return { query, free };
}
