// κ(K, q) in the plane: by the kernel itself, or by random features, which are JAX's draws [W-knn, D-eq8].
import { dot } from "../../math/linear.js";
import { frequenciesFrom } from "../../math/plane/estimate.js";
import { key, normal, split } from "../../math/random.js";

/** @import { Point } from "../../kit/handle.js" */

/** @typedef {"laplace" | "gaussian"} Kernel */
/** The parameters of κ; Y = 0 stands for the kernel itself. @typedef {{ kernel: Kernel, width: number, Y: number, seed: number }} Made */
/** @typedef {{ x: Float64Array, y: Float64Array }} Frequencies */

const SHORTEST = 1e-3; // the least divisor of a Cauchy vector, as in `rankone.theory.soft_neighbours`

/** e^(−‖a − b‖/σ) and e^(−‖a − b‖²/2σ²), from d = ‖a − b‖/σ. @type {Record<Kernel, (d: number) => number>} */
const OF_DISTANCE = { laplace: (d) => Math.exp(-d), gaussian: (d) => Math.exp((-d * d) / 2) };

/**
 * κ by the kernel itself, one row per point of a.
 *
 * @type {(parameters: Made, a: Point[], b: Point[]) => Float64Array[]}
 */
export function kernelBetween({ kernel, width }, a, b) {
  const of = OF_DISTANCE[kernel];
  return a.map(([x, y]) => Float64Array.from(b, ([u, v]) => of(Math.hypot(x - u, y - v) / width)));
}

/**
 * The frequencies whose cosines have the mean κ: those of `rankone.RandomFeatures` over the width, or of
 * `laplace_features`. A smaller Y is a prefix of a larger one.
 *
 * @param {Made} parameters
 * @returns {Frequencies}
 */
export function frequenciesOf({ kernel, width, Y, seed }) {
  if (kernel === "gaussian") return scaledBy(frequenciesFrom(Y, key(seed)), () => width);
  const [gaussian, divisor] = split(key(seed));
  const heavy = normal(divisor, Y);
  return scaledBy(
    frequenciesFrom(Y, gaussian),
    (i) => width * Math.max(Math.abs(heavy[i]), SHORTEST),
  );
}

/** @type {(frequencies: Frequencies, by: (i: number) => number) => Frequencies} */
const scaledBy = ({ x, y }, by) => ({
  x: x.map((v, i) => v / by(i)),
  y: y.map((v, i) => v / by(i)),
});

/**
 * φ of the points, one row per point: cosines, then sines, divided by √Y.
 *
 * @type {(frequencies: Frequencies, points: Point[]) => Float64Array[]}
 */
export function featuresAt({ x, y }, points) {
  const Y = x.length;
  const scale = 1 / Math.sqrt(Y);
  return points.map(([u, v]) => {
    const row = new Float64Array(2 * Y);
    for (let a = 0; a < Y; a++) {
      const angle = x[a] * u + y[a] * v;
      row[a] = scale * Math.cos(angle);
      row[Y + a] = scale * Math.sin(angle);
    }
    return row;
  });
}

/**
 * ⟨φ(a), φ(b)⟩, one row per point of a.
 *
 * @type {(a: Float64Array[], b: Float64Array[]) => Float64Array[]}
 */
export const innerProducts = (a, b) =>
  a.map((left) => Float64Array.from(b, (right) => dot(left, right)));
