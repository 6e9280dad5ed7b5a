// The preconditioning explorer: three paths, a prediction before they are shown, and the number of steps of each.
import { createBackground } from "../kit/background.js";
import { h, setText } from "../kit/dom.js";
import { createFrame } from "../kit/explorer.js";
import { table } from "../kit/export.js";
import { keepHeight } from "../kit/keepheight.js";
import { amount } from "../kit/number.js";
import { createPlayback, help } from "../kit/playback.js";
import { createCharts, SERIES } from "./charts.js";
import { counting, isLost, run, widest } from "./math/paths.js";
import { createPanel } from "./panel.js";
import { createPlanes, KEY } from "./planes.js";
import { PRESETS } from "./presets.js";
import { python } from "./python.js";
import { admits, nextSettings } from "./settings.js";
import { createSpectrum } from "./spectrum.js";
import { fateInWords } from "./verdict.js";
import { condition } from "./words.js";

/** @import { Frame } from "../kit/explorer.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { Table } from "../kit/export.js" */
/** @import { Counts, Kind, Run } from "./math/paths.js" */
/** @import { Patch, Settings } from "./settings.js" */
/** @import { Findings } from "./presets.js" */

const HELP = "On a start, the white point of a plane: arrow keys move it.";
const VERDICT_LATER = "Predict what the path of U (blue) and that of W with P (orange) do.";

/**
 * The explorer. `save(settings)` is called after every change by the reader.
 *
 * @param {Settings} initial
 * @param {(settings: Settings) => void} save
 * @returns {Explorer}
 */
export function createExplorer(initial, save) {
  let current = run(initial);
  /** @type {Counts | null} */
  let counts = null;
  /** @type {Frame<Settings, Patch, Findings>} */
  const frame = createFrame({
    settings: initial,
    presets: PRESETS,
    next: nextSettings,
    stands: (patch) => Object.keys(patch).every((name) => name === "start"),
    update,
    findings,
    words,
    save,
    name: "preconditioning",
    admits,
    python,
    data: () => dataOf(current),
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
  const verdict = h("p", { class: "r1-verdict" });
  const panel = createPanel(initial, frame.change);

  /**
   * Computes the paths, then plays them from the start or shows their end.
   *
   * @param {{ before: Settings | null, play: boolean }} how
   */
  function update({ play }) {
    const { settings } = frame;
    clock.pause();
    current = run(settings);
    playback.cover(settings.steps);
    panel.show(settings);
    planes.setGround(current.problem, ends());
    spectrum.draw(current.spectra, frame.pending);
    counts = null;
    charts.count(null, frame.pending);
    counter.start(counting(settings));
    announce();
    clock.seek(play ? 0 : settings.steps);
    if (play) clock.play();
    else frame.settle();
  }

  /**
   * The ends of the paths. An end that is hidden, unknown or of a path that diverges is the minimum, where no ring is
   * drawn.
   */
  function ends() {
    const { wStar } = current.problem;
    const ringless = frame.pending || current.fate === "away";
    const { reparameterised, explicit } = current.ends;
    return {
      reparameterised: ringless ? wStar : reparameterised,
      explicit: ringless || isLost("explicit", frame.settings) ? wStar : explicit,
    };
  }

  /** @param {{ value: Counts } | null} done */
  function onCounted(done) {
    if (!done) return;
    counts = done.value;
    announce();
    if (!clock.playing) frame.settle();
  }

  function announce() {
    setText(verdict, frame.pending ? VERDICT_LATER : fateInWords(current, counts));
    if (counts) charts.count(counts, frame.pending);
  }

  /** @param {number} step */
  function show(step) {
    /** @type {(key: Kind) => number[][] | null} */
    const path = (key) => (frame.pending && key !== "plain" ? null : current.paths[key].w);
    planes.draw(path, step);
    charts.draw(current, step, frame.settings.steps, frame.pending);
    frame.say();
  }

  /** The numbers of the run for the question's answer; null until the run has ended. */
  function findings() {
    if (frame.pending || counts === null || clock.step < clock.steps) return null;
    const { gap, known, spectra, paths } = current;
    return {
      counts,
      fate: current.fate,
      known,
      gap: gap[gap.length - 1],
      widest: widest(gap),
      conditions: {
        plain: condition(spectra.plain),
        preconditioned: condition(spectra.preconditioned),
      },
      shares:
        spectra.plain[0] /
        spectra.plain[3] /
        (spectra.preconditioned[0] / (spectra.preconditioned[3] ?? 0)),
      left: paths.reparameterised.loss[clock.steps],
    };
  }

  function words() {
    const { step } = clock;
    const { paths, gap } = current;
    const plain = `Step ${step}. Loss: plain ${amount(paths.plain.loss[step])}`;
    if (frame.pending) return `${plain}. Predict, and the other two are shown.`;
    const own = amount(paths.reparameterised.loss[step]);
    const other = amount(paths.explicit.loss[step]);
    return `${plain}, on U ${own}, with P ${other}. Gap between the last two ${amount(gap[step])}.`;
  }

  const laid = frame.lay({
    className: "r1-preconditioning",
    stage: [planes.element, playback.element],
    controls: panel.first,
    readouts: [charts.counters, verdict],
    more: [panel.rest, help(HELP, KEY)],
    moreLabel: "More: ranks, the loss, the run",
    charts: [frame.status, charts.element, spectrum.element],
    playback,
    state: () => ({ counts, ...current }),
    close: counter.stop,
  });
  const controls = laid.element.querySelector(".r1-first");
  if (controls instanceof HTMLElement) keepHeight(controls); // the number of controls depends on the method
  return laid;
}

/** @type {(run: Run) => Table} */
const dataOf = ({ paths, gap }) =>
  table("step", {
    "loss, plain": paths.plain.loss,
    "loss, on U": paths.reparameterised.loss,
    "loss, with P": paths.explicit.loss,
    gap,
  });
