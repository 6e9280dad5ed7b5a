// Settings in, pictures out: joins the engine, the player and what is on the page.
import { playback } from "../kit/playback.js";
import { button, select } from "../kit/controls.js";
import { h, setText, throttle } from "../kit/dom.js";
import { readImage } from "../kit/imagewell.js";
import { nextSettings } from "./change.js";
import { billOf, createCharts } from "./charts.js";
import { createEngine } from "./engine.js";
import { createJaxRun } from "./jax.js";
import { createPanel } from "./panel.js";
import { createPlayer } from "./player.js";
import { PRESETS } from "./presets.js";
import { createQuestions } from "./questions.js";
import { dab, noPaint, prepare, SIDE } from "./settings.js";
import { createStage } from "./stage.js";

const SPEEDS = [
  ["10", "10 a second"],
  ["30", "30 a second"],
  ["60", "60 a second"],
  ["240", "240 a second"],
  ["1e9", "at once"],
];

export function createExplorer(initial, library, model) {
  let settings = initial;
  let paint = noPaint(settings.size);
  let ready = null; // what prepare() made of the settings the engine works on
  let preset = PRESETS[0].key;
  let wantsToPlay = true;
  const brush = { tool: null, size: 4, colour: "#d55e00" };
  const engine = createEngine({ ready: onReady, frames: onFrames, done() {}, error: onError });
  const { timeline } = engine;
  const player = createPlayer(timeline, { show, onRest: rest });

  const charts = createCharts();
  const stage = createStage(settings.size, {
    tool: () => ({ brush: brush.size, touch: brush.tool !== null }),
    dab: paintDab,
    endStroke: () => apply(),
    file: (file) => adopt(file, false),
  });
  const bar = playback({ start: () => seek(0), toggle, step: () => seek(player.step + 1), scrub: seek });
  const speed = select({
    label: "Speed",
    name: "speed",
    options: SPEEDS,
    value: "60",
    onInput(v) {
      player.speed = Number(v);
    },
  });
  const questions = createQuestions(PRESETS, choosePreset);
  const panel = createPanel(settings, library, brush, change, {
    fileToStore: (file) => adopt(file, true),
    clearPaint() {
      paint = noPaint(settings.size);
      apply();
    },
    toolChanged() {
      stage.queryCanvas.classList.toggle("r1-touch", brush.tool !== null);
    },
  });
  const jax = createJaxRun(model, () => ({ settings, ready }), stage);
  const status = h("p", { class: "r1-status", role: "status", "aria-live": "polite" });
  const say = throttle(() => setText(status, words()), 1500);
  const element = h(
    "div",
    { class: "r1-body", onkeydown: shortcut },
    questions.element,
    h(
      "div",
      { class: "r1-main-column" },
      stage.element,
      h("div", { class: "r1-bar" }, bar.element, speed.element, button({ label: "Reset", icon: "reset", text: true, onClick: reset, "data-name": "reset" })),
      charts.meter,
      status,
      charts.element,
    ),
    h("div", { class: "r1-side-column" }, panel.element, charts.facts, jax.element, help()),
  );

  /** Takes a patch of the reader's and starts again from it. */
  function change(patch) {
    settings = nextSettings(settings, patch, library);
    preset = null;
    questions.mark(null, "Your own setting: press a question to come back to it.");
    apply();
  }

  function choosePreset(chosen) {
    settings = { ...chosen.set };
    paint = noPaint(settings.size);
    preset = chosen.key;
    questions.mark(chosen.key, chosen.ask);
    wantsToPlay = true;
    apply();
  }

  function reset() {
    player.speed = 60;
    speed.value = "60";
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
    questions.mark(preset, `The computation stopped: ${message}`);
  }

  function show(step) {
    if (timeline.last < step || step < 0) return;
    const { series } = timeline;
    const found = findings(step);
    stage.show(timeline.frames[step], found);
    const sincos = settings.basis === "sincos";
    charts.draw(series, step, settings.steps, { relativeNoise: engine.info.relativeNoise, sincos });
    charts.setFacts(bill(step));
    const { playing, steps } = player;
    bar.show({ step, computed: timeline.last, steps, playing });
    say();
  }

  function bill(step) {
    const flooredSteps = timeline.series.floored.slice(0, step + 1).reduce((n, f) => n + f, 0);
    const { numbers, freedom, config } = ready;
    const K = settings.stored.length;
    return billOf({ numbers, K, D: config.D, freedom, settings, flooredSteps, steps: step + 1, speed: engine.speed });
  }

  function findings(step) {
    const at = timeline.at(step);
    const of = (index, error) => ({
      label: library.label(settings.collection, settings.stored[index]),
      right: ready.isStored && index === ready.wanted,
      error,
    });
    return {
      exact: of(at.nearestExact, at.errorExact),
      distributed: of(at.nearestDistributed, at.errorDistributed),
    };
  }

  function rest() {
    show(player.step);
    setText(status, words());
    const chosen = PRESETS.find(({ key }) => key === preset);
    if (!chosen || player.step < player.steps) return;
    const { distributed } = findings(player.step);
    const { freedom, numbers } = ready;
    const { signal } = engine.info;
    const end = timeline.at(player.step);
    const K = settings.stored.length;
    questions.answer(chosen.after({ signal, end, nameDistributed: distributed.label, freedom, numbers, K }));
  }

  function words() {
    const at = timeline.at(player.step);
    if (at.energyExact === undefined) return "";
    const found = findings(player.step);
    const name = ({ label, right }) => `${label} (${right ? "right" : "wrong"})`;
    const e = (v) => v.toFixed(4).replace("-", "−");
    return (
      `Step ${player.step} of ${player.steps}. Exact: energy ${e(at.energyExact)}, nearest ${name(found.exact)}. ` +
      `Distributed: energy ${e(at.energyDistributed)}, nearest ${name(found.distributed)}. Distance ${at.distance.toPrecision(2)}.`
    );
  }

  function toggle() {
    wantsToPlay = !player.playing;
    if (player.playing) seek(player.step);
    else player.play();
    show(player.step);
  }

  function seek(step) {
    wantsToPlay = false;
    player.seek(step);
    if (player.step >= player.steps) rest();
  }

  function paintDab(row, column) {
    const hex = Number.parseInt(brush.colour.slice(1), 16);
    const colour = brush.tool === "restore" ? null : [hex >> 16, (hex >> 8) & 255, hex & 255];
    dab(paint, row, column, brush.size, colour);
    ready = prepare(settings, library, paint);
    showQuery();
  }

  /** A picture of the reader's: stored with the others, or the query itself. */
  async function adopt(file, store) {
    try {
      const key = library.add(await readImage(file, SIDE));
      change(store ? { store: key, pressed: true, target: key } : { target: key });
    } catch {
      questions.mark(preset, `${file.name} could not be read as an image. Try a PNG or JPEG file.`);
    }
  }

  function shortcut(event) {
    if (event.target.matches("input, select, textarea, [role=application]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onButton = event.target.matches("button, label");
    const actions = { k: toggle, l: () => seek(player.step + 1), j: () => seek(player.step - 1), 0: () => seek(0), r: reset };
    const action = event.key === " " && !onButton ? toggle : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  return {
    element,
    /** The first run; without motion it goes straight to its end. */
    begin(moving) {
      if (!moving) player.speed = 1e9;
      questions.mark(preset, PRESETS[0].ask);
      apply();
    },
    /** Read-only: everything on show, for tests and the curious. */
    state() {
      const { step, steps, playing } = player;
      const record = timeline.at(step);
      return { settings, preset, step, steps, playing, record, computed: timeline.last, info: engine.info, speed: engine.speed, series: timeline.series, query: ready?.config.query, free: ready?.config.free, numbers: ready?.numbers };
    },
    states: engine.state,
    close() {
      player.pause();
      jax.close();
      engine.close();
    },
  };
}

function help() {
  const rows = [
    ["k", "play or pause"],
    ["l", "one step on"],
    ["j", "one step back"],
    ["0", "back to the start"],
    ["r", "reset everything"],
  ];
  const keys = rows.flatMap(([key, what]) => [h("kbd", {}, key), ` ${what}`, "  "]);
  return h(
    "details",
    { class: "r1-help" },
    h("summary", {}, "Keys"),
    h("p", {}, keys, "while the focus is on a button. On the query: arrow keys move the brush, space paints. In the grid of pictures: arrow keys move, space stores."),
  );
}
