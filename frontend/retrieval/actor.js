// The simulation behind messages: in a Web Worker, or in slices on the page's own thread where none can be made.
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
  let timer = 0; // none
  let goal = 0;

  /** @param {Configure} job */
  function configure({ version, config, pictures: sent }) {
    stop();
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

  /** @param {number} until */
  function run(until) {
    goal = until;
    if (!timer) timer = Number(setTimeout(slice, 0));
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
  }

  /** @param {number} request */
  function tell(request) {
    if (!simulation) return;
    const { x, xHat, step } = simulation;
    post({ type: "state", request, value: { x: x.slice(), xHat: xHat.slice(), step } });
  }

  /** As many steps as fit in a slice; then their frames go out in one message. */
  function slice() {
    timer = 0;
    if (!simulation) return;
    const begun = performance.now();
    /** @type {Frame[]} */
    const frames = [];
    while (simulation.step < goal && performance.now() - begun < SLICE) {
      simulation.advance();
      frames.push(frameOf(simulation));
    }
    if (frames.length > 0) send(frames, performance.now() - begun);
    if (simulation.step < goal) timer = Number(setTimeout(slice, 0));
  }

  /** @type {(frames: Frame[], milliseconds: number) => void} */
  function send(frames, milliseconds) {
    const transferred = frames.map(({ bytes }) => bytes.buffer);
    post({ type: "frames", frames, milliseconds }, transferred);
  }

  return (message) => {
    try {
      if (message.type === "configure") configure(message);
      else if (message.type === "run") run(message.until);
      else if (message.type === "state") tell(message.request);
      else stop();
    } catch (error) {
      stop();
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
