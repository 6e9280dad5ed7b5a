// The target functions f(x, y, x*) to learn in one step: three formulas, and one that the reader draws.

import { bounded } from "../../kit/number.js";

/** @import { Target } from "./tables.js" */
/** @typedef {"sine" | "neighbour" | "bump" | "drawn"} TargetName */

export const KNOTS = 33; // knots of a drawn profile

/**
 * The function g that is linear between the knots of a drawn profile on [−1, 1]; its argument is x* − x.
 *
 * @type {(profile: number[]) => (d: number) => number}
 */
export function drawn(profile) {
  return (d) => {
    const place = ((bounded(d, -1, 1) + 1) / 2) * (profile.length - 1);
    const i = Math.min(Math.floor(place), profile.length - 2);
    return profile[i] + (place - i) * (profile[i + 1] - profile[i]);
  };
}

/** @type {Record<TargetName, { label: string, of(profile: number[]): Target }>} */
export const TARGETS = {
  sine: { label: "y sin 2π(x* − x)", of: () => (x, y, xs) => y * Math.sin(2 * Math.PI * (xs - x)) },
  neighbour: {
    label: "y if |x* − x| < ¼, else 0",
    of: () => (x, y, xs) => (Math.abs(x - xs) < 0.25 ? y : 0),
  },
  bump: {
    label: "sin 3y · e^(−8(x* − x)²) + 0.3 x*",
    of: () => (x, y, xs) => Math.sin(3 * y) * Math.exp(-8 * (xs - x) ** 2) + 0.3 * xs,
  },
  drawn: {
    label: "y · g(x* − x), g drawn by you",
    of: (profile) => {
      const g = drawn(profile);
      return (x, y, xs) => y * g(xs - x);
    },
  },
};

/** The initial profile, a tent. */
export const TENT = Array.from({ length: KNOTS }, (_, i) =>
  Math.max(0, 1 - Math.abs((2 * i) / (KNOTS - 1) - 1) / 0.5),
);
