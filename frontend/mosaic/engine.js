// The page's connection to its workers: one worker runs both descents, and up to four others write T.
import { connect } from "../kit/worker.js";
import { createActor } from "./actor.js";
import { D } from "./math/pictures.js";
import source from "./worker.js?inline";

/** @import { Link } from "../kit/worker.js" */
/** @import { Answer, Part, Question, Track } from "./actor.js" */
/** @import { Config, Frame } from "./math/run.js" */

/** The frames of a track so far, `done` once there are no more, and the milliseconds that they took. */
/** @typedef {{ frames: Frame[], done: boolean, milliseconds: number }} Run */

const MOST = 4; // the largest number of writers

/** @returns {Run} */
const nothing = () => ({ frames: [], done: false, milliseconds: 0 });

/**
 * The engine of the page. `frames(track)` is called whenever a run has new frames, and when the run is done;
 * `writing(share)` is called while T is written, with the fraction of its blocks that are written.
 *
 * @param {{
 *   frames(track: Track): void,
 *   writing(share: number): void,
 *   error(message: string): void,
 * }} on
 */
export function createEngine(on) {
  const runs = { exact: nothing(), distributed: nothing() };
  let version = 0;
  let writtenFor = ""; // the key of the configuration for which the runner has T
  /** @type {Config | null} */
  let config = null;
  /** @type {Link<Question> | null} */
  let runner = null;
  /** @type {Link<Question>[]} */
  let writers = [];
  /** @type {number[]} */
  let done = [];
  /** @type {Part[]} */
  let parts = [];

  /** @param {Answer} message */
  function receiveRun(message) {
    if (message.type === "error") return on.error(message.message);
    if (message.type !== "frames" || message.version !== version) return;
    const run = runs[message.track];
    run.frames.push(...message.frames);
    run.done = message.done;
    run.milliseconds = message.milliseconds;
    on.frames(message.track);
  }

  /** @type {(number: number) => (message: Answer) => void} */
  const receivePart = (number) => (message) => {
    if (message.type === "error") return on.error(message.message);
    if (message.type !== "written" || message.version !== version || !config) return;
    done[number] = message.done;
    if (!message.part) {
      const blocks = config.Y / D;
      return on.writing(done.reduce((sum, n) => sum + n, 0) / blocks);
    }
    parts.push(message.part);
    if (parts.length < writers.length) return;
    writtenFor = keyOf(config);
    run("distributed", parts.splice(0));
  };

  /** @type {(track: Track, parts?: Part[] | null) => void} */
  function run(track, parts = null) {
    if (config) runner?.post({ type: "run", track, version, config, parts });
  }

  /** @param {Config} next */
  function write({ K, beta, seed, Y }) {
    done = writers.map(() => 0);
    parts = [];
    on.writing(0);
    const blocks = Array.from({ length: Y / D }, (_, b) => b);
    writers.forEach((writer, w) => {
      const own = blocks.filter((b) => b % writers.length === w);
      writer.post({ type: "write", version, job: { K, beta, seed, blocks: own } });
    });
  }

  return {
    runs,
    /**
     * Replaces the pictures; the first call also starts the workers.
     *
     * @param {Uint8Array} pixels
     */
    open(pixels) {
      const number = Math.min(MOST, Math.max(1, (navigator.hardwareConcurrency ?? 2) - 1));
      if (!runner) {
        runner = connect(source, createActor, receiveRun);
        writers = Array.from({ length: number }, (_, w) =>
          connect(source, createActor, receivePart(w)),
        );
      }
      writtenFor = "";
      for (const link of [runner, ...writers]) link.post({ type: "pictures", pixels });
    },
    /** @param {Config} next */
    configure(next) {
      version++;
      config = next;
      Object.assign(runs.exact, nothing());
      Object.assign(runs.distributed, nothing());
      run("exact");
      if (keyOf(next) !== writtenFor) return write(next);
      for (const writer of writers) writer.post({ type: "pause" });
      run("distributed");
    },
    /** Stops all computation until the next call of `configure`. */
    hold() {
      version++;
      Object.assign(runs.exact, nothing());
      Object.assign(runs.distributed, nothing());
      for (const link of [runner, ...writers]) link?.post({ type: "pause" });
    },
    close() {
      for (const link of [runner, ...writers]) link?.close();
    },
  };
}

/** @param {Config} config */
const keyOf = ({ K, beta, seed, Y }) => [K, beta, seed, Y].join(" ");
