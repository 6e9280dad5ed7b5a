// The words about the run on show: the question's answer, the status line and the pictures' captions.
import { squaredDistance } from "../math/exact.js";
import { findings, inWords, isBlend } from "./report.js";
import { stays } from "./simulation.js";
import { named } from "./timeline.js";

/** @import { End } from "./actor.js" */
/** @import { Library } from "./library.js" */
/** @import { Findings } from "./presets.js" */
/** @import { Ready, Settings } from "./settings.js" */
/** @import { Strengths } from "./strengths.js" */
/** @import { Timeline } from "./timeline.js" */

/**
 * @typedef {{
 *   engine: { end: End | null, timeline: Timeline, isBusy(): boolean },
 *   settings: Settings,
 *   pending: boolean,
 *   ready: Ready,
 *   step: number,
 *   strengths: Strengths | null,
 * }} Now
 */

/** @type {WeakMap<Ready, boolean>} */
const separated = new WeakMap();

/** True if β separates the true picture from the other stored ones. @param {Ready} ready */
function separates(ready) {
  const known = separated.get(ready) ?? stays(ready.config, ready.patterns);
  separated.set(ready, known);
  return known;
}

/** The kernel e^(−βd²/2) at the distance d of the query from the true picture. @param {Ready["config"]} config */
export const closeness = ({ beta, query, truth }) =>
  Math.exp((-beta / 2) * squaredDistance(query, truth));

/**
 * True if the query is nearest to the true picture: with a large enough β, the exact memory then returns it.
 *
 * @param {Pick<Ready, "config" | "patterns">} ready
 */
export function isNearest({ config, patterns }) {
  const d = patterns.map((xi) => squaredDistance(config.query, xi));
  return d[config.wanted] <= Math.min(...d);
}

/**
 * @param {Library} library
 * @param {() => Now} now
 */
export function createRunWords(library, now) {
  /** @type {(record: number[], step: number) => ReturnType<typeof findings>} */
  function at(record, step) {
    const { engine, settings, ready } = now();
    const overflow = engine.end?.overflow ?? null;
    const there = overflow !== null && step >= overflow ? overflow : null;
    return findings(named(record), settings, ready, library, there);
  }

  /**
   * The numbers of a run, at its end.
   *
   * @param {End} end
   * @returns {Findings}
   */
  function of(end) {
    const { ready, strengths } = now();
    const { freedom, numbers, stored, isStored } = ready;
    const both = at(end.frame.record, end.frame.step);
    return {
      closeness: closeness(ready.config),
      strengths,
      both,
      freedom,
      numbers,
      K: stored.length,
      isStored,
      rests: end.rests,
      isSeparate: isBlend(both.exact) && separates(ready),
      isNearest: isNearest(ready),
    };
  }

  return {
    at,
    of,
    /**
     * The numbers of the run, or null if it has not ended or has overflowed.
     *
     * @returns {Findings | null}
     */
    found() {
      const { engine } = now();
      const { end } = engine;
      return end?.ended && !engine.isBusy() && end.overflow === null ? of(end) : null;
    },
    words() {
      const { engine, pending, step } = now();
      const { end, timeline } = engine;
      if (!end || pending) return "";
      const record = step === end.frame.step ? end.frame.record : timeline.records[step];
      return record ? inWords(step, named(record), at(record, step)) : "";
    },
  };
}
