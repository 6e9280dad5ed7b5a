// Measures the risks at every size, and over levels of noise at one, a slice at a time between frames.
import { createBackground } from "../kit/background.js";
import { measure, sizesOf } from "./math/risk.js";
import { levelOf } from "./settings.js";

/** @import { Risks } from "./math/risk.js" */
/** @import { Settings } from "./settings.js" */

const LEVELS = 9;

/**
 * Levels of noise the second chart looks at.
 *
 * @type {(settings: Settings, missing: number) => number[]}
 */
export function levelsOf(settings, missing) {
  const most = settings.view === "line" ? Math.max(0.1, 1.6 * missing, 1.15 * settings.noise) : 0.5;
  return Array.from({ length: LEVELS }, (_, i) => (most * i) / (LEVELS - 1));
}

/**
 * What has been measured so far; `onMore()` is called after each slice that found something new.
 *
 * @param {() => void} onMore
 */
export function createRace(onMore) {
  let told = -1;
  const background = createBackground({ budget: 10, pause: 60, onSlice });
  const race = {
    sizes: /** @type {number[]} */ ([]),
    risks: /** @type {Risks[]} */ ([]),
    levels: /** @type {number[]} */ ([]),
    sweep: /** @type {Risks[]} */ ([]),
    at: 0, // the size whose noise was looked at
    busy: false,
    /**
     * Starts again: other settings, other risks.
     *
     * @type {(settings: Settings, levels: number[]) => void}
     */
    start(settings, levels) {
      Object.assign(race, { sizes: sizesOf(settings.view), risks: [], levels });
      race.look(settings);
    },
    /**
     * The same risks, another size for the levels of noise.
     *
     * @param {Settings} settings
     */
    look(settings) {
      Object.assign(race, { sweep: [], at: settings.n, busy: true });
      told = -1;
      background.start(sizesThenLevels(settings));
    },
    close: background.stop,
  };

  /** @param {{ value: void } | null} done */
  function onSlice(done) {
    race.busy = !done;
    const found = race.risks.length + race.sweep.length;
    if (found !== told || done) onMore();
    told = found;
  }

  /** @param {Settings} settings */
  function* sizesThenLevels(settings) {
    yield* sizesUpTo(settings.n, settings);
    race.sweep = yield* measure(settings, settings.n, race.levels);
    yield* sizesUpTo(Number.POSITIVE_INFINITY, settings);
  }

  /** @type {(most: number, settings: Settings) => Generator<void, void, void>} */
  function* sizesUpTo(most, settings) {
    for (const n of race.sizes.slice(race.risks.length).filter((size) => size <= most)) {
      const [risk] = yield* measure(settings, n, [levelOf(settings)]);
      race.risks.push(risk);
    }
  }

  return race;
}

/**
 * The level from which the memory's measured risk is above the base's; null if that was not seen.
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
