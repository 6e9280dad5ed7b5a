// The quantities that follow from the settings: the interference matrix, the reading along the line or over the plane,
// and its errors for every method of writing.
import { eigenvalues } from "../math/linear.js";
import { featuresAt, frequenciesOf, innerProducts, kernelBetween } from "./math/kernels.js";
import {
  diluteBound,
  interference,
  overlap,
  ratioError,
  readings,
  rootMeanSquare,
  summed,
  written,
} from "./math/reading.js";
import { inRounds, partialSolve, placeOf, product } from "./math/writing.js";
import { keysOf, REACH, truth, valuesOf } from "./settings.js";

/** @import { Matrix } from "../math/linear.js" */
/** @import { Point } from "../kit/handle.js" */
/** @import { Frequencies } from "./math/kernels.js" */
/** @import { Written } from "./math/reading.js" */
/** @import { Settings, View } from "./settings.js" */

/** Root mean squared errors, at stored and at unseen keys. @typedef {{ stored: number, unseen: number }} Errors */
/**
 * If there is no `X`, it is null, and so are the readings. `along` has the errors at every position of the slider, and
 * `empty` is the unseen error of a memory that answers 0. `cost` is the error that random features add, and
 * `law` its prediction, if a law applies.
 *
 * @typedef {{
 *   keys: Point[], values: number[], S: Float64Array[], X: Matrix | null, seen: Matrix | null,
 *   read: Float64Array | null, curve: Float64Array | null, errors: Errors | null, along: (Errors | null)[],
 *   empty: number, largest: number | null, rho: number, bound: number, condition: number, growth: number,
 *   law: number | null, cost: number | null, field(): Float64Array | null,
 * }} Measured
 */

export const STEP = 0.05; // of the slider
export const POSITIONS = Array.from({ length: 61 }, (_, i) => i * STEP);

/** @type {(n: number) => number[]} */
const ticks = (n) =>
  Array.from({ length: n }, (_, i) => Number((REACH * ((2 * i) / (n - 1) - 1)).toFixed(6)));
/** Points of a square, row by row from the top. @type {(n: number) => Point[]} */
const squareOf = (n) => {
  const along = ticks(n);
  return [...along].reverse().flatMap((y) => along.map((x) => /** @type {Point} */ ([x, y])));
};

/** The points at which errors are measured; on the line, the points of the curve too. @type {Record<View, Point[]>} */
export const ASKED = { line: ticks(261).map((x) => [x, 0]), plane: squareOf(17) };
/** The points at which the field is painted. With features each point is expensive, and the grid is coarse. */
export const FIELDS = { fine: squareOf(65), coarse: squareOf(33) };

/** @type {(points: Point[]) => Float64Array} */
const truths = (points) => Float64Array.from(points, truth);
export const TRUE = {
  line: truths(ASKED.line),
  plane: truths(ASKED.plane),
  fine: truths(FIELDS.fine),
};

/** The last frequencies, and their features on each grid. @type {{ made: string, frequencies: Frequencies, of: Map<Point[], Float64Array[]> }} */
let cache = {
  made: "",
  frequencies: { x: new Float64Array(), y: new Float64Array() },
  of: new Map(),
};

/** @type {(settings: Settings) => Frequencies} */
function frequencies({ kernel, width, Y, seed }) {
  const signature = `${kernel} ${width} ${Y} ${seed}`;
  if (signature !== cache.made)
    cache = {
      made: signature,
      frequencies: frequenciesOf({ kernel, width, Y, seed }),
      of: new Map(),
    };
  return cache.frequencies;
}

/** @type {(settings: Settings, grid: Point[]) => Float64Array[]} */
function featuresOver(settings, grid) {
  const drawn = frequencies(settings);
  const features = cache.of.get(grid) ?? featuresAt(drawn, grid);
  cache.of.set(grid, features);
  return features;
}

/** @param {Settings} settings */
function weighing(settings) {
  const keys = keysOf(settings);
  const own = settings.Y ? featuresAt(frequencies(settings), keys) : [];
  return {
    keys,
    own,
    S: settings.Y ? innerProducts(own, own) : kernelBetween(settings, keys, keys),
    /** @param {Point[]} grid */
    at: (grid) =>
      settings.Y
        ? innerProducts(own, featuresOver(settings, grid))
        : kernelBetween(settings, keys, grid),
  };
}

/** X at a position of the slider. @type {(settings: Settings, S: Float64Array[], at?: number) => Matrix | null} */
export function matrixAt({ way, omega, rounds, backward }, S, at = way) {
  const { earlier, later, slack } = placeOf(at, omega);
  const order = backward ? { earlier: later, later: earlier } : { earlier, later };
  const X = partialSolve(S, { ...order, slack });
  return X && inRounds(X, S, rounds);
}

/** @type {(settings: Settings) => Measured} */
export function measure(settings) {
  const { view, divide } = settings;
  const memory = weighing(settings);
  const { keys, S } = memory;
  const values = valuesOf(settings);
  const weights = memory.at(ASKED[view]);
  const TRUTH = TRUE[view];

  /** @type {(X: Matrix | null) => { held: Written, read: Float64Array, curve: Float64Array, errors: Errors } | null} */
  function outcome(X) {
    if (!X) return null;
    const stored = written(values, X);
    const [read, curve] = [readings(stored, S, divide), readings(stored, weights, divide)];
    const errors = { stored: rootMeanSquare(read, values), unseen: rootMeanSquare(curve, TRUTH) };
    return { held: stored, read, curve, errors };
  }

  const X = matrixAt(settings, S);
  const now = outcome(X);
  const matrix = X && interference(product(X, S), divide);
  const rho = overlap(S);
  const spectrum = eigenvalues(S.map((row) => Array.from(row)));
  return {
    ...{ keys, values, S, X, seen: matrix, rho },
    ...{ read: now?.read ?? null, curve: now?.curve ?? null, errors: now?.errors ?? null },
    along: POSITIONS.map((at) => outcome(matrixAt(settings, S, at))?.errors ?? null),
    empty: rootMeanSquare(TRUTH, new Float64Array(TRUTH.length)),
    largest: matrix && largestOff(matrix),
    bound: diluteBound(rho),
    condition: spectrum[0] / Math.max(spectrum[spectrum.length - 1], 0),
    growth: spectrum[0],
    ...featured(settings, memory, values, now?.curve),
    field: () => now && fieldOf(settings, memory, now.held),
  };
}

/** @param {Matrix} matrix */
const largestOff = (matrix) =>
  Math.max(0, ...matrix.flatMap((row, i) => row.filter((_, j) => i !== j).map(Math.abs)));

/** @type {(settings: Settings, memory: ReturnType<typeof weighing>, held: Written) => Float64Array} */
function fieldOf(settings, { keys, own }, stored) {
  const { Y, divide } = settings;
  if (!Y) return readings(stored, kernelBetween(settings, keys, FIELDS.fine), divide);
  const over = featuresOver(settings, FIELDS.coarse);
  const vectors = [stored.coefficients, stored.ones].map((each) => summed(each, own)); // the whole memory
  const [above, below] = innerProducts(vectors, over);
  return divide ? above.map((v, q) => v / below[q]) : above;
}

/**
 * The error that random features add to the kernel's own reading, and the law's prediction of it, which exists only for
 * the divided batch step.
 *
 * @type {(settings: Settings, memory: ReturnType<typeof weighing>, R: number[], curve?: Float64Array) => { cost: number | null, law: number | null }}
 */
function featured(settings, { keys }, R, curve) {
  const { view, Y, way, divide, rounds } = settings;
  if (!Y || !curve) return { cost: null, law: null };
  const S = kernelBetween(settings, keys, keys);
  const weights = kernelBetween(settings, keys, ASKED[view]);
  const X = matrixAt(settings, S);
  const cost = X && rootMeanSquare(curve, readings(written(R, X), weights, divide));
  if (way > 0 || !divide || rounds > 1) return { cost, law: null };
  /** @param {number} q */
  const mirrored = (q) => {
    const [u, v] = ASKED[view][q];
    return kernelBetween(
      settings,
      keys,
      keys.map(([x, y]) => [2 * u - x, 2 * v - y]),
    );
  };
  return { cost, law: ratioError({ R, S, weights, mirrored, Y }) };
}
