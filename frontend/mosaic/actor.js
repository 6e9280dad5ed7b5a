// The code that one worker runs: both descents, or the writing of some blocks of T.
import { createBackground } from "../kit/background.js";
import { assembled, descent, List } from "./math/run.js";
import { Writer } from "./math/writer.js";

/** @import { DistributedMemory } from "../math/distributed.js" */
/** @import { Config, Frame } from "./math/run.js" */

/** @typedef {"exact" | "distributed"} Track */
/** @typedef {{ blocks: number[], sums: Float32Array<ArrayBuffer> }} Part */
/**
 * @typedef {{ type: "pictures", pixels: Uint8Array }
 *   | { type: "run", track: Track, version: number, config: Config, parts: Part[] | null }
 *   | { type: "write", version: number, job: { K: number, beta: number, seed: number, blocks: number[] } }
 *   | { type: "pause" }} Question
 */
/**
 * @typedef {{ type: "frames", track: Track, version: number, frames: Frame[], done: boolean, milliseconds: number }
 *   | { type: "written", version: number, done: number, part: Part | null }
 *   | { type: "error", message: string }} Answer
 */

const SLICE = 24; // milliseconds of work before the worker reads its next message

/**
 * The function that receives the actor's messages. The actor answers by calling `post(message, transferred)`.
 *
 * @param {(message: Answer, transferred?: Transferable[]) => void} post
 * @returns {(message: Question) => void}
 */
export function createActor(post) {
  let pixels = new Uint8Array();
  let writer = new Writer(pixels);
  /** @type {DistributedMemory | null} */
  let memory = null;
  let flush = () => {};
  const background = () => createBackground({ budget: SLICE, pause: 0, onSlice: () => flush() });
  const running = { exact: background(), distributed: background() };
  const writing = background();

  function stop() {
    for (const one of [running.exact, running.distributed, writing]) one.stop();
  }

  /** @param {Extract<Question, { type: "run" }>} question */
  function* run({ track, version, config, parts }) {
    if (parts) memory = assembled(config, parts);
    yield;
    const list = new List(pixels, config.K, config.beta);
    const begun = performance.now();
    /** @type {Frame[]} */
    let frames = [];
    let posted = begun;
    /** @param {boolean} done */
    const tell = (done) => {
      const buffers = frames.flatMap(({ x, weights }) => [x.buffer, weights.buffer]);
      const milliseconds = performance.now() - begun;
      post({ type: "frames", track, version, frames, done, milliseconds }, buffers);
      frames = [];
      posted = performance.now();
    };
    for (const frame of descent(config, list, track === "exact" ? null : memory)) {
      frames.push(frame);
      if (performance.now() - posted > SLICE) tell(false);
      yield;
    }
    tell(true);
  }

  /** @param {Extract<Question, { type: "write" }>} question */
  function* write({ version, job }) {
    let done = 0;
    flush = () => post({ type: "written", version, done, part: null });
    for (const _ of writer.write(job)) {
      done++;
      yield;
    }
    flush = () => {};
    const { blocks } = job;
    const sums = writer.collected(blocks);
    post({ type: "written", version, done, part: { blocks, sums } }, [sums.buffer]);
  }

  /** @type {<T>(work: Generator<T, void, void>) => Generator<T, void, void>} */
  function* guarded(work) {
    try {
      yield* work;
    } catch (error) {
      post({ type: "error", message: error instanceof Error ? error.message : String(error) });
    }
  }

  return (message) => {
    if (message.type === "pause") stop();
    else if (message.type === "pictures") {
      pixels = new Uint8Array(message.pixels);
      writer = new Writer(pixels);
    } else if (message.type === "write") {
      flush = () => {};
      writing.start(guarded(write(message)));
    } else running[message.track].start(guarded(run(message)));
  };
}
