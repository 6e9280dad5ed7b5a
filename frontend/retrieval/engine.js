// The page's side of the simulation: one configuration at a time, the newest wins; the timeline is kept here.
import { connect } from "../kit/worker.js";
import { createActor } from "./actor.js";
import { FIELDS } from "./simulation.js";
import source from "./worker.js?inline";

/** What has been computed so far: a record and a frame a step. */
export class Timeline {
  constructor() {
    this.clear();
  }

  clear() {
    this.frames = [];
    this.series = Object.fromEntries(FIELDS.map((name) => [name, []]));
  }

  push({ step, record, bytes }) {
    this.frames[step] = bytes;
    FIELDS.forEach((name, i) => {
      this.series[name][step] = record[i];
    });
  }

  get last() {
    return this.frames.length - 1;
  }

  /** The numbers of one step, by name. */
  at(step) {
    return Object.fromEntries(FIELDS.map((name) => [name, this.series[name][step]]));
  }
}

/** `on` holds callbacks: ready(info), frames(), done(), error(message). */
export function createEngine(on) {
  const timeline = new Timeline();
  const sent = new Set();
  const requests = new Map();
  let version = 0;
  let busy = false;
  let waiting = null;
  const engine = { timeline, info: null, speed: 0 };
  const link = connect(source, createActor, receive);

  function receive(message) {
    if (message.type === "ready") {
      busy = false;
      if (waiting) return dispatch();
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
      if (fresh) on.ready(engine.info);
      else engine.speed = (1000 * message.frames.length) / message.milliseconds;
      on.frames();
    } else if (message.type === "done") on.done();
    else if (message.type === "error") {
      busy = false;
      on.error(message.message);
    }
  }

  function dispatch() {
    const { config, pictures } = waiting;
    waiting = null;
    busy = true;
    version++;
    const fresh = config.ids.filter((id) => !sent.has(id)).map((id) => [id, pictures.get(id)]);
    sent.clear(); // the worker forgets what it has not seen for long: only the present patterns are sure
    for (const id of config.ids) sent.add(id);
    link.post({ type: "configure", version, config, pictures: fresh });
  }

  return Object.assign(engine, {
    /** A new setting; `pictures` maps the ids in it to patterns. */
    configure(config, pictures) {
      waiting = { config, pictures };
      if (!busy) dispatch();
    },
    /** Whether a newer setting than the one on show is being worked on. */
    isBusy: () => busy,
    run: (until) => link.post({ type: "run", until }),
    pause: () => link.post({ type: "pause" }),
    /** The two states in full precision, where the descent has got to. */
    state: () =>
      new Promise((resolve) => {
        const request = Math.random();
        requests.set(request, resolve);
        link.post({ type: "state", request });
      }),
    close: () => link.close(),
  });
}
