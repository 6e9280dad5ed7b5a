// A chart of the run by step: the energy, or the distance of the two runs, with the tube's bound on it in that view.

import { amount } from "../kit/number.js";
import { runChart } from "../kit/runchart.js";

/** @import { Consequences, Settings, View } from "./settings.js" */

const SMALL = 1e-6; // smaller distances are drawn at this value, because a logarithmic axis has no zero

/** @param {View} view */
export function createChart(view) {
  if (view === "exact") return energyChart();
  return distanceChart(view);
}

function energyChart() {
  const { element, draw } = runChart({
    title: "The energy along the run",
    xLabel: "step",
    yLabel: "E",
    series: [{ key: "energy", label: "E at the state", tone: "exact" }],
    summary: ({ energy }, at) => `From ${amount(energy[0])} to ${amount(energy[at])}.`,
  });
  return {
    element,
    /** @type {(settings: Settings, shown: Consequences) => void} */
    show({ steps }, { runs }) {
      draw({ values: { energy: runs.energies }, last: steps, step: steps });
    },
  };
}

/** @param {View} view */
function distanceChart(view) {
  const tube = { key: "tube", label: "tube: ρₜ, eₜ along the run", tone: "law", dash: "7 3" };
  const { element, draw } = runChart({
    title: "How far apart the two runs are",
    xLabel: "step",
    yLabel: "distance",
    scale: "log",
    series: [
      { key: "distance", label: "‖x − x̂‖, measured", tone: "distributed" },
      ...(view === "tube" ? [tube] : []),
    ],
    summary: (values, at) =>
      Object.entries(values)
        .map(([name, line]) => `${name} ${amount(line[at])} at the end`)
        .join("; "),
  });
  /** @param {number[]} line */
  const drawable = (line) => line.map((v) => Math.max(v, SMALL));
  return {
    element,
    /** @type {(settings: Settings, shown: Consequences) => void} */
    show({ steps }, { runs }) {
      const distance = drawable(runs.distance);
      /** @type {Record<string, number[]>} */
      const values = { distance };
      if (view === "tube") values.tube = drawable(runs.tube);
      draw({ values, last: steps, step: steps });
    },
  };
}
