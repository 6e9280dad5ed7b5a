// The landscape explorer: connects the controls, the mathematics and the parts of the page.
import { createFrame } from "../kit/explorer.js";
import { keyHelp, onKeys } from "../kit/keys.js";
import { amount, figures, fixed, power } from "../kit/number.js";
import { facts } from "../kit/readout.js";
import { onTheme } from "../kit/theme.js";
import { printedBound } from "../math/bounds.js";
import { createChart } from "./charts.js";
import { divergenceBound, neededPower } from "./math/theorem.js";
import { createPanel } from "./panel.js";
import { createPlanes } from "./planes.js";
import { presetsOf } from "./presets.js";
import { python } from "./python.js";
import { admits, consequences, diameterOf, nextSettings, settingsFrom } from "./settings.js";

/** @import { Frame } from "../kit/explorer.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { Setting as Known } from "./math/theorem.js" */
/** @import { Found } from "./presets.js" */
/** @import { Consequences, Patch, Settings } from "./settings.js" */

/** @type {[string, string][]} */
const KEYS = [
  ["arrow keys", "move it, with Shift five times as far"],
  ["Page Down", "the next pattern"],
  ["r", "reset"],
];

/**
 * @param {object} given The settings that differ from the explorer's defaults.
 * @returns {Explorer}
 */
export function createExplorer(given) {
  const { view } = settingsFrom(given);
  const presets = presetsOf(view);
  const initial = Object.keys(given).some((name) => name !== "view")
    ? settingsFrom(given)
    : presets[0].set;
  let shown = consequences(initial);
  /** @type {Frame<Settings, Patch, Found>} */
  const frame = createFrame({
    name: "landscape",
    settings: initial,
    presets,
    next: nextSettings,
    admits,
    stands: () => true,
    update,
    findings() {
      const known = knownOf(frame.settings, shown.exact);
      return {
        ...shown,
        promised: divergenceBound(known).fails === null,
        needed: neededInWords(known),
      };
    },
    words,
    patience: 800,
    python,
    data: () => table(shown),
  });
  const planes = createPlanes({
    two: view !== "exact",
    onMove(moved) {
      if ("query" in moved) return frame.change(moved);
      const [i, at] = moved.pattern;
      frame.change({ patterns: frame.settings.patterns.map((p, j) => (j === i ? at : p)) });
    },
  });
  const chart = createChart(view);
  const readout = facts();
  const panel = createPanel(initial, frame.change);
  let unwatch = /** @type {(() => void) | null} */ (null);

  function update() {
    const { settings } = frame;
    shown = consequences(settings);
    panel.show(settings);
    const veiled = frame.pending;
    planes.show(settings, shown, veiled);
    chart.show(settings, shown);
    readout.show(rows(settings, shown));
    for (const part of [chart, readout]) part.element.classList.toggle("r1-veiled", veiled);
    frame.settle(false);
  }

  function words() {
    if (frame.pending) return "The run is drawn once you have guessed.";
    const { runs } = shown;
    const [x, y] = runs.exact[runs.exact.length - 1];
    const alone = `The run on E ends at (${fixed(x)}, ${fixed(y)}).`;
    if (runs.copy.length === 0) return alone;
    const [u, v] = runs.copy[runs.copy.length - 1];
    return `${alone} That on Ê ends at (${fixed(u)}, ${fixed(v)}), ${amount(runs.distance[runs.distance.length - 1])} away.`;
  }

  const laid = frame.lay({
    className: view === "exact" ? "" : "r1-wide-stage",
    stage: [planes.element, frame.status],
    controls: panel.first,
    readouts: [readout.element, chart.element],
    more: [...panel.more, keyHelp("a point", KEYS)],
    onkeydown: onKeys({ r: frame.reset }),
    state: () => ({ ...shown.runs, rests: shown.rests, kappa: shown.kappa }),
    close() {
      unwatch?.();
      planes.close();
    },
  });
  return {
    ...laid,
    begin(play) {
      laid.begin(play);
      unwatch ??= onTheme(laid.element, planes.redraw);
    },
  };
}

/** @type {(settings: Settings, exact: Consequences["exact"]) => Known} */
function knownOf({ patterns, query, Y, beta, eta, steps }, exact) {
  const reach = Math.max(...patterns.map((p) => Math.hypot(p[0] - query[0], p[1] - query[1])));
  const sizes = { K: patterns.length, diameter: diameterOf(patterns), reach };
  return { ...sizes, Y, beta, eta, steps, energy: exact.energy(query) };
}

/** @param {Known} known */
function neededInWords(known) {
  const needed = neededPower(known);
  return needed === null ? "no Y at this step size" : `Y = ${power(needed)}`;
}

/** @type {(settings: Settings, shown: Consequences) => [string, string][]} */
function rows(settings, { exact, runs, rests, kappa }) {
  const { view, patterns } = settings;
  const last = runs.distance.length - 1;
  /** @type {[string, string][]} */
  const basins = [
    ["Places where patterns’ runs end", `${rests}, from ${patterns.length}`],
    ["βd², d between farthest patterns", figures(4 * kappa)],
  ];
  if (view === "exact") return basins;
  /** @type {[string, string]} */
  const apart = ["Apart at the end, ‖x − x̂‖", amount(runs.distance[last])];
  if (view === "both") return [apart, ...basins];
  const known = knownOf(settings, exact);
  const { bound, fails } = divergenceBound(known);
  return [
    apart,
    ["The tube allows", amount(runs.tube[last])],
    ["Worst case, before the run", fails ? `nothing: ${fails}` : figures(bound)],
    ["… says something from", neededInWords(known)],
    ["Eq. 12, DrDAM paper", power(printedBound({ D: 2, ...known }))],
  ];
}

/** @param {Consequences} shown */
function table({ runs }) {
  const names = ["step", "E", ...(runs.copy.length ? ["distance", "tube"] : [])];
  return {
    columns: names,
    rows: runs.energies.map((energy, t) =>
      runs.copy.length ? [t, energy, runs.distance[t], runs.tube[t]] : [t, energy],
    ),
  };
}
