// A ReLU network of the input [x, θ_b], and one gradient step on every weight, bias and θ_b of it.
import { dot, times, transposedTimes } from "./matrix.js";

/**
 * network: { layers: [{ W, b }], switch: θ_b or null, alpha, stack: [first, end), channels: [forward, written, 1] }.
 * `step` is what a gradient step changed; without it the network is as it was built. Returns the inputs of all layers
 * (rectified), their pre-activations, and the output.
 */
export function forward(network, x, step = null) {
  const theta =
    network.switch === null ? [] : [network.switch - (step ? step.alpha * step.switch : 0)];
  let h = Float64Array.from([x, ...theta]);
  const inputs = [h];
  const pres = [];
  network.layers.forEach(({ W, b }, i) => {
    const pre = times(W, h);
    const scale = step ? step.alpha * (dot(step.inputs[i], h) + (b ? 1 : 0)) : 0;
    for (let r = 0; r < pre.length; r++) {
      pre[r] += b ? b[r] : 0;
      if (scale !== 0) pre[r] -= scale * step.errors[i][r];
    }
    pres.push(pre);
    h = pre.map((v) => (v > 0 ? v : 0));
    inputs.push(h);
  });
  return { inputs, pres, output: pres.at(-1)[0] };
}

/**
 * The gradient of ½(f(x) − y)² by backpropagation. A weight matrix's gradient is the outer product of `errors[i]` and
 * `inputs[i]`, a bias's is `errors[i]`; nothing is left out, and a ReLU at exactly 0 passes nothing, as in JAX.
 */
export function gradientStep(network, x, y, alpha = network.alpha) {
  const { inputs, pres, output } = forward(network, x);
  const errors = new Array(network.layers.length);
  let error = Float64Array.of(output - y);
  for (let i = network.layers.length - 1; i >= 0; i--) {
    errors[i] = error;
    const back = transposedTimes(network.layers[i].W, error);
    error = i > 0 ? back.map((v, k) => (pres[i - 1][k] > 0 ? v : 0)) : back;
  }
  return { alpha, inputs, errors, switch: network.switch === null ? 0 : error[1], before: output };
}

/** Number of parameters, zeros included: they are trained like the others. */
export const size = ({ layers, switch: theta }) =>
  layers.reduce((n, { W, b }) => n + W.rows * W.cols + (b ? W.rows : 0), theta === null ? 0 : 1);
