// Charts of the risk against n and against the noise or the frequency, with measurements and laws; and a table of both.
import { chart } from "../kit/chart.js";
import { h } from "../kit/dom.js";
import { dots, drawUprights } from "../kit/dots.js";
import { cleared, count, figures } from "../kit/number.js";
import { counters } from "../kit/readout.js";
import * as laws from "./math/laws.js";
import { waveLaws } from "./math/waves.js";

/** @import { Data, Series } from "../kit/chart.js" */
/** @import { Mark } from "../kit/dots.js" */
/** @import { Point } from "../kit/handle.js" */
/** @import { Model, Risks } from "./math/risk.js" */
/** @import { Settings } from "./settings.js" */

/** @typedef {{ base: number, neighbours: number, memory: number, printed: number, threshold: number }} Laws */
/** @typedef {{ sizes: number[], risks: (Risks & { repetitions: number })[], levels: number[], sweep: Risks[] }} Measured */
/** @typedef {ReturnType<typeof chart>} Chart */
/** @typedef {Record<string, Data>} Lines */

/** @type {{ key: Model, label: string, tone: string }[]} */
const MODELS = [
  { key: "base", label: "base alone", tone: "exact" },
  { key: "neighbours", label: "neighbours alone", tone: "law" },
  { key: "memory", label: "base + memory", tone: "distributed" },
];
const NEIGHBOURS_LAW = {
  key: "neighboursLaw",
  label: "1 neighbour alone, law",
  tone: "law",
  dash: "7 3",
};
const MEMORY_LAW = { key: "memoryLaw", label: "base + 1 neighbour, law", tone: "distributed" };
const BASE_LAW = { key: "baseLaw", label: "base, n → ∞", tone: "exact", dash: "2 3" };
const THIS_BASE = { ...BASE_LAW, label: "this base alone" };
const OTHER_LAW = { key: "otherLaw", label: "the other base + 1 neighbour, law", tone: "local" };
const OTHER_BASE = { key: "otherBase", label: "the other base alone", tone: "local", dash: "2 3" };
const PRINTED = { key: "printed", label: "printed bound", tone: "printed", dash: "10 3 2 3" };
/** @type {Series[]} */
const DOTS = MODELS.map(({ key, label, tone }) => ({
  key,
  label: `${label}, measured`,
  tone,
  pen: dots,
  r: 3.4,
}));
/** @type {Series[]} */
const LINES = MODELS.map(({ key, tone }) => ({ key: `${key}Line`, tone }));

/** @param {number} v */
const number = (v) => figures(v, 2);

/**
 * The laws at one n for the line; null for the other views.
 *
 * @type {(settings: Pick<Settings, "view" | "d" | "L" | "noise">, n: number) => Laws | null}
 */
export const lawsAt = (settings, n) => (settings.view === "line" ? lineLaws(settings, n) : null);

/** @type {(settings: Pick<Settings, "d" | "L" | "noise">, n: number) => Laws} */
function lineLaws({ d, L, noise }, n) {
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
    risk: chart({
      title: "Risk as n grows",
      x: { label: "examples n", scale: "log" },
      y: { label: "squared error", scale: "log" },
      series: [PRINTED, BASE_LAW, NEIGHBOURS_LAW, MEMORY_LAW, ...DOTS],
    }),
    noise: chart({
      title: "When memorising starts to hurt",
      x: { label: "noise variance of the labels" },
      y: { label: "squared error" },
      series: [BASE_LAW, MEMORY_LAW, DOTS[0], DOTS[2]],
    }),
  };
  const plane = {
    risk: chart({
      title: "Error as n grows",
      x: { label: "examples n", scale: "log" },
      y: { label: "fraction wrong" },
      series: [...LINES, ...DOTS],
    }),
    noise: chart({
      title: "When memorising starts to hurt",
      x: { label: "fraction of wrong labels" },
      y: { label: "fraction wrong" },
      series: [...LINES, ...DOTS],
    }),
  };
  const waves = {
    risk: chart({
      title: "Risk as n grows",
      x: { label: "examples n", scale: "log" },
      y: { label: "squared error", scale: "log" },
      series: [THIS_BASE, NEIGHBOURS_LAW, MEMORY_LAW, OTHER_LAW, ...DOTS],
    }),
    noise: chart({
      title: "Which wave should the base learn?",
      x: { label: "frequency of the rough wave" },
      y: { label: "squared error", scale: "log" },
      series: [THIS_BASE, OTHER_BASE, MEMORY_LAW, OTHER_LAW, DOTS[0], DOTS[2]],
    }),
  };
  const table = createTable();
  const both = { line, plane, waves };
  /** @param {{ risk: Chart, noise: Chart }} charts */
  const pair = ({ risk, noise }) => h("div", { class: "r1-charts" }, risk.element, noise.element);
  const pairs = { line: pair(line), plane: pair(plane), waves: pair(waves) };
  return {
    element: h("div", {}, pairs.line, pairs.plane, pairs.waves),
    table: table.element,
    /**
     * Draws both charts and the table. If `hidden`, the laws are left out, because the reader has yet to predict; the
     * caller then passes a race without risks.
     *
     * @type {(settings: Settings, race: Measured, place: number, threshold: number | null, hidden: boolean) => void}
     */
    draw(settings, race, place, threshold, hidden) {
      const { view } = settings;
      for (const [name, element] of Object.entries(pairs)) element.hidden = name !== view;
      drawRisk(both[view].risk, settings, race, place, hidden);
      if (view === "waves") drawFrequencies(waves.noise, settings, race, hidden);
      else drawNoise(both[view].noise, settings, race, hidden ? null : threshold, hidden);
      const law = view === "waves" ? waveLaws(settings, settings.n) : lawsAt(settings, settings.n);
      table.show(settings, race.risks[place], hidden ? null : law, hidden ? "?" : "…");
    },
  };
}

/**
 * The measured risks, as dots and as lines between them. Values that are 0 up to rounding become 0, which a logarithmic
 * axis leaves out.
 *
 * @type {(places: number[], risks: Risks[]) => Lines}
 */
function measuredLines(places, risks) {
  /** @type {Lines} */
  const lines = {};
  for (const { key } of MODELS) {
    lines[key] = risks.map((risk, i) => [places[i], cleared(risk[key], 1e-9)]);
    lines[`${key}Line`] = lines[key];
  }
  return lines;
}

/**
 * The laws at every n. Values of 0 are left out, because the axis is logarithmic.
 *
 * @type {(settings: Settings, sizes: number[]) => Lines}
 */
function lawLines(settings, sizes) {
  const at = sizes.map((size) => ({ size, law: lineLaws(settings, size) }));
  /** @type {(key: keyof Laws) => [number, number][]} */
  const line = (key) =>
    at.flatMap(({ size, law }) => (law[key] > 0 ? [/** @type {Point} */ ([size, law[key]])] : []));
  return {
    printed: line("printed"),
    baseLaw: line("base"),
    neighboursLaw: line("neighbours"),
    memoryLaw: line("memory"),
  };
}

/** @type {(settings: Settings, sizes: number[]) => Lines} */
function waveLines(settings, sizes) {
  const at = sizes.map((size) => ({ size, law: waveLaws(settings, size) }));
  /** @type {(key: keyof ReturnType<typeof waveLaws>) => Data} */
  const line = (key) => at.map(({ size, law }) => [size, law[key]]);
  return {
    baseLaw: line("base"),
    neighboursLaw: line("neighbours"),
    memoryLaw: line("memory"),
    otherLaw: line("other"),
  };
}

const NOTES = {
  line: "Law: (1 − L)²·E Zₙ/d (0 for L > 1) plus the noise, for one neighbour; Zₙ is the squared distance to it. Printed: Theorem 5.3 of the ResMem paper, with constant 1 and without noise.",
  plane: "No law is known here: all of it is measured, against the true classes.",
  waves:
    "Law: the mean square of the wave that is left, times 2 E(1 − cos 2πfv): f is its frequency, v the distance to one neighbour.",
};

/** @type {(drawn: Chart, settings: Settings, race: Measured, place: number, hidden: boolean) => void} */
function drawRisk(drawn, settings, { sizes, risks }, place, hidden) {
  const { view, n } = settings;
  const law = { line: lawLines, plane: () => ({}), waves: waveLines }[view];
  const lines = {
    ...measuredLines(sizes, risks.slice(0, place + 1)),
    ...(hidden ? {} : law(settings, sizes)),
  };
  const risk = risks[place];
  drawn.draw({
    lines,
    x: [sizes[0], sizes[sizes.length - 1]],
    y: view === "plane" ? [0, 0.6] : null,
    summary: risk
      ? `At n = ${n}: ${MODELS.map(({ key, label }) => `${label} ${number(risk[key])}`).join(", ")}.`
      : "",
    note: NOTES[view],
  });
  drawUprights(drawn, [{ at: n, tone: "printed", label: `n = ${count(n)}` }]);
}

/** @type {(drawn: Chart, settings: Settings, race: Measured, threshold: number | null, hidden: boolean) => void} */
function drawNoise(drawn, settings, { levels, sweep }, threshold, hidden) {
  const { view, n, k, noise, flips } = settings;
  const lines = measuredLines(levels, sweep);
  if (view === "line" && !hidden) {
    const { base, memory } = lineLaws({ ...settings, noise: 0 }, n);
    lines.baseLaw = levels.map((level) => [level, base]);
    lines.memoryLaw = levels.map((level) => [level, level + memory]);
    delete lines.neighbours;
    delete lines.neighboursLine;
  }
  /** @type {Mark[]} */
  const marks = [{ at: view === "line" ? noise : flips, tone: "printed" }];
  if (threshold !== null) {
    const words = view === "line" && k > 1 ? "1 neighbour hurts" : "hurts";
    marks.push({ at: threshold, tone: "local", label: `${words} from ${number(threshold)}` });
  }
  const values = Object.values(lines).flatMap((line) => line.map(([, v]) => v ?? 0));
  drawn.draw({
    lines,
    x: [0, levels[levels.length - 1]],
    y: [0, 1.05 * Math.max(0.05, ...values)],
    summary: threshold === null ? "" : `The memory hurts from ${number(threshold)} on.`,
    note: `At n = ${count(n)}. The grey mark is your ${view === "line" ? "noise" : "fraction"}${greenMark(view, sweep, threshold)}.`,
  });
  drawUprights(drawn, marks);
}

/**
 * Draws the risks of both bases, alone and with their memories, against the frequency of the rough wave at this n.
 *
 * @type {(drawn: Chart, settings: Settings, race: Measured, hidden: boolean) => void}
 */
function drawFrequencies(drawn, settings, { levels, sweep }, hidden) {
  const { n, frequency } = settings;
  const lines = measuredLines(levels, sweep);
  delete lines.neighbours;
  delete lines.neighboursLine;
  if (!hidden) {
    const at = levels.map((level) => ({
      level,
      ...waveLaws({ ...settings, frequency: level }, n),
    }));
    lines.baseLaw = at.map(({ level, base }) => [level, base]);
    lines.otherBase = at.map(({ level, otherBase }) => [level, otherBase]);
    lines.memoryLaw = at.map(({ level, memory }) => [level, memory]);
    lines.otherLaw = at.map(({ level, other }) => [level, other]);
  }
  drawn.draw({
    lines,
    x: [levels[0], levels[levels.length - 1]],
    y: null,
    summary: "",
    note: `At n = ${count(n)}. The grey mark is your frequency.`,
  });
  drawUprights(drawn, [{ at: frequency, tone: "printed", label: `ν = ${frequency}` }]);
}

/** @type {(view: string, sweep: Risks[], threshold: number | null) => string} */
function greenMark(view, sweep, threshold) {
  if (view === "line") return ", the green one the law’s threshold, (1 − L)²(1 − E Zₙ/d)";
  if (sweep.length > 0 && threshold === null) return "; the measured curves do not cross here";
  return ", the green one where the measured curves cross";
}

/** A table with one row per model: the measured risk, and the law if there is one. */
function createTable() {
  const table = counters({
    rows: [
      ...MODELS,
      { key: "other", label: "other base + memory", tone: "local" },
      { key: "printed", label: "printed bound" },
    ],
    columns: [
      ["measured", "measured"],
      ["law", "law"],
    ],
  });
  return {
    element: table.element,
    /** @type {(settings: Settings, risk: Measured["risks"][number] | undefined, law: Laws | ReturnType<typeof waveLaws> | null, none: string) => void} */
    show({ view, k }, risk, law, none) {
      const line = view === "line";
      const sets = risk ? `mean of ${risk.repetitions} sets` : "measured";
      table.head("measured", sets);
      table.head("law", k === 1 ? "law" : "law for k = 1");
      table.showColumn("law", view !== "plane");
      table.showRow("printed", line);
      table.showRow("other", view === "waves");
      for (const { key } of MODELS) {
        table.set(key, "measured", risk ? number(risk[key]) : none);
        table.set(key, "law", law ? number(law[key]) : "");
      }
      table.set("printed", "law", law && "printed" in law ? number(law.printed) : "");
      table.set("other", "law", law && "other" in law ? number(law.other) : "");
    },
  };
}
