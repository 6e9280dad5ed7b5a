// The strength of the vector's noise, and its limit for a whole run: the vector finds the picture if the noise is below
// the limit [D-sharp11].
import { fixed } from "../kit/number.js";
import { LONGEST, roughnessAllowed, succeeds } from "./math/descent.js";
import { AHEAD } from "./report.js";
import { RULES } from "./settings.js";

/** @import { Foresight } from "./math/phase.js" */
/** @import { Ready, Settings } from "./settings.js" */

/**
 * `lower` is the way in which a smaller β helps if the noise is above its limit: "alone", or only "with Y", that is,
 * together with the largest Y. Null if it does not. `higher` is true if the limit is 0, but not at some larger β,
 * where the exact memory finds the picture.
 *
 * @typedef {{ limit: number, noise: number, lower: "alone" | "with Y" | null, higher: boolean }} Strengths
 */

const LOWER = [0.85, 0.7, 0.5, 0.35]; // factors of the smaller β that are tried
const HIGHER = [1.2, 1.5, 2, 3, 5, 10]; // and of the larger ones
const EVEN = 1.2; // up to this ratio, a run may or may not find the picture: the error of the law

/**
 * The noise and its limit in one unit: the length of the noise's gradient, c = √(D_free·K/2Y) for sincos features, with
 * Y in place of 2Y for cos. The limit is the largest c at which the run finds the true picture, and 0 if that is
 * not stored. Null if the law does not apply: for positive features, for bits, which are too few, or if nothing is free;
 * and if the run is longer than the law follows and, without noise, has not found the picture by then.
 *
 * @type {(settings: Settings, ready: Pick<Ready, "freedom" | "isStored" | "wanted" | "stored">, foresight: Foresight) => Strengths | null}
 */
export function strengthsOf(
  { collection, beta, Y, eta, steps, basis },
  { freedom, isStored, wanted, stored },
  { start, held, geometry },
) {
  const entries = { sincos: 2 * Y, cos: Y, exp: 0, expexp: 0 }[basis];
  if (collection === "bits" || entries === 0 || freedom === 0) return null;
  const noise = Math.sqrt((freedom * stored.length) / entries);
  if (!isStored) return { limit: 0, noise, lower: null, higher: false };
  const { moving } = geometry;
  const descent = { start, held, moving, wanted, eta, steps, ahead: AHEAD };
  const limit = roughnessAllowed(descent, beta);
  if (limit === 0 && steps > LONGEST) return null;
  const least = noise * Math.sqrt(Y / RULES.counts.Y[1]);
  const helps = (/** @type {number} */ c) => LOWER.some((f) => succeeds(descent, f * beta, c));
  const lower = limit >= noise ? null : helps(noise) ? "alone" : helps(least) ? "with Y" : null;
  const larger = HIGHER.map((f) => f * beta).filter((b) => b <= RULES.numbers.beta[1]);
  const higher = limit === 0 && larger.some((b) => succeeds(descent, b, 0));
  return { limit, noise, lower, higher };
}

/** @param {number} v */
export const strength = (v) => (v > 0 && v < 0.01 ? "< 0.01" : fixed(v, v > 0 ? 2 : 0));

/**
 * The noise compared with its limit, in a few words; near the limit they say no more than the law can.
 *
 * @type {(strengths: Pick<Strengths, "limit" | "noise">, isStored: boolean) => string}
 */
export function whereOf({ limit, noise }, isStored) {
  if (!isStored) return "This picture is not stored.";
  if (limit === 0) return "The vector fails even without noise.";
  if (limit > noise * EVEN) return "Noise below limit: it should work.";
  if (limit * EVEN < noise) return "Noise above limit: it should fail.";
  return limit > noise
    ? "Noise just below limit: it may work."
    : "Noise just above limit: it may fail.";
}

/** The reason why nothing is shown. @type {(settings: Pick<Settings, "collection" | "basis">, freedom: number) => string} */
export function unknownOf({ collection, basis }, freedom) {
  if (freedom === 0) return "Nothing is hidden.";
  if (collection === "bits") return "Known for photographs only.";
  return basis === "sincos" || basis === "cos"
    ? `Known for up to ${LONGEST} steps.`
    : "Known for cosines only.";
}
