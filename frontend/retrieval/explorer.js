// Settings in, pictures out: joins the engine, playback and what is on the page.
import { createFrame } from "../kit/explorer.js";
import { guardDrops, readImage } from "../kit/imagewell.js";
import { createPlayback, help } from "../kit/playback.js";
import { nextSettings } from "./change.js";
import { billOf, createCharts } from "./charts.js";
import { createEngine } from "./engine.js";
import { createJaxRun } from "./jax.js";
import { createPanel } from "./panel.js";
import { PRESETS } from "./presets.js";
import { findings, inWords } from "./report.js";
import { dab, noPaint, prepare, SIDE } from "./settings.js";
import { createStage } from "./stage.js";

/** @import { Frame } from "../kit/explorer.js" */
/** @import { Cell } from "../kit/imagewell.js" */
/** @import { Explorer, Model } from "../kit/mount.js" */
/** @import { Patch } from "./change.js" */
/** @import { Info } from "./simulation.js" */
/** @import { Findings } from "./presets.js" */
/** @import { Library, Settings } from "./settings.js" */

/** The paint tool: what a stroke does, how wide and in which colour. */
/** @typedef {{ tool: "paint" | "restore" | null, size: number, colour: string }} Brush */

/** @type {Brush} */
const BRUSH = { tool: null, size: 4, colour: "#d55e00" };
const HELP = [
  "In the grid of pictures, arrow keys move and space stores.",
  "On the query: arrow keys move the brush, space paints, or restores if Restore is pressed.",
];

/**
 * @param {Settings} initial
 * @param {Library} library
 * @param {Model} model
 * @returns {Explorer & { states(): Promise<object> }}
 */
export function createExplorer(initial, library, model) {
  let paint = noPaint(initial.size);
  let ready = prepare(initial, library, paint); // what the engine works on
  const brush = { ...BRUSH };
  /** @type {Frame<Settings, Patch, Findings>} */
  const frame = createFrame({
    settings: initial,
    presets: PRESETS,
    next: (settings, patch) => nextSettings(settings, patch, library),
    update,
    findings: found,
    words,
  });
  const engine = createEngine({
    ready: onReady,
    frames() {
      if (!clock.playing) clock.seek(clock.step);
    },
    error: (message) => frame.warn(`The computation stopped: ${message}`),
  });
  const { timeline } = engine;
  const playback = createPlayback({ timeline, show, rest: frame.settle, reset });
  const { clock } = playback;
  const charts = createCharts();
  const stage = createStage(initial.size, {
    tool: () => ({ brush: brush.size, touch: brush.tool !== null }),
    dab: paintDab,
    endStroke: () => frame.change({}),
    file: (file) => adopt(file, false),
  });
  const panel = createPanel(initial, library, brush, frame.change, {
    fileToStore: (file) => adopt(file, true),
    clearPaint() {
      paint = noPaint(frame.settings.size);
      frame.change({});
    },
    toolChanged: () => stage.queryCanvas.classList.toggle("r1-touch", brush.tool !== null),
  });
  const jax = createJaxRun(model, () => ({ settings: frame.settings, ready }), stage);

  /**
   * Hands the settings to the engine; the answer comes to onReady.
   *
   * @param {{ play: boolean }} how
   */
  function update({ play }) {
    const { settings } = frame;
    if (play) playback.wanted = true;
    if (play || paint.size !== settings.size) paint = noPaint(settings.size);
    clock.pause();
    ready = prepare(settings, library, paint);
    panel.show(settings);
    showQuery();
    jax.forget();
    engine.configure(ready.config, ready.pictures);
  }

  function reset() {
    Object.assign(brush, BRUSH);
    panel.showBrush();
    frame.reset();
  }

  function showQuery() {
    const { bytes, known, isStored } = ready;
    const share = known.reduce((n, k) => n + k, 0) / known.length;
    const label = library.label(frame.settings.collection, frame.settings.target);
    stage.setQuery({ ...bytes, label, isStored, known: share });
  }

  /** @param {Info} info */
  function onReady({ pull }) {
    charts.setPull(pull);
    clock.steps = frame.settings.steps;
    clock.seek(0);
    engine.run(frame.settings.steps);
    if (playback.wanted) clock.play();
  }

  const nearest = () => findings(timeline.at(clock.step), frame.settings, ready, library);

  /** @param {number} step */
  function show(step) {
    if (timeline.last < step || !engine.info) return;
    const { settings } = frame;
    const { series } = timeline;
    stage.show(timeline.frames[step], nearest());
    charts.draw(series, step, settings, engine.info.relativeNoise);
    const flooredSteps = series.floored.slice(0, step + 1).reduce((n, f) => n + f, 0);
    const { roughness } = engine.info;
    const run = { flooredSteps, steps: step + 1, speed: engine.speed, roughness };
    charts.setFacts(billOf({ ...ready, ...run, K: settings.stored.length, Y: settings.Y }));
    frame.say();
  }

  /** The run's own numbers, once it has ended. */
  function found() {
    if (!engine.info || timeline.last < clock.step || clock.step < clock.steps) return null;
    const { freedom, numbers } = ready;
    return {
      pull: engine.info.pull ?? 0,
      roughness: engine.info.roughness ?? 0,
      end: timeline.at(clock.step),
      nameDistributed: nearest().distributed.label,
      freedom,
      numbers,
      K: frame.settings.stored.length,
    };
  }

  function words() {
    const { step } = clock;
    return timeline.last < step ? "" : inWords(step, timeline.at(step), nearest());
  }

  /** @param {Cell[]} cells */
  function paintDab(cells) {
    const hex = Number.parseInt(brush.colour.slice(1), 16);
    const colour = brush.tool === "restore" ? null : [hex >> 16, (hex >> 8) & 255, hex & 255];
    for (const [row, column] of cells) dab(paint, row, column, brush.size, colour);
    ready = prepare(frame.settings, library, paint);
    showQuery();
  }

  /**
   * A picture of the reader's: stored with the others, or the query itself.
   *
   * @param {File} file
   * @param {boolean} store
   */
  async function adopt(file, store) {
    try {
      const key = library.add(await readImage(file, SIDE));
      frame.change(store ? { store: key, pressed: true, target: key } : { target: key });
    } catch {
      frame.warn(`${file.name} could not be read as an image. Try a PNG or JPEG file.`);
    }
  }

  const explorer = frame.lay({
    stage: [stage.element, playback.element, charts.meter, frame.status],
    side: [panel.element, jax.element, help(...HELP)],
    charts: [charts.element],
    playback,
    state() {
      const { last: computed, series } = timeline;
      const { info, speed } = engine;
      const { config, numbers } = ready;
      const progress = { computed, series, info, speed, busy: engine.isBusy() };
      return { ...progress, record: timeline.at(clock.step), ...config, numbers };
    },
    close() {
      jax.close();
      engine.close();
    },
  });
  guardDrops(explorer.element);
  return { ...explorer, states: engine.state };
}
