// A chart of the energy along the run: at the state, and at the point of the plane under the state.
import { amount } from "../kit/number.js";
import { runChart } from "../kit/runchart.js";

/** @import { Run } from "./math/pictures.js" */

export function createChart() {
  const { element, draw } = runChart({
    title: "The energy along the run",
    xLabel: "step",
    yLabel: "E",
    series: [
      { key: "ground", label: "on the surface, under the marble", tone: "exact", dash: "7 3" },
      { key: "energy", label: "at the marble", tone: "distributed" },
    ],
    summary: ({ energy, ground }, at) =>
      `At step ${at} the energy is ${amount(energy[at])}; on the surface under it ${amount(ground[at])}.`,
  });
  return {
    element,
    /** @type {(run: Run, step: number) => void} */
    show({ energies, ground }, step) {
      draw({ values: { energy: energies, ground }, last: energies.length - 1, step });
    },
  };
}
