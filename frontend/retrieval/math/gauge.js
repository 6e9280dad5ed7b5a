// The gauge of the noise before the first step, from T and the query, without the target pattern [D-sharp14].
import { dot } from "../../math/linear.js";

/** @import { Basis } from "../../math/features.js" */

const STEEPEST = Math.exp(-0.5); // the well's height e^(−r²/2) at r = 1, where its slope r·e^(−r²/2) is steepest

/**
 * The slope of the well at the height e^(−r²/2), divided by the slope c of the noise [D-sharp11]. Inside r = 1 the
 * steepest slope counts.
 *
 * @type {(height: number, c: number) => number}
 */
export function slopeRatio(height, c) {
  if (height <= 0) return 0;
  const k = Math.min(height, STEEPEST);
  return (k * Math.sqrt(-2 * Math.log(k))) / c;
}

/**
 * The slope ratio above which the first step leads nearer; infinite from η = 2 on, where every step leads away.
 *
 * @param {number} eta
 */
export const criticalSlope = (eta) => (eta < 2 ? Math.sqrt(eta / (2 - eta)) : Infinity);

/**
 * The roughness measured from T, and the pull: the slope ratio divided by the critical one. Both are null for positive
 * features, whose ‖T‖ does not measure noise. The pull is null if nothing is free to move.
 *
 * @param {{ T: Float32Array, S: number, basis: Basis, free: number, eta: number }} read
 */
export function gauge({ T, S, basis, free, eta }) {
  if (basis !== "sincos" && basis !== "cos") return { roughness: null, pull: null };
  const roughness = Math.sqrt((dot(T, T) * free) / T.length);
  if (free === 0) return { roughness, pull: null };
  return { roughness, pull: slopeRatio(S, roughness) / criticalSlope(eta) };
}
