// Risk against n and against noise, with the laws beside what is measured; and both in a table.
import { h, setText } from "../kit/dom.js";
import { xyplot } from "../kit/xyplot.js";
import { number } from "./format.js";
import * as laws from "./math/laws.js";

const MODELS = [
  ["base", "base alone", "exact"],
  ["neighbours", "neighbours alone", "law"],
  ["memory", "base + memory", "distributed"],
];
const LAWS = [
  { key: "printed", label: "printed bound", tone: "printed", dash: "10 3 2 3" },
  { key: "baseLaw", label: "base, n → ∞", tone: "exact", dash: "2 3" },
  { key: "neighboursLaw", label: "1 neighbour alone, law", tone: "law", dash: "7 3" },
  { key: "memoryLaw", label: "base + 1 neighbour, law", tone: "distributed" },
];
const dotted = (key, label, tone) => ({
  key,
  label: `${label}, measured`,
  tone,
  dots: true,
  r: 3.4,
});
const DOTS = MODELS.map(([key, label, tone]) => dotted(key, label, tone));
const LINES = MODELS.map(([key, , tone]) => ({ key: `${key}Line`, label: null, tone }));
const count = (n) => n.toLocaleString("en-GB");

/** The laws at one n: for the line only, the plane has none. */
export function lawsAt({ view, d, L, noise }, n) {
  if (view !== "line") return null;
  const distance = laws.neighbourDistance(n, d);
  return {
    base: laws.baseLaw(L),
    neighbours: laws.memoryLaw(distance, d, 0, noise),
    memory: laws.memoryLaw(distance, d, L, noise),
    printed: laws.printed(n, d, L),
    threshold: Math.max(0, laws.helpfulNoise(distance, d, L)),
  };
}

export function createCharts() {
  const line = {
    risk: xyplot({
      title: "Risk as n grows",
      xLabel: "examples n",
      yLabel: "squared error",
      xScale: "log",
      yScale: "log",
      series: [...LAWS, ...DOTS],
    }),
    noise: xyplot({
      title: "When memorising starts to hurt",
      xLabel: "noise variance of the labels",
      yLabel: "squared error",
      series: [LAWS[1], { ...LAWS[3], label: "base + 1 neighbour, law" }, DOTS[0], DOTS[2]],
    }),
  };
  const plane = {
    risk: xyplot({
      title: "Error as n grows",
      xLabel: "examples n",
      yLabel: "share wrong",
      xScale: "log",
      series: [...LINES, ...DOTS],
    }),
    noise: xyplot({
      title: "When memorising starts to hurt",
      xLabel: "share of wrong labels",
      yLabel: "share wrong",
      series: [...LINES, ...DOTS],
    }),
  };
  const table = createTable();
  const both = { line, plane };
  const pair = (view) =>
    h("div", { class: "r1-charts" }, both[view].risk.element, both[view].noise.element);
  const pairs = { line: pair("line"), plane: pair("plane") };
  return {
    element: h("div", {}, pairs.line, pairs.plane),
    table: table.element,
    draw(settings, race, place, threshold) {
      const { view } = settings;
      pairs.line.hidden = view !== "line";
      pairs.plane.hidden = view === "line";
      drawRisk(both[view].risk, settings, race, place);
      drawNoise(both[view].noise, settings, race, threshold);
      table.show(settings, race.risks[place], lawsAt(settings, settings.n));
    },
  };
}

function drawRisk(chart, settings, { sizes, risks }, place) {
  const { view, n } = settings;
  const data = {};
  for (const [key] of MODELS) {
    data[key] = risks.slice(0, place + 1).map((risk, i) => [sizes[i], risk[key]]);
    data[`${key}Line`] = data[key];
  }
  let y = [0, 0.6];
  if (view === "line") {
    const at = sizes.map((size) => [size, lawsAt(settings, size)]);
    for (const key of ["printed", "base", "neighbours", "memory"]) {
      const name = key === "printed" ? key : `${key}Law`;
      data[name] = at.map(([size, law]) => [size, law[key]]).filter(([, v]) => v > 0);
    }
    const shown = Object.values(data)
      .flat()
      .map(([, v]) => v)
      .filter((v) => v > 1e-9);
    if (shown.length === 0) shown.push(1e-3, 1);
    y = [
      10 ** Math.floor(Math.log10(Math.min(...shown))),
      10 ** Math.ceil(Math.log10(Math.max(...shown))),
    ];
  }
  const risk = risks[place];
  chart.draw({
    data,
    x: [sizes[0], sizes.at(-1)],
    y,
    marks: [{ at: n, tone: "printed", label: `n = ${count(n)}` }],
    summary: risk
      ? `At n = ${n}: ${MODELS.map(([key, label]) => `${label} ${number(risk[key])}`).join(", ")}.`
      : "",
    text:
      view === "line"
        ? "Law: (1 − L)²·E Zₙ/d plus the noise, for one neighbour. Printed: Theorem 5.3 with constant 1, without noise."
        : "No law is known here: all of it is measured, against the true classes.",
  });
}

function drawNoise(chart, settings, { levels, sweep }, threshold) {
  const { view, n, k, noise, flips } = settings;
  const data = {};
  for (const [key] of MODELS) {
    data[key] = sweep.map((risk, i) => [levels[i], risk[key]]);
    data[`${key}Line`] = data[key];
  }
  if (view === "line") {
    const { base, memory } = lawsAt({ ...settings, noise: 0 }, n);
    data.baseLaw = levels.map((level) => [level, base]);
    data.memoryLaw = levels.map((level) => [level, level + memory]);
    delete data.neighbours;
  }
  const level = view === "line" ? noise : flips;
  const marks = [{ at: level, tone: "printed", label: null }];
  if (threshold !== null) {
    marks.push({
      at: threshold,
      tone: "local",
      label: `${view === "line" && k > 1 ? "1 neighbour hurts" : "hurts"} from ${number(threshold)}`,
    });
  }
  const highest = Math.max(
    0.05,
    ...Object.values(data).flatMap((points) => points.map(([, v]) => v)),
  );
  chart.draw({
    data,
    x: [0, levels.at(-1)],
    y: [0, 1.05 * highest],
    marks,
    summary:
      threshold === null ? "" : `Memorising one neighbour hurts from ${number(threshold)} on.`,
    text: `At n = ${count(n)}. The grey mark is your noise${greenMark(view, sweep, threshold)}.`,
  });
}

function greenMark(view, sweep, threshold) {
  if (view === "line") return ", the green one the law’s border, (1 − L)²(1 − E Zₙ/d)";
  if (sweep.length > 0 && threshold === null) return "; the measured curves do not cross here";
  return ", the green one where the measured curves cross";
}

/** One row a model: measured, and the law where there is one. */
function createTable() {
  const rows = MODELS.map(([key, label, tone]) => {
    const cells = ["measured", "law"].map((name) => h("td", { "data-cell": `${key}-${name}` }));
    const chip = h(
      "svg",
      { viewBox: "0 0 12 12", class: `r1-chip r1-${tone}`, "aria-hidden": "true" },
      h("circle", { cx: 6, cy: 6, r: 5, class: "r1-dot" }),
    );
    return { key, cells, row: h("tr", {}, h("th", { scope: "row" }, chip, label), cells) };
  });
  const bound = h("td", { "data-cell": "printed-law" });
  const printed = h("tr", {}, h("th", { scope: "row" }, "printed bound"), h("td", {}), bound);
  const heads = ["measured", "law"].map((words) => h("th", { scope: "col" }, words));
  const element = h(
    "table",
    { class: "r1-counters" },
    h("thead", {}, h("tr", {}, h("td", {}), heads)),
    h(
      "tbody",
      {},
      rows.map(({ row }) => row),
      printed,
    ),
  );
  return {
    element,
    show({ view, k }, risk, law) {
      const line = view === "line";
      setText(heads[0], line ? "squared error" : "share wrong");
      setText(heads[1], k === 1 ? "law" : "law for k = 1");
      heads[1].hidden = !line;
      printed.hidden = !line;
      for (const { key, cells } of rows) {
        setText(cells[0], risk ? number(risk[key]) : "…");
        setText(cells[1], law ? number(law[key]) : "");
        cells[1].hidden = !line;
      }
      setText(bound, law ? number(law.printed) : "");
    },
  };
}
