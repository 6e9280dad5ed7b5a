// Settings in, pictures out: three paths, a guess before they are shown, and how many steps each needs.
import { createBackground } from "../kit/background.js";
import { createFrame } from "../kit/explorer.js";
import { amount } from "../kit/number.js";
import { createPlayback, help } from "../kit/playback.js";
import { createCharts, SERIES } from "./charts.js";
import { counting, run, widest } from "./math/paths.js";
import { createPanel } from "./panel.js";
import { createPlanes } from "./planes.js";
import { createPrediction } from "./prediction.js";
import { PRESETS } from "./presets.js";
import { nextSettings } from "./settings.js";
import { createSpectrum } from "./spectrum.js";
import { condition } from "./words.js";

/** @import { Frame } from "../kit/explorer.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { Counts, Kind } from "./math/paths.js" */
/** @import { Patch, Settings } from "./settings.js" */
/** @import { Findings } from "./presets.js" */

const HELP = "On a start, the white point of a plane: arrow keys move it.";
const GUESS =
  "Predict before you look: what do the path of U (blue) and the path of W with P (orange) do?";

/**
 * `save(settings)` is told every change of the reader's.
 *
 * @param {Settings} initial
 * @param {(settings: Settings) => void} save
 * @returns {Explorer}
 */
export function createExplorer(initial, save) {
  let current = run(initial);
  /** @type {Counts | null} */
  let counts = null;
  let pending = initial.method !== "gd"; // the reader has yet to predict
  /** @type {string | null} */
  let guess = null;
  /** @type {Frame<Settings, Patch, Findings>} */
  const frame = createFrame({
    settings: initial,
    presets: PRESETS,
    next: nextSettings,
    update,
    findings,
    words,
    save,
  });
  const playback = createPlayback({ show, rest: frame.settle, reset: frame.reset });
  const { clock } = playback;
  const counter = createBackground({ budget: 6, pause: 100, onSlice: onCounted });
  const charts = createCharts();
  const spectrum = createSpectrum();
  const planes = createPlanes(SERIES, (row, place) => {
    const { start } = frame.settings;
    frame.change({ start: start.map((r, i) => (i === row ? place : r)) });
  });
  const prediction = createPrediction(predict);
  const panel = createPanel(initial, frame.change);

  /**
   * Runs the paths; plays them from the start, or shows them at their end.
   *
   * @param {{ before: Settings | null, play: boolean }} how
   */
  function update({ before, play }) {
    const { settings } = frame;
    guess = null;
    if (settings.method !== before?.method) pending = settings.method !== "gd";
    clock.pause();
    current = run(settings);
    playback.cover(settings.steps);
    panel.show(settings);
    planes.setGround(current.problem, ends());
    spectrum.draw(current.spectra);
    counts = null;
    charts.count(null, settings.tolerance, pending);
    counter.start(counting(settings));
    announce();
    clock.seek(play ? 0 : settings.steps);
    if (play) clock.play();
    else frame.settle();
  }

  /** @param {string | null} choice */
  function predict(choice) {
    guess = choice;
    pending = false;
    clock.pause();
    planes.setGround(current.problem, ends());
    announce();
    playback.replay();
  }

  /** Where the paths end; at the minimum, where no ring is drawn, while that is secret or if they run away. */
  function ends() {
    const { wStar } = current.problem;
    const ringless = pending || current.fate === "away";
    return ringless ? { reparameterised: wStar, explicit: wStar } : current.ends;
  }

  /** @param {{ value: Counts } | null} done */
  function onCounted(done) {
    if (!done) return;
    counts = done.value;
    announce();
    if (!clock.playing) frame.settle();
  }

  function announce() {
    const { method, tolerance } = frame.settings;
    if (method === "gd") prediction.hide();
    else if (pending) prediction.ask(GUESS);
    else prediction.answer(guess, current, counts);
    if (counts) charts.count(counts, tolerance, pending);
  }

  /** @param {number} step */
  function show(step) {
    /** @type {(key: Kind) => number[][] | null} */
    const path = (key) => (pending && key !== "plain" ? null : current.paths[key].w);
    planes.draw(path, step);
    charts.draw(current, step, frame.settings.steps, pending);
    frame.say();
  }

  /** The run's own numbers, once it has ended. */
  function findings() {
    if (pending || counts === null || clock.step < clock.steps) return null;
    const { gap, known, spectra, paths } = current;
    return {
      counts,
      known,
      gap: gap[gap.length - 1],
      widest: widest(gap),
      conditions: {
        plain: condition(spectra.plain),
        preconditioned: condition(spectra.preconditioned),
      },
      left: paths.reparameterised.loss[clock.steps],
    };
  }

  function words() {
    const { step } = clock;
    const { paths, gap } = current;
    const plain = `Step ${step}. Loss: plain ${amount(paths.plain.loss[step])}`;
    if (pending) return `${plain}. Predict, and the other two are shown.`;
    const own = amount(paths.reparameterised.loss[step]);
    const other = amount(paths.explicit.loss[step]);
    return `${plain}, on U ${own}, with P ${other}. Gap between the last two ${amount(gap[step])}.`;
  }

  return frame.lay({
    stage: [prediction.element, planes.element, playback.element, charts.counters, frame.status],
    side: [panel.element, spectrum.element, help(HELP)],
    charts: [charts.element],
    playback,
    state: () => ({ pending, counts, ...current }),
    close: counter.stop,
  });
}
