// Measures a race of the risks on request, in a worker or in slices on the page's own thread.
import { createBackground } from "../kit/background.js";
import { createBank } from "./math/bank.js";
import { measure, repetitionsOf, sizesOf } from "./math/risk.js";
import { levelOf } from "./settings.js";

/** @import { Risks } from "./math/risk.js" */
/** @import { Settings } from "./settings.js" */

/** @typedef {{ type: "race", id: number, settings: Settings, levels: number[], done: number }} Question */
/**
 * An answer: the risks at the next size, the risks at each level of noise, the fraction of the work that is done, or
 * the end of the work.
 *
 * @typedef {{ type: "size", id: number, risk: Risks & { repetitions: number } }
 *   | { type: "sweep", id: number, sweep: Risks[] }
 *   | { type: "progress", id: number, share: number }
 *   | { type: "done", id: number }} Answer
 */

const PAUSE = 40; // milliseconds before work begins, so that nothing is measured while a slider moves

/**
 * A measurer that works in slices of `budget` milliseconds. A new question stops the work on the previous one.
 *
 * @param {number} budget
 */
export const createMeasurer = (budget) => (/** @type {(answer: Answer) => void} */ post) => {
  const bank = createBank();
  const background = createBackground({ budget, pause: PAUSE, onSlice() {} });
  /** @param {Question | { type: "pause" }} message */
  return (message) => {
    if (message.type === "race") background.start(race(message));
    else background.stop();
  };

  /** @param {Question} question */
  function* race({ id, settings, levels, done }) {
    const sizes = sizesOf(settings.view).slice(done);
    const all = sizes.reduce((sum, n) => sum + cost(n, 1), cost(settings.n, levels.length));
    let spent = 0;

    /** @type {(n: number, at: number[]) => Generator<void, (Risks & { repetitions: number })[], void>} */
    function* measured(n, at) {
      const risks = yield* measure(settings, n, at, bank);
      spent += cost(n, at.length);
      post({ type: "progress", id, share: spent / all });
      return risks;
    }

    /** @param {number[]} some */
    function* measuredSizes(some) {
      for (const n of some) {
        const [risk] = yield* measured(n, [levelOf(settings)]);
        post({ type: "size", id, risk });
      }
    }

    /** @type {(n: number, levels: number) => number} */
    function cost(n, many) {
      return repetitionsOf(settings, n) * n * (1 + many);
    }

    yield* measuredSizes(sizes.filter((n) => n <= settings.n));
    post({ type: "sweep", id, sweep: yield* measured(settings.n, levels) });
    yield* measuredSizes(sizes.filter((n) => n > settings.n));
    post({ type: "done", id });
  }
};
