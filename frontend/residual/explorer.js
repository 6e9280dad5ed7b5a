// The residual explorer: connects the data, the race of the risks, the playback and the parts of the page.
import { createFrame } from "../kit/explorer.js";
import { keepHeight } from "../kit/keepheight.js";
import { count, figures, percent } from "../kit/number.js";
import { createPlayback, help } from "../kit/playback.js";
import * as random from "../math/random.js";
import { createCharts, lawsAt } from "./charts.js";
import { crossing, levelsOf } from "./levels.js";
import { createMaps } from "./maps.js";
import { baseLaw } from "./math/laws.js";
import { MODELS, sizesOf } from "./math/risk.js";
import { drawLine, drawPlane, fitLine, fitPlane } from "./math/sets.js";
import { drawWaves, fitWaves, waveLaws } from "./math/waves.js";
import { createPanel } from "./panel.js";
import { PRESETS } from "./presets.js";
import { python } from "./python.js";
import { createRace } from "./race.js";
import { admits, levelOf, measured, nextSettings, placeOf } from "./settings.js";
import { circle, createSlices, slice } from "./slices.js";
import { verdict } from "./words.js";

/** @import { Table } from "../kit/export.js" */
/** @import { Frame } from "../kit/explorer.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { LineFit, LineSet, PlaneFit, PlaneSet } from "./math/sets.js" */
/** @import { Risks } from "./math/risk.js" */
/** @import { WaveFit, WaveSet } from "./math/waves.js" */
/** @import { Findings } from "./presets.js" */
/** @import { Patch, Settings } from "./settings.js" */

const SPEED = 10; // sizes n per second

/**
 * The explorer. `save(settings)` is called after every change by the reader.
 *
 * @param {Settings} initial
 * @param {(settings: Settings) => void} save
 * @returns {Explorer}
 */
export function createExplorer(initial, save) {
  /** @type {{ set: LineSet | PlaneSet | WaveSet, fit: LineFit | PlaneFit | WaveFit } | null} */
  let shown = null; // the data set and the model on the stage
  let goal = placeOf(initial); // the index of the size at which a question's race ends
  const drawn = lastOne(); // a cache of the data set on the stage; its first points are the same for every n
  /** @type {Frame<Settings, Patch, Findings>} */
  const frame = createFrame({
    settings: initial,
    presets: PRESETS,
    next: nextSettings,
    stands: (patch) => Object.keys(patch).every((name) => name === "frequency"),
    update,
    findings,
    words,
    save,
    name: "residual",
    admits,
    python,
    data: () => dataOf(race),
  });
  const race = createRace({ onMore, onFail: frame.warn });
  const playback = createPlayback({
    speed: SPEED,
    show,
    rest,
    reset: frame.reset,
    open: () => playback.cover(sizesOf(frame.settings.view).length - 1),
    progress,
  });
  const { clock } = playback;
  const charts = createCharts();
  const stages = {
    line: createSlices({ along: "first coordinate of x", base: "base, ‖θ‖ ≤ L" }),
    plane: createMaps(),
    waves: createSlices({ along: "x, around the circle", base: "base: one wave" }),
  };
  const panel = createPanel(initial, frame.change, playback.seek);
  playback.usualSpeed();

  /**
   * Draws the picture at once; the risks follow as they are measured.
   *
   * @param {{ before: Settings | null, play: boolean }} how
   */
  function update({ before, play }) {
    const { settings } = frame;
    clock.pause();
    panel.show(settings);
    goal = placeOf(settings);
    playback.cover(goal); // all steps can play at once, because the picture does not depend on the measurements
    if (!before || measured(before) !== measured(settings)) {
      race.start(settings, levelsOf(settings, baseLaw(settings.L)));
    }
    clock.seek(goal);
    if (play) playback.replay();
  }

  /** Redraws the charts after new measurements. */
  function onMore() {
    if (clock.playing) return;
    drawCharts();
    playback.refresh();
    frame.settle();
  }

  /** @param {number} place */
  function show(place) {
    const n = sizesOf(frame.settings.view)[place];
    if (n !== frame.settings.n) {
      frame.follow({ n });
      panel.show(frame.settings);
    }
    drawStage();
    drawCharts();
    frame.say();
  }

  function drawStage() {
    const { settings } = frame;
    const { view, n, d, seed } = settings;
    for (const [name, { element }] of Object.entries(stages)) element.hidden = name !== view;
    if (view === "line") {
      const set = drawn(`line ${n} ${d} ${seed}`, () => drawLine(random.key(seed), n, d));
      const fit = fitLine(set, settings);
      shown = { set, fit };
      stages.line.draw(set, fit, slice(set, fit, settings), frame.pending);
    } else if (view === "waves") {
      const set = drawn(`waves ${n} ${seed}`, () => drawWaves(random.key(seed), n));
      const fit = fitWaves(set, settings);
      shown = { set, fit };
      stages.waves.draw(set, fit, circle(set, fit, settings), frame.pending);
    } else {
      const set = drawn(`plane ${n} ${seed}`, () => drawPlane(random.key(seed), n));
      const fit = fitPlane(set, settings);
      shown = { set, fit };
      stages.plane.draw(set, fit, settings, frame.pending);
    }
  }

  function drawCharts() {
    const measurements = frame.pending ? { ...race, risks: [], sweep: [] } : race;
    charts.draw(frame.settings, measurements, clock.step, threshold(), frame.pending);
  }

  function progress() {
    const { n, view } = frame.settings;
    const computed = Math.max(0, race.risks.length - 1);
    return { computed, steps: sizesOf(view).length - 1, words: `n = ${count(n)}` };
  }

  /**
   * The noise above which the memory hurts: by the law for one neighbour on the line, by measurement in the plane; null
   * for the waves.
   */
  function threshold() {
    if (frame.settings.view === "waves") return null;
    const law = lawsAt(frame.settings, frame.settings.n);
    return law ? law.threshold : crossing(race.levels, race.sweep);
  }

  /**
   * Measures the levels of noise at the n at which the playback has stopped.
   *
   * @param {boolean} ended
   */
  function rest(ended) {
    save(frame.settings);
    if (race.at !== frame.settings.n) race.look(frame.settings);
    frame.settle(ended);
  }

  /**
   * The numbers for the question's answer; null until the risks and the levels at the end of its race are measured.
   *
   * @returns {Findings | null}
   */
  function findings() {
    const { settings } = frame;
    const risk = race.risks[clock.step];
    if (!risk || race.sweep.length === 0 || clock.step !== goal) return null;
    const law = lawsAt(settings, settings.n);
    const waves = settings.view === "waves" ? waveLaws(settings, settings.n) : null;
    return { n: settings.n, risk, law, waves, threshold: threshold(), level: levelOf(settings) };
  }

  function words() {
    const { n } = frame.settings;
    const risk = race.risks[clock.step];
    if (frame.pending) return `${count(n)} examples. Predict, and what is measured is shown.`;
    if (!risk) return `${count(n)} examples. Measuring: ${percent(race.share)} done.`;
    const [memory, base, alone] = [risk.memory, risk.base, risk.neighbours].map((v) =>
      figures(v, 2),
    );
    return `${count(n)} examples. ${verdict(risk)}: ${memory} with it, ${base} without; neighbours alone ${alone}.`;
  }

  /** The data and the model on the stage, as plain numbers. */
  function model() {
    if (!shown) return null;
    const { set, fit } = shown;
    const weights = "theta" in fit ? { theta: fit.theta } : "w" in fit ? { w: fit.w } : {};
    return { ...weights, X: [...set.X], y: [...fit.y], residuals: [...fit.residuals] };
  }

  const laid = frame.lay({
    className: "r1-residual",
    stage: [stages.line.element, stages.plane.element, stages.waves.element],
    controls: panel.first,
    readouts: [playback.element, charts.table, frame.status],
    more: [panel.rest, help("A step is the next number of examples.")],
    moreLabel: "More: other examples, keys",
    charts: [charts.element],
    playback,
    state() {
      const { sizes, risks, levels, sweep, busy } = race;
      const law = lawsAt(frame.settings, frame.settings.n);
      const { view } = frame.settings;
      const waves = view === "waves" ? waveLaws(frame.settings, frame.settings.n) : null;
      return {
        waves,
        model: model(),
        sizes,
        risks,
        levels,
        sweep,
        busy,
        law,
        threshold: threshold(),
      };
    },
    close: race.close,
  });
  for (const name of ["stage-block", "first"]) {
    const part = laid.element.querySelector(`.r1-${name}`);
    if (part instanceof HTMLElement) keepHeight(part); // the heights depend on the picture
  }
  return laid;
}

/** @type {(race: { sizes: number[], risks: Risks[] }) => Table} */
const dataOf = ({ sizes, risks }) => ({
  columns: ["n", ...MODELS],
  rows: risks.map((risk, i) => [sizes[i], ...MODELS.map((model) => risk[model])]),
});

/** A cache of one value: `make` is called only if the name differs from that of the cached value. */
function lastOne() {
  /** @type {{ name: string, made: unknown }} */
  let last = { name: "", made: null };
  return /** @type {<T>(name: string, make: () => T) => T} */ (
    (name, make) => {
      if (name !== last.name) last = { name, made: make() };
      return /** @type {any} */ (last.made);
    }
  );
}
