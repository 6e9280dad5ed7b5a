// The strength of the vector's noise, and its limit for a whole run: the vector finds the picture where the noise is
// below the limit [D-sharp11].
import { fixed } from "../kit/number.js";
import { roughnessAllowed } from "./math/descent.js";
import { AHEAD } from "./report.js";

/** @import { Foresight } from "./math/phase.js" */
/** @import { Ready, Settings } from "./settings.js" */

/** @typedef {{ limit: number, noise: number }} Strengths */

const EVEN = 1.2; // a ratio up to which a run may or may not find the picture: the law's own error

/**
 * Both in one unit: the length of the noise's slope, c = √(D_free·K/2Y), and the largest c at which the run finds the
 * picture that is meant. Null where the law says nothing: for positive features, where nothing moves, and for bits, which
 * are too few for it.
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
  if (!isStored) return { limit: 0, noise };
  const { moving } = geometry;
  const descent = { start, held, moving, wanted, eta, steps, ahead: AHEAD };
  return { limit: roughnessAllowed(descent, beta), noise };
}

/** @param {number} v */
export const strength = (v) => (v > 0 && v < 0.01 ? "< 0.01" : fixed(v, v > 0 ? 2 : 0));

/**
 * Where the noise stands, in a few words; the law is not surer than that.
 *
 * @type {(strengths: Strengths, isStored: boolean) => string}
 */
export function whereOf({ limit, noise }, isStored) {
  if (!isStored) return "This picture is not stored.";
  if (limit === 0) return "The vector fails even without noise.";
  if (limit > noise * EVEN) return "Noise below limit: the vector works.";
  if (limit * EVEN < noise) return "Noise above limit: the vector fails.";
  return limit > noise
    ? "Noise just below limit: it may work."
    : "Noise just above limit: it may fail.";
}

/** Why there is nothing to show. @type {(settings: Pick<Settings, "collection">, freedom: number) => string} */
export function unknownOf({ collection }, freedom) {
  if (freedom === 0) return "Nothing is hidden.";
  return collection === "bits" ? "Known for photographs only." : "Known for cosines only.";
}
