// The charts of the two descents, step by step: energies, and distance with its bounds, on axes that do not move with
// β.
import { chart } from "../kit/chart.js";
import { h } from "../kit/dom.js";
import { table } from "../kit/export.js";
import { amount, power } from "../kit/number.js";
import { facts } from "../kit/readout.js";
import { factsOf } from "./facts.js";

/** @import { Data } from "../kit/chart.js" */
/** @import { End } from "./actor.js" */
/** @import { Pinned } from "./pin.js" */
/** @import { Ready, Settings } from "./settings.js" */
/** @import { Bounds } from "./timeline.js" */

const TOP = 10; // larger distances say nothing, because two pictures are at most 1 apart
const LOWEST = 1e-4;
const FRAME = { height: 190, left: 62, right: 16, top: 12, bottom: 30 };
const DRAWN = 240; // points per line at most: more are not visible
/** @type {[number, number]} */
const ENERGIES = [-0.04, 0.06]; // unit²: the range of pictures and their valleys, for β from 20 on

/** @param {number | null | undefined} v */
const figures = (v) => amount(v, 2);

/**
 * A value in figures, given its log₁₀.
 *
 * @param {number} v
 */
const fromLog = (v) => (Math.abs(v) < 4 ? figures(10 ** v) : power(v));

/**
 * The bound printed in the paper, at a step, in words, given its log₁₀, with a note if it is too large to be drawn.
 *
 * @param {number} v
 */
export const printedInWords = (v) =>
  `Paper: ${fromLog(v)}${10 ** v > TOP ? ", off the top" : ""}. `;

/**
 * The points of a line: about DRAWN at most, and always the last one. A value that is no number is a gap.
 *
 * @param {ArrayLike<number | null>} line
 * @returns {Data}
 */
function points(line) {
  const stride = Math.max(1, Math.ceil(line.length / DRAWN));
  /** @type {Data} */
  const data = [];
  for (let i = 0; i < line.length - 1; i += stride) data.push([i, line[i]]);
  if (line.length > 0) data.push([line.length - 1, line[line.length - 1]]);
  return data;
}

export function createCharts() {
  const energies = chart({
    title: "Energy",
    x: { label: "step", scale: "count" },
    y: { label: "energy" },
    frame: FRAME,
    series: [
      { key: "pinExact", tone: "quiet" },
      { key: "pinDistributed", tone: "quiet", dash: "7 3", label: "pinned", rare: true },
      { key: "exact", label: "exact", tone: "exact" },
      { key: "distributed", label: "distributed", tone: "distributed", dash: "7 3" },
    ],
  });
  const distances = chart({
    title: "Distance between the two states",
    x: { label: "step", scale: "count" },
    y: { label: "distance", scale: "log" },
    ceiling: TOP,
    frame: FRAME,
    series: [
      { key: "pin", tone: "quiet", label: "pinned", rare: true },
      { key: "distance", label: "measured", tone: "distributed" },
      { key: "local", label: "sharper bound (local contraction)", tone: "local", dash: "7 3" },
      { key: "law", label: "first-order law", tone: "law", dash: "2 3" },
      { key: "printed", label: "Theorem 2, DrDAM paper", tone: "printed", dash: "10 3 2 3" },
    ],
  });
  const runFacts = facts();
  const element = h(
    "div",
    { class: "r1-charts" },
    h("div", {}, energies.element, runFacts.element),
    distances.element,
  );
  return {
    element,
    /** Hides the last run until the reader has made a prediction. @param {boolean} hide */
    wait(hide) {
      element.style.visibility = hide ? "hidden" : "";
    },
    /**
     * Draws the run so far, its bounds, the step on show, the pinned run, and the costs.
     *
     * @param {{
     *   end: End,
     *   bounds: Bounds,
     *   relativeNoise: number | null,
     *   settings: Settings,
     *   ready: Ready,
     *   step: number,
     *   pin: Pinned | null,
     * }} run
     */
    draw({ end, bounds, relativeNoise, settings, ready, step, pin }) {
      const { trace } = end;
      const pinned = pin?.trace;
      runFacts.show(factsOf(end, ready));
      const column = (/** @type {number[][]} */ rows, /** @type {number} */ i) =>
        points(rows.map((row) => row[i]));
      const [E, Ehat, distance] = trace[Math.min(step, trace.length - 1)];
      const x = /** @type {[number, number]} */ ([0, settings.steps]);
      const cut = [E, Ehat].some((v) => !(v >= ENERGIES[0] && v <= ENERGIES[1]));
      energies.draw({
        lines: {
          exact: column(trace, 0),
          distributed: column(trace, 1),
          ...(pinned && { pinExact: column(pinned, 0), pinDistributed: column(pinned, 1) }),
        },
        x,
        y: ENERGIES,
        cursor: { at: step, on: { exact: E, distributed: Ehat } },
        summary: `At step ${step}: exact ${figures(E)}, distributed ${figures(Ehat)}.`,
        note: cut ? `Off the axis: exact ${figures(E)}, distributed ${figures(Ehat)}.` : "",
      });
      const { local, law, printed } = bounds;
      const values = printed.map((v) => 10 ** Number(v));
      const on = { distance, local: local[step], law: law[step], printed: values[step] };
      distances.draw({
        lines: {
          distance: column(trace, 2),
          local: points(local),
          law: points(law),
          printed: points(values),
          ...(pinned && { pin: column(pinned, 2) }),
        },
        x,
        y: [LOWEST, TOP],
        cursor: { at: step, on },
        summary:
          `At step ${step}: measured ${figures(distance)}` +
          (local.length > step
            ? `, local bound ${figures(local[step])}, law ${figures(law[step])}, paper’s bound ${fromLog(Number(printed[step]))}.`
            : "."),
        note: noteOn(printed[step], step, relativeNoise, settings.basis),
      });
    },
  };
}

/** @type {(printed: number | null | undefined, step: number, relativeNoise: number | null, basis: string) => string} */
function noteOn(printed, step, relativeNoise, basis) {
  if (relativeNoise === null)
    return "Bounds are drawn for up to 64 patterns, once no control moves: their cost grows as K².";
  const bound = step > 0 && typeof printed === "number" ? printedInWords(printed) : "";
  const sharper =
    "Sharper: d ← ρd + ηe, with the measured gradient error e and the largest ρ = |1 − ηλ| of the eigenvalues λ of ∇²E between the two states. ";
  if (basis !== "sincos") return `${bound}${sharper}Law: for sincos features only.`;
  const hypothesis = `noise/S is under ⅓ (at the query: ${figures(relativeNoise)})`;
  return `${bound}${sharper}Law: the same along the exact path with the expected e, which needs no features; valid while the two states stay close and ${hypothesis}.`;
}

/** @param {number[][]} trace */
export const tableOf = (trace) =>
  table("step", {
    exact_energy: trace.map(([energy]) => energy),
    distributed_energy: trace.map(([, energy]) => energy),
    distance: trace.map(([, , distance]) => distance),
  });
