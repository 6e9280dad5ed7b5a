// Settings in, pictures out: joins the engine, the map, playback and what is on the page.
import { h } from "../kit/dom.js";
import { createFrame } from "../kit/explorer.js";
import { guardDrops, readImage } from "../kit/imagewell.js";
import { createPlayback, help } from "../kit/playback.js";
import { admits, nextSettings } from "./change.js";
import { createCharts, tableOf } from "./charts.js";
import { createEngine } from "./engine.js";
import { createJaxRun } from "./jax.js";
import { axisChoice, HELP, onlyMoves, placed, stepped } from "./moves.js";
import { BRUSH, stroke } from "./paint.js";
import { createPanel } from "./panel.js";
import { phaseMap } from "./phasemap.js";
import { createPin } from "./pin.js";
import { presetsFor } from "./presets.js";
import { python } from "./python.js";
import { createReadouts } from "./readouts.js";
import { overflowInWords } from "./report.js";
import { noPaint, prepare } from "./settings.js";
import { createStage } from "./stage.js";
import { named } from "./timeline.js";
import { createTold } from "./told.js";

/** @import { Frame } from "../kit/explorer.js" */
/** @import { Cell } from "../kit/imagewell.js" */
/** @import { Explorer, Model } from "../kit/mount.js" */
/** @import { End } from "./actor.js" */
/** @import { Patch } from "./change.js" */
/** @import { Library } from "./library.js" */
/** @import { Findings } from "./presets.js" */
/** @import { Settings } from "./settings.js" */

/**
 * @param {Settings} initial
 * @param {Library} library
 * @param {Model} model
 * @returns {Explorer & { states(): Promise<object> }}
 */
export function createExplorer(initial, library, model) {
  let paint = noPaint(initial.size);
  let strokes = 0;
  let ready = prepare(initial, library, paint); // what the engine works on
  const brush = { ...BRUSH };
  const presets = presetsFor(library);
  /** @type {Frame<Settings, Patch, Findings>} */
  const frame = createFrame({
    settings: initial,
    presets,
    name: "retrieval",
    next: (settings, patch) => nextSettings(settings, patch, library),
    stands: (patch) => frame.preset?.key === "start" && onlyMoves(patch),
    admits,
    update,
    findings: () => told.found(),
    words: () => told.words(),
    python,
    data: () => tableOf(engine.end?.trace ?? []),
  });
  const engine = createEngine({
    end: showEnd,
    frames() {
      playback.refresh();
      drawCharts();
    },
    rested: () => (frame.pending ? null : map.missing(frame.settings, ready)),
    cells(cells) {
      map.take(cells);
      showMap();
    },
    error: (message) => frame.warn(`The computation stopped: ${message}`),
  });
  const { timeline } = engine;
  const playback = createPlayback({ timeline, show, rest: frame.settle, reset });
  const { clock } = playback;
  const told = createTold(library, () => {
    const { settings, pending } = frame;
    return { engine, settings, pending, ready, step: clock.step };
  });
  const charts = createCharts();
  const readouts = createReadouts();
  const most = () => library.count(frame.settings.collection);
  const map = phaseMap(library, {
    onMove: (at) => frame.change(placed(at, most())),
    onStep: (steps) => frame.change(stepped(frame.settings, steps, most())),
  });
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
      strokes++;
      frame.change({});
    },
    toolChanged: () => stage.touchable(brush.tool !== null),
  });
  const jax = createJaxRun(model, () => ({ settings: frame.settings, ready }), stage);
  const axes = axisChoice(initial.across, (across) =>
    frame.change({ across: across ?? frame.settings.across }),
  );
  const pin = createPin({
    now() {
      const { end } = engine;
      const { settings } = frame;
      return end && { settings, end, both: told.at(end.frame.record, end.frame.step) };
    },
    changed(pinned) {
      stage.pin(pinned);
      showMap();
      drawCharts();
    },
  });

  /**
   * Hands the settings to the engine; the answer comes to showEnd.
   *
   * @param {{ before: Settings | null }} how
   */
  function update({ before }) {
    const { settings } = frame;
    if (library.lacks(settings.collection, settings.size)) return fetchPictures();
    if (before === null || paint.size !== settings.size) {
      paint = noPaint(settings.size);
      strokes++;
    }
    clock.pause();
    ready = prepare(settings, library, paint);
    panel.show(settings);
    axes.value = settings.across;
    showQuery();
    jax.forget();
    if (frame.pending) {
      engine.hold();
      stage.wait();
      readouts.wait();
    } else engine.configure(ready.config, ready.pictures);
    showMap();
  }

  /** Until they are here nothing is computed, and nothing of the last setting is left on show. */
  async function fetchPictures() {
    clock.pause();
    engine.hold();
    stage.wait();
    readouts.wait();
    panel.show(frame.settings);
    frame.tell("Fetching the photographs with 64 × 64 pixels …");
    try {
      await library.refine();
      frame.tell("");
      update({ before: null });
    } catch {
      frame.warn("The photographs with 64 × 64 pixels did not come. Try again, or choose 32 × 32.");
    }
  }

  function reset() {
    Object.assign(brush, BRUSH);
    panel.showBrush();
    frame.reset();
  }

  function showQuery() {
    const { bytes, known, isStored } = ready;
    const { collection, target, flips } = frame.settings;
    const share = known.reduce((n, k) => n + k, 0) / known.length;
    const label = library.label(collection, target);
    stage.setQuery({ ...bytes, label, isStored, known: share, flips });
  }

  function showMap() {
    const ghost = pin.pinned?.settings ?? null;
    map.show(frame.settings, ready, { drawn: strokes, ghost, hide: frame.pending });
  }

  /** @param {End} end */
  function showEnd(end) {
    const { frame: last, ended, info } = end;
    const { settings } = frame;
    clock.pause();
    clock.steps = ended ? last.step : settings.steps;
    clock.step = last.step;
    playback.refresh();
    const both = told.at(last.record, last.step);
    stage.show(last.bytes, both, ended);
    readouts.show(info.pull, both.exact.mixed);
    drawCharts();
    if (end.overflow !== null)
      frame.tell(overflowInWords(end.overflow, settings.basis, settings.beta));
    if (ended && !engine.isBusy()) frame.settle(false);
  }

  function drawCharts() {
    const { end, relativeNoise } = engine;
    if (!end || charts.element.closest("details:not([open])")) return;
    const { bounds } = timeline;
    const shown = { settings: frame.settings, ready, step: clock.step, pin: pin.pinned };
    charts.draw({ end, bounds, relativeNoise, ...shown });
  }

  /** @param {number} step */
  function show(step) {
    const bytes = timeline.frames[step];
    if (!bytes || !engine.end) return;
    stage.show(bytes, told.at(timeline.records[step], step), step >= clock.steps);
    drawCharts();
    frame.say();
  }

  /** @param {Cell[]} cells */
  function paintDab(cells) {
    if (library.lacks(frame.settings.collection, frame.settings.size)) return;
    stroke(paint, cells, brush);
    strokes++;
    ready = prepare(frame.settings, library, paint);
    showQuery();
    engine.configure(ready.config, ready.pictures);
  }

  /**
   * A picture of the reader's: stored with the others, or the query itself.
   *
   * @param {File} file
   * @param {boolean} store
   */
  async function adopt(file, store) {
    try {
      const key = library.add(await readImage(file, library.side));
      frame.change(store ? { store: key, pressed: true, target: key } : { target: key });
    } catch {
      frame.warn(`${file.name} could not be read as an image. Try a PNG or JPEG file.`);
    }
  }

  const explorer = frame.lay({
    className: "r1-retrieval",
    stage: [stage.element],
    controls: [
      h("div", { class: "r1-axis-choice" }, axes.element, pin.element),
      map.element,
      h("div", { class: "r1-three" }, panel.first),
    ],
    readouts: readouts.elements,
    more: [playback.element, frame.status, panel.more, jax.element, charts.element, help(...HELP)],
    playback,
    state() {
      const { end, relativeNoise, ends } = engine;
      const { config, numbers } = ready;
      return {
        ...{ ends, info: end?.info, ended: end?.ended, overflow: end?.overflow, relativeNoise },
        ...{ record: end && named(end.frame.record), trace: end?.trace, bounds: timeline.bounds },
        ...{ computed: timeline.last, mapped: map.known(), busy: engine.isBusy() },
        ...{ config, numbers },
      };
    },
    close() {
      jax.close();
      engine.close();
    },
  });
  explorer.element.addEventListener("toggle", drawCharts, true); // where the charts are unfolded
  guardDrops(explorer.element);
  return { ...explorer, states: engine.state };
}
