// The risks that a worker has measured so far: at every size, and at one size over levels of noise.
import { connect } from "../kit/worker.js";
import { sizesOf } from "./math/risk.js";
import { createMeasurer } from "./measurer.js";
import source from "./worker.js?inline";

/** @import { Link } from "../kit/worker.js" */
/** @import { Risks } from "./math/risk.js" */
/** @import { Question } from "./measurer.js" */
/** @import { Settings } from "./settings.js" */

/**
 * `onMore()` is called when something new was found, `onFail(words)` if the measuring breaks off.
 *
 * @param {{ onMore(): void, onFail(words: string): void }} on
 */
export function createRace({ onMore, onFail }) {
  /** @type {Link<Question> | null} */
  let link = null;
  let id = 0; // answers to earlier questions are late
  let told = false;
  const race = {
    sizes: /** @type {number[]} */ ([]),
    risks: /** @type {(Risks & { repetitions: number })[]} */ ([]),
    levels: /** @type {number[]} */ ([]),
    sweep: /** @type {Risks[]} */ ([]),
    at: 0, // the size whose noise was looked at
    share: 0, // of the work that is done
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

  /** Answers that come between two frames are told of once. */
  function tell() {
    if (told) return;
    told = true;
    requestAnimationFrame(() => {
      told = false;
      onMore();
    });
  }

  return race;
}
