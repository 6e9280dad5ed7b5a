// The charts of the loss and of the gap by step, and the table of counters under the planes.
import { h } from "../kit/dom.js";
import { amount, figures } from "../kit/number.js";
import { counters } from "../kit/readout.js";
import { runChart } from "../kit/runchart.js";
import { PATHS, widest } from "./math/paths.js";
import { stepsInWords } from "./words.js";

/** @import { Counts, Kind, Run } from "./math/paths.js" */

const TOP = 1e6; // a loss or a gap above this counts as divergent
const FLOOR = 1e-12; // losses are drawn at least here: anything smaller is rounding
const LEAST = 1e-17; // gaps are drawn at least here, so that an exact 0 has a place on the logarithmic axis

/** @typedef {{ key: Kind, label: string, tone: string, dash?: string }} PathSeries */

/** @type {PathSeries[]} */
export const SERIES = [
  { key: "plain", label: "on W, plain", tone: "printed" },
  { key: "reparameterised", label: "on U, W = TUV", tone: "exact" },
  { key: "explicit", label: "on W, with P", tone: "distributed", dash: "7 3" },
];

export function createCharts() {
  const losses = runChart({
    title: "Loss",
    xLabel: "step",
    yLabel: "loss",
    scale: "log",
    ceiling: TOP,
    series: SERIES,
    summary: (values, t) =>
      `At step ${t}: ${SERIES.map(({ key, label }) => `${label} ${amount(values[key]?.[t])}`).join(", ")}.`,
  });
  const gaps = runChart({
    title: "Gap, blue to orange",
    xLabel: "step",
    yLabel: "‖W − W′‖",
    scale: "log",
    ceiling: TOP,
    series: [
      { key: "gap", label: "measured", tone: "local" },
      { key: "known", label: "limit, computed", tone: "law", dash: "2 3" },
    ],
    summary: ({ gap, known }, t) =>
      `At step ${t}: ${amount(gap?.[t])}.${known?.length ? ` Computed limit: ${amount(known[0])}.` : ""}`,
  });
  const table = createCounters();
  return {
    element: h("div", { class: "r1-charts" }, losses.element, gaps.element),
    counters: table.element,
    count: table.count,
    /** @type {(run: Run, step: number, last: number, hidden: boolean) => void} */
    draw(run, step, last, hidden) {
      const shown = hidden ? { plain: run.paths.plain } : run.paths;
      const values = Object.fromEntries(
        Object.entries(shown).map(([key, path]) => [key, path.loss.map((v) => Math.max(v, FLOOR))]),
      );
      losses.draw({ values, last, step });
      gaps.draw({
        values: hidden ? {} : gapsOf(run),
        last,
        step,
        note: hidden ? "Shown once you have predicted." : "A gap below 10⁻⁹ counts as rounding.",
      });
      table.show(run, step, hidden);
    },
  };
}

/** @param {Run} run */
function gapsOf({ gap, fate, known }) {
  const away = fate === "away";
  const least = away || fate === "together" ? LEAST : 1e-3 * widest(gap);
  const isKnown = !away && known !== null && known > 1e-9;
  return {
    gap: gap.map((v) => Math.max(v, least)), // an exact 0 is drawn at the bottom instead of being left out
    known: isKnown ? gap.map(() => known) : [],
  };
}

/** A table with one row per path: the current loss, the step size, and the number of steps to the tolerance. */
function createCounters() {
  const table = counters({
    rows: SERIES,
    columns: [
      ["loss", "loss now"],
      ["eta", "step size"],
      ["count", "steps to end"],
    ],
  });
  return {
    element: table.element,
    /** @type {(run: Run, step: number, hidden: boolean) => void} */
    show({ paths, etas }, step, hidden) {
      for (const key of PATHS) {
        const secret = hidden && key !== "plain";
        table.set(key, "loss", secret ? "?" : amount(paths[key].loss[step]));
        table.set(key, "eta", figures(etas[key]));
      }
    },
    /**
     * Shows the counts of steps; null while they are being counted.
     *
     * @type {(counts: Counts | null, hidden: boolean) => void}
     */
    count(counts, hidden) {
      for (const key of PATHS) {
        const words = counts === null ? "…" : stepsInWords(counts[key]);
        table.set(key, "count", hidden && key !== "plain" ? "?" : words);
      }
    },
  };
}
