// Settings in, pictures out: joins the engine, the player and what is on the page.
import { h, setText, throttle } from "../kit/dom.js";
import { guardDrops, readImage } from "../kit/imagewell.js";
import { createPlayer, defaultSpeed } from "../kit/player.js";
import { createQuestions } from "../kit/questions.js";
import { createTransport, help, shortcuts } from "../kit/transport.js";
import { nextSettings } from "./change.js";
import { billOf, createCharts } from "./charts.js";
import { createEngine } from "./engine.js";
import { createJaxRun } from "./jax.js";
import { createPanel } from "./panel.js";
import { PRESETS } from "./presets.js";
import { findings, inWords } from "./report.js";
import { dab, noPaint, prepare, SIDE } from "./settings.js";
import { createStage } from "./stage.js";

const BRUSH = { tool: null, size: 4, colour: "#d55e00" };
const HELP = [
  "In the grid of pictures, arrow keys move and space stores.",
  "On the query: arrow keys move the brush, space paints, or restores if Restore is pressed.",
];

export function createExplorer(initial, library, model) {
  let settings = initial;
  let paint = noPaint(settings.size);
  let ready = null; // what prepare() made of the settings the engine works on
  let preset = PRESETS.find(({ set }) => same(set, initial)) ?? null;
  let wantsToPlay = true;
  const brush = { ...BRUSH };
  const engine = createEngine({ ready: onReady, frames: onFrames, done() {}, error: onError });
  const { timeline } = engine;
  const player = createPlayer(timeline, { show, onRest: rest });
  const actions = {
    toggle,
    step: () => seek(player.step + 1),
    back: () => seek(player.step - 1),
    start: () => seek(0),
    scrub: seek,
    reset,
    speed(v) {
      player.speed = v;
    },
  };

  const charts = createCharts();
  const stage = createStage(settings.size, {
    tool: () => ({ brush: brush.size, touch: brush.tool !== null }),
    dab: paintDab,
    endStroke: () => change({}),
    file: (file) => adopt(file, false),
  });
  const transport = createTransport(actions);
  const questions = createQuestions(PRESETS, choosePreset);
  const panel = createPanel(settings, library, brush, change, {
    fileToStore: (file) => adopt(file, true),
    clearPaint() {
      paint = noPaint(settings.size);
      change({});
    },
    toolChanged: () => stage.queryCanvas.classList.toggle("r1-touch", brush.tool !== null),
  });
  const jax = createJaxRun(model, () => ({ settings, ready }), stage);
  const status = h("p", { class: "r1-status", role: "status", "aria-live": "polite" });
  const say = throttle(() => setText(status, words()), 1500);
  const element = h(
    "div",
    { class: "r1-body", onkeydown: shortcuts(actions) },
    questions.element,
    h("div", { class: "r1-stage-block" }, stage.element, transport.element, charts.meter, status),
    h("div", { class: "r1-side" }, panel.element, jax.element, help(...HELP)),
    h("div", { class: "r1-chart-block" }, charts.element),
  );

  guardDrops(element);

  /** Takes a patch of the reader's, or what was painted, and starts again from it. */
  function change(patch) {
    settings = nextSettings(settings, patch, library);
    preset = null;
    questions.mark(null, "Your own setting. Press a question to come back to it.");
    apply();
  }

  function choosePreset(chosen) {
    settings = { ...chosen.set };
    paint = noPaint(settings.size);
    preset = chosen;
    questions.mark(chosen.key, chosen.ask);
    wantsToPlay = true;
    apply();
  }

  function reset() {
    player.speed = defaultSpeed();
    transport.speed = player.speed;
    Object.assign(brush, BRUSH);
    panel.showBrush();
    choosePreset(PRESETS[0]);
  }

  /** Hands the settings to the engine; the answer comes to onReady. */
  function apply() {
    if (paint.size !== settings.size) paint = noPaint(settings.size);
    player.pause();
    ready = prepare(settings, library, paint);
    panel.show(settings);
    showQuery();
    jax.forget();
    engine.configure(ready.config, ready.pictures);
  }

  function showQuery() {
    const { bytes, known, isStored } = ready;
    const share = known.reduce((n, k) => n + k, 0) / known.length;
    const label = library.label(settings.collection, settings.target);
    stage.setQuery({ ...bytes, label, isStored, known: share });
  }

  function onReady({ signal }) {
    charts.setSignal(signal);
    player.steps = settings.steps;
    player.seek(0);
    engine.run(settings.steps);
    if (wantsToPlay) player.play();
  }

  function onFrames() {
    if (!player.playing) show(player.step);
  }

  function onError(message) {
    questions.mark(preset?.key, `The computation stopped: ${message}`);
  }

  function found() {
    return findings(timeline.at(player.step), settings, ready, library);
  }

  function show(step) {
    if (timeline.last < step) return;
    const { series } = timeline;
    stage.show(timeline.frames[step], found());
    charts.draw(series, step, settings, engine.info.relativeNoise);
    const flooredSteps = series.floored.slice(0, step + 1).reduce((n, f) => n + f, 0);
    const K = settings.stored.length;
    charts.setFacts(
      billOf({ ...ready, K, Y: settings.Y, flooredSteps, steps: step + 1, speed: engine.speed }),
    );
    const { playing, steps } = player;
    transport.show({ step, computed: timeline.last, steps, playing });
    say();
  }

  /** The player has stopped: what was found, if this was the end of a question's run. */
  function rest() {
    show(player.step);
    setText(status, words());
    if (!preset || player.step < player.steps) return;
    const { freedom, numbers } = ready;
    const { signal } = engine.info;
    const end = timeline.at(player.step);
    const nameDistributed = found().distributed.label;
    const K = settings.stored.length;
    questions.answer(preset.after({ signal, end, nameDistributed, freedom, numbers, K }));
  }

  function words() {
    return timeline.last < player.step
      ? ""
      : inWords(player.step, timeline.at(player.step), found());
  }

  function toggle() {
    wantsToPlay = !player.playing;
    if (player.playing) player.seek(player.step);
    else player.play();
    show(player.step);
  }

  function seek(step) {
    wantsToPlay = false;
    player.seek(step);
    if (player.step >= player.steps) rest();
  }

  function paintDab(cells) {
    const hex = Number.parseInt(brush.colour.slice(1), 16);
    const colour = brush.tool === "restore" ? null : [hex >> 16, (hex >> 8) & 255, hex & 255];
    for (const [row, column] of cells) dab(paint, row, column, brush.size, colour);
    ready = prepare(settings, library, paint);
    showQuery();
  }

  /** A picture of the reader's: stored with the others, or the query itself. */
  async function adopt(file, store) {
    try {
      const key = library.add(await readImage(file, SIDE));
      change(store ? { store: key, pressed: true, target: key } : { target: key });
    } catch {
      questions.mark(
        preset?.key,
        `${file.name} could not be read as an image. Try a PNG or JPEG file.`,
      );
    }
  }

  return {
    element,
    begin() {
      questions.mark(preset?.key, preset?.ask ?? "Press a question, or change anything.");
      apply();
    },
    /** Read-only: everything on show, for tests and the curious. */
    state() {
      const { step, steps, playing } = player;
      const { last: computed, series } = timeline;
      const { info, speed } = engine;
      const shown = {
        step,
        steps,
        playing,
        computed,
        series,
        info,
        speed,
        busy: engine.isBusy(),
        record: timeline.at(step),
      };
      return {
        settings,
        preset: preset?.key ?? null,
        ...shown,
        ...ready?.config,
        numbers: ready?.numbers,
      };
    },
    states: engine.state,
    close() {
      player.pause();
      jax.close();
      engine.close();
    },
  };
}

const same = (a, b) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
