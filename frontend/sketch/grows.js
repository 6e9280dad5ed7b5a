// The storage and the time that each form of a memory needs, for sizes and hardware that the reader chooses. The
// numbers are those of `rankone_book.growth`.
import FACTS from "../../src/rankone_book/growth.json" with { type: "json" };
import RULES from "../../src/rankone_book/widgets/settings/sketch.json" with { type: "json" };
import { select } from "../kit/controls.js";
import { dots } from "../kit/dots.js";
import { fieldsOf } from "../kit/fields.js";
import { count, figures } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { typed } from "../kit/typed.js";

/** @import { Data } from "../kit/chart.js" */
/** @import { Sketch } from "./sketch.js" */

/** @typedef {"energy" | "retrieval"} Use */
/** @typedef {keyof typeof FACTS.hardware} HardwareName */
/** @typedef {{ K: number, D: number, error: number, use: Use, hardware: HardwareName, N: number }} Settings */
/** @typedef {"list" | "half" | "stored" | "hadamard" | "index"} Form */
/**
 * `kept`: bytes stored; `seconds` and `writing`: lower bounds on the time to read and to store (null: not known);
 * `sent`: bytes that each device sends; `signal`: signal over noise (null: not noisy, but misses some neighbours);
 * `fits`: true if the devices have enough memory.
 *
 * @typedef {{ kept: number, seconds: number, writing: number | null, sent: number, signal: number | null, fits: boolean }} Cost
 */

const { hardware: HARDWARE, index: INDEX, sines: SINES } = FACTS;
const [LEAST, MOST] = [1e3, 1e10]; // range of the chart's axis of patterns
const [LOW, HIGH] = [1e4, 1e16]; // range of the chart's axis of bytes

/** @type {[form: Form, label: string, tone: string, dash?: string][]} */
const FORMS = [
  ["list", "list, float32", "exact"],
  ["half", "list, bfloat16", "exact", "7 3"],
  ["stored", "vector, frequencies stored", "printed"],
  ["hadamard", "vector, Hadamard frequencies", "distributed"],
  ["index", "index, exact reranking", "local", "2 3"],
];

/**
 * The number Y of frequencies at which the noise equals the accepted error. The noise is σ = √(K/2Y) for the energy
 * and c = √(DK/2Y) for a retrieval.
 *
 * @type {(settings: Pick<Settings, "K" | "D" | "error" | "use">) => number}
 */
export const frequencies = ({ K, D, error, use }) =>
  (K * (use === "retrieval" ? D : 1)) / (2 * error ** 2);

/**
 * The cost of every form.
 *
 * @type {(settings: Settings) => Record<Form, Cost>}
 */
export function costs({ K, D, error, use, hardware, N }) {
  const machine = HARDWARE[hardware];
  const { devices } = machine;
  const Y = frequencies({ K, D, error, use });
  const side = 2 ** (Math.ceil(Math.log2(D)) / 2);
  const lists = INDEX.lists * Math.sqrt(K);
  const codes = Math.ceil(D / INDEX.entries);
  const scanned = INDEX.probed * K * codes;
  const reranked = INDEX.candidates * D;
  const sums = 4 * N * (D + 1);
  const signal = Math.sqrt((2 * Y) / K);
  const stored = 4 * Y * D + 8 * Y;
  /** @type {(kept: number, read: number, operations: number, written: number | null, sent: number, signal: number | null) => Cost} */
  const cost = (kept, read, operations, written, sent, snr) => ({
    kept,
    seconds: Math.max(read / machine.bandwidth, (N * operations) / machine.flops) / devices,
    writing:
      written === null
        ? null
        : Math.max(kept / machine.bandwidth, written / machine.flops) / devices,
    sent: devices > 1 ? sent : 0,
    signal: snr,
    fits: kept <= devices * machine.bytes,
  });
  const inf = Number.POSITIVE_INFINITY;
  return {
    list: cost(4 * K * D, 4 * K * D, 4 * K * D, 0, sums + 4 * N, inf),
    half: cost(2 * K * D, 2 * K * D, 4 * K * D, 0, sums + 4 * N, inf),
    stored: cost(stored, stored, (4 * D + SINES) * Y, (2 * D + SINES) * Y * K, sums, signal),
    hadamard: cost(
      20 * Y,
      20 * Y,
      (16 * side + SINES) * Y,
      (8 * side + SINES) * Y * K,
      sums,
      signal,
    ),
    index: cost(
      2 * K * D + K * (codes + 8) + 4 * lists * D,
      4 * lists * D + N * (scanned + 2 * reranked),
      2 * lists * D + scanned + 2 * reranked,
      null,
      80 * N,
      null,
    ),
  };
}

/**
 * The form with the least time among those that fit and that answer the question; null if there is none. An index
 * does not answer for the energy, because it returns the nearest patterns and no sum over all of them.
 *
 * @type {(settings: Settings, all: Record<Form, Cost>) => Form | null}
 */
export function quickest({ use }, all) {
  const able = FORMS.map(([form]) => form).filter(
    (form) => all[form].fits && (form !== "index" || use === "retrieval"),
  );
  return able.reduce(
    (/** @type {Form | null} */ best, form) =>
      best === null || all[form].seconds < all[best].seconds ? form : best,
    null,
  );
}

/** @type {(v: number, units: [size: number, name: string][]) => string} */
function inUnits(v, units) {
  const [size, name] = units.find(([one]) => v >= one) ?? units[units.length - 1];
  return `${figures(v / size, v / size < 100 ? 2 : 3)} ${name}`;
}

/** Bytes in words: 1.5 TB. @param {number} v */
export const inBytes = (v) =>
  inUnits(v, [
    [1e18, "EB"],
    [1e15, "PB"],
    [1e12, "TB"],
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
    [1, "bytes"],
  ]);

/** Seconds in words: 7.2 ms. @param {number} v */
export const inTime = (v) =>
  inUnits(v, [
    [3.156e7, "years"],
    [86_400, "days"],
    [3600, "hours"],
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ]);

/** @param {number | null} signal */
const inNoise = (signal) => {
  if (signal === null) return "misses some neighbours";
  return Number.isFinite(signal) ? `signal over noise ${figures(signal, 2)}` : "exact";
};

/**
 * The accuracy of a form in words. The only error of the list in bfloat16 is rounding.
 *
 * @type {(form: string, signal: number | null) => string}
 */
const judged = (form, signal) => (form === "half" ? "rounded" : inNoise(signal));

/** The number of bytes if it is in the chart's range, else null, which leaves a gap. @param {number} bytes */
const onChart = (bytes) => (bytes >= LOW && bytes <= HIGH ? bytes : null);

/** @type {Sketch<Settings>} */
export const grows = {
  name: "grows",
  defaults: { K: 1e9, D: 768, error: 0.25, use: "energy", hardware: "cluster", N: 1 },
  rules: RULES.grows,
  questions: [
    {
      key: "billion",
      name: "A billion keys",
      ask: "A billion keys of 768 numbers, and 64 GPUs. You want the energy at a state, and accept noise of a quarter of one pattern’s term. Which forms fit, and which is read fastest?",
      after: ({ words }) => words,
      set: {},
    },
    {
      key: "rest",
      name: "Retrieve them",
      ask: "Now each pattern must also stay a minimum of the energy, so that a descent can end there. What happens to the two lines of the vector?",
      after: ({ words }) =>
        `${words} The vector needs D/4 times as many frequencies: D times for the descent, and a quarter because 0.5 is accepted, not 0.25. The list stays as it was.`,
      set: { use: "retrieval", error: 0.5 },
    },
    {
      key: "laptop",
      name: "On one processor",
      ask: "A million keys on two cores. Is any form better than the list?",
      after: ({ words }) => words,
      set: { K: 1e6, D: 64, hardware: "cpu", use: "retrieval", error: 0.5 },
    },
  ],
  chart: {
    title: "Bytes kept, against the number of stored patterns",
    x: { label: "stored patterns K", scale: "log" },
    y: { label: "bytes", scale: "log", marks: [1e4, 1e8, 1e12, 1e16] }, // clear of the label on a phone
    series: [
      ...FORMS.map(([key, label, tone, dash]) => ({ key, label, tone, dash })),
      { key: "room", label: "memory of the hardware", tone: "quiet", dash: "1 4" },
      { key: "here", tone: "law", r: 4, pen: dots },
    ],
  },
  fields(settings, change) {
    const of = fieldsOf(settings, change);
    const [K, D, N] = [RULES.grows.counts.K, RULES.grows.counts.D, RULES.grows.counts.N];
    return {
      K: typed({ ...of("K"), label: "stored patterns", symbol: "K", min: K[0], max: K[1] }),
      D: typed({ ...of("D"), label: "numbers in a pattern", symbol: "D", min: D[0], max: D[1] }),
      N: typed({ ...of("N"), label: "queries together", symbol: "N", min: N[0], max: N[1] }),
      use: select({
        label: "Read",
        name: "use",
        options: [
          ["energy", "the energy"],
          ["retrieval", "a pattern, by descent"],
        ],
        value: settings.use,
        onInput: (use) => change({ use: /** @type {Use} */ (use) }),
      }),
      hardware: select({
        label: "Hardware",
        name: "hardware",
        options: Object.entries(HARDWARE).map(([name, { label }]) => [name, label]),
        value: settings.hardware,
        onInput: (name) => change({ hardware: /** @type {HardwareName} */ (name) }),
      }),
      error: slider({
        ...of("error"),
        label: "noise you accept (σ or c)",
        min: 0.02,
        max: 0.5,
        step: 0.01,
      }),
    };
  },
  show(settings) {
    const all = costs(settings);
    const machine = HARDWARE[settings.hardware];
    const room = machine.devices * machine.bytes;
    const places = Array.from({ length: 29 }, (_, i) => LEAST * 10 ** (i / 4));
    const along = places.map((K) => costs({ ...settings, K: Math.round(K) }));
    /** @type {Record<string, Data>} */
    const lines = {};
    for (const [form] of FORMS) {
      lines[form] = places.map((K, i) => [K, onChart(along[i][form].kept)]);
    }
    lines.room = places.map((K) => [K, room]);
    const best = quickest(settings, all);
    if (best && settings.K >= LEAST && settings.K <= MOST)
      lines.here = [[settings.K, all[best].kept]];
    const name = FORMS.find(([form]) => form === best)?.[1];
    const unable = settings.use === "energy" ? "gives no energy" : "misses some neighbours";
    const fits = FORMS.filter(([form]) => all[form].fits).length;
    return {
      drawing: { lines, x: [LEAST, MOST], y: [LOW, HIGH] },
      words: best
        ? `${fits} of the 5 forms fit. The fastest that answers is the ${name}: ${inBytes(all[best].kept)}, at least ${inTime(all[best].seconds)} for ${count(settings.N)} ${settings.N === 1 ? "query" : "queries"}, ${judged(best, all[best].signal)}.`
        : "No form fits into this memory.",
      rows: [
        ...FORMS.map(
          ([form, label]) =>
            /** @type {[string, string]} */ ([
              `${label}${all[form].fits ? "" : " (does not fit)"}`,
              `${inBytes(all[form].kept)}, ${inTime(all[form].seconds)}, ${form === "index" ? unable : judged(form, all[form].signal)}`,
            ]),
        ),
        ["Frequencies Y of the vector", figures(frequencies(settings), 2)],
        [
          "To store all: list, Hadamard vector",
          `${inTime(all.list.writing ?? 0)}, ${inTime(all.hadamard.writing ?? 0)}`,
        ],
        ["List: sent by each device", all.list.sent ? inBytes(all.list.sent) : "nothing"],
      ],
    };
  },
  python: (settings) =>
    [
      "from rankone_book.growth import costs",
      "",
      `by_form = costs(${settings.K}, ${settings.D}, error=${settings.error}, use="${settings.use}",`,
      `                hardware="${settings.hardware}", N=${settings.N})`,
      "for form, cost in by_form.items():",
      '    print(f"{form:9} {cost.stored_bytes:.2e} bytes, {cost.seconds:.1e} s")',
      "",
    ].join("\n"),
};
