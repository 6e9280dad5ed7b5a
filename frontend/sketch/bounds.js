// The printed bound on the distance of two runs, and the bound after each repair, on one scale [D-thm2, D-looseness].
import RULES from "../../src/rankone_book/widgets/settings/sketch.json" with { type: "json" };
import { fieldsOf } from "../kit/fields.js";
import { count, figures, power } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { kernelError, printedBound } from "../math/bounds.js";

/** @import { Data } from "../kit/chart.js" */
/** @import { Sketch } from "./sketch.js" */

/** @typedef {{ beta: number, Y: number }} Settings */

const [D, K, ETA, MOST, DIAMETER] = [100, 500, 0.1, 100, 1];
const LEAST = 0.1; // lower end of the axis, in orders of magnitude; smaller bounds are drawn there

/**
 * log₁₀ of ((1 + u)ᴸ − 1)/u, the solution of the recursion [D-eq56-58].
 *
 * @type {(u: number, L: number) => number}
 */
export function gronwall(u, L) {
  const exponent = L * Math.log1p(u);
  return (exponent + Math.log1p(-Math.exp(-exponent)) - Math.log(u)) / Math.LN10;
}

/**
 * log₁₀ of four bounds after L steps from a stored pattern: as printed; with the recursion solved exactly; with the
 * best Lipschitz constant max(1, κ − 1) as well; and with the contraction ρ = 1 + η(κ − 1) in place of
 * 1 + η max(1, κ − 1).
 *
 * @type {(setting: Settings & { L: number }) => Record<string, number>}
 */
export function bounds({ beta, Y, L }) {
  const A = Math.log10(2 * K * kernelError({ beta, D, Y, delta: 0.05 }));
  const B = 1 + 2 * K * beta * Math.exp(beta / 2);
  const kappa = (beta * DIAMETER ** 2) / 4;
  const best = Math.max(1, kappa - 1);
  const growth = ETA * (kappa - 1);
  return {
    printed: printedBound({ D, K, Y, beta, eta: ETA, energy: 0, steps: L }),
    solved: A + gronwall(ETA * B, L) + Math.log10(ETA),
    best: A + gronwall(ETA * best, L) + Math.log10(ETA),
    contraction: A + summed(growth, L) + Math.log10(ETA),
  };
}

/** log₁₀ of Σ (1 + u)ᵗ over t < L; u may be 0 or negative. @type {(u: number, L: number) => number} */
function summed(u, L) {
  if (Math.abs(u) < 1e-9) return Math.log10(L);
  return u > 0 ? gronwall(u, L) : Math.log10(Math.expm1(L * Math.log1p(u)) / u);
}

/** @type {[key: string, label: string, tone: string, dash?: string][]} */
const LINES = [
  ["printed", "eq. 12, as printed", "printed"],
  ["solved", "… recursion solved exactly", "law", "7 3"],
  ["best", "… best Lipschitz constant", "local", "2 3"],
  ["contraction", "… growth ρ of one step", "distributed"],
];

/** @type {Sketch<Settings>} */
export const printed = {
  name: "bounds",
  defaults: { beta: 10, Y: 20000 },
  rules: RULES.bounds,
  questions: [
    {
      key: "paper",
      name: "At β = 10",
      ask: "All states lie in a cube of diameter 1: a bound above the bottom line says nothing. Which repair brings it down, and does a larger Y help?",
      after: ({ words }) =>
        `${words} The last two are one line where κ = β/4 is at least 2; below β = 8 they part.`,
      set: {},
    },
    {
      key: "hot",
      name: "At β = 50",
      ask: "At β = 50 the memory distinguishes 500 patterns. How does each line depend on β?",
      after: ({ words }) =>
        `${words} The printed constant grows like βe^(β/2), the best one like β/4.`,
      set: { beta: 50 },
    },
  ],
  chart: {
    title: "Bounds on ‖x − x̂‖ after L steps (D = 100, K = 500, η = 0.1)",
    x: { label: "steps L" },
    y: { label: "log₁₀ of the bound", scale: "log" },
    series: LINES.map(([key, label, tone, dash]) => ({ key, label, tone, dash })),
  },
  fields(settings, change) {
    const of = fieldsOf(settings, change);
    return {
      beta: slider({
        ...of("beta"),
        label: "inverse temperature",
        symbol: "β",
        min: 0.5,
        max: 60,
        step: 0.5,
        format: figures,
      }),
      Y: slider({
        ...of("Y"),
        label: "random frequencies",
        symbol: "Y",
        min: 1000,
        max: 1e12,
        scale: "log",
        format: (v) => (v < 1e6 ? count(v) : figures(v, 2)),
      }),
    };
  },
  show(settings) {
    const steps = Array.from({ length: MOST }, (_, i) => i + 1);
    const all = steps.map((L) => bounds({ ...settings, L }));
    /** @type {Record<string, Data>} */
    const lines = {};
    for (const [key] of LINES) lines[key] = steps.map((L, i) => [L, Math.max(all[i][key], LEAST)]);
    const at = all[49];
    return {
      drawing: { lines, x: [0, MOST], y: [LEAST, 10_000] },
      words: `After 50 steps eq. 12 is ${power(at.printed)}; the recursion solved leaves ${power(at.solved)}, the best constant ${power(at.best)}, the growth ρ ${power(at.contraction)}. The cube’s diameter is 1.`,
      rows: LINES.map(([key, label]) => [`${label}, L = 50`, power(at[key])]),
    };
  },
};
