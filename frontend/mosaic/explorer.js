// The mosaic explorer: connects the settings, the engine, the playback and the parts of the page.
import { reducedMotion } from "../kit/clock.js";
import { h, setText } from "../kit/dom.js";
import { createFrame } from "../kit/explorer.js";
import { createHold } from "../kit/hold.js";
import { count, figures } from "../kit/number.js";
import { createPlayback, help } from "../kit/playback.js";
import { facts } from "../kit/readout.js";
import { onTheme } from "../kit/theme.js";
import { createEngine } from "./engine.js";
import { createPanel } from "./panel.js";
import { PRESETS } from "./presets.js";
import { python } from "./python.js";
import { admits, nextSettings, prepare, settingsFrom } from "./settings.js";
import { createStage } from "./stage.js";
import { explain, rounded } from "./words.js";

/** @import { Frame as FrameOf } from "../kit/explorer.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { Track } from "./actor.js" */
/** @import { Pictures } from "./math/pictures.js" */
/** @import { Frame } from "./math/run.js" */
/** @import { Found } from "./presets.js" */
/** @import { Patch, Ready, Settings } from "./settings.js" */

// A run plays for `seconds`; before that the query is shown alone for `lead` milliseconds.
const ON_SIGHT = { seconds: 4, lead: 700 };
const LET_GO = { seconds: 1.5, lead: 0 };
const PATIENCE = 400; // milliseconds that the exact run waits for the distributed run, so that both play together
const SPEED = 10; // steps per second when the reader presses play
const UNKNOWN = "?";
const NOT_YET = "…";

/**
 * @param {object} given The settings that differ from the explorer's defaults.
 * @param {(K: number) => Promise<Pictures>} fetchPictures Returns at least K pictures.
 * @returns {Explorer}
 */
export function createExplorer(given, fetchPictures) {
  const initial = settingsFrom(given);
  /** @type {Pictures | null} */
  let pictures = null;
  let arriving = false; // true while pictures are being fetched
  /** @type {Ready | null} */
  let ready = null;
  let due = false; // true if the next run is to be played from its first step
  let moved = false; // true if the settings have changed since the last release
  let pace = ON_SIGHT;
  let waiting = 0;
  const timeline = { last: 0 };
  /** @type {FrameOf<Settings, Patch, Found>} */
  const frame = createFrame({
    name: "mosaic",
    settings: initial,
    presets: PRESETS,
    next: nextSettings,
    stands: (patch) => frame.preset?.key === "start" && "target" in patch,
    admits,
    update,
    findings() {
      const { exact, distributed } = engine.runs;
      if (!exact.done || !distributed.done || !ready) return null;
      const settings = frame.settings;
      return { exact: last(exact.frames), copy: last(distributed.frames), ready, settings };
    },
    words,
    python,
    data: () => table(engine.runs.exact.frames, engine.runs.distributed.frames, frame.settings),
  });
  const engine = createEngine({
    frames: arrived,
    writing(share) {
      if (!frame.pending) stage.writing(share);
    },
    error(message) {
      stage.busy(false);
      frame.warn(`The computation stopped: ${message}`);
    },
  });
  const playback = createPlayback({
    timeline,
    speed: SPEED,
    show,
    rest: () => frame.settle(),
    reset: frame.reset,
  });
  const { clock } = playback;
  const stage = createStage({ pick: (target) => frame.change({ target }) });
  const panel = createPanel(initial, frame.change);
  stage.place.append(panel.damage);
  const sentence = h("p", { class: "r1-sentence" });
  const readout = facts();
  let unwatch = () => {};
  const resized = new ResizeObserver(() => stage.redraw());

  /** @param {{ before: Settings | null, play: boolean }} how */
  function update({ before, play }) {
    panel.show(frame.settings);
    clock.pause();
    clearTimeout(waiting);
    stage.busy(!frame.pending);
    if (!pictures || pictures.codes.length < frame.settings.K) {
      engine.hold();
      readout.show(rows());
      return fetchMore();
    }
    moved = true;
    due = (play || before !== null) && !hold.held && !reducedMotion();
    ready = prepare(frame.settings, pictures);
    stage.setQuery(frame.settings, ready);
    timeline.last = 0;
    clock.steps = frame.settings.steps;
    clock.step = 0;
    playback.refresh();
    readout.show(rows());
    if (frame.pending) {
      engine.hold();
      for (const track of TRACKS) stage.wait(track, UNKNOWN, "what do you expect?");
      setText(sentence, "Both runs are shown once you have guessed.");
      return frame.say();
    }
    engine.configure(ready.config);
  }

  async function fetchMore() {
    if (arriving) return;
    arriving = true;
    frame.tell("Fetching pictures …");
    try {
      pictures = await fetchPictures(frame.settings.K);
      arriving = false;
      engine.open(pictures.pixels);
      stage.open(pictures);
      frame.tell("");
      update({ before: null, play: true });
    } catch {
      arriving = false;
      stage.busy(false);
      frame.warn("The pictures did not come. Change anything to try again.");
    }
  }

  /** @param {Track} track */
  function arrived(track) {
    const { exact, distributed } = engine.runs;
    timeline.last = Math.max(0, exact.frames.length - 1);
    if (distributed.frames.length > 0)
      timeline.last = Math.min(timeline.last, distributed.frames.length - 1);
    playback.refresh();
    if (!engine.runs[track].done) return;
    readout.show(rows());
    if (exact.done && distributed.done) {
      clearTimeout(waiting);
      clock.pause();
      stage.busy(false);
      if (due) playRun();
      else showEnd();
    } else if (exact.done && !hold.held) {
      clearTimeout(waiting);
      waiting = Number(setTimeout(playAlone, PATIENCE));
    } else if (exact.done) showEnd();
  }

  /** Plays the exact run while T is still being written; both runs play once T is complete. */
  function playAlone() {
    if (!due) return showEnd();
    clock.pause();
    playback.replay(clock.steps / pace.seconds, pace.lead);
  }

  function playRun() {
    due = false;
    playback.replay(clock.steps / pace.seconds, pace.lead);
    playback.refresh();
    pace = LET_GO;
  }

  function showEnd() {
    clock.seek(clock.steps);
    frame.settle(engine.runs.distributed.done);
  }

  /** Plays the run when the reader releases a control; until then only the end of the run is shown. */
  function release() {
    if (!moved || frame.pending || reducedMotion()) return;
    moved = false;
    const { exact, distributed } = engine.runs;
    if (exact.done && distributed.done) playRun();
    else due = true;
  }

  /** @param {number} step */
  function show(step) {
    if (!ready || frame.pending) return;
    const { exact, distributed } = engine.runs;
    const sure = step >= clock.steps;
    const one = exact.frames[step];
    const other = distributed.frames[step];
    if (one) stage.show("exact", one, sure);
    if (other) stage.show("distributed", other, sure);
    if (!sure) setText(sentence, "Both memories go downhill in their energy, step by step.");
    else if (one) setText(sentence, explain(one, other ?? null, frame.settings, ready));
    frame.say();
  }

  function words() {
    if (frame.pending) return "Both runs are shown once you have guessed.";
    return clock.step >= clock.steps ? (sentence.textContent ?? "") : `Step ${clock.step}.`;
  }

  /**
   * The rows with the law and the speed; they have no numbers before the pictures are loaded.
   *
   * @returns {[string, string][]}
   */
  function rows() {
    const { exact, distributed } = engine.runs;
    /** @type {(run: { done: boolean, milliseconds: number }) => string} */
    const speed = ({ done, milliseconds }) =>
      done ? count(rounded((1000 * (clock.steps + 1)) / Math.max(milliseconds, 1))) : NOT_YET;
    /** @type {(text: (of: Ready) => string) => string} */
    const known = (text) => (ready ? text(ready) : NOT_YET);
    return [
      ["Frequencies needed, by estimate", known(({ law }) => count(rounded(law.needed)))],
      ["Noise of the estimate, √(K/2Y)", known(({ law }) => figures(law.noise, 2))],
      [
        `Slope of the noise: noise × √${known(({ freedom }) => String(freedom))}`,
        known(({ law }) => figures(law.roughness, 2)),
      ],
      ["Slope that the descent can bear", known(({ law }) => figures(law.allowed, 2))],
      ["Steps per second here: exact", speed(exact)],
      ["Steps per second here: distributed", speed(distributed)],
    ];
  }

  const { transport, rest } = playback.parts;
  const explorer = frame.lay({
    className: "r1-mosaic",
    stageFirst: true,
    stage: [stage.element],
    under: [transport, h("div", { class: "r1-three" }, panel.first), sentence, frame.status],
    controls: [],
    readouts: [readout.element],
    more: [h("div", { class: "r1-bar" }, rest), ...panel.more, help(KEYS)],
    playback,
    state() {
      const { exact, distributed } = engine.runs;
      return {
        due,
        law: ready?.law ?? null,
        freedom: ready?.freedom ?? null,
        exact: summary(exact),
        distributed: summary(distributed),
        computed: timeline.last,
      };
    },
    close() {
      clearTimeout(waiting);
      hold.close();
      resized.disconnect();
      unwatch();
      engine.close();
    },
  });
  const hold = createHold(explorer.element, release);
  return {
    ...explorer,
    begin(play) {
      explorer.begin(play);
      resized.observe(stage.element);
      unwatch = onTheme(explorer.element, stage.redraw);
    },
  };
}

const TRACKS = /** @type {const} */ (["exact", "distributed"]);
const KEYS = "With the focus on a wall: the arrow keys move the query.";

/** @type {<T>(list: T[]) => T} */
const last = (list) => list[list.length - 1];

/**
 * The facts about a run that tests read.
 *
 * @param {import("./engine.js").Run} run
 */
function summary({ frames, done }) {
  if (frames.length === 0) return { done, steps: 0 };
  const { x, weights: _, ...rest } = last(frames);
  return { done, steps: frames.length - 1, x: [...x], ...rest };
}

/** @type {(exact: Frame[], copy: Frame[], settings: Settings) => import("../kit/export.js").Table} */
function table(exact, copy, { target }) {
  /** @type {(one: Frame | undefined) => (number | null)[]} */
  const of = (one) => (one ? [one.weights[target], one.spread, one.wrong] : [null, null, null]);
  const names = ["weight", "spread", "wrong"];
  return {
    columns: ["step", ...TRACKS.flatMap((track) => names.map((name) => `${track} ${name}`))],
    rows: exact.map((one, step) => [step, ...of(one), ...of(copy[step])]),
  };
}
