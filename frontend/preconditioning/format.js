// Numbers as the page writes them.
import { power } from "../kit/plot.js";

export const TOP = 1e6; // a loss or a gap beyond this has run away

/** Three figures, as a power of ten where it is small or large. */
export function small(v) {
  if (v === 0) return "0";
  if (v >= 1e-3 && v < 1e6) return Number(v.toPrecision(3)).toLocaleString("en-GB");
  const [mantissa, exponent] = v.toExponential(1).split("e");
  return `${mantissa}·${power(Number(exponent))}`;
}

/** A loss or a gap, which may have run away. */
export function amount(v) {
  if (v === undefined || v === null || Number.isNaN(v)) return "none";
  return v > TOP ? "off every scale" : small(v);
}

/** A number of steps; null is more than were counted. */
export function count(n) {
  if (n === null) return "> 20,000";
  return n === Number.POSITIVE_INFINITY ? "runs away" : n.toLocaleString("en-GB");
}

/** The largest entry; NaN, where a path has run off every scale, counts as largest. */
export const widest = (gap) => gap.reduce((most, v) => (v <= most ? most : v), 0);
