// A ReLU network with the input [x, θ_b], and one gradient step on all of its weights and biases and on θ_b.
import { dot } from "../../math/linear.js";
import { times, timesAll, transposedTimes } from "./matrix.js";

/** @import { Sparse } from "./matrix.js" */

/** @typedef {{ W: Sparse, b: Float64Array | null }} Layer */
/**
 * `switch` is θ_b; `stack` has the index of the first layer of the stack and that of the layer after its last;
 * `channels` has the widths of its forward, written and switch channels. Each is null if the construction has none.
 *
 * @typedef {{
 *   layers: Layer[],
 *   switch: number | null,
 *   alpha: number,
 *   stack: [number, number] | null,
 *   channels: [number, number, number] | null,
 * }} Network
 */
/** @typedef {{ alpha: number, inputs: Float64Array[], errors: Float64Array[], switch: number, before: number }} Step */
/** @typedef {{ inputs: Float64Array[], pres: Float64Array[], output: number }} Pass */

/**
 * The inputs of all layers (rectified), their pre-activations, and the output at x. With `step` these are those of the
 * network after that gradient step, without it those of the network as built.
 *
 * @type {(network: Network, x: number, step?: Step | null) => Pass}
 */
export function forward(network, x, step = null) {
  const theta =
    network.switch === null ? [] : [network.switch - (step ? step.alpha * step.switch : 0)];
  /** @type {Float64Array} */
  let h = Float64Array.from([x, ...theta]);
  const inputs = [h];
  /** @type {Float64Array[]} */
  const pres = [];
  network.layers.forEach(({ W, b }, i) => {
    const pre = times(W, h);
    const scale = step ? step.alpha * (dot(step.inputs[i], h) + (b ? 1 : 0)) : 0;
    const error = step && scale !== 0 ? step.errors[i] : null;
    for (let r = 0; r < pre.length; r++) {
      pre[r] += b ? b[r] : 0;
      if (error) pre[r] -= scale * error[r];
    }
    pres.push(pre);
    h = pre.map((v) => (v > 0 ? v : 0));
    inputs.push(h);
  });
  return { inputs, pres, output: pres[pres.length - 1][0] };
}

/**
 * The outputs at many x, equal to those of `forward` to the last bit. Each layer is computed for all x at once, with
 * one row per neuron.
 *
 * @type {(network: Network, xs: ArrayLike<number>, step?: Step | null) => Float64Array}
 */
export function outputs({ layers, switch: theta }, xs, step = null) {
  const n = xs.length;
  const widest = Math.max(2, ...layers.map(({ W }) => W.rows));
  let [h, pre] = [new Float64Array(widest * n), new Float64Array(widest * n)];
  h.set(xs);
  if (theta !== null) h.fill(theta - (step ? step.alpha * step.switch : 0), n, 2 * n);
  layers.forEach(({ W, b }, i) => {
    timesAll(W, h, n, pre);
    if (b) addToRows(pre, b, n);
    if (step) subtractOuter(pre, step.errors[i], scales(step, i, h, n, b ? 1 : 0), n);
    if (i < layers.length - 1) rectify(pre, W.rows * n);
    [h, pre] = [pre, h];
  });
  return h.slice(0, n);
}

/** @type {(step: Step, i: number, h: Float64Array, n: number, bias: number) => Float64Array} */
function scales({ alpha, inputs }, i, h, n, bias) {
  const scale = new Float64Array(n);
  inputs[i].forEach((v, c) => {
    if (v === 0) return;
    for (let p = 0, at = c * n; p < n; p++, at++) scale[p] += v * h[at];
  });
  for (let p = 0; p < n; p++) scale[p] = alpha * (scale[p] + bias);
  return scale;
}

/** @type {(pre: Float64Array, error: Float64Array, scale: Float64Array, n: number) => void} */
function subtractOuter(pre, error, scale, n) {
  error.forEach((v, r) => {
    if (v === 0) return;
    for (let p = 0, at = r * n; p < n; p++, at++) pre[at] -= scale[p] * v;
  });
}

/** @type {(pre: Float64Array, b: Float64Array, n: number) => void} */
function addToRows(pre, b, n) {
  b.forEach((v, r) => {
    for (let p = 0, at = r * n; p < n; p++, at++) pre[at] += v;
  });
}

/** @type {(values: Float64Array, count: number) => void} */
function rectify(values, count) {
  for (let i = 0; i < count; i++) if (!(values[i] > 0)) values[i] = 0;
}

/**
 * A gradient step on ½(f(x) − y)², by backpropagation. The gradient of the weight matrix i is the outer product of
 * `errors[i]` and `inputs[i]`, that of the bias is `errors[i]`. All parameters are trained. The derivative of a ReLU at
 * exactly 0 is 0, as in JAX.
 *
 * @type {(network: Network, x: number, y: number, alpha?: number) => Step}
 */
export function gradientStep(network, x, y, alpha = network.alpha) {
  const { inputs, pres, output } = forward(network, x);
  /** @type {Float64Array[]} */
  const errors = new Array(network.layers.length);
  /** @type {Float64Array} */
  let error = Float64Array.of(output - y);
  for (let i = network.layers.length - 1; i >= 0; i--) {
    errors[i] = error;
    const back = transposedTimes(network.layers[i].W, error);
    error = i > 0 ? back.map((v, k) => (pres[i - 1][k] > 0 ? v : 0)) : back;
  }
  return { alpha, inputs, errors, switch: network.switch === null ? 0 : error[1], before: output };
}

/**
 * The number of parameters. It includes weights that are 0, because they are trained like the others.
 *
 * @param {Network} network
 */
export const size = ({ layers, switch: theta }) =>
  layers.reduce((n, { W, b }) => n + W.rows * W.cols + (b ? W.rows : 0), theta === null ? 0 : 1);
