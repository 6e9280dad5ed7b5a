// Networks of constant depth without a table. The units of their last hidden layer are inactive before the step, and
// their output weights are fitted.
import { solvePositive } from "../../math/linear.js";
import { constantBody, layer, shallowBody, twoLayerBody } from "./bodies.js";
import { quasirandom, SPAN } from "./kinks.js";
import { forward, gradientStep } from "./network.js";
import { CONSTANTS, LOW } from "./tables.js";

/** @import { MakeBody } from "./bodies.js" */
/** @import { Network } from "./network.js" */
/** @import { Constants, Target } from "./tables.js" */

/** @typedef {"constant" | "shallow" | "two_layers"} Fitted */

const RIDGE = 1e-10;
/** @type {Record<Fitted, MakeBody>} */
const BODIES = { constant: constantBody, shallow: shallowBody, two_layers: twoLayerBody };

/**
 * The constants that the package uses for a construction. Two layers get a larger margin, because they read x more
 * evenly if Δ varies less.
 *
 * @param {string} construction
 * @returns {Constants}
 */
export const constantsOf = (construction) =>
  construction === "two_layers" ? { ...CONSTANTS, margin: 4 } : CONSTANTS;

/**
 * The network of a construction. "constant" has a stack of four bias-free layers at every accuracy; "shallow" and
 * "two_layers" have four and two hidden layers in all, and no θ_b. `weights` are the output weights from `fitWeights`,
 * which uses the construction's own constants; `given` replaces some of the constants here.
 *
 * @type {(weights: number[], construction: Fitted, given?: Partial<Constants>) => Network}
 */
export function fittedNetwork(weights, construction, given = {}) {
  const k = { ...constantsOf(construction), ...given };
  const { body, path, inactive, stack, channels, switched } = BODIES[construction](
    weights.length,
    k,
  );
  const read = layer([...path[0], ...inactive[0]], [...path[1], ...inactive[1]]);
  const layers = [...body, read, layer([[...path[2], ...weights]], [LOW - k.margin])];
  return { layers, switch: switched ? k.switch : null, alpha: k.alpha, stack, channels };
}

/**
 * The output weights, by least squares over the gradient steps of evenly spread tasks.
 *
 * @type {(target: Target, units: number, construction: Fitted) => number[]}
 */
export function fitWeights(target, units, construction) {
  const network = fittedNetwork(new Array(units).fill(0), construction);
  const gram = Array.from({ length: units }, () => new Float64Array(units));
  const right = new Float64Array(units);
  for (const [x, u, xs] of quasirandom(4 * units, 3)) {
    const y = LOW + SPAN * u;
    const { inputs, output } = forward(network, xs, gradientStep(network, x, y));
    const h = inputs[inputs.length - 2].slice(-units);
    const active = Array.from(h.keys()).filter((i) => h[i] !== 0);
    const missing = target(x, y, xs) - output;
    for (const i of active) {
      right[i] += h[i] * missing;
      const row = gram[i];
      for (const j of active) row[j] += h[i] * h[j];
    }
  }
  const trace = gram.reduce((sum, row, i) => sum + row[i], 0);
  gram.forEach((row, i) => {
    row[i] += RIDGE * trace;
  });
  const weights = solvePositive(gram, right);
  if (!weights) throw new Error("The fit has no solution: its ridge is too small.");
  return weights;
}
