// Update rules: from a gradient to the direction that the step size multiplies. Each keeps its own state.

/** @import { Vector } from "../../math/linear.js" */
/** @typedef {"gd" | "heavy" | "nesterov" | "adam" | "muon"} RuleName */
/** @typedef {(g: Vector) => Vector} Rule */

const ADAM = { b1: 0.9, b2: 0.999, eps: 1e-8 };

/**
 * A fresh rule; `rows` is the number of rows of the matrix whose vec it is given (Muon looks at the matrix).
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
 * The polar factor UVᵀ of X = UΣVᵀ; of a matrix of rank 1, X over its norm [K-muon].
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
 * The longest step at which a linear rule does not blow up on curvatures up to λ.
 *
 * @type {(name: RuleName, momentum: number, values: Vector) => number}
 */
export function largestStep(name, momentum, [high]) {
  if (name === "heavy") return (2 * (1 + momentum)) / high;
  if (name === "nesterov") return (2 * (1 + momentum)) / ((1 + 2 * momentum) * high);
  return 2 / high;
}

/**
 * The fixed step with the fastest worst mode over curvatures `values`, falling.
 *
 * @type {(name: RuleName, momentum: number, values: Vector) => number}
 */
export function bestStep(name, momentum, values) {
  const [high, low] = [values[0], values[values.length - 1]];
  if (name === "heavy") return (2 * (1 + momentum)) / (high + low);
  if (name !== "nesterov") return 2 / (high + low);
  let [under, over] = [1 / high, largestStep(name, momentum, values)];
  for (let i = 0; i < 80; i++) {
    const middle = (under + over) / 2; // the slow mode gains from a longer step, the stiff one loses
    const slow = radius(momentum, 1 - middle * low);
    const stiff = radius(momentum, 1 - middle * high);
    if (slow > stiff) under = middle;
    else over = middle;
  }
  return under;
}

/**
 * Largest root of z² − (1+β) q z + β q: a mode's factor a step under Nesterov's rule.
 *
 * @type {(momentum: number, q: number) => number}
 */
function radius(momentum, q) {
  const half = ((1 + momentum) * q) / 2;
  const inside = half ** 2 - momentum * q;
  return inside < 0 ? Math.sqrt(momentum * q) : Math.abs(half) + Math.sqrt(inside);
}
