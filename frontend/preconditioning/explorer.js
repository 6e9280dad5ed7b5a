// Settings in, pictures out: joins the three paths, the player and what is on the page.
import { h, setText, throttle } from "../kit/dom.js";
import { createPlayer, defaultSpeed } from "../kit/player.js";
import { createQuestions } from "../kit/questions.js";
import { createTransport, help, shortcuts } from "../kit/transport.js";
import { createCharts, SERIES } from "./charts.js";
import { amount, widest } from "./format.js";
import { counting, run } from "./math/paths.js";
import { createPanel } from "./panel.js";
import { createPlanes } from "./planes.js";
import { createPrediction } from "./prediction.js";
import { PRESETS } from "./presets.js";
import { DEFAULTS, nextSettings } from "./settings.js";
import { condition, createSpectrum } from "./spectrum.js";

const BUDGET = 6; // milliseconds of counting between two frames
const HELP = ["On a start, the white point of a plane: arrow keys move it."];
const GUESS =
  "Predict before you look: what do the path of U (blue) and the path of W with P (orange) do?";

/** `save(settings)` is told every change of the reader's. */
export function createExplorer(initial, save) {
  let settings = initial;
  let current = null; // what run() made of the settings
  let counts = null;
  let preset = PRESETS.find(({ set }) => same(set(DEFAULTS), initial)) ?? null;
  let pending = initial.method !== "gd"; // the reader has yet to predict
  let guess = null;
  let counter = null;
  const timeline = { last: 0 };
  const player = createPlayer(timeline, { show, onRest: settle });
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
  const spectrum = createSpectrum();
  const planes = createPlanes(SERIES, (row, place) =>
    change({ start: settings.start.map((r, i) => (i === row ? place : r)) }),
  );
  const transport = createTransport(actions);
  const questions = createQuestions(PRESETS, choosePreset);
  const prediction = createPrediction(predict);
  const panel = createPanel(settings, change);
  const status = h("p", { class: "r1-status", role: "status", "aria-live": "polite" });
  const say = throttle(() => setText(status, words()), 1500);
  const element = h(
    "div",
    { class: "r1-body", onkeydown: shortcuts(actions) },
    questions.element,
    h(
      "div",
      { class: "r1-stage-block" },
      prediction.element,
      planes.element,
      transport.element,
      charts.counters,
      status,
    ),
    h("div", { class: "r1-side" }, panel.element, spectrum.element, help(...HELP)),
    h("div", { class: "r1-chart-block" }, charts.element),
  );

  /** Takes a patch of the reader's; the paths follow at once, at their end. */
  function change(patch) {
    const { method } = settings;
    settings = nextSettings(settings, patch);
    preset = null;
    guess = null;
    if (settings.method !== method) pending = settings.method !== "gd";
    questions.mark(null, "Your own setting. Press a question to come back to it.");
    save(settings);
    apply(false);
  }

  function choosePreset(chosen) {
    settings = chosen.set(DEFAULTS);
    preset = chosen;
    guess = null;
    pending = settings.method !== "gd";
    questions.mark(chosen.key, chosen.ask);
    save(settings);
    apply(true);
  }

  function reset() {
    player.speed = defaultSpeed();
    transport.speed = player.speed;
    choosePreset(PRESETS[0]);
  }

  function predict(choice) {
    guess = choice;
    pending = false;
    player.pause();
    player.step = 0;
    planes.setGround(current.problem, ends());
    announce();
    player.play();
  }

  /** Runs the paths; plays them from the start, or shows them at their end. */
  function apply(playing) {
    player.pause();
    current = run(settings);
    timeline.last = settings.steps;
    player.steps = settings.steps;
    panel.show(settings);
    planes.setGround(current.problem, ends());
    spectrum.draw(current.spectra);
    count();
    announce();
    if (playing) {
      player.seek(0);
      player.play();
    } else {
      player.seek(settings.steps);
      settle();
    }
  }

  /** Where the paths end; at the minimum, where no ring is drawn, while that is secret or if they run away. */
  function ends() {
    const { wStar } = current.problem;
    const ringless = pending || current.fate === "away";
    return ringless ? { reparameterised: wStar, explicit: wStar } : current.ends;
  }

  /** Counts steps to the tolerance in slices, so that nothing waits for it. */
  function count() {
    clearTimeout(counter);
    counts = null;
    charts.count(null, settings.tolerance, pending);
    const work = counting(settings);
    const slice = () => {
      const until = performance.now() + BUDGET;
      let next = work.next();
      while (!next.done && performance.now() < until) next = work.next();
      if (!next.done) {
        counter = setTimeout(slice, 0);
        return;
      }
      counts = next.value;
      announce();
      if (!player.playing) settle();
    };
    counter = setTimeout(slice, 100); // while a slider moves there is no use in counting
  }

  function announce() {
    if (settings.method === "gd") prediction.hide();
    else if (pending) prediction.ask(GUESS);
    else prediction.answer(guess, current, counts);
    if (counts) charts.count(counts, settings.tolerance, pending);
  }

  function show(step) {
    const { paths } = current;
    const points = Object.fromEntries(
      SERIES.map(({ key }) => [key, pending && key !== "plain" ? null : paths[key].w]),
    );
    planes.draw(points, step);
    charts.draw(current, step, settings.steps, pending);
    transport.show({ step, computed: timeline.last, steps: player.steps, playing: player.playing });
    say();
  }

  /** The player has stopped: what was found, if this was the end of a question's run. */
  function settle() {
    const { step, steps, playing } = player;
    transport.show({ step, computed: steps, steps, playing });
    setText(status, words());
    if (!preset || pending || counts === null || player.step < player.steps) return;
    questions.answer(preset.after(numbers()));
  }

  function numbers() {
    const { gap, known, spectra, paths } = current;
    return {
      counts,
      known,
      gap: gap.at(-1),
      widest: widest(gap),
      conditions: {
        plain: condition(spectra.plain),
        preconditioned: condition(spectra.preconditioned),
      },
      loss: Object.fromEntries(SERIES.map(({ key }) => [key, paths[key].loss.at(-1)])),
    };
  }

  function words() {
    const { step } = player;
    const { paths, gap } = current;
    const plain = `Step ${step}. Loss: plain ${amount(paths.plain.loss[step])}`;
    if (pending) return `${plain}. Predict, and the other two are shown.`;
    const [own, other] = ["reparameterised", "explicit"].map((key) =>
      amount(paths[key].loss[step]),
    );
    return `${plain}, on U ${own}, with P ${other}. Gap between the last two ${amount(gap[step])}.`;
  }

  function toggle() {
    if (player.playing) player.seek(player.step);
    else player.play();
    show(player.step);
  }

  function seek(step) {
    player.seek(step);
    if (player.step >= player.steps) settle();
  }

  return {
    element,
    /** The first run; without motion it goes straight to its end. */
    begin(moving) {
      questions.mark(preset?.key, preset?.ask ?? "Press a question, or change anything.");
      apply(moving);
    },
    /** Read-only: everything on show, for tests and the curious. */
    state() {
      const { step, steps, playing } = player;
      return {
        settings,
        preset: preset?.key ?? null,
        pending,
        counts,
        step,
        steps,
        playing,
        ...current,
      };
    },
    close() {
      player.pause();
      clearTimeout(counter);
    },
  };
}

const same = (a, b) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
