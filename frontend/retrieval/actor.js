// Answers messages with results of the simulation: in a Web Worker or, without one, in slices on the page's thread.
import { createBackground } from "../kit/background.js";
import { Drift, MOST } from "./drift.js";
import { limitsOf, measured } from "./errormap.js";
import { Keeper } from "./keeper.js";
import { look, States } from "./machinestates.js";

/** @import { Cell, Limit, MapJob } from "./errormap.js" */
/** @import { Config, Info, Pattern, Simulation } from "./simulation.js" */

/** One step's record, its bounds, the exact memory's weights of the stored pictures, and its two states as bytes. */
/**
 * @typedef {{
 *   step: number,
 *   record: number[],
 *   bounds: (number | null)[],
 *   weights: Float32Array,
 *   bytes: Uint8ClampedArray<ArrayBuffer>,
 * }} Frame
 */
/**
 * The newest step of the descents, their last one if `ended`. `rests` says which memory has come to rest, and `trace`
 * has the energies and distance of each step.
 *
 * @typedef {{
 *   version: number,
 *   ended: boolean,
 *   rests: { exact: boolean, distributed: boolean },
 *   frame: Frame,
 *   trace: number[][],
 *   overflow: number | null,
 *   info: Info,
 *   strip: Float32Array<ArrayBuffer>,
 *   milliseconds: number,
 * }} End
 */
/** @typedef {[string, Float32Array][]} Sent Pictures by their ids. */
/**
 * @typedef {{ type: "end", version: number, config: Config & { ids: string[] }, pictures: Sent }} Configure
 * @typedef {{ type: "record" }} Record
 * @typedef {{ type: "map", number: number, job: MapJob, pictures: Sent }} MapRequest
 * @typedef {{ type: "pause" }} Pause
 * @typedef {{ type: "state", request: number }} StateRequest
 * @typedef {{ type: "look", request: number, version: number, step: number, frequency: number }} LookRequest
 * @typedef {Configure | Record | MapRequest | Pause | StateRequest | LookRequest} Question
 */
/**
 * @typedef {{ type: "end", end: End }
 *   | { type: "frames", version: number, frames: Frame[], done: boolean, relativeNoise: number | null }
 *   | { type: "cells", number: number, cells: Cell[], limits: Limit[], done: boolean }
 *   | { type: "state", request: number, value: object | null }
 *   | { type: "error", message: string }} Answer
 */

const LIVE = 60; // milliseconds of work on a run between two checks for messages
const SLICE = 10; // the same, for work that nobody waits for
const STRIP = 2048; // entries of T that are shown
const NEWS = 100; // milliseconds between two reports on a long run

/**
 * The actor's `receive`, which answers through `post(message, transferred)`.
 *
 * @param {(message: Answer, transferred?: Transferable[]) => void} post
 * @returns {(message: Question) => void}
 */
export function createActor(post) {
  const keeper = new Keeper();
  /** @type {Map<string, Float32Array>} */
  const pictures = new Map();
  /**
   * @type {{
   *   version: number,
   *   setting: Config & { patterns: Pattern[] },
   *   simulation: Simulation,
   *   states: States,
   * } | null}
   */
  let now = null;
  let flush = () => {};
  const live = createBackground({ budget: LIVE, pause: 0, onSlice: () => {} });
  const patient = createBackground({ budget: SLICE, pause: 0, onSlice: () => flush() });

  function stop() {
    live.stop();
    patient.stop();
  }

  /** @type {(id: string) => Pattern} */
  function patternOf(id) {
    const values = pictures.get(id);
    if (!values) throw new Error(`The picture ${id} has not come.`);
    return { id, values };
  }

  /** @param {Configure} job */
  function* end({ version, config }) {
    const begun = performance.now();
    const setting = { ...config, patterns: config.ids.map(patternOf) };
    const simulation = keeper.begin(setting);
    const states = new States();
    now = { version, setting, simulation, states };
    states.push(simulation);
    const trace = [simulation.trace()];
    /** @param {boolean} ended */
    const tell = (ended) => {
      const { info, overflow } = simulation;
      const rests = { ...simulation.rests };
      const frame = frameOf(simulation, []);
      const milliseconds = performance.now() - begun;
      const strip = simulation.memory.part(STRIP);
      const end = { version, ended, rests, frame, trace, overflow, info, strip, milliseconds };
      post({ type: "end", end }, [frame.bytes.buffer, strip.buffer]);
    };
    let posted = begun;
    while (!simulation.done) {
      simulation.advance();
      states.push(simulation);
      trace.push(simulation.trace());
      if (!simulation.done && performance.now() - posted > NEWS) {
        tell(false);
        posted = performance.now();
      }
      yield;
    }
    tell(true);
  }

  /** Repeats the run and records every step of it. */
  function* record() {
    if (!now) return;
    const { version, setting } = now;
    const simulation = keeper.begin(setting);
    const drift = setting.patterns.length <= MOST ? new Drift(simulation) : null;
    const bounds = () => drift?.record(simulation) ?? [];
    const frames = [frameOf(simulation, bounds())];
    const relativeNoise = drift?.relativeNoise ?? null;
    flush = () => {
      const transferred = frames.map(({ bytes }) => bytes.buffer);
      const done = simulation.done;
      post({ type: "frames", version, frames: frames.splice(0), done, relativeNoise }, transferred);
    };
    while (!simulation.done) {
      drift?.advance(simulation);
      simulation.advance();
      frames.push(frameOf(simulation, bounds()));
      yield;
    }
  }

  /** @param {MapRequest} request */
  function* map({ number, job }) {
    /** @type {Cell[]} */
    const cells = [];
    /** @type {Limit[]} */
    const limits = [];
    let done = false;
    flush = () => {
      if (!done && cells.length === 0 && limits.length === 0) return;
      post({ type: "cells", number, cells: cells.splice(0), limits: limits.splice(0), done });
    };
    yield* limitsOf(job, (limit) => limits.push(limit));
    yield* measured(job, keeper, patternOf, (cell) => cells.push(cell));
    done = true;
  }

  /** @param {number} request */
  function tell(request) {
    if (!now) return;
    const { x, xHat, step } = now.simulation;
    post({ type: "state", request, value: { x: x.slice(), xHat: xHat.slice(), step } });
  }

  /**
   * Answers with one step of the run on show, taken apart. Other work goes on after it.
   *
   * @param {LookRequest} ask
   */
  function show({ request, version, step, frequency }) {
    const value =
      now?.version === version ? look(now.simulation, now.states, step, frequency) : null;
    post({ type: "state", request, value });
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
    if (message.type === "state") return tell(message.request);
    if (message.type === "look") return show(message);
    stop();
    if ("pictures" in message)
      for (const [id, values] of message.pictures) pictures.set(id, values);
    if (message.type === "end") live.start(guarded(end(message)));
    else if (message.type === "record") patient.start(guarded(record()));
    else if (message.type === "map") patient.start(guarded(map(message)));
  };
}

/**
 * @param {Simulation} simulation
 * @param {(number | null)[]} bounds
 * @returns {Frame}
 */
function frameOf(simulation, bounds) {
  const bytes = new Uint8ClampedArray(2 * simulation.config.shown);
  simulation.pixels(bytes);
  const weights = Float32Array.from(simulation.exact.weights);
  return { step: simulation.step, record: simulation.record(), bounds, weights, bytes };
}
