// Joins the engine, the map, playback and the parts of the page: settings go in, pictures come out.
import { reducedMotion } from "../kit/clock.js";
import { h, setText } from "../kit/dom.js";
import { createFrame, same } from "../kit/explorer.js";
import { createHold } from "../kit/hold.js";
import { guardDrops, readImage } from "../kit/imagewell.js";
import { createPlayback, help } from "../kit/playback.js";
import { createBars } from "./bars.js";
import { admits, nextSettings } from "./change.js";
import { createCharts, tableOf } from "./charts.js";
import { createEngine } from "./engine.js";
import { createJaxRun } from "./jax.js";
import { createMachine } from "./machine.js";
import { createMemories } from "./memories.js";
import { axisChoice, HELP, onlyMoves, placed, stepped } from "./moves.js";
import { createOwn, createSketch } from "./own.js";
import { BRUSH, stroke } from "./paint.js";
import { createPanel } from "./panel.js";
import { phaseMap } from "./phasemap.js";
import { createPin } from "./pin.js";
import { FIRST, presetsFor } from "./presets.js";
import { python } from "./python.js";
import { createReadouts } from "./readouts.js";
import { isSettled, overflowInWords } from "./report.js";
import { createRunWords } from "./runwords.js";
import { explain, MOVING, OPENING, PENDING, playing } from "./sentence.js";
import { isPainted, noPaint, prepare } from "./settings.js";
import { createStage } from "./stage.js";
import { named } from "./timeline.js";

/** @import { Frame } from "../kit/explorer.js" */
/** @import { Cell } from "../kit/imagewell.js" */
/** @import { Explorer, Model } from "../kit/mount.js" */
/** @import { End } from "./actor.js" */
/** @import { Patch } from "./change.js" */
/** @import { Library } from "./library.js" */
/** @import { Context } from "./machinewords.js" */
/** @import { Findings } from "./presets.js" */
/** @import { Settings } from "./settings.js" */

// How a run plays: in how many seconds, after `lead` milliseconds in which the query is shown.
const ON_SIGHT = { seconds: 4, lead: 700 };
const LET_GO = { seconds: 0.7, lead: 0 };

/**
 * `questions` are the keys of the questions offered as buttons. If there are none, those in FIRST are buttons, and the
 * others are in a menu.
 *
 * @param {Settings} initial
 * @param {Library} library
 * @param {Model} model
 * @param {string[]} [questions]
 * @returns {Explorer & { states(): Promise<object> }}
 */
export function createExplorer(initial, library, model, questions = []) {
  let paint = noPaint(initial.size);
  let strokes = 0;
  let ready = prepare(initial, library, paint); // what the engine works on
  let due = false; // the next run is to be played from its first step, once it has ended
  let moved = false; // something has changed while the reader holds a control
  let pace = ON_SIGHT;
  const brush = { ...BRUSH };
  const view = { sketching: false, truth: false };
  const sketch = createSketch();
  const presets = presetsFor(library);
  /** @type {Frame<Settings, Patch, Findings>} */
  const frame = createFrame({
    settings: initial,
    presets,
    offer: offerOf(questions, presets),
    name: "retrieval",
    aside: ["inside"],
    next: (settings, patch) => nextSettings(settings, patch, library),
    stands: (patch) => frame.preset?.key === "start" && onlyMoves(patch),
    admits,
    update,
    findings: () => words.found(),
    words: () => words.words(),
    python: (settings) => python(settings, isPainted(paint)),
    data: () => tableOf(engine.end?.trace ?? []),
  });
  const engine = createEngine({
    end: showEnd,
    frames() {
      playback.refresh();
      if (timeline.weights[clock.step]) weigh(timeline.weights[clock.step]);
      drawCharts();
    },
    rested: () => (frame.pending ? null : map.missing(frame.settings, ready)),
    cells(cells, limits) {
      map.take(cells, limits);
      showMap();
    },
    error: (message) => frame.warn(`The computation stopped: ${message}`),
  });
  const { timeline } = engine;
  const playback = createPlayback({
    timeline,
    speed: 30,
    show,
    rest: frame.settle,
    reset,
    open: engine.record,
  });
  const { clock } = playback;
  const words = createRunWords(library, () => {
    const { settings, pending } = frame;
    const { strengths } = bars;
    return { engine, settings, pending, ready, step: clock.step, strengths };
  });
  const charts = createCharts();
  const readouts = createReadouts();
  const most = () => library.count(frame.settings.collection);
  const map = phaseMap(library, {
    onMove: (at) => frame.change(placed(at, most())),
    onStep: (steps) => frame.change(stepped(frame.settings, steps, most())),
  });
  const stage = createStage(initial.size, {
    tool: () => ({
      brush: view.sketching ? 1 : brush.size,
      touch: view.sketching || brush.tool !== null,
    }),
    dab: paintDab,
    endStroke: () => !view.sketching && frame.change({}),
    file: (file) => adopt(file, false),
  });
  const own = createOwn({
    sketch: setSketching,
    store: storeSketch,
    file: (file) => adopt(file, true),
    scribble(on) {
      brush.tool = on ? "paint" : null;
      panel.showBrush();
    },
    truth(on) {
      view.truth = on;
      showTools();
    },
  });
  const panel = createPanel(initial, library, brush, frame.change, {
    fileToStore: (file) => adopt(file, true),
    clearPaint() {
      paint = noPaint(frame.settings.size);
      strokes++;
      frame.change({});
    },
    toolChanged: showTools,
  });
  const machine = createMachine({
    look: (frequency) => engine.look(clock.step, frequency),
    context: () => contextOf(frame.settings, ready, clock.steps, library),
    take: (first) => playback.seek(first ? 0 : clock.step + 1),
    changed(level) {
      machine.element.parentElement?.classList.toggle("r1-inside", level >= 0);
      if (level !== frame.settings.inside) frame.keep({ inside: level });
    },
  });
  const memories = createMemories(panel.grid, machine.opener);
  const bars = createBars();
  const sentence = h("p", { class: "r1-sentence" });
  const jax = createJaxRun(model, () => ({ settings: frame.settings, ready }));
  const axes = axisChoice(initial.across, (across) =>
    frame.change({ across: across ?? frame.settings.across }),
  );
  const pin = createPin({
    now() {
      const { end } = engine;
      const { settings } = frame;
      return end && { settings, end, both: words.at(end.frame.record, end.frame.step) };
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
   * @param {{ before: Settings | null, play: boolean }} how
   */
  function update({ before, play }) {
    const { settings } = frame;
    if (library.lacks(settings.collection, settings.size)) return fetchPictures();
    if (before === null || paint.size !== settings.size) {
      paint = noPaint(settings.size);
      strokes++;
    }
    clock.pause();
    moved = hold.held;
    due = (play || before !== null) && !hold.held && !reducedMotion();
    view.sketching = false;
    view.truth = false;
    ready = prepare(settings, library, paint);
    panel.show(settings);
    memories.show(settings, ready, frame.pending);
    axes.value = settings.across;
    showQuery();
    showTools();
    jax.forget();
    charts.wait(frame.pending);
    if (frame.pending) clock.step = 0;
    playback.disabled = frame.pending;
    if (frame.pending) {
      engine.hold();
      stage.wait();
      readouts.wait();
      bars.wait();
      setText(sentence, PENDING);
      frame.say();
    } else engine.configure(ready.config, ready.pictures);
    machine.opener.disabled = frame.pending;
    machine.go(frame.pending ? -1 : settings.inside);
    if (frame.pending) weigh(null);
    showMap();
    if (!frame.pending && map.foresight) bars.show(settings, ready, map.foresight);
  }

  /** Plays the run whose end was shown while the reader held a control, once they let go. */
  function release() {
    if (!moved || frame.pending || reducedMotion()) return;
    moved = false;
    const { end } = engine;
    if (end?.ended && !engine.isBusy()) playRun(end);
    else due = true;
  }

  /** Fetches the finer pictures. Meanwhile nothing is computed, and nothing of the last setting stays on show. */
  async function fetchPictures() {
    clock.pause();
    engine.hold();
    stage.wait();
    readouts.wait();
    bars.wait();
    panel.show(frame.settings);
    weigh(null);
    frame.tell("Fetching the photographs with 64 × 64 pixels …");
    try {
      await library.refine();
      frame.tell("");
      update({ before: null, play: true });
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
    if (view.sketching) stage.sketch(sketch.bytes);
  }

  function showTools() {
    stage.touchable(view.sketching || brush.tool !== null);
    stage.reveal(view.truth);
    own.show({ ...view, scribbling: brush.tool === "paint" });
  }

  function showMap() {
    const ghost = pin.pinned?.settings ?? null;
    map.show(frame.settings, ready, { drawn: strokes, ghost, hide: frame.pending });
    const lost = frame.pending ? null : map.lost(frame.settings, ready);
    panel.stretch(map.mark(), lost);
  }

  /**
   * Draws the exact memory's weights at the step on show, a bar on each stored picture; null hides the bars.
   *
   * @param {Float32Array | null} [weights]
   */
  function weigh(weights) {
    panel.weigh(weights ? new Map(ready.stored.map((key, m) => [key, weights[m]])) : null);
  }

  /** @param {End} end */
  function showEnd(end) {
    const { frame: last, ended, info } = end;
    const { settings } = frame;
    clock.pause();
    clock.steps = ended ? last.step : settings.steps;
    clock.step = last.step;
    const both = words.at(last.record, last.step);
    const sure = { exact: ended, distributed: ended };
    readouts.show(info.pull, both.exact.mixed);
    memories.showVector(end, settings, ready);
    if (end.overflow !== null)
      frame.tell(overflowInWords(end.overflow, settings.basis, settings.beta));
    if (due && ended && end.overflow === null) return playRun(end);
    if (ended) due = false;
    playback.refresh();
    stage.show(last.bytes, both, sure);
    weigh(last.weights);
    setText(sentence, ended ? explained(end) : MOVING);
    drawCharts();
    machine.refresh();
    if (ended && !engine.isBusy()) frame.settle(false);
  }

  /**
   * Plays a run that has ended, from its first step.
   *
   * @param {End} end
   */
  function playRun(end) {
    const { frame: last } = end;
    const { both } = words.of(end);
    due = false;
    engine.record();
    clock.steps = last.step;
    if (last.step === 0) return playback.seek(last.step);
    stage.begin(ready.bytes.query);
    if (!frame.preset?.predict) frame.tell(""); // clears an answer shown during a drag: it comes again at the end
    setText(sentence, playing(both));
    machine.refresh();
    playback.replay(last.step / pace.seconds, pace.lead);
    playback.refresh();
    pace = LET_GO;
  }

  /** The sentence shown at the end of a run. @param {End} end */
  function explained(end) {
    const { preset, settings } = frame;
    const opens = preset?.key === "start" && same({ ...settings, inside: -1 }, preset.set);
    const run = words.of(end);
    const { exact, distributed } = run.both;
    return opens && exact.right && distributed.right ? OPENING : explain(run, settings);
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
    const { end } = engine;
    if (!bytes || !end) return;
    const [now, last] = [words.at(timeline.records[step], step), words.of(end).both];
    const over = step >= clock.steps;
    stage.show(bytes, now, {
      exact: over || isSettled(now.exact, last.exact),
      distributed: over || isSettled(now.distributed, last.distributed),
    });
    weigh(timeline.weights[step]);
    setText(sentence, over ? explained(end) : playing(last));
    drawCharts();
    machine.refresh();
    frame.say();
  }

  /** @param {Cell[]} cells */
  function paintDab(cells) {
    if (view.sketching) {
      sketch.draw(cells);
      return stage.sketch(sketch.bytes);
    }
    if (library.lacks(frame.settings.collection, frame.settings.size)) return;
    stroke(paint, cells, brush);
    strokes++;
    view.truth = false;
    ready = prepare(frame.settings, library, paint);
    showQuery();
    showTools();
    engine.configure(ready.config, ready.pictures);
  }

  /** @param {boolean} on */
  function setSketching(on) {
    view.sketching = on;
    view.truth = false;
    if (on) {
      sketch.clear();
      setText(sentence, "Draw something in the place of the query, and store it.");
    }
    showQuery();
    showTools();
    if (!on && engine.end) show(clock.step);
  }

  /** Stores the drawing in both memories. Nothing of it is hidden until the reader scribbles over it. */
  function storeSketch() {
    if (sketch.isEmpty) return setText(sentence, "Draw something first.");
    const key = library.add(sketch.enlarged(library.side));
    brush.tool = "paint";
    panel.showBrush();
    frame.change({ store: key, pressed: true, target: key, fraction: 0 });
  }

  /**
   * Takes a picture of the reader's as the true picture; with `store` it is also stored.
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

  const { transport, rest } = playback.parts;
  const cover = h("div", { class: "r1-cover" }, panel.cover);
  const explorer = frame.lay({
    className: "r1-retrieval",
    stageFirst: true,
    stage: [
      stage.pictures,
      ...memories.elements,
      machine.element,
      own.element,
      cover,
      stage.ghosts,
    ],
    under: [
      transport,
      h("div", { class: "r1-set" }, h("div", { class: "r1-three" }, panel.first), bars.element),
      sentence,
      frame.status,
    ],
    controls: [h("div", { class: "r1-axis-choice" }, axes.element, pin.element), map.element],
    readouts: readouts.elements,
    pictured: [map.element],
    more: [
      h("div", { class: "r1-bar" }, rest),
      panel.more,
      jax.element,
      ...(questions.length > 0 ? [charts.element] : []),
      help(...HELP),
    ],
    charts: questions.length > 0 ? [] : [charts.element],
    playback,
    state() {
      const { end, relativeNoise, ends } = engine;
      const { config, numbers } = ready;
      return {
        ...{ ends, info: end?.info, ended: end?.ended, overflow: end?.overflow, relativeNoise },
        ...{ record: end && named(end.frame.record), trace: end?.trace, bounds: timeline.bounds },
        ...{ computed: timeline.last, mapped: map.known(), busy: engine.isBusy(), due },
        ...{ config, numbers, machine: machine.state(), strengths: bars.strengths },
      };
    },
    close() {
      hold.close();
      jax.close();
      engine.close();
    },
  });
  const hold = createHold(explorer.element, release);
  explorer.element.addEventListener("toggle", drawCharts, true); // when the charts are unfolded
  guardDrops(explorer.element);
  return { ...explorer, states: engine.state };
}

/**
 * The memory as the machine needs it; null if its features are not sincos, the features that the machine explains.
 *
 * @type {(settings: Settings, ready: ReturnType<typeof prepare>, steps: number, library: Library) => Context | null}
 */
function contextOf(
  { collection, basis, Y, beta, eta, target: key },
  { config, patterns, stored },
  steps,
  library,
) {
  if (basis !== "sincos") return null;
  const { ids, D, freedom, bits } = config;
  const labels = stored.map((one) => library.label(collection, one));
  const sizes = { D, K: stored.length, Y, freedom, bits, steps };
  return { ...sizes, beta, eta, ids, patterns, labels, target: stored.indexOf(key) };
}

/** @type {(questions: string[], presets: { key: string }[]) => { first: string[], more: string[] }} */
function offerOf(questions, presets) {
  if (questions.length > 0) return { first: questions, more: [] };
  const more = presets.map(({ key }) => key).filter((key) => !FIRST.includes(key));
  return { first: FIRST, more };
}
