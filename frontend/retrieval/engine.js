// The page's side of the simulation: one configuration at a time, the newest wins; the timeline is kept here.
import { connect } from "../kit/worker.js";
import { createActor } from "./actor.js";
import { FIELDS } from "./simulation.js";
import source from "./worker.js?inline";

/** @import { Link } from "../kit/worker.js" */
/** @import { Numbers } from "./report.js" */
/** @import { Config, Field, Info } from "./simulation.js" */
/** @import { Answer, Frame, Question } from "./actor.js" */

/** @typedef {Record<Exclude<Field, "law">, number[]> & { law: (number | null)[] }} Series */
/** @typedef {{ config: Config & { ids: string[] }, pictures: Map<string, Float32Array> }} Job */

/** @returns {Series} */
function noSeries() {
  /** @type {[Field, number[]][]} */
  const empty = FIELDS.map((name) => [name, []]);
  return /** @type {Series} */ (Object.fromEntries(empty));
}

/** What has been computed so far: a record and a frame a step. */
export class Timeline {
  /** @type {Uint8ClampedArray[]} */
  frames = [];
  series = noSeries();

  clear() {
    this.frames = [];
    this.series = noSeries();
  }

  /** @param {Frame} frame */
  push({ step, record, bytes }) {
    this.frames[step] = bytes;
    FIELDS.forEach((name, i) => {
      this.series[name][step] = /** @type {number} */ (record[i]); // null only where there is no law
    });
  }

  get last() {
    return this.frames.length - 1;
  }

  /**
   * The numbers of one step, by name.
   *
   * @param {number} step
   * @returns {Numbers}
   */
  at(step) {
    const named = FIELDS.map((name) => [name, this.series[name][step]]);
    return /** @type {Numbers} */ (Object.fromEntries(named));
  }
}

/** @param {{ ready(info: Info): void, frames(): void, error(message: string): void }} on */
export function createEngine(on) {
  const timeline = new Timeline();
  /** @type {Set<string>} */
  const sent = new Set();
  /** @type {Map<number, (value: object) => void>} */
  const requests = new Map();
  let version = 0;
  let busy = false;
  /** @type {Job | null} */
  let waiting = null;
  const engine = {
    timeline,
    info: /** @type {(Info & { milliseconds: number }) | null} */ (null),
    speed: 0,
  };
  /** @type {Link<Question>} */
  const link = connect(source, createActor, receive);

  /** @param {Answer} message */
  function receive(message) {
    if (message.type === "ready") {
      busy = false;
      if (waiting) return dispatch(waiting);
      timeline.clear();
      engine.info = { ...message.start, milliseconds: message.milliseconds };
    } else if (message.type === "state") {
      requests.get(message.request)?.(message.value);
      requests.delete(message.request);
    } else if (busy)
      return; // frames of a run that a newer configuration has ended
    else if (message.type === "frames") {
      for (const frame of message.frames) timeline.push(frame);
      const fresh = message.milliseconds === 0;
      if (fresh && engine.info) on.ready(engine.info);
      else engine.speed = (1000 * message.frames.length) / message.milliseconds;
      on.frames();
    } else if (message.type === "error") {
      busy = false;
      on.error(message.message);
    }
  }

  /** @param {Job} job */
  function dispatch({ config, pictures }) {
    waiting = null;
    busy = true;
    version++;
    const fresh = config.ids.flatMap((id) => {
      const values = pictures.get(id);
      return values && !sent.has(id) ? [/** @type {[string, Float32Array]} */ ([id, values])] : [];
    });
    sent.clear(); // the worker forgets what it has not seen for long: only the present patterns are sure
    for (const id of config.ids) sent.add(id);
    link.post({ type: "configure", version, config, pictures: fresh });
  }

  return Object.assign(engine, {
    /**
     * A new setting; `pictures` maps the ids in it to patterns.
     *
     * @type {(config: Job["config"], pictures: Job["pictures"]) => void}
     */
    configure(config, pictures) {
      waiting = { config, pictures };
      if (!busy) dispatch(waiting);
    },
    /** Whether a newer setting than the one on show is being worked on. */
    isBusy: () => busy,
    /** @param {number} until */
    run: (until) => link.post({ type: "run", until }),
    pause: () => link.post({ type: "pause" }),
    /**
     * The two states in full precision, where the descent has got to.
     *
     * @returns {Promise<object>}
     */
    state: () =>
      new Promise((resolve) => {
        const request = Math.random();
        requests.set(request, resolve);
        link.post({ type: "state", request });
      }),
    close: () => link.close(),
  });
}
