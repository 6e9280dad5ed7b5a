// Risks measured on random data against the clean truth: of the base, of neighbours alone, and of base plus memory.
import { dot } from "../../math/linear.js";
import { createBank, QUERIES } from "./bank.js";
import { probability } from "./bases.js";
import { Neighbours } from "./memory.js";
import { classOf } from "./sample.js";
import { fitLine, fitPlane } from "./sets.js";
import { around, baseOf, fitWaves, searchAround, truthOf } from "./waves.js";

/** @import { Settings } from "../settings.js" */
/** @import { Bank } from "./bank.js" */
/** @import { LineSet, PlaneSet } from "./sets.js" */
/** @import { WaveSet } from "./waves.js" */

/** @typedef {"line" | "plane" | "waves"} View */
/** @typedef {"base" | "neighbours" | "memory"} Model */
/** @typedef {Record<Model, number>} Risks */

const ALL = [
  2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072,
  4096,
];

/**
 * The numbers n of examples at which risks are measured: up to 4,096 on the line, and up to 1,024 in the plane, where
 * the base is slow to fit, and on the circle.
 *
 * @param {View} view
 */
export const sizesOf = (view) => (view === "line" ? ALL : ALL.filter((n) => n <= 1024));

const SIDE = 20; // test points along each side of the square
const ROUND = 64; // test points around the circle
const WORK = { line: 8e6, plane: 4e6, waves: 8e6 }; // operations that one size may take, about
/** @type {Model[]} */
export const MODELS = ["base", "neighbours", "memory"];

/**
 * Measures the means of the three risks over data sets, for each level on the same data. Yields after each data set,
 * and returns [{ base, neighbours, memory, repetitions }, …], one entry per level.
 *
 * @param {Settings} settings
 * @param {number} n
 * @param {number[]} levels
 * @param {Bank} [bank] The cache of data sets.
 * @returns {Generator<void, (Risks & { repetitions: number })[], void>}
 */
export function* measure(settings, n, levels, bank = createBank()) {
  const repetitions = repetitionsOf(settings, n);
  const totals = levels.map(() => ({ base: 0, neighbours: 0, memory: 0 }));
  for (let r = 0; r < repetitions; r++) {
    const most = lastSize(settings, r);
    const measured = once(settings, { r, n, most }, levels, bank);
    measured.forEach((risks, i) => {
      for (const model of MODELS) totals[i][model] += risks[model] / repetitions;
    });
    yield;
  }
  return totals.map((risks) => ({ ...risks, repetitions }));
}

/** @type {(settings: Settings, set: { r: number, n: number, most: number }, levels: number[], bank: Bank) => Risks[]} */
function once(settings, { r, n, most }, levels, bank) {
  if (settings.view === "line") return onceLine(bank.line(settings, r, n, most), settings, levels);
  if (settings.view === "plane")
    return oncePlane(bank.plane(settings, r, n, most), settings, levels);
  return onceWaves(bank.waves(settings, r, n, most), settings, levels);
}

/**
 * The number of data sets of n points on which the risks are measured.
 *
 * @type {(settings: Pick<Settings, "view" | "d">, n: number) => number}
 */
export function repetitionsOf({ view, d }, n) {
  const plane = view === "plane";
  const cost = { line: n * QUERIES * d, plane: n * SIDE * SIDE * 2, waves: 3 * n * ROUND }[view];
  const [least, most] = plane ? [4, 12] : [6, 40];
  return Math.round(Math.max(least, Math.min(most, WORK[view] / cost)));
}

/**
 * The largest size at which the r-th data set is used.
 *
 * @type {(settings: Settings, r: number) => number}
 */
const lastSize = (settings, r) =>
  sizesOf(settings.view).reduce((last, n) => (repetitionsOf(settings, n) > r ? n : last), 0);

/** @type {(drawn: ReturnType<Bank["line"]>, settings: Settings, levels: number[]) => Risks[]} */
function onceLine({ set, queries }, { L, k, sigma }, levels) {
  const { X, n, d } = set;
  const search = new Neighbours(X, n, d, k);
  const fits = levels.map((noise) => fitLine(set, { L, noise }));
  const risks = levels.map(() => ({ base: 0, neighbours: 0, memory: 0 }));
  for (let q = 0; q < QUERIES; q++) {
    search.find(queries, q * d).weigh(sigma);
    const truth = queries[q * d];
    fits.forEach(({ theta, y, residuals }, i) => {
      const base = dot(theta, queries, q * d);
      risks[i].base += (base - truth) ** 2 / QUERIES;
      risks[i].neighbours += (search.read(y) - truth) ** 2 / QUERIES;
      risks[i].memory += (base + search.read(residuals) - truth) ** 2 / QUERIES;
    });
  }
  return risks;
}

/** @type {(set: PlaneSet, settings: Settings, levels: number[]) => Risks[]} */
function oncePlane(set, { L, k, sigma }, levels) {
  const search = new Neighbours(set.X, set.n, 2, k);
  const fits = levels.map((flips) => fitPlane(set, { L, flips }));
  const risks = levels.map(() => ({ base: 0, neighbours: 0, memory: 0 }));
  for (let q = 0; q < SIDE * SIDE; q++) {
    /** @type {[number, number]} */
    const at = [(2 * ((q % SIDE) + 0.5)) / SIDE - 1, (2 * (Math.floor(q / SIDE) + 0.5)) / SIDE - 1];
    search.find(at, 0).weigh(sigma);
    const truth = classOf(...at);
    /** @param {number} score */
    const wrong = (score) => Number(score > 0.5 !== (truth === 1)) / SIDE ** 2;
    fits.forEach(({ w, y, residuals }, i) => {
      const base = probability(w, ...at);
      risks[i].base += wrong(base);
      risks[i].neighbours += wrong(search.read(y));
      risks[i].memory += wrong(base + search.read(residuals));
    });
  }
  return risks;
}

/**
 * The risks on one data set on the circle. The levels are frequencies of the rough wave.
 *
 * @type {(set: WaveSet, settings: Settings, levels: number[]) => Risks[]}
 */
function onceWaves(set, { k, sigma, learns }, levels) {
  const search = searchAround(set, k);
  const fits = levels.map((frequency) => {
    const { y, residuals } = fitWaves(set, { frequency, learns });
    return { frequency, y: around(y), residuals: around(residuals) };
  });
  const risks = levels.map(() => ({ base: 0, neighbours: 0, memory: 0 }));
  for (let q = 0; q < ROUND; q++) {
    const x = (q + 0.5) / ROUND;
    search.find([x], 0).weigh(sigma);
    fits.forEach(({ frequency, y, residuals }, i) => {
      const truth = truthOf(x, frequency);
      const base = baseOf(x, { frequency, learns });
      risks[i].base += (base - truth) ** 2 / ROUND;
      risks[i].neighbours += (search.read(y) - truth) ** 2 / ROUND;
      risks[i].memory += (base + search.read(residuals) - truth) ** 2 / ROUND;
    });
  }
  return risks;
}
