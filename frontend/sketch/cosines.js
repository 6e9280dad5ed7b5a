// Cosines of random frequencies, and their mean, which approaches the Gaussian kernel as their number grows [D-eq8].
import RULES from "../../src/rankone_book/widgets/settings/sketch.json" with { type: "json" };
import { fieldsOf } from "../kit/fields.js";
import { count, fixed } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { key, normal } from "../math/random.js";

/** @import { Data } from "../kit/chart.js" */
/** @import { Sketch } from "./sketch.js" */

/** @typedef {{ Y: number, seed: number }} Settings */

const FAR = 12; // the largest Δ
const STEPS = 300;
const SINGLE = 3; // cosines that are drawn individually
const AWAY = 4; // beyond this Δ the kernel is almost 0, so that the mean shows its noise alone

const places = Array.from({ length: STEPS + 1 }, (_, i) => (FAR * i) / STEPS);

/**
 * The mean of cos(ωΔ) over the frequencies `jax.random.normal(jax.random.key(seed), (Y,))`, at each place Δ.
 *
 * @type {(Y: number, seed: number) => number[]}
 */
export function meanCosine(Y, seed) {
  const omega = normal(key(seed), Y);
  return places.map((delta) => {
    let sum = 0;
    for (const w of omega) sum += Math.cos(w * delta);
    return sum / Y;
  });
}

/** @type {(value: (delta: number) => number) => Data} */
const curve = (value) => places.map((delta) => [delta, value(delta)]);

/** @type {Sketch<Settings>} */
export const cosines = {
  name: "cosines",
  defaults: { Y: 3, seed: 0 },
  rules: RULES.cosines,
  questions: [
    {
      key: "three",
      name: "Three cosines",
      ask: "The dotted lines are three cosines, the orange one their mean. All start at 1. Add frequencies: what is left of the waves?",
      after: ({ words }) => words,
      set: {},
    },
    {
      key: "many",
      name: "A thousand",
      ask: "With a thousand cosines the mean follows the kernel near 0. What is its error far out, and how many frequencies halve it?",
      after: ({ words }) => `${words} Four times as many halve it.`,
      set: { Y: 1000 },
    },
  ],
  chart: {
    title: "The mean of Y random cosines, and the Gaussian kernel",
    x: { label: "distance Δ (of inputs multiplied by √β)" },
    y: { label: "kernel" },
    series: [
      ...Array.from({ length: SINGLE }, (_, i) => ({
        key: `single${i}`,
        tone: "quiet",
        dash: "2 3",
      })),
      { key: "mean", label: "mean of Y cosines", tone: "distributed" },
      { key: "kernel", label: "kernel e^(−Δ²/2)", tone: "exact", dash: "7 3" },
    ],
  },
  fields(settings, change) {
    const of = fieldsOf(settings, change);
    return {
      Y: slider({
        ...of("Y"),
        label: "random frequencies",
        symbol: "Y",
        values: [1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000],
        format: count,
      }),
      seed: slider({ ...of("seed"), label: "draw of the frequencies", min: 0, max: 50 }),
    };
  },
  show({ Y, seed }) {
    const mean = meanCosine(Y, seed);
    const omega = normal(key(seed), Math.min(Y, SINGLE));
    const far = mean.filter((_, i) => places[i] >= AWAY);
    const error = Math.sqrt(far.reduce((sum, v) => sum + v * v, 0) / far.length);
    /** @type {Record<string, Data>} */
    const lines = {
      mean: places.map((delta, i) => [delta, mean[i]]),
      kernel: curve((d) => Math.exp((-d * d) / 2)),
    };
    omega.forEach((w, i) => {
      lines[`single${i}`] = curve((delta) => Math.cos(w * delta));
    });
    return {
      drawing: { lines, x: [0, FAR], y: [-1, 1] },
      words: `Beyond Δ = ${AWAY} the mean is off by ${fixed(error, 3)} (root mean square); the law says 1/√(2Y) = ${fixed((2 * Y) ** -0.5, 3)}.`,
      rows: [
        ["Error beyond Δ = 4, measured", fixed(error, 3)],
        ["… by the law 1/√(2Y)", fixed((2 * Y) ** -0.5, 3)],
        ["At Δ = 1: mean, kernel", `${fixed(mean[STEPS / FAR], 3)}, ${fixed(Math.exp(-0.5), 3)}`],
      ],
    };
  },
  python: ({ Y, seed }) =>
    [
      "import jax, jax.numpy as jnp",
      "",
      `omega = jax.random.normal(jax.random.key(${seed}), (${Y},))`,
      "estimate = jnp.cos(omega * 1.0).mean()",
      'print(f"At Δ = 1: mean {estimate:.3f}, kernel {jnp.exp(-0.5):.3f}")',
      "",
    ].join("\n"),
};
