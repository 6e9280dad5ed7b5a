// The levels of noise at which risks are measured, and the level at which the memory starts to hurt.

/** @import { Settings } from "./settings.js" */

const LEVELS = 9;
const FREQUENCIES = [2, 3, 4, 6, 8, 10, 12, 14, 16];

/**
 * The levels of the second chart: noise on the line and in the plane, frequencies of the rough wave on the circle.
 *
 * @type {(settings: Settings, missing: number) => number[]}
 */
export function levelsOf(settings, missing) {
  if (settings.view === "waves") return FREQUENCIES;
  const most = settings.view === "line" ? Math.max(0.1, 1.6 * missing, 1.15 * settings.noise) : 0.5;
  return Array.from({ length: LEVELS }, (_, i) => (most * i) / (LEVELS - 1));
}

/**
 * The level, by linear interpolation, above which the memory's measured risk exceeds the base's; null if the
 * measurements do not cross.
 *
 * @type {(levels: number[], sweep: { base: number, memory: number }[]) => number | null}
 */
export function crossing(levels, sweep) {
  for (let i = 1; i < sweep.length; i++) {
    const [a, b] = [sweep[i - 1], sweep[i]].map((risk) => risk.memory - risk.base);
    if (i === 1 && a > 0) return levels[0];
    if (a < 0 && b >= 0) return levels[i - 1] + ((levels[i] - levels[i - 1]) * -a) / (b - a);
  }
  return null;
}
