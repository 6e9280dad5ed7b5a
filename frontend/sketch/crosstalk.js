// The field on a stored pattern, which is signal plus crosstalk: the bits that it flips, and the state after recall
// [D-eq2].
import RULES from "../../src/rankone_book/widgets/settings/sketch.json" with { type: "json" };
import { drawUprights } from "../kit/dots.js";
import { fieldsOf } from "../kit/fields.js";
import { count, figures } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { coin, key } from "../math/random.js";

/** @import { Data } from "../kit/chart.js" */
/** @import { Sketch } from "./sketch.js" */

/** @typedef {{ load: number, D: number, seed: number }} Settings */

const READ = 4000; // approximate number of stored bits whose field is computed
const [FROM, TO, BINS] = [-1.6, 3.6, 52];
const SWEEPS = 200; // at high loads some states need more than 20 sweeps until no neuron flips

/**
 * K patterns of D signs, the same as `jax.random.rademacher(jax.random.key(seed), (K, D))`.
 *
 * @type {(K: number, D: number, seed: number) => Int8Array}
 */
export const patternsOf = (K, D, seed) =>
  Int8Array.from(coin(key(seed), K * D), (bit) => 2 * bit - 1);

/**
 * The field at every neuron in the state `sigma`, without the neuron's term on itself.
 *
 * @type {(Xi: Int8Array, K: number, sigma: Int8Array) => Int32Array}
 */
export function fieldsAt(Xi, K, sigma) {
  const D = sigma.length;
  const field = new Int32Array(D);
  for (let m = 0; m < K; m++) {
    const at = m * D;
    let overlap = 0;
    for (let i = 0; i < D; i++) overlap += Xi[at + i] * sigma[i];
    for (let i = 0; i < D; i++) field[i] += overlap * Xi[at + i];
  }
  for (let i = 0; i < D; i++) field[i] -= K * sigma[i];
  return field;
}

/**
 * The state after neurons are updated in turn until none flips, as in `rankone.memory.hopfield.recall`.
 *
 * @type {(Xi: Int8Array, K: number, start: Int8Array) => Int8Array}
 */
export function recall(Xi, K, start) {
  const sigma = Int8Array.from(start);
  const D = sigma.length;
  // Overlaps of the state with each pattern: a flip updates these K numbers; stored fields would be D numbers.
  const overlaps = new Int32Array(K);
  for (let m = 0; m < K; m++) for (let i = 0; i < D; i++) overlaps[m] += Xi[m * D + i] * sigma[i];
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let flips = 0;
    for (let i = 0; i < D; i++) {
      let field = -K * sigma[i];
      for (let m = 0; m < K; m++) field += overlaps[m] * Xi[m * D + i];
      if (sigma[i] * field >= 0) continue;
      flips += 1;
      sigma[i] = -sigma[i];
      for (let m = 0; m < K; m++) overlaps[m] += 2 * sigma[i] * Xi[m * D + i];
    }
    if (flips === 0) break;
  }
  return sigma;
}

/**
 * The values ξᵢhᵢ/D at bits of stored patterns; `wrong`, the fraction of them that is negative; and `lost`, the
 * fraction of the first pattern's bits that are wrong after recall.
 *
 * @param {Settings} settings
 */
export function observe({ load, D, seed }) {
  const K = Math.max(1, Math.round(load * D));
  const Xi = patternsOf(K, D, seed);
  const probes = Math.min(K, Math.max(1, Math.round(READ / D)));
  const signals = new Float64Array(probes * D);
  for (let p = 0; p < probes; p++) {
    const pattern = Xi.subarray(p * D, (p + 1) * D);
    const field = fieldsAt(Xi, K, pattern);
    for (let i = 0; i < D; i++) signals[p * D + i] = (pattern[i] * field[i]) / D;
  }
  const pattern = Xi.subarray(0, D);
  const rest = recall(Xi, K, pattern);
  return {
    K,
    signals,
    wrong: share(signals, (v) => v < 0),
    lost: share(rest, (v, i) => v !== pattern[i]),
  };
}

/** @type {(values: ArrayLike<number>, test: (v: number, i: number) => boolean) => number} */
const share = (values, test) => Array.from(values).filter(test).length / values.length;

/** The Gaussian tail Q(t); a bit is wrong with probability Q(1/√α). @param {number} t */
export function tail(t) {
  const steps = 400;
  const far = 9;
  const width = (far - t) / steps;
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += Math.exp(-0.5 * (t + (i + 0.5) * width) ** 2);
  return (sum * width) / Math.sqrt(2 * Math.PI);
}

/** @type {(signals: Float64Array) => Data} */
function histogram(signals) {
  const width = (TO - FROM) / BINS;
  const counts = new Array(BINS).fill(0);
  for (const v of signals) {
    const bin = Math.floor((v - FROM) / width);
    if (bin >= 0 && bin < BINS) counts[bin] += 1;
  }
  return counts.flatMap((n, i) => {
    const height = n / (signals.length * width);
    return /** @type {Data} */ ([
      [FROM + i * width, height],
      [FROM + (i + 1) * width, height],
    ]);
  });
}

/** @type {(load: number) => Data} */
const gaussian = (load) =>
  Array.from({ length: 131 }, (_, i) => {
    const v = FROM + (i * (TO - FROM)) / 130;
    return [v, Math.exp(-((v - 1) ** 2) / (2 * load)) / Math.sqrt(2 * Math.PI * load)];
  });

const percents = (/** @type {number} */ v) => `${figures(100 * v, 2)} %`;

/** @type {Sketch<Settings>} */
export const crosstalk = {
  name: "crosstalk",
  defaults: { load: 0.1, D: 400, seed: 0 },
  rules: RULES.crosstalk,
  questions: [
    {
      key: "light",
      name: "Load 0.10",
      ask: "K = D/10 patterns are stored. Each stored bit is pulled to the correct side by 1 by its own pattern, and pushed at random by the others. Raise the load: from where on does the crosstalk flip bits?",
      after: ({ words }) => words,
      set: {},
    },
    {
      key: "over",
      name: "Load 0.18",
      ask: "At α = 0.18 the field would flip only about 1 % of the bits at once. Does recall stay near the pattern?",
      predict: {
        options: [
          ["few", "yes: a few bits end up wrong"],
          ["many", "no: a tenth or more end up wrong"],
        ],
        right: ({ found }) => (Number(found) > 0.1 ? "many" : "few"),
      },
      after: ({ words }) => `${words} Each wrong bit raises the crosstalk on all others.`,
      set: { load: 0.18, seed: 1 },
    },
  ],
  chart: {
    title: "Pull of the field on a stored bit",
    x: { label: "ξᵢhᵢ/D: a bit below 0 flips" },
    y: { label: "density" },
    series: [
      { key: "measured", label: "bits of stored patterns", tone: "distributed" },
      { key: "law", label: "law, 1 + √α z", tone: "law", dash: "7 3" },
    ],
  },
  fields(settings, change) {
    const of = fieldsOf(settings, change);
    return {
      load: slider({
        ...of("load"),
        label: "load K/D",
        symbol: "α",
        min: 0.02,
        max: 0.4,
        step: 0.01,
        format: (v) => figures(v, 2),
      }),
      seed: slider({ ...of("seed"), label: "draw of the patterns", min: 0, max: 30 }),
    };
  },
  show(settings) {
    const { K, signals, wrong, lost } = observe(settings);
    const law = tail(1 / Math.sqrt(settings.load));
    return {
      drawing: {
        lines: { measured: histogram(signals), law: gaussian(settings.load) },
        x: [FROM, TO],
        y: [0, 2.9],
      },
      words: `The field would flip ${percents(wrong)} of the stored bits at once. After all neurons have taken turns, ${percents(lost)} of the bits of the first pattern are wrong.`,
      found: lost,
      rows: [
        [`Patterns on ${settings.D} neurons`, count(K)],
        ["Bits flipped at once", percents(wrong)],
        ["… by the law Q(1/√α)", percents(law)],
        ["Bits wrong at rest, one pattern", percents(lost)],
      ],
    };
  },
  after: (drawn) => () => drawUprights(drawn, [{ at: 0, tone: "exact", label: "← flips" }]),
  python: ({ load, D, seed }) =>
    [
      "import jax, jax.numpy as jnp",
      "from rankone.memory import hopfield",
      "",
      `Xi = jax.random.rademacher(jax.random.key(${seed}), (${Math.max(1, Math.round(load * D))}, ${D}), jnp.float32)`,
      `recall = hopfield.recall(Xi[0], hopfield.hebbian(Xi), max_sweeps=${SWEEPS})`,
      "wrong = (recall.sigma != Xi[0]).mean()",
      'print(f"Bits wrong at rest, one pattern: {100 * float(wrong):.2g} %")',
      "",
    ].join("\n"),
};
