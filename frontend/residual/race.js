// The risks that a worker has measured so far: at every size n, and at one size for every level of noise.
import { connect } from "../kit/worker.js";
import { sizesOf } from "./math/risk.js";
import { createMeasurer } from "./measurer.js";
import source from "./worker.js?inline";

/** @import { Link } from "../kit/worker.js" */
/** @import { Risks } from "./math/risk.js" */
/** @import { Question } from "./measurer.js" */
/** @import { Settings } from "./settings.js" */

/**
 * The race. `onMore()` is called after new measurements, `onFail(words)` if the worker fails.
 *
 * @param {{ onMore(): void, onFail(words: string): void }} on
 */
export function createRace({ onMore, onFail }) {
  /** @type {Link<Question> | null} */
  let link = null;
  let id = 0; // number of the last question; answers to earlier ones are dropped
  let scheduled = false; // true if `onMore` will be called in the next frame
  const race = {
    sizes: /** @type {number[]} */ ([]),
    risks: /** @type {(Risks & { repetitions: number })[]} */ ([]),
    levels: /** @type {number[]} */ ([]),
    sweep: /** @type {Risks[]} */ ([]),
    at: 0, // the size at which the levels of noise are measured
    share: 0, // fraction of the work that is done
    busy: false,
    /**
     * Discards all risks and measures again for other settings.
     *
     * @type {(settings: Settings, levels: number[]) => void}
     */
    start(settings, levels) {
      Object.assign(race, { sizes: sizesOf(settings.view), risks: [], levels });
      race.look(settings);
    },
    /**
     * Measures the levels of noise at another size; the risks measured so far stay.
     *
     * @param {Settings} settings
     */
    look(settings) {
      id++;
      Object.assign(race, { sweep: [], at: settings.n, share: 0, busy: true });
      link ??= connect(source, createMeasurer(10), receive);
      link.post({ type: "race", id, settings, levels: race.levels, done: race.risks.length });
    },
    close: () => link?.close(),
  };

  /** @param {any} answer */
  function receive(answer) {
    if (answer.type === "error") return onFail(answer.message);
    if (answer.id !== id) return;
    if (answer.type === "size") race.risks.push(answer.risk);
    if (answer.type === "sweep") race.sweep = answer.sweep;
    if (answer.type === "progress") race.share = answer.share;
    race.busy = answer.type !== "done";
    tell();
  }

  /** Calls `onMore` in the next frame, once for all answers until then. */
  function tell() {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      onMore();
    });
  }

  return race;
}
