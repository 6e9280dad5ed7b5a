// Measures the risks at every size, and over levels of noise at one, a slice at a time between frames.
import { measure, sizesOf } from "./math/risk.js";
import { levelOf } from "./settings.js";

const BUDGET = 10; // milliseconds of measuring between two frames
const LEVELS = 9;

/** Levels of noise the second chart looks at. */
export function levelsOf(settings, missing) {
  const most = settings.view === "line" ? Math.max(0.1, 1.6 * missing, 1.15 * settings.noise) : 0.5;
  return Array.from({ length: LEVELS }, (_, i) => (most * i) / (LEVELS - 1));
}

/** `onMore()` is called after each slice that found something new. */
export function createRace(onMore) {
  let timer = null;
  const race = { sizes: [], risks: [], levels: [], sweep: [], busy: false };

  function drive(work) {
    clearTimeout(timer);
    race.busy = true;
    let told = -1;
    const slice = () => {
      const until = performance.now() + BUDGET;
      let next = work.next();
      while (!next.done && performance.now() < until) next = work.next();
      race.busy = !next.done;
      if (!next.done) timer = setTimeout(slice, 0);
      const found = race.risks.length + race.sweep.length;
      if (found !== told || next.done) onMore();
      told = found;
    };
    timer = setTimeout(slice, 60); // while a slider moves there is no use in measuring
  }

  function* sizesThenLevels(settings) {
    yield* sizesUpTo(settings.n, settings);
    race.sweep = yield* measure(settings, settings.n, race.levels);
    yield* sizesUpTo(Number.POSITIVE_INFINITY, settings);
  }

  function* sizesUpTo(most, settings) {
    for (const n of race.sizes.slice(race.risks.length).filter((size) => size <= most)) {
      const [risk] = yield* measure(settings, n, [levelOf(settings)]);
      race.risks.push(risk);
    }
  }

  return Object.assign(race, {
    /** Starts again: other settings, other risks. */
    start(settings, levels) {
      Object.assign(race, { sizes: sizesOf(settings.view), risks: [], levels, sweep: [] });
      drive(sizesThenLevels(settings));
    },
    /** The same risks, another size for the levels of noise. */
    look(settings) {
      race.sweep = [];
      drive(sizesThenLevels(settings));
    },
    close: () => clearTimeout(timer),
  });
}

/** The level from which the memory's measured risk is above the base's; null if that was not seen. */
export function crossing(levels, sweep) {
  for (let i = 1; i < sweep.length; i++) {
    const [a, b] = [sweep[i - 1], sweep[i]].map((risk) => risk.memory - risk.base);
    if (i === 1 && a > 0) return levels[0];
    if (a < 0 && b >= 0) return levels[i - 1] + ((levels[i] - levels[i - 1]) * -a) / (b - a);
  }
  return null;
}
