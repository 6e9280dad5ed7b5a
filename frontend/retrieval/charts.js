// What the descents measure: the gauge before the first step, energies, distance and bounds, and the bill.
import { h } from "../kit/dom.js";
import { gauge } from "../kit/gauge.js";
import { amount, count, figures as inFigures, power } from "../kit/number.js";
import { facts } from "../kit/readout.js";
import { runChart } from "../kit/runchart.js";

/** @import { Series } from "./engine.js" */
/** @import { Settings } from "./settings.js" */

const TOP = 10; // distances above this say nothing: two pictures are at most 1 apart

/** @param {number | null | undefined} v */
const figures = (v) => amount(v, 2);

/**
 * A value given by its logarithm.
 *
 * @param {number} v
 */
const fromLog = (v) => (Math.abs(v) < 4 ? figures(10 ** v) : power(v));

/**
 * The printed bound at a step, and whether it is too large to be drawn.
 *
 * @param {number} v
 */
export const printedInWords = (v) =>
  `Printed: ${fromLog(v)}${10 ** v > TOP ? ", off the top" : ""}. `;

export function createCharts() {
  const meter = gauge({
    label: "Pull at the query over the noise",
    min: 0.03,
    max: 30,
    format: (v) => (v < 0.001 ? "< 0.001" : inFigures(v, 2)),
    zones: [
      { from: 0, word: "noise", say: "below 0.7: the distributed memory follows noise" },
      { from: 0.7, word: "unsure", say: "between 0.7 and 2: it may go either way" },
      {
        from: 2,
        word: "pulled",
        say: "above 2: pulled to whatever is stored near, be it the right picture or not",
      },
    ],
  });
  meter.element.title =
    "Slope of the well over slope of the noise, √(−2 ln Ŝ)·Ŝ / c, in units of the critical one, √(η / (2 − η)). Read off T and the query alone; it does not know the answer.";
  const energies = runChart({
    title: "Energy",
    xLabel: "step",
    yLabel: "energy (unit²)",
    series: [
      { key: "energyExact", label: "exact", tone: "exact" },
      { key: "energyDistributed", label: "distributed", tone: "distributed", dash: "7 3" },
    ],
    summary: ({ energyExact, energyDistributed }, t) =>
      `At step ${t}: exact ${figures(energyExact[t])}, distributed ${figures(energyDistributed[t])}.`,
  });
  const distances = runChart({
    title: "Distance between the two states",
    xLabel: "step",
    yLabel: "distance (unit)",
    scale: "log",
    ceiling: TOP,
    series: [
      { key: "distance", label: "measured", tone: "distributed" },
      { key: "local", label: "sharper bound (local contraction)", tone: "local", dash: "7 3" },
      { key: "law", label: "first-order law", tone: "law", dash: "2 3" },
      { key: "printedValue", label: "Theorem 2 as printed", tone: "printed", dash: "10 3 2 3" },
    ],
    summary: ({ distance, local, law, printed }, t) =>
      `At step ${t}: measured ${figures(distance[t])}, local bound ${figures(local[t])}, law ${figures(law[t])}, ` +
      `printed bound ${fromLog(Number(printed[t]))}.`,
  });
  const bill = facts();
  return {
    element: h(
      "div",
      { class: "r1-charts" },
      h("div", {}, energies.element, bill.element),
      distances.element,
    ),
    meter: meter.element,
    /** @param {number | null} pull */
    setPull(pull) {
      meter.element.hidden = pull === null;
      if (pull !== null) meter.show(pull);
    },
    /** @type {(series: Series, step: number, settings: Settings, relativeNoise: number) => void} */
    draw(
      { energyExact, energyDistributed, ...series },
      step,
      { steps: last, basis },
      relativeNoise,
    ) {
      energies.draw({ values: { energyExact, energyDistributed }, last, step });
      const { distance, local, law, printed } = series;
      const printedValue = printed.map((v) => 10 ** v);
      const note = noteOn(printed[step], step, relativeNoise, basis);
      distances.draw({ values: { distance, local, law, printed, printedValue }, last, step, note });
    },
    setFacts: bill.show,
  };
}

/** @type {(printed: number, step: number, relativeNoise: number, basis: string) => string} */
function noteOn(printed, step, relativeNoise, basis) {
  const bound = step > 0 ? printedInWords(printed) : "";
  const sharper =
    "Sharper: D ← ρD + ηe, e the measured gradient error, ρ the exact Hessian’s largest factor between the two states. ";
  if (basis !== "sincos") return `${bound}${sharper}Law: for sincos features only.`;
  const hypothesis = `noise/S is under ⅓ (at the query: ${figures(relativeNoise)})`;
  return `${bound}${sharper}Law: the same along the exact path with e = √(M_A/Y), no features needed; first order, so while the two stay close and ${hypothesis}.`;
}

/**
 * The rows of the bill for one step.
 *
 * @param {{
 *   numbers: { exact: number, distributed: number },
 *   K: number,
 *   Y: number,
 *   freedom: number,
 *   flooredSteps: number,
 *   steps: number,
 *   speed: number,
 *   roughness: number | null,
 * }} run
 * @returns {[string, string][]}
 */
export function billOf({ numbers, K, Y, freedom, flooredSteps, steps, speed, roughness }) {
  const ratio = numbers.distributed / numbers.exact;
  const stable = 2 * freedom * K;
  return [
    ["Exact memory holds", `K·D = ${count(numbers.exact)} numbers`],
    [
      "Distributed memory holds",
      `M = ${numbers.distributed === Y ? "Y" : "2Y"} = ${count(numbers.distributed)} numbers, ${figures(ratio)} ×`,
    ],
    [
      "Y for stable random patterns",
      stable > 0
        ? `2·D_free·K = ${count(stable)}; Y is ${figures(Y / stable)} of it`
        : "none: nothing is left to find",
    ],
    [
      "Roughness c of the distributed energy",
      roughness === null
        ? "unknown: for sincos and cos features only"
        : `${figures(roughness)}, read off T; grain from about ½ on, ruin from about 1`,
    ],
    ["Floored states so far", `${count(flooredSteps)} of ${count(steps)}`],
    ["Speed in this page", speed ? `${count(speed)} steps a second` : "not measured yet"],
  ];
}
