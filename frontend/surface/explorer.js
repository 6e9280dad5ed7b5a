// Settings in, a surface and a run on it out: joins the controls, the mathematics and what is on the page.
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

const SPEED = 10; // steps a second, one of those on offer: each is seen
const STANDING = ["beta", "eta", "turn"]; // what a question invites the reader to change
const AGAIN = 0.9; // seconds of a run that plays because the reader has let go
const HELP =
  "On the start, the ring on the surface: arrow keys move it. A drag across the surface turns it.";

/**
 * @param {object} given What differs from the explorer's own start.
 * @param {Stored} stored
 * @returns {Explorer}
 */
export function createExplorer(given, stored) {
  const { names } = stored;
  const presets = presetsOf(stored);
  const initial = settingsFrom(given);
  let shown = consequences(initial, stored);
  let seen = reducedMotion(); // before, the marble waits at the start and no answer is given
  let due = false; // a run that the reader has changed, and not seen play
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

  const isOnItsWay = () => clock.playing || !seen;

  /** @param {{ before: Settings | null, play: boolean }} how */
  function update({ before, play }) {
    const { settings } = frame;
    seen ||= play || before !== null;
    panel.show(settings);
    if (before && onlyTurned(before, settings)) return draw(clock.step);
    shown = consequences(settings, stored);
    clock.pause();
    playback.cover(settings.steps);
    const wanted = (play || before !== null) && !reducedMotion() && !frame.pending;
    due = wanted && hold.held;
    if (wanted && !hold.held) replay(play);
    else clock.seek(frame.pending || !seen ? 0 : settings.steps);
    frame.settle(frame.pending);
  }

  /** @param {boolean} isFirst Whether the reader has yet to see this run. */
  function replay(isFirst) {
    if (isFirst) playback.usualSpeed();
    const { steps } = frame.settings;
    if (isFirst) playback.replay(undefined, 500);
    else playback.replay(steps / AGAIN);
  }

  /** What was shown as an end while the reader held it plays, once they let go. */
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
 * Degrees from −180 to 180.
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
