// The surface explorer: connects the controls, the mathematics and the parts of the page.
import { reducedMotion } from "../kit/clock.js";
import { h } from "../kit/dom.js";
import { createFrame, same } from "../kit/explorer.js";
import { createHold } from "../kit/hold.js";
import { amount, counted, figures, fixed, percent } from "../kit/number.js";
import { createPlayback, help } from "../kit/playback.js";
import { facts } from "../kit/readout.js";
import { onTheme } from "../kit/theme.js";
import { createChart } from "./chart.js";
import { createPanel } from "./panel.js";
import { presetsOf } from "./presets.js";
import { python } from "./python.js";
import { admits, consequences, nextSettings, settingsFrom } from "./settings.js";
import { createStage } from "./stage.js";

/** @import { Frame } from "../kit/explorer.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { Found } from "./presets.js" */
/** @import { Consequences, Patch, Settings, Stored } from "./settings.js" */

const SPEED = 10; // steps per second, one of the speeds on offer: slow enough that each step is visible
const STANDING = ["beta", "eta", "turn"]; // a question stays on show while the reader changes only these
const AGAIN = 0.9; // seconds that a run takes when it plays because the reader released a control
const HELP =
  "On the start, the ring on the surface: arrow keys move it. A drag across the surface turns it.";

/**
 * @param {object} given The settings that differ from the explorer's defaults.
 * @param {Stored} stored
 * @returns {Explorer}
 */
export function createExplorer(given, stored) {
  const { names } = stored;
  const presets = presetsOf(stored);
  const initial = settingsFrom(given);
  let shown = consequences(initial, stored);
  let started = reducedMotion(); // while false, the marble waits at the start and no answer is given
  let due = false; // true if the run has changed while a control is held, and is to play on release
  let unwatch = /** @type {(() => void) | null} */ (null);
  /** @type {Frame<Settings, Patch, Found>} */
  const frame = createFrame({
    name: "surface",
    settings: initial,
    presets,
    next: nextSettings,
    admits,
    stands: (patch) => Object.keys(patch).every((name) => STANDING.includes(name)),
    patience: 700,
    update,
    findings: () => (isOnItsWay() ? null : { ...shown, names, steps: frame.settings.steps }),
    words,
    python: (settings) => python(settings, stored),
    data: () => table(shown, names),
  });
  const playback = createPlayback({
    speed: SPEED,
    show: draw,
    rest: () => frame.settle(),
    reset: frame.reset,
  });
  const { clock } = playback;
  const stage = createStage(stored, {
    onMove: (query) => frame.change({ query }),
    onTurn: (degrees) => frame.change({ turn: turned(frame.settings.turn + degrees) }),
  });
  const chart = createChart();
  const bill = facts();
  const panel = createPanel(initial, names, frame.change);

  const isOnItsWay = () => clock.playing || !started;

  /** @param {{ before: Settings | null, play: boolean }} how */
  function update({ before, play }) {
    const { settings } = frame;
    started ||= play || before !== null;
    panel.show(settings);
    if (before && onlyTurned(before, settings)) return draw(clock.step);
    shown = consequences(settings, stored);
    clock.pause();
    playback.cover(settings.steps);
    const plays = (play || before !== null) && !reducedMotion() && !frame.pending;
    due = plays && hold.held;
    if (plays && !hold.held) replay(play);
    else clock.seek(frame.pending || !started ? 0 : settings.steps);
    frame.settle(frame.pending);
  }

  /** @param {boolean} isFirst True if this run plays for the first time: at the usual speed, after a pause. */
  function replay(isFirst) {
    if (isFirst) playback.usualSpeed();
    const { steps } = frame.settings;
    if (isFirst) playback.replay(undefined, 500);
    else playback.replay(steps / AGAIN);
  }

  /** Plays the run when the reader releases a control; until then only the end of the run is shown. */
  function release() {
    if (!due) return;
    due = false;
    replay(false);
  }

  /** @param {number} step */
  function draw(step) {
    const { settings, pending } = frame;
    const veil = frame.preset?.key === "merge" ? "surface" : "run";
    stage.show({ settings, shown, step, veiled: pending ? veil : null });
    chart.show(shown.run, step);
    bill.show(rows(shown, step, names));
    for (const part of [chart, bill]) part.element.classList.toggle("r1-veiled", pending);
    transport.classList.toggle("r1-veiled", pending);
  }

  function words() {
    if (frame.pending) return "The run is drawn once you have guessed.";
    const { nearest, apart, rests } = shown;
    const wells = counted(rests.length, "well");
    const surface = `At β = ${figures(frame.settings.beta)} the surface has ${wells}.`;
    if (isOnItsWay()) return `${surface} The marble is on its way.`;
    return `${surface} The run ends nearest to the ${names[nearest]}, ${amount(apart)} away.`;
  }

  const { transport, rest } = playback.parts;
  const laid = frame.lay({
    className: "r1-of-surface",
    stage: [stage.element, transport, frame.status],
    controls: panel.first,
    readouts: [bill.element, chart.element],
    more: [h("div", { class: "r1-bar" }, rest), ...panel.more, help(HELP)],
    playback,
    pictured: [chart.element],
    state: () => ({
      path: shown.run.path,
      heights: shown.run.heights,
      energies: shown.run.energies,
      ground: shown.run.ground,
      rests: shown.rests,
      nearest: shown.nearest,
      apart: shown.apart,
    }),
    close() {
      hold.close();
      unwatch?.();
      stage.close();
    },
  });
  const hold = createHold(laid.element, release);
  return {
    ...laid,
    begin(play) {
      laid.begin(play);
      unwatch ??= onTheme(laid.element, stage.redraw);
    },
  };
}

/** @type {(before: Settings, after: Settings) => boolean} */
const onlyTurned = (before, after) =>
  before.turn !== after.turn && same({ ...before, turn: after.turn }, after);

/**
 * The angle in degrees, reduced to the range from −180 to 180.
 *
 * @param {number} degrees
 */
const turned = (degrees) => ((((degrees + 180) % 360) + 360) % 360) - 180;

/** @type {(shown: Consequences, step: number, names: string[]) => [string, string][]} */
function rows({ run, rests }, step, names) {
  return [
    ["Wells of the surface", String(rests.length)],
    ["Distance from the plane", fixed(run.heights[step], 4)],
    ["Energy", fixed(run.energies[step], 4)],
    ...names.map((name, i) => pair(`Weight of the ${name}`, percent(run.weights[step][i]))),
  ];
}

/** @type {(name: string, value: string) => [string, string]} */
const pair = (name, value) => [name, value];

/** @type {(shown: Consequences, names: string[]) => { columns: string[], rows: (string | number)[][] }} */
function table({ run }, names) {
  return {
    columns: [
      "step",
      "E",
      "E on the plane",
      "off the plane",
      ...names.map((name) => `weight of ${name}`),
    ],
    rows: run.energies.map((energy, t) => [
      t,
      energy,
      run.ground[t],
      run.heights[t],
      ...run.weights[t],
    ]),
  };
}
