// The universality explorer: connects the settings, one gradient step and the parts of the page.
import { resetButton } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { createFrame } from "../kit/explorer.js";
import { amount, cleared, count, figures, fixed } from "../kit/number.js";
import { facts } from "../kit/readout.js";
import { runChart } from "../kit/runchart.js";
import { createCurve } from "./curve.js";
import { createNetworks } from "./networks.js";
import { GRID, observe } from "./observe.js";
import { createPanel } from "./panel.js";
import { PRESETS } from "./presets.js";
import { python } from "./python.js";
import { admits, nextSettings } from "./settings.js";
import { createSlots } from "./slots.js";

/** @import { Table } from "../kit/export.js" */
/** @import { Frame } from "../kit/explorer.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { Seen } from "./observe.js" */
/** @import { Patch, Settings } from "./settings.js" */

const BEFORE = 3; // number of first rows of the readout that do not show an effect of the step
/** @type {(seen: Seen) => Seen} */
const untaught = (observed) => ({ ...observed, after: [], table: null });

const HARMLESS = ["x", "y", "probe", "profile"]; // a question stays on show while only these change

/**
 * @param {Settings} initial
 * @returns {Explorer}
 */
export function createExplorer(initial) {
  /** @type {Seen | null} */
  let observed = null;
  let waiting = false; // true while the network is being fitted
  const networks = createNetworks((problem) => (problem ? frame.warn(problem) : update()));
  /** @type {Frame<Settings, Patch, Seen>} */
  const frame = createFrame({
    settings: initial,
    presets: PRESETS,
    next: nextSettings,
    stands: (patch) => Object.keys(patch).every((name) => HARMLESS.includes(name)),
    update,
    findings: () => (waiting ? null : observed),
    words,
    patience: 1200,
    name: "universality",
    admits,
    python,
    data: () => dataOf(observed),
  });
  const curve = createCurve({
    onPair: (x, y) => frame.change({ x, y }),
    onProbe: (probe) => frame.change({ probe }),
  });
  const slots = createSlots();
  const stackFlow = createFlow("stack layers, in order from x", "written slots at x*, after");
  const plainFlow = createFlow("hidden layers, in order from x", "change by the step, at x*");
  stackFlow.element.hidden = true;
  const readout = facts();
  const panel = createPanel(initial, frame.change);

  function update() {
    const { settings } = frame;
    panel.show(settings);
    const network = networks.find(settings);
    waiting = network === null;
    curve.element.classList.toggle("r1-waiting", waiting);
    if (network) show(observe(network, settings), settings, frame.pending);
    frame.settle(waiting);
  }

  /**
   * Shows an observation. If `hidden`, the effect of the step is left out, because the reader has yet to predict it.
   *
   * @type {(next: Seen, settings: Settings, hidden: boolean) => void}
   */
  function show(next, settings, hidden) {
    observed = next;
    curve.show(hidden ? untaught(observed) : observed, settings, words());
    slots.show(observed, settings);
    const last = observed.flow.forward.length - 1;
    const hasSlots = observed.flow.switch.length > 0;
    stackFlow.element.hidden = !hasSlots;
    plainFlow.element.hidden = hasSlots;
    (hasSlots ? stackFlow : plainFlow).draw({
      values: hidden ? { forward: observed.flow.forward } : observed.flow,
      last,
      step: last,
    });
    readout.show(rows(observed, settings).slice(0, hidden ? BEFORE : undefined));
    slots.element.classList.toggle("r1-veiled", hidden);
  }

  function words() {
    const { x, y, probe, size } = frame.settings;
    if (frame.pending) return "Predict, and the step is shown.";
    if (waiting || !observed) return `Fitting ${count(size)} units by least squares…`;
    const { atProbe, start } = observed;
    return (
      `From (${fixed(x)}, ${fixed(y)}): at x* = ${fixed(probe)} the network says ${rounded(start)} before ` +
      `the step and ${rounded(atProbe.output)} after it; the target is ${rounded(atProbe.wanted)}.`
    );
  }

  return frame.lay({
    className: "r1-universality",
    stage: [curve.element, slots.element],
    controls: panel.first,
    readouts: [readout.element],
    more: [panel.rest],
    moreLabel: "More: the pair by its numbers",
    charts: [
      h("div", { class: "r1-bar" }, frame.status, resetButton(frame.reset)),
      stackFlow.element,
      plainFlow.element,
    ],
    state() {
      if (!observed) return { waiting };
      const { step, ...shown } = observed;
      return { waiting, ...shown };
    },
    close: networks.close,
  });
}

/** @type {(seen: Seen | null) => Table} */
const dataOf = (observed) => ({
  columns: ["x*", "target", "table", "before", "after"],
  rows: GRID.map((at, i) =>
    observed
      ? [at, observed.wanted[i], observed.table?.[i] ?? null, observed.before[i], observed.after[i]]
      : [at],
  ),
});

/** @param {number | null} v */
const rounded = (v) => amount(cleared(v));

/**
 * The chart of the signals. In a network with slots for what a step writes, it shows the layers of the stack.
 *
 * @param {string} layers
 * @param {string} written
 */
function createFlow(layers, written) {
  return runChart({
    title: "Signals, layer by layer",
    xLabel: layers,
    yLabel: "largest entry",
    scale: "log",
    series: [
      { key: "forward", label: "x going forward, before", tone: "exact" },
      { key: "error", label: "error coming back", tone: "law", dash: "2 3" },
      { key: "written", label: written, tone: "distributed", dash: "7 3" },
      { key: "switch", label: "switch, after", tone: "local", dash: "10 3 2 3" },
    ],
    summary: (values, at) =>
      Object.entries(values)
        .filter(([, line]) => line.length > 0)
        .map(
          ([name, line]) =>
            `${name} ${amount(line[0])} at the first, ${amount(line[at])} at the last`,
        )
        .join("; "),
  });
}

/** @type {(seen: Seen, settings: Settings) => [string, string][]} */
function rows(observed, settings) {
  const { depth, parameters, start, gap, switchAfter, deviation, tableError, error } = observed;
  /** @type {[string, string][]} */
  const shared = [
    ["Layers; parameters", `${count(depth)}; ${count(parameters)}`],
    ["Prediction before, ŷ", rounded(start)],
    ["Error that is sent back, y − ŷ", rounded(gap)],
    [
      "θ_b, before → after",
      switchAfter === null ? "none" : `${figures(settings.switch)} → ${figures(switchAfter)}`,
    ],
    ["Error after the step, rms", rounded(error)],
  ];
  if (deviation === null) return shared;
  return [
    ...shared,
    ["Error of the table, rms", rounded(tableError)],
    ["Distance to the table, rms", rounded(deviation)],
  ];
}
