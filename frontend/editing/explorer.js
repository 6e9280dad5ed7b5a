// Joins the controls, the mathematics and the pictures of the editing explorer.
import { h, throttle } from "../kit/dom.js";
import { createFrame, same } from "../kit/explorer.js";
import { keyHelp, onKeys } from "../kit/keys.js";
import { amount, cleared, figures } from "../kit/number.js";
import { runChart } from "../kit/runchart.js";
import { minus, norm, times } from "../math/linear.js";
import { admits } from "./admits.js";
import { forgettingLaw, manyEdits } from "./math/sequence.js";
import { createBars, createMatrices, createMemoryTable } from "./numbers.js";
import { createPanel } from "./panel.js";
import { createPlanes } from "./planes.js";
import { PRESETS } from "./presets.js";
import { python } from "./python.js";
import {
  cloud,
  cloudAxes,
  consequences,
  MOST_PAIRS,
  MOST_STEPS,
  nextSettings,
  stretched,
  unseen,
} from "./settings.js";

/** @import { Table } from "../kit/export.js" */
/** @import { Frame } from "../kit/explorer.js" */
/** @import { Point } from "../kit/handle.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { Found } from "./presets.js" */
/** @import { Consequences, Patch, Settings } from "./settings.js" */

/** @type {[string, string][]} */
const KEYS = [
  ["arrow keys", "move it, with Shift five times as far"],
  ["Page Down", "the next stored key"],
  ["e", "keep this edit"],
  ["r", "reset"],
];
const HELP =
  "The two dots that are no keys, the ends of the cloud’s axes, stretch and turn all keys together.";

/**
 * `share` is called with the settings on show.
 *
 * @param {Settings} initial
 * @param {(shown: object) => void} share
 * @returns {Explorer}
 */
export function createExplorer(initial, share) {
  let shown = consequences(initial);
  let many = manyOf(initial);
  // the keys with the axes of their cloud, which the keys of a round cloud do not determine
  let current = { keys: initial.keys, axes: cloudAxes(initial.keys) };
  let draws = 4;
  /** @type {{ of: object, found: Consequences } | null} The consequences of the question's own setting. */
  let asked = null;
  /** @type {Frame<Settings, Patch, Found>} */
  const frame = createFrame({
    settings: initial,
    presets: PRESETS,
    next: (settings, patch) => nextSettings(settings, patch, draws),
    stands: () => true,
    update,
    findings,
    words,
    patience: 600,
    name: "editing",
    admits,
    python,
    data: () => dataOf(shown, frame.settings),
  });
  const planes = createPlanes(onDrag);
  const matrices = createMatrices();
  const bars = createBars();
  const table = createMemoryTable();
  const panel = createPanel(initial, frame.change, {
    keep,
    undo: () => frame.change({ order: frame.settings.order.slice(0, -1), ...unusedPairs() }),
    repeat() {
      const { order, pairs } = frame.settings;
      frame.change({ order: [...order, ...pairs.keys()] });
    },
    clear: () => frame.change({ pairs: [], order: [] }),
    redrawKeys: () => frame.change({ keys: cloud(frame.settings.keys.length, ++draws) }),
    reset: frame.reset,
    redrawEdits: () => frame.change({ seed: frame.settings.seed + 1 }),
  });
  const forgetting = createForgetting();
  const tell = throttle(() => {
    const { keys, k, v, geometry, ridge, used, beta, pairs, order, W } = frame.settings;
    share({ keys, W, k, v, geometry, ridge, used, beta, pairs, order });
  }, 300);

  /** @param {{ before: Settings | null }} how */
  function update({ before }) {
    const { settings } = frame;
    const { keys, pairs, order } = settings;
    if (current.keys !== keys)
      current = { keys, axes: cloudAxes(keys, before ? current.axes : null) };
    shown = consequences(settings);
    const run = manyOf(settings, many);
    if (run !== many || !before)
      forgetting.draw({ values: run, last: settings.edits - 1, step: settings.edits - 1 });
    many = run;
    const visible = frame.pending ? unseen(settings, shown) : shown;
    planes.show(settings, visible, current.axes);
    matrices.show(visible);
    bars.show(visible);
    table.show(settings, visible);
    panel.show(settings, {
      keep: canKeep(),
      undo: order.length > 0,
      repeat: pairs.length > 0 && order.length + pairs.length <= MOST_STEPS,
      clear: order.length > 0,
    });
    frame.settle(false);
    tell();
  }

  /** @param {{ k: Point } | { v: Point } | { key: [number, Point] } | { axis: [number, Point] }} moved */
  function onDrag(moved) {
    if ("key" in moved) {
      const [i, at] = moved.key;
      frame.change({ keys: frame.settings.keys.map((key, j) => (j === i ? at : key)) });
    } else if ("axis" in moved) {
      current = stretched(current, ...moved.axis);
      frame.change({ keys: current.keys });
    } else frame.change(moved);
  }

  function canKeep() {
    const { pairs, order } = frame.settings;
    return shown.edit !== null && pairs.length < MOST_PAIRS && order.length < MOST_STEPS;
  }

  function keep() {
    if (!canKeep()) return;
    const { pairs, order, k, v } = frame.settings;
    frame.change({ pairs: [...pairs, { k, v }], order: [...order, pairs.length] });
  }

  /** The pairs after an undo, without those at the end that no remaining edit writes. */
  function unusedPairs() {
    const { pairs, order } = frame.settings;
    return { pairs: pairs.slice(0, Math.max(-1, ...order.slice(0, -1)) + 1) };
  }

  function findings() {
    const { preset, settings } = frame;
    if (!preset) return null;
    if (asked?.of !== preset) asked = { of: preset, found: consequences(preset.set) };
    return { ...asked.found, own: same(preset.set, settings) };
  }

  function words() {
    if (frame.pending) return "";
    if (!shown.edit) return shown.why ?? "";
    const { v, k } = frame.settings;
    const off = norm(minus(v, times(shown.edit.W, k)));
    const exact = off < 1e-12 * (1 + norm(v)) ? "up to rounding" : `to ${figures(off, 1)}`;
    return `Ŵk* is v* ${exact}. Interference ${figures(shown.total)}, least possible ${figures(cleared(shown.least))}.`;
  }

  return frame.lay({
    className: "r1-editing",
    stage: [planes.element],
    controls: panel.first,
    readouts: [bars.element, bars.facts, frame.status],
    more: [panel.rest, keyHelp("a handle", KEYS, [HELP])],
    moreLabel: "More: edits in sequence, many edits",
    charts: [matrices.element, h("div", { class: "r1-charts" }, table.element, forgetting.element)],
    onkeydown: onKeys({ e: keep, r: frame.reset }),
    state: () => ({ ...shown, axes: current.axes, many }),
  });
}

/** @type {(shown: Consequences, settings: Settings) => Table} */
const dataOf = ({ measured, law }, { keys }) => ({
  columns: ["key", "x", "y", "measured", "formula"],
  rows: keys.map(([x, y], j) => [j + 1, x, y, measured[j] ?? null, law[j] ?? null]),
});

/** @typedef {{ key: string, values: number[], law: number[] }} Many */

/**
 * The run of many edits and its law; `last` itself if none of their settings has changed.
 *
 * @type {(settings: Settings, last?: Many) => Many}
 */
function manyOf({ dimension: D, edits: T, seed }, last) {
  const key = `${D} ${T} ${seed}`;
  if (key === last?.key) return last;
  const law = Array.from({ length: T }, (_, i) => forgettingLaw(i + 1, T, D));
  return { key, values: manyEdits({ D, T, seed }), law };
}

function createForgetting() {
  const { element, draw } = runChart({
    title: "T random edits in D dimensions: error of each at the end",
    xLabel: "number i of the edit",
    yLabel: "mean squared error",
    first: 1,
    series: [
      { key: "values", label: "measured (C = I)", tone: "distributed" },
      { key: "law", label: "law (1 − e^(−(T−i)/D))(2 − e^(−T/D))", tone: "law", dash: "7 3" },
    ],
    summary: ({ values, law }, i) =>
      `Of the first edit ${amount(values[0])}, by the law ${amount(law[0])}; of the last ${amount(cleared(Number(values[i])))}.`,
  });
  return {
    element,
    /** @param {{ values: Many, last: number, step: number }} run */
    draw: ({ values: { values, law }, ...run }) => draw({ values: { values, law }, ...run }),
  };
}
