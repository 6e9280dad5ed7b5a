// Loss and gap by step, the counters, and the spectra.
import { h, setText } from "../kit/dom.js";
import { plot, power } from "../kit/plot.js";
import { amount, count, TOP, widest } from "./format.js";
import { PATHS } from "./math/paths.js";

const FLOOR = 1e-12; // of the losses drawn: below is rounding
const LEAST = 1e-17; // under it a gap is no number any more

export const SERIES = [
  { key: "plain", label: "on W, plain", tone: "printed" },
  { key: "reparameterised", label: "on U, W = TUV", tone: "exact" },
  { key: "explicit", label: "on W, with P", tone: "distributed", dash: "7 3" },
];

export function createCharts() {
  const losses = plot({
    title: "Loss",
    xLabel: "step",
    yLabel: "loss",
    scale: "log",
    ceiling: TOP,
    series: SERIES,
    summary: (values, t) =>
      `At step ${t}: ${SERIES.map(({ key, label }) => `${label} ${amount(values[key]?.[t])}`).join(", ")}.`,
  });
  const gaps = plot({
    title: "Gap between the last two",
    xLabel: "step",
    yLabel: "‖W − W′‖",
    scale: "log",
    ceiling: TOP,
    series: [
      { key: "gap", label: "measured", tone: "local" },
      { key: "known", label: "computed for the end", tone: "law", dash: "2 3" },
    ],
    summary: ({ gap, known }, t) =>
      `At step ${t}: ${amount(gap?.[t])}.${known?.length ? ` Computed for the end: ${amount(known[0])}.` : ""}`,
  });
  const counters = createCounters();
  return {
    element: h("div", { class: "r1-charts" }, losses.element, gaps.element),
    counters: counters.element,
    count: counters.count,
    draw(run, step, steps, hidden) {
      const shown = hidden ? { plain: run.paths.plain } : run.paths;
      const values = Object.fromEntries(
        Object.entries(shown).map(([key, path]) => [key, path.loss.map((v) => Math.max(v, FLOOR))]),
      );
      losses.draw({ values, xMax: steps, step });
      const away = run.fate === "away";
      const least = away || run.fate === "together" ? LEAST : 1e-3 * widest(run.gap);
      const gap = run.gap.map((v) => Math.max(v, least)); // an exact 0 is drawn at the bottom, not left out
      const known = !away && run.known > 1e-9 ? run.gap.map(() => run.known) : [];
      gaps.draw({
        values: hidden ? {} : { gap, known },
        xMax: steps,
        step,
        text: hidden
          ? "Shown once you have predicted."
          : "In double precision about 10⁻¹⁶ of the way is rounding.",
      });
      counters.show(run, step, hidden);
    },
  };
}

/** Loss now, step size, and steps to the tolerance, one row a path. */
function createCounters() {
  const rows = SERIES.map(({ key, label, tone }) => {
    const cells = ["loss", "eta", "count"].map((name) =>
      h("td", { "data-cell": `${key}-${name}` }),
    );
    const chip = h(
      "svg",
      { viewBox: "0 0 12 12", class: `r1-chip r1-${tone}`, "aria-hidden": "true" },
      h("circle", { cx: 6, cy: 6, r: 5, class: "r1-dot" }),
    );
    return { key, cells, row: h("tr", {}, h("th", { scope: "row" }, chip, label), cells) };
  });
  const goal = h("th", { scope: "col" });
  const head = ["", "loss now", "step size"].map((words) =>
    words ? h("th", { scope: "col" }, words) : h("td", {}),
  );
  const element = h(
    "table",
    { class: "r1-counters" },
    h("thead", {}, h("tr", {}, head, goal)),
    h(
      "tbody",
      {},
      rows.map(({ row }) => row),
    ),
  );
  return {
    element,
    show({ paths, etas }, step, hidden) {
      for (const { key, cells } of rows) {
        const secret = hidden && key !== "plain";
        setText(cells[0], secret ? "?" : amount(paths[key].loss[step]));
        setText(cells[1], etas[key].toPrecision(3));
      }
    },
    /** counts: { path: steps } or null while they are being counted. */
    count(counts, tolerance, hidden) {
      setText(goal, `steps to ${power(Math.log10(tolerance))}`);
      for (const key of PATHS) {
        const { cells } = rows.find((row) => row.key === key);
        const found = counts === null ? "…" : count(counts[key]);
        setText(cells[2], hidden && key !== "plain" ? "?" : found);
      }
    },
  };
}
