// Settings in, pictures out: joins the controls, the mathematics and what is on the page.
import { button } from "../kit/controls.js";
import { h, setText, throttle } from "../kit/dom.js";
import { plot } from "../kit/plot.js";
import { createQuestions } from "../kit/questions.js";
import { scientific } from "./format.js";
import { minus, norm } from "./math/linear.js";
import { forgettingLaw, manyEdits } from "./math/sequence.js";
import { createBars, createMatrices, createMemoryTable } from "./numbers.js";
import { createPanel } from "./panel.js";
import { createPlanes } from "./planes.js";
import { PRESETS } from "./presets.js";
import { cloud, cloudAxes, consequences, MOST_PAIRS, MOST_STEPS, stretched } from "./settings.js";

export function createExplorer(initial, model) {
  let settings = initial;
  let shown = null;
  let many = { key: "", values: [], law: [] };
  let preset = null;
  let answered = false;
  let held = null; // the keys with the axes of their cloud: a round cloud does not tell its axes
  let draws = 4;

  const questions = createQuestions(PRESETS, choose);
  const answer = button({ label: "Show the answer", onClick: showAnswer, "data-name": "answer" });
  const reset = button({
    label: "Reset",
    icon: "reset",
    text: true,
    onClick: () => choose(PRESETS[0]),
    "data-name": "reset",
  });
  const planes = createPlanes(onDrag);
  const matrices = createMatrices();
  const bars = createBars();
  const table = createMemoryTable();
  const panel = createPanel(settings, change, {
    keep,
    undo: () => change({ order: settings.order.slice(0, -1), ...unusedPairs() }),
    repeat: () => change({ order: [...settings.order, ...settings.pairs.keys()] }),
    clear: () => change({ pairs: [], order: [] }),
    redrawKeys: () => change({ keys: cloud(settings.keys.length, ++draws) }),
    redrawEdits: () => change({ seed: settings.seed + 1 }),
  });
  const forgetting = plot({
    title: "T random edits in D dimensions: error of each at the end",
    xLabel: "number of the edit",
    yLabel: "mean squared error",
    first: 1,
    series: [
      { key: "values", label: "measured (C = I)", tone: "distributed" },
      { key: "law", label: "law (1 − e^(−(T−i)/D))(2 − e^(−T/D))", tone: "law", dash: "7 3" },
    ],
    summary: ({ values, law }, i) =>
      `Of the first edit ${values[0]?.toFixed(2)}, by the law ${law[0]?.toFixed(2)}; of the last ${values[i]?.toFixed(2)}.`,
  });
  const status = h("p", { class: "r1-status", role: "status", "aria-live": "polite" });
  const say = throttle(() => setText(status, words()), 600);
  const tell = throttle(share, 300);
  const element = h(
    "div",
    { class: "r1-body", onkeydown: shortcuts },
    questions.element,
    h(
      "div",
      { class: "r1-stage-block" },
      planes.element,
      matrices.element,
      h("div", { class: "r1-bar" }, answer, reset, status),
    ),
    h("div", { class: "r1-side" }, panel.element, help()),
    h(
      "div",
      { class: "r1-chart-block" },
      h(
        "div",
        { class: "r1-charts" },
        bars.element,
        h("div", {}, table.element, forgetting.element),
      ),
    ),
  );

  function change(patch) {
    if (patch.count) patch = { keys: resized(patch.count) };
    const all = settings.used === settings.keys.length;
    settings = { ...settings, ...patch };
    const n = settings.keys.length;
    settings.used = all && patch.used === undefined ? n : Math.min(settings.used, n);
    settings.edits = Math.min(settings.edits, 4 * settings.dimension);
    show();
  }

  function resized(n) {
    const { keys } = settings;
    return n <= keys.length ? keys.slice(0, n) : [...keys, ...cloud(n, draws).slice(keys.length)];
  }

  function onDrag(patch) {
    if (patch.key) {
      const [i, at] = patch.key;
      change({ keys: settings.keys.map((key, j) => (j === i ? at : key)) });
    } else if (patch.axis) {
      held = stretched(held, ...patch.axis);
      change({ keys: held.keys });
    } else change(patch);
  }

  function canKeep() {
    const { pairs, order } = settings;
    return shown.edit !== null && pairs.length < MOST_PAIRS && order.length < MOST_STEPS;
  }

  function keep() {
    const { pairs, order, k, v } = settings;
    change({ pairs: [...pairs, { k, v }], order: [...order, pairs.length] });
  }

  /** After an undo: pairs that no remaining edit writes are dropped. */
  function unusedPairs() {
    const used = Math.max(-1, ...settings.order.slice(0, -1)) + 1;
    return { pairs: settings.pairs.slice(0, used) };
  }

  function choose(chosen) {
    preset = chosen;
    settings = { ...chosen.set };
    held = null;
    answered = false;
    questions.mark(chosen.key, chosen.ask);
    show();
  }

  /** An answer is about the setting of its question, whatever the reader has changed since. */
  function showAnswer() {
    answered = true;
    const own = JSON.stringify(settings) === JSON.stringify(preset.set);
    const words = preset.answer(consequences(preset.set));
    questions.answer(own ? words : `In the question’s own setting: ${words}`);
  }

  function show() {
    const { keys, pairs, order } = settings;
    if (held?.keys !== keys) held = { keys, axes: cloudAxes(keys, held?.axes) };
    shown = { ...consequences(settings), axes: held.axes };
    planes.show(settings, shown);
    matrices.show(shown);
    bars.show(shown);
    table.show(settings, shown);
    panel.show(settings, {
      keep: canKeep(),
      undo: order.length > 0,
      repeat: pairs.length > 0 && order.length + pairs.length <= MOST_STEPS,
      clear: order.length > 0,
    });
    answer.disabled = !preset;
    if (answered) showAnswer();
    showMany();
    say();
    tell();
  }

  function showMany() {
    const { dimension: D, edits: T, seed } = settings;
    if (many.key !== `${D} ${T} ${seed}`) {
      const law = Array.from({ length: T }, (_, i) => forgettingLaw(i + 1, T, D));
      many = { key: `${D} ${T} ${seed}`, values: manyEdits({ D, T, seed }), law };
    }
    forgetting.draw({ values: many, xMax: T - 1, step: T - 1 });
  }

  function words() {
    if (!shown.edit) return shown.why;
    const off = norm(
      minus(
        settings.v,
        shown.edit.W.map((row) => row[0] * settings.k[0] + row[1] * settings.k[1]),
      ),
    );
    const exact =
      off < 1e-12 * (1 + norm(settings.v)) ? "up to rounding" : `to ${scientific(off, 1)}`;
    return `Ŵk* is v* ${exact}. Interference ${shown.total.toFixed(3)}, least possible ${shown.least.toFixed(3)}.`;
  }

  /** Tells a kernel, where there is one, what is on show. */
  function share() {
    const { keys, W, k, v, geometry, ridge, used, beta, pairs, order } = settings;
    model.set?.("shown", { keys, W, k, v, geometry, ridge, used, beta, pairs, order });
    model.save_changes?.();
  }

  function shortcuts(event) {
    if (event.target.matches("input, select, textarea")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = { e: keep, r: () => choose(PRESETS[0]) }[event.key];
    if (!action || (event.key === "e" && !canKeep())) return;
    event.preventDefault();
    action();
  }

  return {
    element,
    begin(own) {
      if (own) {
        questions.mark(null, "Your own setting. Press a question, or drag anything.");
        show();
      } else choose(PRESETS[0]);
    },
    /** Read-only: everything on show, for tests and the curious. */
    state: () => ({ settings, preset: preset?.key ?? null, ...shown, many }),
  };
}

function help() {
  const keys = [
    ["arrow keys", "move it, with Shift five times as far"],
    ["Page Down", "the next stored key"],
    ["e", "keep this edit"],
    ["r", "reset"],
  ];
  return h(
    "details",
    { class: "r1-help" },
    h("summary", {}, "Keyboard"),
    h(
      "p",
      {},
      "With the focus on a handle: ",
      keys.flatMap(([key, what]) => [h("kbd", {}, key), ` ${what}; `]),
      "the two coloured dots at the ends of the cloud’s axes stretch and turn all keys together.",
    ),
  );
}
