// The part of a line that lies in a square.

/** @import { Point } from "./handle.js" */

/**
 * The part of a line in the square from −reach to reach along both axes, and `cut`, true if `to` lies outside the
 * square; null if no part is inside.
 *
 * @type {(from: Point, to: Point, reach: number) => { from: Point, to: Point, cut: boolean } | null}
 */
export function clipped(from, to, reach) {
  let [first, last] = [0, 1];
  for (const axis of [0, 1]) {
    const step = to[axis] - from[axis];
    if (step === 0) {
      if (Math.abs(from[axis]) > reach) return null;
      continue;
    }
    const ends = [(-reach - from[axis]) / step, (reach - from[axis]) / step];
    first = Math.max(first, Math.min(...ends));
    last = Math.min(last, Math.max(...ends));
  }
  if (first > last) return null;
  /** @type {(share: number) => Point} */
  const at = (share) => [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])];
  return { from: at(first), to: last < 1 ? at(last) : to, cut: last < 1 };
}
