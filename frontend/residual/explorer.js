// Settings in, pictures out: joins the data, the race of the risks, the player and what is on the page.

import { h, setText, throttle } from "../kit/dom.js";
import { createPlayer, defaultSpeed } from "../kit/player.js";
import { createQuestions } from "../kit/questions.js";
import * as random from "../kit/random.js";
import { createTransport, help, shortcuts } from "../kit/transport.js";
import { createCharts, lawsAt } from "./charts.js";
import { number, verdict } from "./format.js";
import { createMaps } from "./maps.js";
import { drawLine, drawPlane, fitLine, fitPlane, sizesOf } from "./math/risk.js";
import { createPanel } from "./panel.js";
import { PRESETS } from "./presets.js";
import { createRace, crossing, levelsOf } from "./race.js";
import { DEFAULTS, levelOf, measured, nextSettings, placeOf } from "./settings.js";
import { createSlices } from "./slices.js";

const SPEED = 10; // sizes a second

/** `save(settings)` is told every change of the reader's. */
export function createExplorer(initial, save) {
  let settings = initial;
  let preset = PRESETS.find(({ set }) => same(set(DEFAULTS), initial)) ?? null;
  let shown = null; // the data set and the model on the stage
  let goal = placeOf(settings); // where a question's race ends
  const timeline = { last: 0 };
  const player = createPlayer(timeline, { show, onRest: settle });
  const race = createRace(onMore);
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
  const stages = { line: createSlices(), plane: createMaps() };
  const transport = createTransport(actions);
  const questions = createQuestions(PRESETS, choosePreset);
  const panel = createPanel(settings, change, seek);
  const status = h("p", { class: "r1-status", role: "status", "aria-live": "polite" });
  const say = throttle(() => setText(status, words()), 1500);
  const element = h(
    "div",
    { class: "r1-body", onkeydown: shortcuts(actions) },
    questions.element,
    h(
      "div",
      { class: "r1-stage-block" },
      stages.line.element,
      stages.plane.element,
      transport.element,
      charts.table,
      status,
    ),
    h("div", { class: "r1-side" }, panel.element, help("A step is the next number of examples.")),
    h("div", { class: "r1-chart-block" }, charts.element),
  );

  /** Takes a patch of the reader's; the picture follows at once, the risks as they are measured. */
  function change(patch) {
    const before = measured(settings);
    settings = nextSettings(settings, patch);
    preset = null;
    questions.mark(null, "Your own setting. Press a question to come back to it.");
    apply(measured(settings) !== before);
    save(settings);
  }

  function choosePreset(chosen) {
    settings = chosen.set(DEFAULTS);
    preset = chosen;
    questions.mark(chosen.key, chosen.ask);
    apply(true);
    save(settings);
    player.step = 0;
    player.play();
  }

  function usualSpeed() {
    player.speed = defaultSpeed(SPEED);
    transport.speed = player.speed;
  }

  function reset() {
    usualSpeed();
    choosePreset(PRESETS[0]);
  }

  function apply(anew) {
    player.pause();
    panel.show(settings);
    goal = placeOf(settings);
    player.steps = goal;
    timeline.last = goal; // the picture needs no measuring
    if (anew) {
      const missing = Math.max(0, 1 - settings.L) ** 2;
      race.start(settings, levelsOf(settings, missing));
    }
    player.seek(goal);
  }

  /** A slice of measuring is done. */
  function onMore() {
    if (player.playing) return;
    drawCharts();
    settle();
  }

  function show(place) {
    const n = sizesOf(settings.view)[place];
    if (n !== settings.n) {
      settings = { ...settings, n };
      panel.show(settings);
    }
    drawStage();
    drawCharts();
    say();
  }

  function drawStage() {
    const { view, n, d, seed } = settings;
    const line = view === "line";
    const key = random.key(seed); // nested: the first n points are the same for every n
    const set = line ? drawLine(key, n, d) : drawPlane(key, n);
    shown = { set, fit: line ? fitLine(set, settings) : fitPlane(set, settings) };
    stages.line.element.hidden = !line;
    stages.plane.element.hidden = line;
    stages[view].draw(set, shown.fit, settings);
  }

  function drawCharts() {
    const { step, playing } = player;
    const sizes = sizesOf(settings.view);
    charts.draw(settings, race, step, threshold());
    const words = `n = ${settings.n.toLocaleString("en-GB")}`;
    const computed = Math.max(0, race.risks.length - 1);
    transport.show({ step, computed, steps: sizes.length - 1, playing, words });
  }

  /** Where one remembered neighbour starts to hurt: by the law on the line, as measured in the plane. */
  function threshold() {
    if (settings.view === "line") return lawsAt(settings, settings.n).threshold;
    return crossing(race.levels, race.sweep);
  }

  /** The race rests at some n: its noise is looked at, and a question is answered once all is measured. */
  function settle() {
    setText(status, words());
    const place = player.step;
    if (race.at !== settings.n) {
      race.at = settings.n;
      race.look(settings);
      return;
    }
    const risk = race.risks[place];
    if (!preset || !risk || race.sweep.length === 0 || place !== goal) return;
    const { n } = settings;
    const law = lawsAt(settings, n);
    questions.answer(
      preset.after({ n, risk, law, threshold: threshold(), level: levelOf(settings) }),
    );
  }

  function words() {
    const risk = race.risks[player.step];
    if (!risk) return `${settings.n} examples. Measuring…`;
    return `${settings.n} examples. ${verdict(risk)}: ${number(risk.memory)} with it, ${number(risk.base)} without; neighbours alone ${number(risk.neighbours)}.`;
  }

  function toggle() {
    if (player.playing) {
      player.seek(player.step);
      settle();
      return;
    }
    player.steps = sizesOf(settings.view).length - 1;
    timeline.last = player.steps;
    player.play();
  }

  function seek(place) {
    player.steps = sizesOf(settings.view).length - 1;
    timeline.last = player.steps;
    player.seek(place);
    save(settings);
    settle();
  }

  return {
    element,
    /** The first run; without motion it goes straight to its end. */
    begin(moving) {
      usualSpeed();
      questions.mark(preset?.key, preset?.ask ?? "Press a question, or change anything.");
      apply(true);
      if (!moving) return;
      player.step = 0;
      player.play();
    },
    /** Read-only: everything on show, for tests and the curious. */
    state() {
      const { step, steps, playing } = player;
      const { sizes, risks, levels, sweep, busy } = race;
      const law = lawsAt(settings, settings.n);
      const results = { sizes, risks, levels, sweep, busy, law, threshold: threshold() };
      const { theta, w, residuals, y } = shown.fit;
      const model = { theta, w, X: [...shown.set.X], y: [...y], residuals: [...residuals] };
      return { settings, preset: preset?.key ?? null, step, steps, playing, model, ...results };
    },
    close() {
      player.pause();
      race.close();
    },
  };
}

const same = (a, b) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
