// The page's side of the simulation. It asks the worker for the end of the newest run; once the reader pauses, for all
// steps of that run; and then for the map.
import { connect } from "../kit/worker.js";
import { createActor } from "./actor.js";
import { Timeline } from "./timeline.js";
import source from "./worker.js?inline";

/** @import { Link } from "../kit/worker.js" */
/** @import { Answer, End, Question } from "./actor.js" */
/** @import { Cell, Limit, MapJob } from "./errormap.js" */
/** @import { Look } from "./machinestates.js" */
/** @import { Config } from "./simulation.js" */

/** @typedef {{ config: Config & { ids: string[] }, pictures: Map<string, Float32Array> }} Job */

const STALE = 250; // milliseconds after which a run gives way to a newer setting
const STILL = 200; // milliseconds without a change after which the steps are recorded

/**
 * `end` is called at the end of each run that was not replaced, and repeatedly during a long run; `frames` as the
 * timeline fills; `cells` as the map fills. `rested()` is called when all else is done, and returns what the map needs.
 *
 * @param {{
 *   end(end: End): void,
 *   frames(): void,
 *   rested(): { job: MapJob, pictures: Map<string, Float32Array> } | null,
 *   cells(cells: Cell[], limits: Limit[]): void,
 *   error(message: string): void,
 * }} on
 */
export function createEngine(on) {
  const timeline = new Timeline();
  /** @type {Set<string>} */
  const sent = new Set();
  /** @type {Map<number, (value: any) => void>} */
  const requests = new Map();
  let asked = 0;
  let [version, number, since, timer] = [0, 0, 0, 0];
  let busy = false;
  /** @type {Job | null} */
  let waiting = null;
  const engine = {
    timeline,
    end: /** @type {End | null} */ (null),
    relativeNoise: /** @type {number | null} */ (null),
    ends: 0, // calls of `on.end` so far
  };
  /** @type {Link<Question>} */
  const link = connect(source, createActor, receive);

  /** @param {Answer} message */
  function receive(message) {
    if (message.type === "end") ended(message.end);
    else if (message.type === "state") {
      requests.get(message.request)?.(message.value);
      requests.delete(message.request);
    } else if (message.type === "frames" && message.version === version && !busy) {
      for (const frame of message.frames) timeline.push(frame);
      engine.relativeNoise = message.relativeNoise;
      on.frames();
      if (message.done) askForMap();
    } else if (message.type === "cells" && message.number === number)
      on.cells(message.cells, message.limits);
    else if (message.type === "error") {
      busy = false;
      on.error(message.message);
    }
  }

  /** @param {End} end */
  function ended(end) {
    if (end.version !== version) return;
    busy = !end.ended;
    engine.end = end;
    engine.ends++;
    if (waiting) dispatch(waiting); // before this end is drawn, so that the worker computes meanwhile
    on.end(end);
    clearTimeout(timer);
    if (!busy) timer = Number(setTimeout(() => link.post({ type: "record" }), STILL));
  }

  /**
   * The pictures not yet sent to the worker; they then count as sent.
   *
   * @param {Map<string, Float32Array>} pictures
   */
  function unsent(pictures) {
    const fresh = [...pictures].filter(([id]) => !sent.has(id));
    for (const [id] of fresh) sent.add(id);
    return fresh;
  }

  /** @param {Job} job */
  function dispatch({ config, pictures }) {
    waiting = null;
    busy = true;
    since = performance.now();
    version++;
    clearTimeout(timer);
    timeline.clear();
    link.post({ type: "end", version, config, pictures: unsent(pictures) });
  }

  /**
   * The worker's answer to a question with a request number.
   *
   * @type {(ask: (request: number) => void) => Promise<any>}
   */
  const answered = (ask) =>
    new Promise((resolve) => {
      asked++;
      requests.set(asked, resolve);
      ask(asked);
    });

  function askForMap() {
    const answer = on.rested();
    if (!answer) return;
    number++;
    link.post({ type: "map", number, job: answer.job, pictures: unsent(answer.pictures) });
  }

  return Object.assign(engine, {
    /**
     * Takes a new setting; `pictures` maps the ids in it to patterns.
     *
     * @type {(config: Job["config"], pictures: Job["pictures"]) => void}
     */
    configure(config, pictures) {
      waiting = { config, pictures };
      number++; // cells still on their way belong to another map
      if (!busy || performance.now() - since > STALE) dispatch(waiting);
    },
    /** Stops all work until the next setting comes. */
    hold() {
      waiting = null;
      version++;
      number++;
      busy = false;
      clearTimeout(timer);
      timeline.clear();
      link.post({ type: "pause" });
    },
    /** Asks for all steps of the run now, without waiting until the reader pauses. */
    record() {
      if (busy) return;
      clearTimeout(timer);
      if (timeline.last < 0) link.post({ type: "record" });
    },
    /** True while the newest run has not ended. */
    isBusy: () => busy,
    /**
     * The two states at the newest step, in full precision.
     *
     * @returns {Promise<object>}
     */
    state: () => answered((request) => link.post({ type: "state", request })),
    /**
     * A step of the newest run, taken apart; null if the run has not reached the step, or a newer setting has come.
     *
     * @type {(step: number, frequency: number) => Promise<Look | null>}
     */
    look: (step, frequency) =>
      answered((request) => link.post({ type: "look", request, version, step, frequency })),
    close() {
      clearTimeout(timer);
      link.close();
    },
  });
}
