// Update rules: functions from a gradient to the direction that the step size multiplies. Each has its own state.

/** @import { Vector } from "../../math/linear.js" */
/** @typedef {"gd" | "heavy" | "nesterov" | "adam" | "muon"} RuleName */
/** @typedef {(g: Vector) => Vector} Rule */

const ADAM = { b1: 0.9, b2: 0.999, eps: 1e-8 };

/**
 * An update rule in its initial state. `rows` is the number of rows of the matrix whose vec the gradient is; Muon needs
 * it, because it acts on the matrix.
 *
 * @type {(name: RuleName, options: { momentum: number, rows: number, size: number }) => Rule}
 */
export function createRule(name, { momentum, rows, size }) {
  if (name === "adam") return adam(size);
  const buffer = Array(size).fill(0);
  /** @type {Rule} */
  const gather = (g) => {
    for (let i = 0; i < size; i++) buffer[i] = momentum * buffer[i] + g[i];
    return buffer;
  };
  /** @type {Record<string, Rule>} */
  const rules = {
    gd: (g) => g,
    heavy: gather,
    nesterov: (g) => gather(g).map((v, i) => g[i] + momentum * v),
    muon: (g) => polar(gather(g), rows),
  };
  return rules[name];
}

/**
 * Adam with its usual constants [K-adam].
 *
 * @type {(size: number) => Rule}
 */
function adam(size) {
  const mean = Array(size).fill(0);
  const square = Array(size).fill(0);
  let t = 0;
  return (g) => {
    t++;
    for (let i = 0; i < size; i++) {
      mean[i] = ADAM.b1 * mean[i] + (1 - ADAM.b1) * g[i];
      square[i] = ADAM.b2 * square[i] + (1 - ADAM.b2) * g[i] ** 2;
    }
    const [a, b] = [1 - ADAM.b1 ** t, 1 - ADAM.b2 ** t];
    return mean.map((v, i) => v / a / (Math.sqrt(square[i] / b) + ADAM.eps));
  };
}

/**
 * The polar factor UVᵀ of X = UΣVᵀ. For a matrix of rank 1 this is X divided by its norm [K-muon].
 *
 * @type {(x: Vector, rows: number) => Vector}
 */
export function polar(x, rows) {
  const length = Math.hypot(...x);
  if (length === 0) return x.map(() => 0);
  const determinant = x.length === 4 && rows === 2 ? x[0] * x[3] - x[1] * x[2] : 0;
  if (Math.abs(determinant) <= 1e-12 * length ** 2) return x.map((v) => v / length);
  const sign = Math.sign(determinant);
  const [a, c, b, d] = x; // columns stacked: ((a, b), (c, d)), whose cofactors are ((d, −c), (−b, a))
  const sum = [a + sign * d, c - sign * b, b - sign * c, d + sign * a];
  const size = Math.hypot(...sum) / Math.SQRT2;
  return sum.map((v) => v / size);
}

/**
 * The largest step size at which a linear rule is stable, for curvatures up to `high`.
 *
 * @type {(name: RuleName, momentum: number, values: Vector) => number}
 */
export function largestStep(name, momentum, [high]) {
  if (name === "heavy") return (2 * (1 + momentum)) / high;
  if (name === "nesterov") return (2 * (1 + momentum)) / ((1 + 2 * momentum) * high);
  return 2 / high;
}

/**
 * The fixed step size whose slowest mode converges fastest, for curvatures `values` in decreasing order.
 *
 * @type {(name: RuleName, momentum: number, values: Vector) => number}
 */
export function bestStep(name, momentum, values) {
  const [high, low] = [values[0], values[values.length - 1]];
  if (name === "heavy") return (2 * (1 + momentum)) / (high + low);
  if (name !== "nesterov") return 2 / (high + low);
  let [under, over] = [1 / high, largestStep(name, momentum, values)];
  for (let i = 0; i < 80; i++) {
    const middle = (under + over) / 2; // a longer step speeds up the mode of `low` and slows down that of `high`
    const slow = radius(momentum, 1 - middle * low);
    const stiff = radius(momentum, 1 - middle * high);
    if (slow > stiff) under = middle;
    else over = middle;
  }
  return under;
}

/**
 * The largest modulus of a root of z² − (1+β) q z + β q: the factor per step of a mode under Nesterov's rule.
 *
 * @type {(momentum: number, q: number) => number}
 */
function radius(momentum, q) {
  const half = ((1 + momentum) * q) / 2;
  const inside = half ** 2 - momentum * q;
  return inside < 0 ? Math.sqrt(momentum * q) : Math.abs(half) + Math.sqrt(inside);
}
