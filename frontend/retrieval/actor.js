// The simulation behind messages: in a Web Worker, or in slices on the page's own thread where none can be made.
import { createBackground } from "../kit/background.js";
import { Keeper } from "./keeper.js";

/** @import { Config, Info, Pattern, Simulation } from "./simulation.js" */

/** One step's record and its two states as bytes. */
/** @typedef {{ step: number, record: (number | null)[], bytes: Uint8ClampedArray<ArrayBuffer> }} Frame */
/**
 * @typedef {{ type: "configure", version: number, config: Config & { ids: string[] }, pictures: [string, Float32Array][] }} Configure
 * @typedef {{ type: "run", until: number }} Run
 * @typedef {{ type: "pause" }} Pause
 * @typedef {{ type: "state", request: number }} StateRequest
 * @typedef {Configure | Run | Pause | StateRequest} Question
 */
/**
 * @typedef {{ type: "ready", version: number, start: Info, milliseconds: number }
 *   | { type: "frames", frames: Frame[], milliseconds: number }
 *   | { type: "state", request: number, value: { x: Float32Array, xHat: Float32Array, step: number } }
 *   | { type: "error", message: string }} Answer
 */

const SLICE = 10; // milliseconds of work between two looks at the mailbox
const KEPT = 48; // patterns remembered, so that a picture crosses to the worker once

/**
 * Returns the actor's `receive`; it answers through `post(message, transferred)`.
 *
 * @param {(message: Answer, transferred?: Transferable[]) => void} post
 * @returns {(message: Question) => void}
 */
export function createActor(post) {
  const keeper = new Keeper();
  /** @type {Simulation | null} */
  let simulation = null;
  /** @type {Map<string, Float32Array>} */
  const pictures = new Map();
  /** @type {Frame[]} */
  const made = []; // in this slice; they go out in one message
  const background = createBackground({
    budget: SLICE,
    pause: 0,
    onSlice(_, milliseconds) {
      if (made.length > 0) send(made.splice(0), milliseconds);
    },
  });

  /** @param {Configure} job */
  function configure({ version, config, pictures: sent }) {
    background.stop();
    for (const [id, values] of sent) pictures.set(id, values);
    const patterns = config.ids.map((id) => patternOf(id));
    forget(pictures, config.ids);
    const begun = performance.now();
    simulation = keeper.begin({ ...config, patterns });
    const milliseconds = performance.now() - begun;
    post({ type: "ready", version, start: simulation.info, milliseconds });
    send([frameOf(simulation)], 0);
  }

  /** @type {(id: string) => Pattern} */
  function patternOf(id) {
    const values = pictures.get(id);
    if (!values) throw new Error(`The picture ${id} has not come.`);
    return { id, values };
  }

  /** @type {(running: Simulation, until: number) => Generator<void, void, void>} */
  function* descend(running, until) {
    while (running.step < until) {
      running.advance();
      made.push(frameOf(running));
      yield;
    }
  }

  /** @param {number} request */
  function tell(request) {
    if (!simulation) return;
    const { x, xHat, step } = simulation;
    post({ type: "state", request, value: { x: x.slice(), xHat: xHat.slice(), step } });
  }

  /** @type {(frames: Frame[], milliseconds: number) => void} */
  function send(frames, milliseconds) {
    const transferred = frames.map(({ bytes }) => bytes.buffer);
    post({ type: "frames", frames, milliseconds }, transferred);
  }

  return (message) => {
    try {
      if (message.type === "configure") configure(message);
      else if (message.type === "state") tell(message.request);
      else if (message.type === "pause") background.stop();
      else if (simulation) background.start(descend(simulation, message.until));
    } catch (error) {
      background.stop();
      post({ type: "error", message: error instanceof Error ? error.message : String(error) });
    }
  };
}

/**
 * @param {Simulation} simulation
 * @returns {Frame}
 */
function frameOf(simulation) {
  const bytes = new Uint8ClampedArray(2 * simulation.config.D);
  simulation.pixels(bytes);
  return { step: simulation.step, record: simulation.record(), bytes };
}

/** @type {(pictures: Map<string, Float32Array>, wanted: string[]) => void} */
function forget(pictures, wanted) {
  for (const id of pictures.keys()) {
    if (pictures.size <= KEPT) return;
    if (!wanted.includes(id)) pictures.delete(id);
  }
}
